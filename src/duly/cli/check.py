"""`duly check`: what is wrong or suspicious about contracts, before anything runs."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from duly.machine.contract import Contract
    from duly.machine.graph import Graph
    from duly.values.errors import Diagnostic


def check(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            help="Contract documents, text files with a protocol, `-` for standard input, Python files or modules.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None, typer.Option("--protocol", "-p", help="A protocol, as text.", show_default=False)
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 for warnings too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the diagnostics as one JSON list.")] = False,
) -> None:
    """Says what is wrong or suspicious about contracts and protocols; loads them, and runs nothing.

    A Python module is imported, and its contracts, protocols, sessions and guarded functions are looked at.

    \b
    Examples:
      duly check contract.yaml
      duly check contracts/*.yaml --strict
      duly check --protocol "rec L.{?Ask.!lookup.?lookup.L, ?Bye.end}"
      duly check my_agent.tools --json

    Exits with 3 if there is an error, or, with --strict, a warning.
    """
    from duly.values.plain import write_json

    from .output import number, plain_diagnostic, say, usage, write

    if not targets and not protocol:
        help = "for example `duly check contract.yaml`; or name a module, or give a protocol with `--protocol`"
        raise usage("nothing to check", help)
    found: list[Diagnostic] = []
    notes: list[tuple[str, str]] = []
    for target in targets or ():
        _exists(target)
    for place, text in enumerate(protocol or (), start=1):
        found += _text(text, name="<protocol>" if place == 1 else f"<protocol {place}>")
    for target in targets or ():
        found += _target(target, notes)
    errors = sum(each.severity == "error" for each in found)
    warnings = len(found) - errors
    if json:
        rows = [plain_diagnostic(each) for each in found]
        rows += [
            {"severity": "info", "code": "unbound", "message": message, "where": where, "line": None, "column": None,
             "witness": [], "help": ""}
            for where, message in notes
        ]  # fmt: skip
        write(write_json(rows))
    else:
        for each in found:
            write(each.text())
        for where, message in notes:
            write(f"{where}: note: {message}")
        write(f"{number(errors, 'error')}, {number(warnings, 'warning')}")
    if warnings and not errors and strict and not json:
        say("warnings are errors here (`--strict`)")
    raise typer.Exit(3 if errors or (strict and warnings) else 0)


def _exists(target: str) -> None:
    from .module import is_module
    from .output import usage

    if target == "-" or os.path.isfile(target):
        return
    if os.path.isdir(target):
        raise usage(f"`{target}` is a folder", "name the documents in it")
    if target.endswith(".py") or not is_module(target) or not _importable(target, os.getcwd()):
        raise usage(f"there is no file and no module `{target}`")


def _importable(target: str, *folders: str) -> bool:
    """Whether there is such a module, in these folders too; its parents are not imported for that."""
    import sys
    from importlib.machinery import PathFinder

    here = [*folders, *sys.path]
    for part in target.split("."):
        spec = PathFinder.find_spec(part, here)
        if spec is None:
            return target in sys.builtin_module_names
        here = list(spec.submodule_search_locations or [])
    return True


def _target(target: str, notes: list[tuple[str, str]]) -> "list[Diagnostic]":
    from duly.values.errors import DulyError

    from .text import is_document, shown, text_of

    try:
        if target != "-" and target.endswith(".py"):
            return _module(target, notes)
        if target != "-" and not os.path.isfile(target):
            return _module(target, notes)
        if target != "-" and is_document(target):
            from duly import load

            return _contract(load(target))
        return _text(text_of(target), name=shown(target))
    except DulyError as error:
        return list(error.diagnostics)


def _text(text: str, *, name: str) -> "list[Diagnostic]":
    from duly.values.errors import DulyError

    from .text import graphs_of

    try:
        return [each for graph in graphs_of(text, name=name) for each in _graph(graph)]
    except DulyError as error:
        return list(error.diagnostics)


def _graph(graph: "Graph") -> "list[Diagnostic]":
    from duly.check.shape import check_shape

    return check_shape(graph)


def _contract(contract: "Contract") -> "list[Diagnostic]":
    from duly.check.contract import check_contract
    from duly.gates.labels import Classifier, run_examples

    found = [*check_contract(contract), *_guards(contract)]
    if contract.terms.examples:
        found += run_examples(contract.terms, Classifier(contract.terms.labels))
    return found


def _guards(contract: "Contract") -> "list[Diagnostic]":
    """Guards whose module Python does not find; none is imported, since a contract is data until a gate opens it."""
    from duly.values.errors import Diagnostic

    return [
        Diagnostic(
            "guard", f"the module of the guard `{guard.run}` is not found here", "warning", span=guard.span,
            help="no gate starts without it; put it where Python looks for modules",
        )
        for guard in contract.terms.guards
        if not _importable(guard.run.partition(":")[0])
    ]  # fmt: skip


def _module(target: str, notes: list[tuple[str, str]]) -> "list[Diagnostic]":
    from msgspec import structs

    from duly.values.errors import Diagnostic

    from .module import check_bindings, holding, import_target, unbound

    held = holding(import_target(target))
    if not held.contracts and not held.graphs:
        message = "holds no contract, protocol or session at the top level"
        return [Diagnostic("nothing", message, path=target, help="name the module that builds the contract")]
    inside = {id(graph) for _, contract in held.contracts for graph in contract.terms.protocols}
    found: list[Diagnostic] = []
    for place, contract in held.contracts:
        found += [
            structs.replace(each, path=f"{target}:{place}") if not each.span else each for each in _contract(contract)
        ]
    for _, graph in held.graphs:
        if id(graph) not in inside:
            found += _graph(graph)
    found += check_bindings(held, target)
    missing = unbound(held)
    if missing:
        notes.append((target, f"declared tools without a guarded function: {', '.join(missing)}"))
    return found
