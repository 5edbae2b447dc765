"""The entry of the command line. Nothing is imported before it is needed: a verb loads what it uses."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import Typer


def run() -> None:
    """The `duly` command."""
    import sys

    for stream in (sys.stdout, sys.stderr):
        # file names and recorded texts may hold what the terminal cannot show; that must not end a verb
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    application()(prog_name="duly")


def application() -> "Typer":
    """The typer app with every verb."""
    from .app import build

    return build()
