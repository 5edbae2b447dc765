"""The import floor: imports go down, the lower floors touch nothing of the world, and `import duly` stays cheap."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct

import duly

SRC: Final = Path(duly.__file__).parent
FLOORS: Final = (
    ("values",), ("machine",), ("check",), ("notation",), ("session",), ("journal",), ("gates",), ("audit",),
    ("cli", "demo", "testing", "web"),
)  # fmt: skip
"""From the ground up. Rooms on one floor do not import each other."""
PURE: Final = ("values", "machine", "check", "notation", "session")
"""The rooms below the double line."""
DATA: Final = ("labels",)
"""Rooms that hold files and no code."""

STANDARD: Final = frozenset({
    "array", "bisect", "collections", "contextlib", "copy", "datetime", "decimal", "difflib", "enum", "functools",
    "gc", "hashlib", "heapq", "html", "importlib", "itertools", "json", "math", "operator", "re", "string", "tomllib",
    "types", "typing", "unicodedata", "zlib",
})  # fmt: skip
"""What the pure rooms may import of the standard library: no clock, disk, network, randomness, logging, threads."""
OTHERS: Final = frozenset({"lark", "msgspec", "yaml", "cel_expr_python", "re2", "jsonschema_rs"})
"""What they may import beside it."""
LOCKS: Final = {
    "machine/formula/parse.py": "threading",  # the same for formulas
    "machine/watch/calendar.py": "zoneinfo",  # the days of zones, read when a contract is loaded
    "session/ledger.py": "_thread",  # and so may a ledger
    "session/session.py": "_thread",  # a session may be shared between threads
    "notation/strings.py": "threading",  # the parser's tables are built once for all threads
}
ABOVE: Final = {
    "gates": frozenset({"anyio", "msgspec", "re2"}),
    "journal": frozenset({"msgspec"}),
    "audit": frozenset({"msgspec", "rich"}),
    "cli": frozenset({"msgspec", "rich", "typer"}),
    "demo": frozenset({"msgspec", "rich", "typer", "xllamacpp"}),
    "testing": frozenset({"msgspec", "pytest"}),
}
"""What the rooms above the double line may import beside the standard library."""
VENDORS: Final = {
    "gates/mcp/": frozenset({"anyio", "mcp", "mcp_types", "starlette", "uvicorn"}),
    "demo/served.py": frozenset({"anyio", "mcp"}),
    "demo/server.py": frozenset({"mcp", "mcp_types"}),
}
"""One vendor, one place, one extra: what only the files there may import."""
SLOW: Final = ("lark", "yaml", "cel_expr_python", "re2", "jsonschema_rs", "typer", "rich", "asyncio", "threading")

NAMES: Final = frozenset({
    "Above", "Allowed", "Approval", "Blocked", "Breaker", "Callback", "Called", "Charged", "Classifier", "Closed",
    "Contract", "Decided", "Diagnostic", "DulyError", "Elapsed", "Event", "Example", "Failed", "Gate", "Graph",
    "JournalError", "LabelRule", "Ledger", "Legal", "Listed", "NeedsApproval", "Opened", "Ordered", "Outside",
    "OutsideGuard", "Past", "Program", "Reason", "Received", "Refused", "Repair", "Returned", "Rule", "Sent",
    "Session", "Stand", "Terms", "Tool", "Transition", "Unrecognized", "Verdict", "Violation", "at_least", "at_most",
    "at_most_total", "between", "blocks", "collects", "cooldown", "count", "decide", "definition_digest", "did",
    "did_all", "did_any", "did_at_least", "did_at_most", "ensures", "exclusive", "forbid", "formula", "fresh", "guard",
    "history", "immediately_before", "learns", "load", "merge", "must_follow", "must_happen", "must_precede",
    "never_after", "no_repeat", "observe", "open_journal", "pack", "permit", "protocol", "rate_limit", "requires",
    "transitions", "within",
})  # fmt: skip
"""The public names. One that goes or comes is a change for users, and is noted in the changelog."""


class Import(Struct, frozen=True):
    """One import statement: the module that is named, and how many rooms up it is looked for."""

    file: str
    line: int
    module: str
    level: int

    @property
    def room(self) -> str:
        return self.file.split("/")[0]

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def imports() -> Iterator[Import]:
    for path in sorted(SRC.rglob("*.py")):
        file = path.relative_to(SRC).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (Import(file, node.lineno, alias.name, 0) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield Import(file, node.lineno, node.module or "", node.level)


ALL: Final = tuple(imports())
INSIDE: Final = tuple(each for each in ALL if "/" in each.file)


def floor(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def test_every_room_has_a_floor() -> None:
    rooms = {path.name for path in SRC.iterdir() if path.is_dir() and list(path.glob("*.py"))}
    assert rooms - {room for rooms in FLOORS for room in rooms} - {*DATA} == set()


def test_relative_imports_stay_in_a_room() -> None:
    climbing = [each.place for each in INSIDE if each.level >= each.file.count("/") + 1]
    assert climbing == []


def test_absolute_imports_go_to_a_lower_floor() -> None:
    wrong = []
    for each in INSIDE:
        first, _, rest = each.module.partition(".")
        if each.level or first != "duly":
            continue
        target = rest.split(".")[0]
        # the doors may use the public face; whoever stands below it would go round in a circle
        above = (
            floor(each.room) < len(FLOORS) - 1
            if not target
            else target not in DATA and floor(target) >= floor(each.room)
        )
        if above:
            wrong.append(f"{each.place} imports {each.module}")
    assert wrong == []


def test_the_pure_rooms_import_nothing_that_touches_the_world() -> None:
    wrong = []
    for each in INSIDE:
        first = each.module.split(".")[0]
        if each.room not in PURE or each.level or first == "duly" or LOCKS.get(each.file) == first:
            continue
        if first not in STANDARD and first not in OTHERS:
            wrong.append(f"{each.place} imports {first}")
    assert wrong == []


def test_the_pure_rooms_do_not_ask_what_time_it_is() -> None:
    asked = []
    for path in sorted(path for room in PURE for path in (SRC / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("now", "utcnow", "today", "fromtimestamp"):
                asked.append(f"{path.name}:{node.lineno}")
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("open", "print", "input")
            ):
                asked.append(f"{path.name}:{node.lineno}")
    assert asked == []


def test_other_rooms_import_only_what_they_are_known_for() -> None:
    wrong = []
    for each in INSIDE:
        first = each.module.split(".")[0]
        if each.level or each.room in (*PURE, *DATA) or first == "duly" or first in sys.stdlib_module_names:
            continue
        allowed = frozenset().union(*(names for place, names in VENDORS.items() if each.file.startswith(place)))
        if first not in ABOVE.get(each.room, frozenset()) | allowed:
            wrong.append(f"{each.place} imports {first}")
    assert wrong == []


def test_files_are_small() -> None:
    sizes = {path.relative_to(SRC).as_posix(): len(path.read_text().splitlines()) for path in SRC.rglob("*.py")}
    assert {file: lines for file, lines in sizes.items() if lines > 400} == {}


def test_the_public_names_are_these() -> None:
    assert {*duly.__all__} == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(duly, name) is not None


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = duly.no_such_name  # type: ignore[attr-defined]


def test_importing_duly_loads_no_parser_no_sdk_and_no_command_line() -> None:
    code = f"import sys, duly; print(sorted({{*{SLOW!r}}} & {{*sys.modules}}))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_importing_duly_loads_only_the_standard_library_and_msgspec() -> None:
    code = "import sys, duly; print(sorted({m.split('.')[0] for m in sys.modules} - {*sys.stdlib_module_names}))"
    bare = subprocess.run(
        [sys.executable, "-c", code.replace("duly", "os")], capture_output=True, text=True, check=True
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(said.stdout)) - set(ast.literal_eval(bare.stdout))
    # msgspec looks for typing_extensions where it is installed
    assert loaded - {"typing_extensions"} == {"duly", "msgspec"}
