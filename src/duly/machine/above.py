"""Approvals from a total on: sums that ask people for what would lead beyond them."""

from typing import Any

from duly.values.errors import Diagnostic

from .approvals import Asker
from .names import Names
from .rules import misfits
from .templates import Maker, at_most_total
from .terms import Above, Rule, Terms
from .watch.watch import Watch


def sums(people: tuple[Asker, ...], names: Names, terms: Terms, learnt: frozenset[str]) -> tuple[Watch, ...]:
    """One sum for each approval that has a total, under the approval's id; faults go to ``names``.

    It is ``at_most_total`` with ``on_excess: ask``, so that both count alike.
    """
    found: list[Watch] = []
    for asker in people:
        above, span = asker.approval.above, asker.approval.span
        if above is None:
            continue
        wrong = _misfit(above)
        args: dict[str, Any] = {"of": asker.approval.of, "field": above.total, "limit": above.limit}
        rule = Rule(
            "at_most_total", args, id=asker.id, excepting=asker.approval.excepting, same=above.same, on_excess="ask",
            by=asker.approval.by, span=span,
        )  # fmt: skip
        said = [wrong] if wrong else misfits(rule)
        if said:
            names.faults += [Diagnostic("approval", f"`above`: {message}", span=span) for message in said]
            continue
        make = Maker(rule, names, terms.facts, learnt)
        watch = at_most_total(make)
        assert isinstance(watch, Watch)
        found.append(make.keyed(watch))
    return tuple(found)


def _misfit(above: Any) -> str:
    if not isinstance(above, Above):
        return f"expected a total, not `{above!r:.40}`"
    for name in ("total", "same"):
        value = getattr(above, name)
        if not (isinstance(value, str) and value) and not (name == "same" and value is None):
            return f"`{name}` is a field"
    return "" if not isinstance(above.limit, dict | list) else "`limit` is a number, or the name of a fact"
