"""Packs of llmcontract: a bundle of protocol, requirements and drawing, read as a contract document."""

from typing import Final

from msgspec import structs

from .examine import Found, note, noted
from .keys import EDITION
from .node import Entry, Node, shown

_KEYS: Final = ("pack_version", "name", "description", "protocol", "requirements", "layout")


def is_pack(root: Node) -> bool:
    """Whether the document is a pack: it has a pack's version or requirements, and does not say `duly`."""
    return root.kind == "object" and root.get("duly") is None and (
        root.get("pack_version") is not None or root.get("requirements") is not None
    )


def read_pack(root: Node, found: Found) -> Node:
    """The contract document that says what the pack says; name and protocol count, drawing and description do not."""
    entries = [Entry("duly", root.span, structs.replace(root, kind="number", value=EDITION, size=1))]
    for entry in root.value:
        node = entry.node
        if entry.key not in _KEYS:
            message = f"unknown key `{entry.key[:60]}` in a pack of llmcontract"
            noted(found, "key", message, entry, f"known: {', '.join(_KEYS)}")
        elif entry.key == "pack_version":
            if node.value != "1.0":
                note(found, "value", f"expected the pack version `1.0`, got {shown(node)}", node, "write it in quotes")
        elif entry.key in ("name", "protocol"):
            if node.kind not in ("text", "null"):
                note(found, "type", f"expected a text under `{entry.key}`, got {shown(node)}", node)
            elif node.value:
                entries.append(Entry("contract" if entry.key == "name" else "protocol", entry.span, node))
        elif entry.key == "requirements" and node.value not in (None, ()):
            note(
                found, "planned", "requirements over the history are not supported by this version of duly", node,
                "write them as `rules` of a contract document; `must_precede` and `at_most` are known",
            )  # fmt: skip
    return Node("object", tuple(entries), root.span, root.path, size=root.size)
