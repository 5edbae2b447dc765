"""Comments of YAML documents: those that a canonical print keeps, and how many there are."""

from typing import Any

from duly.machine.terms import Terms


def leading_comments(text: str) -> str:
    """The comment lines that a document begins with, each with its line end."""
    kept: list[str] = []
    for line in text.removeprefix("\ufeff").split("\n"):
        if line.strip() and not line.startswith("#"):
            break
        kept.append(line.strip())
    while kept and not kept[-1]:
        kept.pop()
    return "".join(f"{line}\n" for line in kept)


def comment_lines(text: str, terms: Terms) -> int:
    """How many lines hold a comment, in the document and in its protocols."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = text.removeprefix("\ufeff")
    count, end = 0, 0
    # what stands between two tokens is space and comments
    for token in yaml.scan(text, Loader=loader):
        count += _marked(text[end : token.start_mark.index])
        end = max(end, token.end_mark.index)
    count += _marked(text[end:])
    written = {graph.source.text: graph.text for graph in terms.protocols if graph.notation != "transitions"}
    return count + sum(max(0, _marked(source) - _marked(print)) for source, print in written.items())


def _marked(text: str) -> int:
    return sum("#" in line for line in text.split("\n"))
