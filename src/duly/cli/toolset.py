"""Lists of tools as others write them: what MCP servers answer, what the APIs of OpenAI and Anthropic take, names."""

from typing import Any, Final

from msgspec import Struct

from duly.notation.json import read_json_nodes
from duly.notation.node import Node, plain, shown
from duly.values.errors import Diagnostic, DulyError, fault
from duly.values.source import Source

from .init import reads

LONGEST: Final = 500
"""Characters of a tool's name."""
_HELP: Final = "as in `tools/list` of MCP, `tools` of OpenAI or Anthropic, or `[\"find\", \"refund\"]`"
_SCHEMAS: Final = ("inputSchema", "input_schema", "parameters", "properties")


class Described(Struct, frozen=True):
    """A tool as a list describes it; ``said`` says whether the list itself told what it changes."""

    name: str
    effect: str
    said: bool = False
    idempotent: bool = False
    arguments: tuple[str, ...] = ()


def tools_of(text: str, *, name: str) -> list[Described]:
    """The tools of a list in JSON; raises DulyError with all that is wrong with it."""
    if not text.strip():
        raise fault("empty", "the list of tools is empty", path=name, help=_HELP)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise fault("utf8", "the text holds half of a surrogate pair", path=name, help="remove the character") from None
    rows = _rows(read_json_nodes(Source(name, text.removeprefix("\ufeff"))))
    if rows is None:
        raise fault("type", "this is no list of tools", path=name, help=_HELP)
    found: list[Diagnostic] = []
    tools: dict[str, Described] = {}
    for row in rows:
        said = _tool(row, found)
        if said is None:
            continue
        if said.name in tools:
            found.append(Diagnostic("repeated", f"the tool `{said.name[:60]}` is listed twice", span=row.span,
                                    help="take one of them out"))  # fmt: skip
        tools[said.name] = said
    if found:
        raise DulyError(found)
    if not tools:
        raise fault("empty", "the list names no tools", path=name, help=_HELP)
    return list(tools.values())


def _rows(root: Node) -> tuple[Node, ...] | None:
    """The items of the list, wherever it stands: by itself, under `tools`, or in the answer of a server."""
    for _ in range(3):
        if root.kind == "list":
            return root.value  # type: ignore[no-any-return]
        inner = root.get("tools") or root.get("result") or root.get("functions")
        if inner is None:
            break
        root = inner
    return None


def _tool(row: Node, found: list[Diagnostic]) -> Described | None:
    if row.kind == "text":
        return _described(row, row, None, found)
    inner = row.get("function")
    if inner is not None and inner.kind == "object":
        row = inner
    name = row.get("name") or (row.get("title") if row.get("properties") is not None else None)
    if name is None:
        message = f"expected a tool with a `name`, got {shown(row)}"
        found.append(Diagnostic("type", message, span=row.span, help=_HELP))
        return None
    return _described(name, row, plain(row), found)


def _described(name: Node, row: Node, said: Any, found: list[Diagnostic]) -> Described | None:
    if name.kind != "text" or not name.value.strip() or len(name.value) > LONGEST or "\0" in name.value:
        wrong = "an empty text" if name.kind == "text" and not name.value.strip() else shown(name)
        message = f"expected the name of a tool, a text of 1 to {LONGEST} characters, got {wrong}"
        found.append(Diagnostic("name", message, span=name.span or row.span, help="rename the tool"))
        return None
    hints = said.get("annotations") if isinstance(said, dict) else None
    hints = hints if isinstance(hints, dict) else {}
    only = hints.get("readOnlyHint")
    effect = "none" if only is True or (only is not False and reads(name.value)) else "write"
    idempotent = effect == "write" and hints.get("idempotentHint") is True
    return Described(name.value, effect, isinstance(only, bool), idempotent, _arguments(said))


def _arguments(said: Any) -> tuple[str, ...]:
    """The names of the arguments, where the description is a schema that lists them."""
    if not isinstance(said, dict):
        return ()
    schema: dict[str, Any] = next((said[key] for key in _SCHEMAS if isinstance(said.get(key), dict)), {})
    listed = schema if schema is said.get("properties") else schema.get("properties")
    return tuple(listed) if isinstance(listed, dict) else ()
