"""`duly fmt`: contract documents and protocol texts in their one canonical form."""

import os
from difflib import unified_diff
from enum import StrEnum
from typing import Annotated

import typer


class Form(StrEnum):
    """What `duly fmt` prints."""

    CONTRACT = "contract"
    PACK = "pack"


def fmt(
    files: Annotated[
        list[str],
        typer.Argument(help="Contract documents (YAML), text files with a protocol, or `-`.", show_default=False),
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; show what would differ and exit with 4.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Write the files in place.")] = False,
    to: Annotated[
        Form, typer.Option("--to", help="What is printed: a contract document, or a pack of llmcontract.")
    ] = Form.CONTRACT,
    drop_comments: Annotated[
        bool, typer.Option("--drop-comments", help="Write even where comments inside a document would be lost.")
    ] = False,
) -> None:
    """Prints contract documents and protocols in canonical form; the meaning stays the same.

    Rule files of acel-core and packs of llmcontract print as contract documents; with --to pack a contract prints as a
    pack, where a pack can say all of it.

    Of a document's comments only those before its first key are kept, so a file with others is not written
    unless --drop-comments is given.

    \b
    Examples:
      duly fmt contract.yaml
      duly fmt contracts/*.yaml --check
      duly fmt contract.yaml --to pack
      echo "rec L . { ?Ask . !a . L, ?Bye . end }" | duly fmt -
    """
    from duly.values.errors import DulyError

    from .output import say, usage, worst
    from .text import STDIN

    if to is Form.PACK and (check or write):
        raise usage("a pack is printed, and neither checked nor written in place", "for example `> contract.pack.json`")
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
            if to is Form.PACK:
                typer.echo(packed(file), nl=False)
                codes.append(0)
            else:
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


def packed(file: str) -> str:
    """The contract as a pack, its includes merged in; raises DulyError with all that a pack cannot say."""
    from duly.gates.files import load_terms
    from duly.notation.document import parse_terms
    from duly.notation.packing import print_pack

    from .text import STDIN, shown, text_of

    terms = load_terms(file) if file != STDIN else parse_terms(text_of(file), name=shown(file))
    return print_pack(terms)


def _comments(text: str) -> int:
    """How many lines have a comment; a `#` inside a text counts before and after alike."""
    return sum(line.lstrip().startswith("#") or " #" in line for line in text.splitlines())
