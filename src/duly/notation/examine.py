"""Whether a document has the shape it must have; every fault is reported, each where it stands."""

from collections.abc import Iterable
from typing import Any

from duly.values.errors import Diagnostic, nearest

from .duration import EXAMPLES, seconds
from .node import Entry, Node, shown
from .shape import (
    Anything,
    Choice,
    Duration,
    Either,
    Exactly,
    Key,
    Listing,
    Mapping,
    Record,
    Rows,
    Shape,
    Text,
    Whole,
    expected,
    kinds,
)  # fmt: skip

Found = list[Diagnostic]


def examine(shape: Shape, node: Node, found: Found, called: str = "") -> bool:
    """Whether the node has the shape; what is wrong is appended to ``found``."""
    before = len(found)
    if node.kind not in kinds(shape):
        note(found, "type", f"expected {expected(shape)}{called}, got {shown(node)}", node, _advice(shape, node))
    elif isinstance(shape, Either):
        examine(next(each for each in shape.shapes if node.kind in kinds(each)), node, found, called)
    elif isinstance(shape, Text):
        _text(shape, node, found, called)
    elif isinstance(shape, Duration):
        if seconds(node.value) is None:
            help = f"write seconds as a number above 0, or for example {EXAMPLES}"
            note(found, "value", f"expected {expected(shape)}{called}, got {shown(node)}", node, help)
    elif isinstance(shape, Whole | Exactly):
        # 1.0 and 1e3 are decimals in YAML and TOML, so they are no integers anywhere
        if type(node.value) is not int:
            note(found, "type", f"expected {expected(shape)}{called}, got {shown(node)}", node)
        elif node.value < shape.least if isinstance(shape, Whole) else node.value != shape.value:
            note(found, "value", f"expected {expected(shape)}{called}, got {shown(node)}", node)
    elif isinstance(shape, Choice):
        if node.value not in shape.options:
            near = nearest(node.value, shape.options)
            help = f"did you mean `{near}`?" if near else ""
            note(found, "value", f"expected {expected(shape)}{called}, got {shown(node)}", node, help)
    elif isinstance(shape, Listing):
        _listing(shape, node, found, called)
    elif isinstance(shape, Mapping):
        for entry in node.value:
            if not entry.key.strip():
                noted(found, "key", f"an empty name{called}", entry)
            examine(shape.item, entry.node, found, f" for `{entry.key[:60]}`")
    elif isinstance(shape, Record):
        _record(shape, node, found, called)
    elif isinstance(shape, Rows):
        for row in node.value:
            _row(shape, row, found)
    return len(found) == before


def note(found: Found, code: str, message: str, node: Node, help: str = "") -> None:
    """A fault at a node."""
    found.append(Diagnostic(code, message, span=node.span, path="" if node.span else node.path, help=help))


def noted(found: Found, code: str, message: str, entry: Entry, help: str = "") -> None:
    """A fault at a key."""
    found.append(
        Diagnostic(code, message, span=entry.span, path="" if entry.span else entry.node.path, help=help)
    )


def _text(shape: Text, node: Node, found: Found, called: str) -> None:
    if node.kind == "null":
        return
    if shape.called in ("a name", "a condition (CEL)") and not node.value.strip():
        note(found, "value", f"expected {expected(shape)}{called}, got an empty text", node)
    elif shape.regex:
        problem = pattern_problem(node.value)
        if problem:
            note(found, "pattern", f"the pattern{called} does not compile: {problem}", node,
                 "patterns are RE2: no look-around, no back-references")  # fmt: skip


def pattern_problem(pattern: str) -> str:
    """Why a pattern is no RE2 pattern; empty if it is one."""
    import re2  # type: ignore[import-untyped]

    try:
        re2.compile(pattern, pattern_options())
    except (re2.error, ValueError) as error:
        text = error.args[0] if error.args else str(error)
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return ""


def pattern_options() -> Any:
    """How every pattern of a contract is compiled: quietly, and within a bound."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    return options


def _listing(shape: Listing, node: Node, found: Found, called: str) -> None:
    if shape.length is not None and len(node.value) != shape.length:
        note(found, "type", f"expected {expected(shape)}{called}, got {len(node.value)} of them", node)
    seen: set[str] = set()
    for item in node.value:
        if examine(shape.item, item, found, called) and shape.unique:
            if item.value in seen:
                note(found, "repeated", f"{shown(item)} is listed twice{called}", item)
            seen.add(item.value)


def _record(shape: Record, node: Node, found: Found, called: str) -> None:
    for entry in node.value:
        key = shape.key(entry.key)
        if key is not None:
            examine(key.shape, entry.node, found, f" under `{key.name}`")
        elif entry.key in shape.planned:
            _planned(found, entry)
        else:
            _unknown(found, entry, [each.name for each in shape.keys], shape.planned, f" in {shape.called}")
    for key in shape.keys:
        if key.required and node.get(key.name) is None:
            note(found, "missing", f"the key `{key.name}` is missing{called}", node, _required(key))


def _row(shape: Rows, row: Node, found: Found) -> None:
    if row.kind != "object":
        note(found, "type", f"expected a rule, got {shown(row)}", row, f"write `- {shape.heads[0].name}: …`")
        return
    heads = {key.name: key for key in (*shape.heads, *shape.others)}
    named = [entry for entry in row.value if entry.key in heads]
    strange = False
    for entry in row.value:
        option = shape.options.key(entry.key)
        if entry.key in heads:
            examine(heads[entry.key].shape, entry.node, found, f" under `{entry.key}`")
        elif option is not None:
            examine(option.shape, entry.node, found, f" under `{entry.key}`")
        elif entry.key in shape.planned:
            strange = True
            _planned(found, entry)
        else:
            strange = True
            _unknown(found, entry, [*heads, *(key.name for key in shape.options.keys)], shape.planned, "", "rule")
    if len(named) > 1:
        message = f"`{named[0].key}` and `{named[1].key}` stand in one rule"
        noted(found, "key", message, named[1], "begin a new item with `-`")
    elif not named and not strange:
        known = ", ".join(f"`{name}`" for name in [*heads][:3])
        note(found, "missing", "the rule says nothing", row, f"name one of {known} or {len(shape.heads) - 3} others")


def _planned(found: Found, entry: Entry) -> None:
    noted(
        found, "planned", f"`{entry.key}` is not supported by this version of duly", entry,
        "a contract is never loaded with a part of it ignored; take it out, or use a version that knows it",
    )  # fmt: skip


def _unknown(
    found: Found, entry: Entry, names: list[str], planned: Iterable[str], where: str, what: str = "key"
) -> None:
    # a planned name is the better guess where it is nearer, although it is refused in turn
    near = nearest(entry.key, [*names, *planned])
    message = f"unknown {what} `{entry.key[:60]}`{where}" + (f"; did you mean `{near}`?" if near else "")
    noted(found, "key", message, entry, "" if near else f"known: {', '.join(names)}")


def _required(key: Key) -> str:
    return f"write `{key.name}: {key.shape.value}`" if isinstance(key.shape, Exactly) else key.about


def _advice(shape: Shape, node: Node) -> str:
    if "text" in kinds(shape) and node.kind in ("number", "truth") and not isinstance(shape, Anything):
        written = node.span.text() if node.span is not None else str(node.value)
        return f'write it in quotes: "{written[:60]}"'
    if node.kind == "null" and "object" in kinds(shape):
        return "write `{}` where there is nothing to say"
    if node.kind == "text" and kinds(shape) == ("list",):
        return f"write `[{node.value[:60]}]`"
    return ""
