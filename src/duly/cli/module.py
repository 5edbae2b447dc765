"""What a Python module holds that `duly check` looks at: contracts, protocols, sessions, guarded functions."""

import contextlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import Any

from msgspec import Struct, field

from duly.machine.contract import Contract
from duly.machine.graph import Graph
from duly.session.session import Session
from duly.values.errors import Diagnostic, DulyError, suggest


class Holding(Struct):
    """The contracts of a module (those of its sessions included), its protocols, and what guards which label."""

    contracts: list[tuple[str, Contract]] = field(default_factory=list)
    graphs: list[tuple[str, Graph]] = field(default_factory=list)
    guarded: list[tuple[str, str, Contract]] = field(default_factory=list)


def is_module(target: str) -> bool:
    """Whether the target reads as a module's name: `package.module`."""
    return all(part.isidentifier() for part in target.split("."))


def import_target(target: str) -> ModuleType:
    """Imports `package.module` or `file.py`; raises DulyError with what went wrong.

    What the module prints goes to standard error, so that it does not mix with the answer.
    """
    file = target if target.endswith(".py") else None
    with contextlib.redirect_stdout(sys.stderr), _found_here():
        try:
            return _from_file(Path(file)) if file is not None else importlib.import_module(target)
        except DulyError as error:
            raise DulyError([_failed(target, error), *error.diagnostics]) from None
        except (Exception, SystemExit) as error:
            raise DulyError([_failed(target, error)]) from error


@contextlib.contextmanager
def _found_here() -> Iterator[None]:
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(here)


def _from_file(path: Path) -> ModuleType:
    name = path.stem if path.stem.isidentifier() else "checked"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    known = sys.modules.get(name)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.resolve().parent))
        if known is not None:
            sys.modules[name] = known
    return module


def _failed(target: str, error: BaseException) -> Diagnostic:
    """The import's error at the line where it came up; of a faulty definition, at the line that states it."""
    place = target
    if isinstance(error, SyntaxError) and error.lineno is not None:
        place = f"{error.filename or target}:{error.lineno}:{error.offset or 1}"
    else:
        for frame in walk_tb(error.__traceback__):
            name = frame[0].f_code.co_filename
            if not name.startswith("<") and (not isinstance(error, DulyError) or _OWN not in Path(name).parents):
                place = f"{name}:{frame[1]}"
    said = "" if isinstance(error, DulyError) else " ".join(str(error).split())[:300]
    kind = "a definition is faulty" if isinstance(error, DulyError) else type(error).__name__
    message = f"`{target}` cannot be imported: {kind}" + (f": {said}" if said else "")
    return Diagnostic("import", message, path=place, help="check imports the module, so it must import by itself")


_OWN = Path(__file__).resolve().parent.parent


def holding(module: ModuleType) -> Holding:
    """What the module's names hold, the attributes of its classes and the items of its lists and dicts included."""
    found = Holding()
    seen: set[int] = set()
    for name, value in list(vars(module).items()):
        for place, item in _spread(name, value, module):
            if id(item) in seen:
                continue
            seen.add(id(item))
            _take(found, place, item, seen)
    return found


def _spread(name: str, value: Any, module: ModuleType) -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, dict) and not name.startswith("__"):
        yield from ((f"{name}[{key!r}]", item) for key, item in list(value.items()))
    elif isinstance(value, list | tuple):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value))
    elif isinstance(value, type) and value.__module__ == module.__name__:
        yield from ((f"{name}.{key}", item) for key, item in list(vars(value).items()))


def _take(found: Holding, place: str, item: Any, seen: set[int]) -> None:
    if isinstance(item, Contract):
        found.contracts.append((place, item))
    elif isinstance(item, Graph):
        found.graphs.append((place, item))
    elif isinstance(item, Session):
        _once(found, place, item.contract, seen)
    else:
        mark = getattr(item, "__duly__", None) if callable(item) else None
        if isinstance(mark, tuple) and len(mark) == 2:
            gate, label = mark
            contract = gate.session.contract
            _once(found, place, contract, seen)
            found.guarded.append((place, label, contract))


def _once(found: Holding, place: str, contract: Contract, seen: set[int]) -> None:
    if id(contract) not in seen:
        seen.add(id(contract))
        found.contracts.append((place, contract))


def check_bindings(found: Holding, target: str) -> list[Diagnostic]:
    """Errors for guarded functions whose label the contract does not know."""
    return [
        Diagnostic(
            "unknown", f"`{place}` is guarded as `{label}`, which the contract does not know", path=f"{target}:{place}",
            help=suggest(label, contract.acts) or "declare it, or give the guard another `name`",
        )
        for place, label, contract in found.guarded
        if contract.closed and label not in contract.acts
    ]  # fmt: skip


def unbound(found: Holding) -> list[str]:
    """Declared tools for which the module has no guarded function."""
    if not found.guarded:
        return []
    bound = {label for _, label, _ in found.guarded}
    contracts: Iterable[Contract] = (contract for _, contract in found.contracts)
    return sorted({name for contract in contracts for name in contract.tools if name not in bound})
