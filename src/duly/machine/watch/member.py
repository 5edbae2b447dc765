"""Members of a rule: names, groups and globs, each perhaps only where a condition on the arguments holds."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from duly.values.expr import UNSET, normal, reach
from duly.values.plain import write_sorted

from ..condition import Condition


class Act(Struct):
    """An act as rules see it: its name, its arguments as they would run, when, and beside which others.

    ``known`` holds what several rules work out of the same arguments.
    """

    label: str
    args: Any
    at: float = 0.0
    batch: str | None = None
    id: str | None = None
    values: dict[str, Any] = {}
    known: dict[Any, Any] = {}


class Member(Struct, frozen=True):
    """What a rule speaks of: labels, each with the conditions of which one must hold (empty: any call)."""

    labels: dict[str, tuple[Condition, ...]]
    shown: str

    def takes(self, act: Act) -> bool | None:
        """Whether an act is one of them; None where that cannot be worked out."""
        conditions = self.labels.get(act.label)
        if conditions is None:
            return False
        if not conditions:
            return True
        unsure = False
        for condition in conditions:
            answer = asked(condition, act)
            if answer is True:
                return True
            unsure = unsure or answer is None
        return None if unsure else False


def asked(condition: Condition, act: Act) -> bool | None:
    """What a condition says of an act, worked out once."""
    place = ("where", condition.text)
    answer = act.known.get(place, UNSET)
    if answer is UNSET:
        answer = act.known[place] = condition({**act.values, "args": act.args})
    return answer  # type: ignore[no-any-return]


Resolve = Callable[[Any], Member]
"""From what stands in a contract to the members that it means."""


def union(members: tuple[Member, ...], shown: str) -> Member:
    """All of these; a name that one of them takes whatever its arguments is taken so."""
    labels: dict[str, tuple[Condition, ...]] = {}
    for member in members:
        for label, conditions in member.labels.items():
            known = labels.get(label)
            labels[label] = () if not conditions or known == () else (*(known or ()), *conditions)
    return Member(labels, shown)


Path = tuple[str | int, ...]


class Field(Struct, frozen=True):
    """Where a value stands: in the arguments, or with ``result`` in the result. ``text`` is how it was written."""

    path: Path
    result: bool
    text: str


def field_of(text: str) -> Field:
    """``args.order.id``, ``result.id``, or ``order.id`` in the arguments."""
    head, _, rest = text.partition(".")
    result = head == "result" and bool(rest)
    steps = (rest if head in ("args", "result") and rest else text).split(".")
    return Field(tuple(steps), result, text)


def key_of(value: Any) -> str | None:
    """A text that equal values share and others do not; None for what is missing."""
    return None if value is UNSET or value is None else write_sorted(normal(value)).decode()


def at(field: Field, args: Any, result: Any = UNSET) -> Any:
    """The value at a field, or UNSET."""
    return reach(result if field.result else args, field.path)
