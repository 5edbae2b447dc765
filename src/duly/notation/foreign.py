"""What the readers of other libraries' files share: names that are meant as written, keys that would be ignored, and
nodes that stand where what they say was written."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from duly.values.errors import nearest

from .examine import Found, note, noted
from .node import Entry, Node, shown

# Plain words that PyYAML, by YAML 1.1, takes for something other than a text, and readers of YAML 1.2 for a text.
ELEVEN: Final = re.compile(
    r"(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)|[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*"
    r"(?::[0-5]?[0-9])*(?:\.[0-9_]*)?)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt\s].*)?|=|<<"
)


def known(
    node: Node, keys: tuple[str, ...], where: str, found: Found, meant: Mapping[str, str] | None = None
) -> None:
    """Keys that would be ignored are faults."""
    for entry in node.value:
        if entry.key not in keys:
            near = (meant or {}).get(entry.key) or nearest(entry.key, keys)
            message = f"unknown key `{entry.key[:60]}` in {where}"
            noted(found, "key", message, entry, f"did you mean `{near}`?" if near else f"known: {', '.join(keys)}")


def isa(kind: str, node: Node, called: str, expected: str, found: Found) -> bool:
    """Whether a node is of a kind; a fault where it is not."""
    if node.kind == kind:
        return True
    written = node.span.text() if node.span is not None else str(node.value)
    help = f'write it in quotes: "{written[:60]}"' if kind == "text" and node.kind in ("number", "truth") else ""
    note(found, "type", f"expected {expected} under {called}, got {shown(node)}", node, help)
    return False


def exact_name(node: Node, called: str, whose: str, found: Found) -> Node:
    """A name that is meant as it is written; here it must not read as a group, a glob, or as no text at all."""
    if not isa("text", node, called, "the name of a tool", found) or eleven(node, called, whose, found):
        return node
    if not node.value.strip():
        note(found, "value", f"expected a name under {called}, got an empty text", node, "name a tool")
    elif "*" in node.value or node.value.startswith("@"):
        kind = "group" if node.value.startswith("@") else "glob"
        message = f"{shown(node)} is one name for {whose}, and would be a {kind} here"
        note(found, "value", message, node, "write a contract document, where groups and globs are declared")
    return node


def eleven(node: Node, called: str, whose: str, found: Found) -> bool:
    """Whether the readers of YAML 1.1 take a plain word for something else than a text."""
    if node.style != "plain" or ELEVEN.fullmatch(node.value) is None:
        return False
    note(found, "type", f"{shown(node)} without quotes is no text for {whose} under {called}", node,
         f'write it in quotes: "{node.value[:60]}"')  # fmt: skip
    return True


def listed(at: Node, items: Sequence[Node]) -> Node:
    """A list that stands where ``at`` stands."""
    return Node("list", tuple(items), at.span, at.path, size=1 + sum(item.size for item in items))


def mapped(at: Node, items: Sequence[tuple[str, Node]]) -> Node:
    """A mapping that stands where ``at`` stands, each key where its value does."""
    entries = tuple(Entry(key, value.span, value) for key, value in items)
    return Node("object", entries, at.span, at.path, size=1 + sum(value.size for _, value in items))
