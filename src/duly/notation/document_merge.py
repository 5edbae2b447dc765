"""What a document includes, merged into it: names are united, lists are joined, and nothing wins silently."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import structs

from duly.machine.terms import Example, LabelRule, Rule, Terms, Tool

from .examine import Found, note
from .node import Node

# An included document may not change how the whole contract is held; its name and version are its own.
_SETTINGS: Final = (
    "mode", "withdraw_on", "breaker", "on_violation", "show", "count", "forever", "view", "undeclared",
)  # fmt: skip
_SPELLED: Final = {"count": "audit"}
_DEFAULT: Final = Terms()


def merge(own: Terms, parts: Sequence[tuple[Terms, Node]], found: Found) -> Terms:
    """The document's terms with those it includes behind; each part comes with the place that includes it."""
    if not parts:
        return own
    # its own labels come first, since labels are tried in order
    all_terms = [own, *(part for part, _ in parts)]
    for part, node in parts:
        for name in _SETTINGS:
            if getattr(part, name) not in (getattr(_DEFAULT, name), getattr(own, name)):
                spelled = _SPELLED.get(name, name)
                note(
                    found, "include", f"`{node.value}` sets `{spelled}`, which holds for the whole contract", node,
                    f"set `{spelled}` here, too, or take it out there",
                )  # fmt: skip
    places = [parts[0][1], *(node for _, node in parts)]
    united: dict[str, dict[str, Any]] = {}
    for kind in ("tools", "groups", "aliases", "labels", "facts"):
        united[kind] = _unite(kind, [getattr(terms, kind) or {} for terms in all_terms], places, found)
    _one_rest(united["labels"], places, found)
    protocols = tuple({id(graph): graph for terms in all_terms for graph in terms.protocols}.values())
    names = [graph.name for graph in protocols]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        called = f"are called `{name}`" if name else "have no name"
        note(found, "include", f"two protocols {called}", places[-1], "name them under `protocols`")
    return structs.replace(
        own,
        tools=None if all(terms.tools is None for terms in all_terms) else united["tools"],
        groups=united["groups"], aliases=united["aliases"], labels=united["labels"], facts=united["facts"],
        protocols=protocols,
        rules=_joined([terms.rules for terms in all_terms]),
        budget=_joined([terms.budget for terms in all_terms]),
        approvals=_joined([terms.approvals for terms in all_terms]),
        guards=_joined([terms.guards for terms in all_terms]),
        outside=tuple(dict.fromkeys(name for terms in all_terms for name in terms.outside)),
        examples=_joined([terms.examples for terms in all_terms]),
    )  # fmt: skip


def _unite(kind: str, sections: list[dict[str, Any]], places: list[Node], found: Found) -> dict[str, Any]:
    united: dict[str, Any] = {}
    for section, place in zip(sections, places, strict=True):
        for name, value in section.items():
            if name in united and _bare(united[name]) != _bare(value):
                note(
                    found, "include", f"`{name}` is declared twice under `{kind}`, and differently", place,
                    "declare it once",
                )  # fmt: skip
            united.setdefault(name, value)
    return united


def _one_rest(labels: dict[str, LabelRule], places: list[Node], found: Found) -> None:
    rest: dict[str, str] = {}
    for label in labels.values():
        if label.otherwise and rest.setdefault(label.source, label.name) != label.name:
            message = f"`{rest[label.source]}` and `{label.name}` both take what is left"
            note(found, "include", message, places[-1], "let one label of a source say `otherwise`")


def _bare(value: Any) -> Any:
    """A declaration without its place."""
    return structs.replace(value, span=None) if isinstance(value, Tool | LabelRule | Rule | Example) else value


def _joined(sections: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """All of them in order, the same one (a document included on two ways) once."""
    return tuple({id(item): item for section in sections for item in section}.values())
