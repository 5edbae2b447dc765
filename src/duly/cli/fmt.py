"""`duly fmt`: contract documents and protocol texts in their one canonical form."""

import os
from difflib import unified_diff
from typing import Annotated

import typer


def fmt(
    files: Annotated[
        list[str],
        typer.Argument(help="Contract documents (YAML), text files with a protocol, or `-`.", show_default=False),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; show what would differ and exit with 4.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the files in place.")] = False,
    drop_comments: Annotated[
        bool, typer.Option("--drop-comments", help="Write even where comments inside a document would be lost.")
    ] = False,
) -> None:
    """Prints contract documents and protocols in canonical form; the meaning stays the same.

    Of a document's comments only those before its first key are kept, so a file with others is not written
    unless --drop-comments is given.

    \b
    Examples:
      duly fmt contract.yaml
      duly fmt contracts/*.yaml --check
      echo "rec L . { ?Ask . !a . L, ?Bye . end }" | duly fmt -
    """
    from duly.values.errors import DulyError

    from .output import say, usage, worst
    from .text import STDIN

    if check and write:
        raise usage("`--check` and `--write` exclude each other")
    for file in files:
        if file == STDIN and write:
            raise usage("standard input cannot be written in place")
        if file != STDIN and not os.path.isfile(file):
            raise usage(f"`{file}` does not exist" if not os.path.isdir(file) else f"`{file}` is a folder")
    codes: list[int] = []
    for file in files:
        try:
            codes.append(_one(file, check=check, write=write, drop=drop_comments))
        except DulyError as error:
            for each in error.diagnostics:
                say(each.text())
            codes.append(3)
    raise typer.Exit(worst(codes))


def _one(file: str, *, check: bool, write: bool, drop: bool) -> int:
    from .output import number, say, usage
    from .text import is_document, shown, text_of

    if (check or write) and is_document(file) and not file.lower().endswith((".yaml", ".yml")):
        raise usage(
            f"`{file}` is not YAML, which is the canonical form",
            "without `--check` and `--write` it is printed as YAML",
        )
    before = text_of(file)
    after = formatted(before, file)
    if check:
        if before == after:
            return 0
        for line in unified_diff(before.splitlines(), after.splitlines(), shown(file), "canonical", lineterm=""):
            typer.echo(line)
        return 4
    lost = _comments(before) - _comments(after)
    if not write:
        typer.echo(after, nl=False)
        if lost > 0:
            say(f"{shown(file)}: {number(lost, 'comment')} left out")
        return 0
    if before == after:
        return 0
    if lost > 0 and not drop:
        say(f"{file}: not written, since {number(lost, 'comment')} would be lost (`--drop-comments` writes it)")
        return 2
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as out:
            out.write(after)
    except OSError as error:
        raise usage(f"`{file}` cannot be written: {(error.strerror or 'unknown').lower()}") from None
    say(f"{file}: written")
    return 0


def formatted(text: str, file: str) -> str:
    """The canonical form; raises DulyError where the text has no clear meaning."""
    from .text import graphs_of, is_document, shown

    if is_document(file):
        from duly.notation.document import parse_page
        from duly.notation.document_print import print_page

        return print_page(parse_page(text, name=file), text=text)
    return "\n".join(graph.text.rstrip("\n") + "\n" for graph in graphs_of(text, name=shown(file)))


def _comments(text: str) -> int:
    """How many lines have a comment; a `#` inside a text counts before and after alike."""
    return sum(line.lstrip().startswith("#") or " #" in line for line in text.splitlines())
