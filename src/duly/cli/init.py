"""`duly init`: a first contract, commented, and made from recorded runs where there are some."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

import typer

READING: Final = (
    "get", "list", "search", "read", "find", "fetch", "lookup", "look", "query", "show", "view", "check", "count",
    "describe", "calculate", "think", "quote",
)  # fmt: skip
"""Words that begin the name of a tool which only reads; a guess that the written comment asks to be checked."""

_GROUPS: Final = """
# Names for sets of tools, written `@change` where they are used.
groups:
  change: {effect: write}
"""
_INCLUDE: Final = """
# How a yes is known: `duly:lenient` takes any affirmative word, and suits a first look at old runs. Before anything is
# enforced, change it to `duly:strict`, which takes only a plain yes.
include: ["duly:lenient"]
"""
_RULES: Final = """
# What must hold, whatever the order of everything else. Nothing is changed before the user has said yes.
rules:
  - must_precede: [Yes, "@change"]
"""
_EXAMPLES: Final = """
# What your users write, and what it is called. `duly check` runs these.
examples:
  - {text: "Yes, please.", label: Yes}
  - {text: "What would that cost?", label: Other}
"""


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
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Writes a first contract in shadow mode, to be read, corrected and checked.

    With recorded runs, the tools seen in them are declared. Whether a tool changes anything is guessed from its
    name and is to be checked. The rule is the most common one: no change before the user has said yes.

    \b
    Examples:
      duly init
      duly init contract.yaml --from runs/
      duly init contract.yaml --mcp "npx -y @modelcontextprotocol/server-filesystem ."
      duly audit runs/ --contract contract.yaml
    """
    from .output import say, usage, write

    if path.is_dir():
        raise usage(f"`{path}` is a folder", f"for example `duly init {path / 'contract.yaml'}`")
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise usage(f"`{path}` does not end in .yaml", "contracts are written as YAML")
    if path.exists() and not force:
        raise usage(f"`{path}` exists", "`--force` overwrites it")
    if mcp is not None and traces:
        raise usage("`--from` and `--mcp` exclude one another")
    tools: list[str] = []
    if traces:
        tools, runs, problems = seen(traces)
        for problem in problems:
            say(problem)
        if not runs:
            say("error: no run could be read, so nothing is written")
            raise typer.Exit(6)
        if not tools:
            say(f"error: no tool is called in {runs} runs, so nothing is written")
            raise typer.Exit(6)
    text = _of_server(mcp, path.stem) if mcp is not None else contract_text(path.stem, tools)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise usage(f"`{path}` cannot be written: {(error.strerror or 'unknown').lower()}") from None
    if mcp is not None:
        write(f"{path}: what the server says of its tools, in shadow mode; please check it")
    elif tools:
        changing = [name for name in tools if not reads(name)]
        write(f"{path}: {len(tools)} tools, {len(changing)} of them taken to change something; please check that")
    else:
        write(f"{path}: an example to change; `duly init --from RUNS` declares the tools of recorded runs")


def _of_server(command: str, name: str) -> str:
    from importlib.util import find_spec

    from .mcp import contract_of_server
    from .output import usage

    if find_spec("mcp") is None:
        raise usage("the MCP SDK is not installed", "pip install 'duly[mcp]'")
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


def contract_text(name: str, tools: Iterable[str]) -> str:
    """The contract as commented YAML."""
    from duly.notation.emit import scalar

    known = list(tools)
    head = [
        "# What this agent may do. Change it, run `duly check` and, on recorded runs, `duly audit`; then enforce it.",
        "duly: 1",
        f"contract: {scalar(name)}",
        'version: "0.1"',
        "mode: shadow  # everything runs, and what would be refused is recorded; `enforce` refuses it",
        "",
    ]
    if known:
        head.append("# The tools seen in the recorded runs. There are no others: a call of another tool is refused.")
        head.append(
            "# `effect` is guessed from the name; check it. `error` says how a failed call is known by its result."
        )
        head.append('# For example {effect: write, error: "has(result.error)"}; ask `has` before a field is compared.')
    else:
        head.append("# The tools, with what they change. When this is given there are no others.")
        known = ["find_order", "refund_order"]
    head.append("tools:")
    head += [f"  {scalar(tool)}: {{effect: {'none' if reads(tool) else 'write'}}}" for tool in known]
    if all(reads(tool) for tool in known):
        head.append("# No tool seems to change anything, so there is nothing yet that must wait for a yes.")
        return "\n".join(head) + "\n" + _INCLUDE + _EXAMPLES
    return "\n".join(head) + "\n" + _GROUPS + _INCLUDE + _RULES + _EXAMPLES
