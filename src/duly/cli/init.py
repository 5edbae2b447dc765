"""`duly init`: a first contract, commented, made from runs, a list of tools, or answers to a few questions."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec import structs

if TYPE_CHECKING:
    from .toolset import Described

READING: Final = (
    "get", "list", "search", "read", "find", "fetch", "lookup", "look", "query", "show", "view", "check", "count",
    "describe", "calculate", "think", "quote",
)  # fmt: skip
"""Words that begin the name of a tool which only reads; a guess that the written comment asks to be checked."""

class Mode(StrEnum):
    """Whether what would be refused is recorded, or refused."""

    SHADOW = "shadow"
    ENFORCE = "enforce"


def init(
    path: Annotated[Path, typer.Argument(help="Where to write the contract.")] = Path("contract.yaml"),
    traces: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            help="Recorded runs whose tools are declared: a file, a folder or a glob; may be repeated.",
            show_default=False,
        ),
    ] = None,
    mcp: Annotated[
        str | None,
        typer.Option(
            "--mcp",
            help="An MCP server whose tools are declared: its command in quotes, or its address.",
            show_default=False,
        ),
    ] = None,
    tools: Annotated[
        str | None,
        typer.Option(
            "--tools",
            help="A JSON file (or `-`) with the tools: `tools/list` of MCP, `tools` of OpenAI or Anthropic, or names.",
            show_default=False,
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--changes", help="A tool that changes something; all others then do not.", show_default=False),
    ] = None,
    first: Annotated[
        list[str] | None,
        typer.Option("--first", help="What must come first: `find -> refund`; may be repeated.", show_default=False),
    ] = None,
    cap: Annotated[
        list[str] | None,
        typer.Option(
            "--cap", help="A limit on a sum: `refund.amount=500`, or `refund.amount=500 USD in currency`.",
            show_default=False,
        ),
    ] = None,
    approve: Annotated[
        list[str] | None,
        typer.Option("--approve", help="A tool whose calls wait for a person; may be repeated.", show_default=False),
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", help="Who may decide; may be repeated.", show_default=False)
    ] = None,
    mode: Annotated[Mode, typer.Option("--mode", help="Whether refusals are recorded or in force.")] = Mode.SHADOW,
    consent: Annotated[
        bool, typer.Option("--consent/--no-consent", help="Whether nothing is changed before the user has said yes.")
    ] = True,
    ask: Annotated[bool, typer.Option("--ask", help="Ask even where no person seems to sit at a terminal.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Writes a first contract in shadow mode, to be read, corrected and checked.

    The tools come from recorded runs, from an MCP server, from a list in JSON, or are asked for. At a terminal a few
    questions are asked: what changes something, what must come first, what is limited, who approves. Whether a tool
    changes anything is otherwise guessed from its name. The rule that is always there is the most common one: no
    change before the user has said yes. What is written passes `duly check`, and each rule says what it does.

    \b
    Examples:
      duly init
      duly init contract.yaml --from runs/
      duly init contract.yaml --mcp "npx -y @modelcontextprotocol/server-filesystem ."
      duly init contract.yaml --tools tools.json --first "find -> refund" --cap "refund.amount=500 USD in currency"
      duly audit runs/ --contract contract.yaml
    """
    from duly.values.errors import DulyError

    from .output import say, usage, write

    if path.is_dir():
        raise usage(f"`{path}` is a folder", f"for example `duly init {path / 'contract.yaml'}`")
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise usage(f"`{path}` does not end in .yaml", "contracts are written as YAML")
    if path.exists() and not force:
        raise usage(f"`{path}` exists", "`--force` overwrites it")
    given = [name for name, value in (("--from", traces), ("--mcp", mcp), ("--tools", tools)) if value]
    if len(given) > 1:
        raise usage(f"`{given[0]}` and `{given[1]}` exclude one another")
    rules = bool(changes or first or cap or approve or by or not consent or mode is Mode.ENFORCE)
    if mcp is not None:
        if rules or ask:
            help = "write its `tools/list` to a file, and name it by `--tools`"
            raise usage("a server is asked for its tools alone", help)
        _put(path, _of_server(mcp, path.stem))
        write(f"{path}: what the server says of its tools, in shadow mode; please check it")
        return
    from .first import Answers, cap_of, changed, contract_text, first_of
    from .questions import answered, terminal
    from .toolset import Described

    try:
        known, origin = _known(tools, traces)
        if changes:
            known = list(changed(known, changes))
        caps = tuple(cap_of(each, [tool.name for tool in known]) for each in cap or ())
        answers = Answers(
            path.stem, tuple(known), origin, consent, tuple(map(first_of, first or ())), caps,
            tuple(approve or ()), tuple(by or ()), mode.value, bool(traces) and mode is Mode.SHADOW,
        )  # fmt: skip
        if ask or (terminal() and not yes and not rules):
            answers = answered(answers)
        elif not known:
            example = (Described("find_order", "none"), Described("refund_order", "write"))
            answers = structs.replace(answers, tools=example, origin=" of an example")
        text = contract_text(answers)
        _sound(text, path)
    except DulyError as error:
        for each in error.diagnostics:
            say(each.text())
        raise typer.Exit(2) from None
    except (typer.Abort, EOFError, KeyboardInterrupt):
        say("error: not everything was answered, so nothing is written")
        raise typer.Exit(2) from None
    _put(path, text)
    if answers.tools and answers.origin != " of an example":
        writing = sum(tool.effect == "write" for tool in answers.tools)
        write(f"{path}: {len(answers.tools)} tools, {writing} of them taken to change something; please check that")
    else:
        write(f"{path}: an example to change; `duly init --from RUNS` declares the tools of recorded runs")


def _known(tools: str | None, traces: list[str] | None) -> "tuple[list[Described], str]":
    """The tools that a list or recorded runs name, and where they come from in words."""
    from .output import say
    from .text import text_of
    from .toolset import Described, tools_of

    if tools is not None:
        return tools_of(text_of(tools), name=tools), " of the list that was given"
    if not traces:
        return [], ""
    names, runs, problems = seen(traces)
    for problem in problems:
        say(problem)
    if not runs:
        say("error: no run could be read, so nothing is written")
        raise typer.Exit(6)
    if not names:
        say(f"error: no tool is called in {runs} runs, so nothing is written")
        raise typer.Exit(6)
    return [Described(name, "none" if reads(name) else "write") for name in names], " seen in the recorded runs"


def _sound(text: str, path: Path) -> None:
    """Raises DulyError where the contract would not pass `duly check`: then an answer contradicts another."""
    from duly.check.contract import check_contract
    from duly.gates.files import packaged
    from duly.machine.contract import Contract
    from duly.notation.document import parse_terms
    from duly.values.errors import DulyError

    contract = Contract.of(parse_terms(text, name=str(path), format="yaml", fetch=packaged))
    wrong = [each for each in check_contract(contract) if each.severity == "error"]
    if wrong:
        raise DulyError(wrong)


def _put(path: Path, text: str) -> None:
    from .output import usage

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise usage(f"`{path}` cannot be written: {(error.strerror or 'unknown').lower()}") from None


def _of_server(command: str, name: str) -> str:
    from importlib.util import find_spec

    from .mcp import contract_of_server
    from .output import usage

    if find_spec("mcp") is None:
        raise usage("the MCP SDK is not installed", "in a clone of duly: pip install '.[mcp]'")
    return contract_of_server(command, name)


def seen(patterns: list[str]) -> tuple[list[str], int, list[str]]:
    """The tools called in these files, in the order of their names; how many runs; what could not be read."""
    from duly.audit.detect import read
    from duly.values.errors import DulyError
    from duly.values.event import Called

    from .audit import found
    from .output import written

    paths, missing = found(patterns, "")
    problems = [f"error: `{written(name)}` does not exist" for name in missing]
    tools: set[str] = set()
    runs = 0
    for path in paths:
        try:
            for trajectory in read(path):
                runs += 1
                for event in trajectory.events:
                    if isinstance(event, Called):
                        tools.add(event.label if event.server is None else f"{event.server}/{event.label}")
        except DulyError as error:
            problems += [each.text() for each in error.diagnostics]
    return sorted(tools), runs, problems


def reads(name: str) -> bool:
    """Whether a tool's name says that it only reads."""
    import re

    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name.split("/")[-1])
    return bool(words) and words[0].lower() in READING
