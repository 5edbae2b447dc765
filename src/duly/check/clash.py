"""Rules that cannot all hold: acts that rules together never allow, and duties that can therefore never be met.

Only what rules say of every act of a name counts here; conditions, people who may let something by, and rules in
shadow refuse nothing for sure. Protocols are looked at elsewhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from duly.machine.contract import Contract
from duly.machine.templates import Ask, Below, Needs
from duly.machine.terms import Rule
from duly.machine.watch.count import AtLeast, AtMost, NoRepeat
from duly.machine.watch.history import History, Join
from duly.machine.watch.member import Member
from duly.machine.watch.order import Adjacent, Between, Exclusive, NeverAfter, Precede
from duly.machine.watch.same import Same
from duly.machine.watch.time import Fresh, Rate
from duly.machine.watch.value import Forbid, Permit
from duly.values.errors import Diagnostic


class Wait(Struct, frozen=True):
    """Acts of ``name`` are refused until one of ``firsts`` has come; ``plain``: that is all there is to it."""

    rule: Rule
    name: str
    firsts: frozenset[str]
    plain: bool


class Said(Struct):
    """What the rules of a contract say for sure, by name."""

    bars: dict[str, Rule] = {}
    waits: dict[str, list[Wait]] = {}
    nevers: dict[str, list[tuple[Rule, frozenset[str]]]] = {}
    caps: list[tuple[Rule, frozenset[str], int]] = []
    duties: list[tuple[Rule, frozenset[str], int]] = []
    permits: list[tuple[Rule, frozenset[str]]] = []
    exclusives: list[tuple[Rule, list[frozenset[str]]]] = []


def clashes(contract: Contract, asks: Mapping[str, tuple[Ask, ...]]) -> list[Diagnostic]:
    """Errors for duties that can never be met and acts that rules together never allow; warnings for what is meant to
    be possible and is not."""
    said = _read(contract, asks)
    never: dict[str, tuple[Rule, ...]] = {name: (rule,) for name, rule in said.bars.items()}
    found = _circles(contract, said, never) + _shut(said, never)
    for rule, names, n in said.duties:
        found += _duty(said, rule, names, n, never)
    for rule, names in said.permits:
        for name in sorted(names & never.keys()):
            found.append(Diagnostic(
                "clash", f"`{rule.id}` means `{name}` to be possible, and {_rules(never[name])} always refuses it",
                "warning", rule.span, "rules", "change one of them",
            ))  # fmt: skip
    return found


def _read(contract: Contract, asks: Mapping[str, tuple[Ask, ...]]) -> Said:
    said = Said()
    for rule in contract.rules.values():
        for ask in asks[rule.id]:
            if isinstance(ask, Needs):
                _waits(said, rule, ask.names, ask.bit.names, plain=True)
            elif isinstance(ask, Below):
                _cap(said, rule, ask.names, ask.limit)
            elif rule.mode == "enforce":
                _watch(said, rule, ask.inner if isinstance(ask, Same) else ask)
    return said


def _watch(said: Said, rule: Rule, watch: Any) -> None:
    match watch:
        case Forbid():
            said.bars.update((name, rule) for name in _sure(watch.of) if name not in said.bars)
        case Permit():
            said.permits.append((rule, _sure(watch.of)))
        case AtMost() if isinstance(watch.n, int) and not watch.weigh and rule.on_excess == "refuse":
            _cap(said, rule, _sure(watch.of), watch.n)
        case Rate() | NoRepeat() if watch.n == 0:
            _cap(said, rule, _sure(watch.of), 0)
        case Precede() | Adjacent():
            _waits(said, rule, _sure(watch.then), frozenset(watch.first.labels))
        case Fresh():
            _waits(said, rule, _sure(watch.then), frozenset(watch.of.labels))
        case Between():
            _waits(said, rule, _sure(watch.of), frozenset(watch.begin.labels))
        case NeverAfter() if rule.scope == "session":
            for name in _sure(watch.never):
                said.nevers.setdefault(name, []).append((rule, _sure(watch.after)))
        case Exclusive() if rule.scope == "session":
            members = [_sure(member) for member in watch.members]
            said.exclusives.append((rule, members))
            for number, member in enumerate(members):
                others = frozenset().union(*(each for place, each in enumerate(members) if place != number))
                for name in member:
                    said.nevers.setdefault(name, []).append((rule, others))
        case History():
            _past(said, rule, watch)
        case AtLeast():
            if isinstance(watch.n, int) and watch.n:
                said.duties.append((rule, frozenset(watch.of.labels), watch.n))
            if watch.before is not None:
                _waits(said, rule, _sure(watch.before), frozenset(watch.of.labels))


def _past(said: Said, rule: Rule, watch: History) -> None:
    """What a history asks for in any case: its parts that are joined by and."""
    of, form = _sure(watch.of), watch.form
    todo = [len(form.parts) - 1]
    while todo:
        part = form.parts[todo.pop()]
        if isinstance(part, Join):
            todo += part.of if part.whole or len(part.of) == 1 else ()
            continue
        members = [watch.members[place] for place in part.counters]
        if part.least:
            # all of them, or one of them
            rows = [[member] for member in members] if part.n == len(members) and part.distinct else [members]
            for row in rows:
                _waits(said, rule, of, frozenset().union(*(member.labels for member in row)))
        elif rule.scope == "session" and not part.distinct and rule.on != "returned":
            counted = _sure(members[0])
            if part.n == 0:
                for name in of - counted:
                    said.nevers.setdefault(name, []).append((rule, counted))
            if of <= counted and rule.same is None:
                said.caps.append((rule, of, part.n + 1))


def _sure(member: Member) -> frozenset[str]:
    return frozenset(name for name, conditions in member.labels.items() if not conditions)


def _waits(said: Said, rule: Rule, names: Iterable[str], firsts: frozenset[str], plain: bool = False) -> None:
    for name in names:
        said.waits.setdefault(name, []).append(Wait(rule, name, firsts, plain))


def _cap(said: Said, rule: Rule, names: frozenset[str], n: int) -> None:
    if rule.on_excess == "ask":
        return
    if n == 0:
        said.bars.update((name, rule) for name in names if name not in said.bars)
    elif rule.same is None and rule.scope == "session":
        said.caps.append((rule, names, n))


def _circles(contract: Contract, said: Said, never: dict[str, tuple[Rule, ...]]) -> list[Diagnostic]:
    """Acts that wait for something that never comes first; circles of plain rules are found beside the protocols."""
    found: list[Diagnostic] = []
    heard = {*contract.messages, *(name for name, hearing in contract.hearings.items() if hearing.rows)}
    closed = contract.terms.tools is not None
    possible: set[str] = {name for name in heard if name not in contract.acts}
    names = {*contract.acts, *(first for row in said.waits.values() for wait in row for first in wait.firsts)}
    grew = True
    while grew:
        fresh = {
            name
            for name in names
            if name not in possible and name not in never and (name in contract.acts or not closed)
            and all(wait.firsts & possible for wait in said.waits.get(name, ()))
        }  # fmt: skip
        grew = bool(fresh)
        possible |= fresh
    for name in sorted(said.waits.keys() - possible - never.keys()):
        stuck = [wait for wait in said.waits[name] if not wait.firsts & possible]
        if not stuck:
            continue
        never[name] = tuple(wait.rule for wait in stuck)
        if not all(wait.plain for wait in stuck) or any(first in said.bars for wait in stuck for first in wait.firsts):
            wait = stuck[0]
            firsts = ", ".join(f"`{first}`" for first in sorted(wait.firsts)[:5]) or "nothing"
            message = f"`{name}` is never allowed: `{wait.rule.id}` waits for {firsts}, which never comes first"
            found.append(_error(wait.rule, message, "never"))
    return found


def _shut(said: Said, never: dict[str, tuple[Rule, ...]]) -> list[Diagnostic]:
    """Acts that wait for what forbids them."""
    found: list[Diagnostic] = []
    for name, row in sorted(said.waits.items()):
        for wait in row:
            for rule, after in said.nevers.get(name, ()):
                alone = rule.same is None or rule.same == wait.rule.same
                if alone and wait.firsts and wait.firsts <= after and name not in never:
                    never[name] = (wait.rule, rule)
                    firsts = ", ".join(f"`{first}`" for first in sorted(wait.firsts)[:5])
                    said_so = f"`{wait.rule.id}` waits for {firsts}, after which `{rule.id}` refuses it"
                    found.append(_error(rule, f"`{name}` is never allowed: {said_so}"))
    return found


def _duty(
    said: Said, rule: Rule, names: frozenset[str], n: int, never: Mapping[str, tuple[Rule, ...]]
) -> Iterator[Diagnostic]:
    called = f"the duty `{rule.id}` can never be met"
    if names and names <= never.keys():
        name = min(names)
        yield _error(rule, f"{called}: {_rules(never[name])} never allows `{name}`")
        return
    for cap, capped, most in said.caps:
        if names <= capped and n > most:
            yield _error(rule, f"{called}: `{cap.id}` allows {most}")
            return
    for one, members in said.exclusives:
        mine = [number for number, member in enumerate(members) if names <= member]
        for other, others, _ in said.duties:
            theirs = [number for number, member in enumerate(members) if others <= member]
            if mine and theirs and mine != theirs and rule.id < other.id and one.same is None:
                yield _error(rule, f"`{rule.id}` and `{other.id}` can never both be met: `{one.id}` allows one of them")


def _rules(rules: Iterable[Rule]) -> str:
    return " and ".join(dict.fromkeys(f"`{rule.id}`" for rule in rules))


def _error(rule: Rule, message: str, kind: str = "clash") -> Diagnostic:
    return Diagnostic(kind, message, span=rule.span, path="rules", help="change one of the rules")
