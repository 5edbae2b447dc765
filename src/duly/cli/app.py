"""The table of verbs, the options that stand before a verb, and what happens when a verb fails."""

from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from . import audit, check, fmt, init, log, mcp, order, pending, replay, schema, sessions, show, tell

VERBS: Final = (
    (init.init, "Write a first contract."),
    (check.check, "Say what is wrong or suspicious about contracts."),
    (audit.audit, "Hold recorded runs to a contract."),
    (replay.replay, "Step through one recorded run."),
    (show.show, "Show a contract's protocols."),
    (mcp.mcp, "Put a contract between an MCP client and an MCP server."),
    (tell.tell, "Tell a session what a person said."),
    (sessions.sessions, "List the sessions of a journal."),
    (pending.pending, "List what waits for a person."),
    (pending.approve, "Say yes to a parked act."),
    (pending.deny, "Say no to a parked act."),
    (order.withdraw, "Take back what waits, or a standing yes."),
    (order.freeze, "Refuse every call that may change something."),
    (order.unfreeze, "Let such calls by again."),
    (order.mode, "Let a session, or one rule of it, refuse or only watch."),
    (order.accept, "Accept what a server lists of a pinned tool."),
    (pending.settle, "Say what became of an uncertain call."),
    (log.log, "Print what happened in a session, and why."),
    (fmt.fmt, "Print contracts in canonical form."),
    (schema.schema, "Print the JSON Schema of contract documents."),
)
"""One function a verb, and its line in the list of verbs; its name is the verb and its docstring the help."""


class Verbs(TyperGroup):
    """Turns whatever a verb raises into a message and an exit code; no traceback unless `--debug` asks for it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # `--debug` is taken wherever it stands, since it is added to a command line that has just failed
        end = args.index("--") if "--" in args else len(args)
        if "--debug" in args[:end]:
            ctx.meta["debug"] = True
            args = [arg for arg in args[:end] if arg != "--debug"] + args[end:]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        from duly.values.errors import DulyError

        try:
            return super().invoke(ctx)
        except DulyError as error:
            if ctx.meta.get("debug"):
                raise
            typer.echo(str(error), err=True)
            raise typer.Exit(3) from None
        except (MemoryError, RecursionError) as error:
            raise self._failed(ctx, error) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise self._failed(ctx, error) from None
        except Exception as error:
            if type(error).__module__.startswith("typer"):
                raise
            raise self._failed(ctx, error) from None

    def _failed(self, ctx: Any, error: BaseException) -> BaseException:
        if ctx.meta.get("debug"):
            return error
        said = " ".join(str(error).split())[:300] or "no message"
        typer.echo(f"duly failed: {type(error).__name__}: {said} (`--debug` shows where)", err=True)
        return typer.Exit(1)


def build() -> typer.Typer:
    app = typer.Typer(
        name="duly",
        cls=Verbs,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_before)
    for verb, line in VERBS:
        app.command(short_help=line)(verb)
    return app


def _version(asked: bool) -> None:
    if asked:
        from duly import __version__

        typer.echo(f"duly {__version__}")
        raise typer.Exit(0)


def _before(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where duly itself failed. May stand anywhere.")] = False,
) -> None:
    """Holds runs of LLM agents to contracts: before a tool runs, and in recorded runs.

    Exit codes: 0 fine, 1 duly itself failed, 2 usage, 3 a contract is not well formed, 4 violations found,
    5 evidence does not verify, 6 undecided or incomplete; of several the first in the order 1, 2, 3, 5, 4, 6.
    """
    del version, debug
