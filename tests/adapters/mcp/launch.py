"""`duly mcp` as a process of its own, whatever else the command line offers."""

import typer

from duly.cli.app import Verbs
from duly.cli.mcp import mcp


def several() -> None:
    """A command line with one verb has no verbs; this makes it two."""


app = typer.Typer(cls=Verbs, add_completion=False, pretty_exceptions_enable=False)
app.command()(mcp)
app.command()(several)

if __name__ == "__main__":
    app(prog_name="duly")
