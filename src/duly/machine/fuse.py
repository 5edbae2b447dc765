"""What many rules ask of one act, asked once: sums that differ only in their limits, and conditions with shortcuts.

All that is left out here is what would have been answered without an objection; whatever might object is asked by
itself, in its turn, so that what a person reads never depends on it.
"""

from collections.abc import Callable
from decimal import Decimal
from operator import itemgetter
from typing import Any

from msgspec import Struct

from .cells import put
from .shortcut import USUAL, Shortcut, Test
from .watch.amount import AtMostTotal
from .watch.member import Act, Member
from .watch.value import Requires
from .watch.watch import Book, Watch

_MOVES = ("admit", "back", "win", "spent")
_NONE = (None, None)


class Twins(Struct, frozen=True):
    """Rules whose books are equal while they have seen the same acts; ``watch`` has the smallest limits of them all."""

    numbers: tuple[int, ...]
    watch: AtMostTotal
    pick: Callable[[Any], tuple[Book, ...]]
    row: slice | None

    def book(self, books: Any, known: dict[Any, Any]) -> Book | None:
        """The book that they all have; None where they differ. ``known`` is the act's, which asks twice."""
        held, book = known.get(self.numbers[0], _NONE)
        if held is not books:
            book = self._book(books)
            known[self.numbers[0]] = (books, book)
        return book

    def _book(self, books: Any) -> Book | None:
        mine = books[self.row] if self.row is not None and type(books) is tuple else self.pick(books)
        return mine[0] if mine.count(mine[0]) == len(mine) else None

    def put(self, books: Any, book: Book) -> Any:
        """The books where they all have this one."""
        if self.row is not None and type(books) is tuple:
            return books[: self.row.start] + (book,) * len(self.numbers) + books[self.row.stop :]
        return put(books, dict.fromkeys(self.numbers, book))


class Field(Struct, frozen=True):
    """Conditions on one field, for values of one kind, by the numbers of their rules."""

    root: str
    name: str
    kind: type
    tests: tuple[tuple[int, Test], ...]

    def asked(self, roots: dict[str, Any]) -> list[int]:
        """The rules whose condition does not plainly hold."""
        held = roots.get(self.root)
        value = held.get(self.name) if type(held) is dict else None
        if type(value) is self.kind and USUAL[self.kind](value):
            return [number for number, test in self.tests if not test(value)]
        return [number for number, _ in self.tests]


class Fused(Struct, frozen=True):
    """The rules about one label: those with shortcuts, by field and others, those with equal books, those that are
    asked one by one (``alone``), and those of the latter that keep books (``kept``)."""

    fields: tuple[Field, ...]
    checks: tuple[tuple[int, Shortcut], ...]
    twins: tuple[Twins, ...]
    alone: tuple[int, ...]
    kept: tuple[int, ...]

    def asked(self, books: Any, act: Act) -> tuple[int, ...]:
        """The rules that may object to an act, in their order."""
        found: list[int] = []
        if self.fields or self.checks:
            values = {**act.values, "args": act.args}
            found = [number for number, check in self.checks if check(values) is not True]
            for field in self.fields:
                found += field.asked(values)
        for twins in self.twins:
            book = twins.book(books, act.known)
            if book is None or twins.watch.refuse(book, act) is not None:
                found.extend(twins.numbers)
        return tuple(sorted((*self.alone, *found))) if found else self.alone

    def moved(
        self, books: Any, known: dict[Any, Any], move: Callable[[Watch, Book], Book]
    ) -> tuple[Any, tuple[int, ...]]:
        """The books once those of equals have moved, and the rules that are moved one by one."""
        rest = self.kept
        for twins in self.twins:
            book = twins.book(books, known)
            if book is None:
                rest = (*rest, *twins.numbers)
                continue
            after = move(twins.watch, book)
            if after is not book:
                books = twins.put(books, after)
        return books, rest


def fused(watches: tuple[Watch, ...], numbers: tuple[int, ...], label: str) -> Fused | None:
    """The rules about a label with all that can be asked at once; None where nothing can."""
    checks: list[tuple[int, Shortcut]] = []
    fields: dict[Any, list[tuple[int, Test]]] = {}
    equals: dict[Any, list[int]] = {}
    alone: list[int] = []
    for number in numbers:
        watch = watches[number]
        if type(watch) is Requires and watch.of.labels.get(label) == () and watch.that.quick is not None:
            simple = watch.that.simple
            if simple is None:
                checks.append((number, watch.that.quick))
            else:
                fields.setdefault((simple.root, simple.field, simple.kind), []).append((number, simple.test))
        elif type(watch) is AtMostTotal and not any(isinstance(limit, str) for limit in watch.limits.values()):
            equals.setdefault(_twin(watch), []).append(number)
        else:
            alone.append(number)
    groups = [tuple(group) for group in equals.values() if len(group) > 1]
    alone = sorted((*alone, *(group[0] for group in equals.values() if len(group) == 1)))
    twins = tuple(_twins(group, [watches[number] for number in group]) for group in groups)
    kept = tuple(number for number in alone if _keeps(watches[number]))
    if kept == numbers:
        return None
    plain = tuple(Field(root, name, kind, tuple(tests)) for (root, name, kind), tests in fields.items())
    return Fused(plain, tuple(checks), twins, tuple(alone), kept)


def _keeps(watch: Watch) -> bool:
    return any(getattr(type(watch), move) is not getattr(Watch, move) for move in _MOVES)


def _twin(watch: AtMostTotal) -> Any:
    """What two sums that always stand at the same have in common."""
    gives = watch.gives
    back = None if gives is None else (_labels(gives.of), gives.call)
    return (
        watch.scope, _labels(watch.of), watch.field, watch.units, back, watch.reserve, watch.settles, watch.each,
        frozenset(watch.limits),
    )  # fmt: skip


def _labels(member: Member) -> Any:
    return tuple((label, tuple(each.text for each in member.labels[label])) for label in sorted(member.labels))


def _twins(numbers: tuple[int, ...], watches: list[Any]) -> Twins:
    first: AtMostTotal = watches[0]
    limits: dict[str, Decimal | str] = {unit: min(watch.limits[unit] for watch in watches) for unit in first.limits}
    tightest = AtMostTotal(
        first.rule, first.of, first.field, limits, units=first.units, back=first.gives, reserve=first.reserve,
        settle=first.settles, each=first.each,
    )  # fmt: skip
    whole = numbers[-1] - numbers[0] + 1 == len(numbers)
    return Twins(numbers, tightest, itemgetter(*numbers), slice(numbers[0], numbers[-1] + 1) if whole else None)
