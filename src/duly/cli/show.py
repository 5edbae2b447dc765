"""`duly show`: a contract's protocols as text or as a drawing."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from duly.machine.graph import Graph


class Form(StrEnum):
    """How protocols are shown."""

    text = "text"
    mermaid = "mermaid"
    dot = "dot"
    svg = "svg"


def show(
    source: Annotated[
        str, typer.Argument(help="A contract document, a text file with a protocol, or `-`.", show_default=False)
    ],
    form: Annotated[Form, typer.Option("--as", help="The form.")] = Form.text,
    protocol: Annotated[
        str | None, typer.Option("--protocol", help="Which protocol, where there are several.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write to this file.", show_default=False)] = None,
) -> None:
    """Shows the protocols of a contract.

    \b
    Examples:
      duly show contract.yaml
      duly show contract.yaml --as mermaid
      duly show contract.yaml --as svg --out contract.svg
    """
    from .output import usage, write

    graphs = _graphs(source)
    names = [graph.name for graph in graphs]
    if protocol is not None:
        from duly.values.errors import suggest

        if protocol not in names:
            known = ", ".join(f"`{name}`" for name in names if name)
            raise usage(
                f"no protocol `{protocol}` in `{source}`",
                suggest(protocol, names) or f"protocols are {known or 'unnamed'}",
            )
        graphs = [graph for graph in graphs if graph.name == protocol]
    if not graphs:
        raise usage(f"`{source}` has no protocol", "rules alone have no states to show")
    if form is not Form.text and len(graphs) > 1:
        raise usage("one drawing shows one protocol", f"pick one with `--protocol`: {', '.join(names)}")
    text = "\n".join(_drawn(graph, form) for graph in graphs)
    if out is None:
        write(text.removesuffix("\n"))
        return
    try:
        out.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    except OSError as error:
        raise usage(f"`{out}` cannot be written: {(error.strerror or 'unknown').lower()}") from None


def _graphs(source: str) -> "list[Graph]":
    import os

    from .output import contract_of, usage
    from .text import STDIN, graphs_of, is_document, shown, text_of

    if source != STDIN and not os.path.isfile(source):
        raise usage(f"`{source}` does not exist")
    if source != STDIN and is_document(source):
        return list(contract_of(source).terms.protocols)
    return graphs_of(text_of(source), name=shown(source))


def _drawn(graph: "Graph", form: Form) -> str:
    from duly.notation.draw import draw_dot, draw_mermaid, draw_text
    from duly.notation.svg import draw_svg

    drawings = {Form.text: draw_text, Form.mermaid: draw_mermaid, Form.dot: draw_dot, Form.svg: draw_svg}
    return drawings[form](graph)
