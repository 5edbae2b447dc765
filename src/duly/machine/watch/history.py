"""Histories: what must have happened before an act, over counters that are moved by events and never by time.

A history is brought to one form first: not is pushed inward, so that each term asks for at least so many or for at
most so many. What asks for at least so many permits, and counts successes outside of the act's own batch; what asks
for at most so many forbids, and counts from admission until the call is known not to have happened.
"""

from typing import Any, ClassVar, Final, TypedDict

from msgspec import Struct

from ..formula.node import Among, Atom, Binary, Count, Did, Formula, Unary
from ..formula.text import text_of
from ..terms import Rule
from .member import Act, Member, Resolve
from .watch import Batch, Book, Facts, Natural, Refusal, Watch, unsure

LONGEST: Final = 600
"""Characters of what is said to be missing; a longer history is cited instead."""
_DEEP: Final = 8


class Counter(Struct, frozen=True):
    """What is counted: of whom, from admission or once it has succeeded, apart for each batch or not."""

    of: Atom
    called: bool
    apart: bool


class Want(Struct, frozen=True):
    """A term: at least (``least``) or at most ``n``, of one counter, or of the ``distinct`` ones that have any."""

    counters: tuple[int, ...]
    n: int
    least: bool
    distinct: bool


class Join(Struct, frozen=True):
    """All of these, or one of them; ``of`` are the places of the parts."""

    whole: bool
    of: tuple[int, ...]


class Form(Struct, frozen=True):
    """A history in one form: its parts, the last of which is the whole; what is counted, and how far."""

    parts: tuple[Want | Join, ...]
    counters: tuple[Counter, ...]
    most: tuple[int, ...]


def form_of(formula: Formula, on: str | None) -> Form:
    """The one form of a history; ``on`` says for all terms whether what is called or what has returned counts.

    Each node is brought to it twice, as it stands and negated, so that the form is at most four times as long.
    """
    parts: list[Want | Join] = []
    numbers: dict[Counter, int] = {}

    def put(part: Want | Join) -> int:
        parts.append(part)
        return len(parts) - 1

    def want(atoms: tuple[Atom, ...], n: int, least: bool, distinct: bool) -> int:
        places = []
        for atom in atoms:
            called = atom.side == "!" if atom.side else on == "called" if on is not None else not least
            # only what permits leaves out the act's own batch
            counter = Counter(Atom("", atom.name, None, atom.where), called, least)
            places.append(numbers.setdefault(counter, len(numbers)))
        return put(Want(tuple(places), n, least, distinct))

    def both(atoms: tuple[Atom, ...], n: int, distinct: bool) -> tuple[int, int]:
        """At least ``n``, and its opposite."""
        return want(atoms, n, True, distinct), want(atoms, n - 1, False, distinct)

    def counted(of: Atom, sign: str, n: int) -> tuple[int, int]:
        match sign:
            case ">=":
                return both((of,), n, False)
            case ">":
                return both((of,), n + 1, False)
            case "<":
                return both((of,), n, False)[::-1]
            case "<=":
                return both((of,), n + 1, False)[::-1]
        more, less = both((of,), n + 1, False)
        if n == 0:
            equal, other = less, more
        else:
            enough, few = both((of,), n, False)
            equal, other = put(Join(True, (enough, less))), put(Join(False, (more, few)))
        return (equal, other) if sign == "==" else (other, equal)

    forms: list[tuple[int, int]] = []
    for node in formula.nodes:
        match node:
            case Did(of):
                forms.append(both((of,), 1, False))
            case Count(of, sign, n):
                forms.append(counted(of, sign, n))
            case Among(kind, n, several):
                least = {"all": len(several), "any_of": 1, "at_least": n}.get(kind)
                forms.append(both(several, least, True) if least is not None else both(several, n + 1, True)[::-1])
            case Unary(_, of=place):
                forms.append(forms[place][::-1])
            case Binary(op, left, right):
                (yes, no), (also, nor) = forms[left], forms[right]
                if op == "->":
                    yes, no, op = no, yes, "or"
                if op == "<->":
                    same = put(Join(False, (put(Join(True, (yes, also))), put(Join(True, (no, nor))))))
                    forms.append((same, put(Join(False, (put(Join(True, (yes, nor))), put(Join(True, (no, also))))))))
                else:
                    whole = op == "and"
                    forms.append((put(Join(whole, (yes, also))), put(Join(not whole, (no, nor)))))
            case _:
                raise AssertionError(node)  # `faults` has refused it
    return _pruned(parts, forms[-1][0], [*numbers])


def _pruned(parts: list[Want | Join], root: int, counters: list[Counter]) -> Form:
    """The parts that the whole needs, and what those count."""
    needed = {root}
    for place in range(root, -1, -1):
        part = parts[place]
        if place in needed and isinstance(part, Join):
            needed.update(part.of)
    places: dict[int, int] = {}
    kept: list[Want | Join] = []
    used: dict[int, int] = {}
    for place in sorted(needed):
        part = parts[place]
        if isinstance(part, Want):
            fresh: Want | Join = Want(
                tuple(used.setdefault(each, len(used)) for each in part.counters), part.n, part.least, part.distinct
            )
        else:
            fresh = Join(part.whole, tuple(places[each] for each in part.of))
        places[place] = len(kept)
        kept.append(fresh)
    most = [1] * len(used)
    for each in kept:
        if isinstance(each, Want) and not each.distinct:
            most[each.counters[0]] = max(most[each.counters[0]], each.n + (not each.least))
    return Form(tuple(kept), tuple(counters[each] for each in used), tuple(most))


class HistoryBook(TypedDict):
    sure: dict[str, list[tuple[Batch, Natural]]]
    open: dict[str, tuple[Batch, list[Natural]]]


class History(Watch):
    """``of`` is refused unless the history holds.

    The book's ``sure`` has for each counter how many there are for good, as [batch, how many] where batches are told
    apart; its ``open`` the calls that may still be given back, as [batch, counters]. Beyond what any term asks for
    nothing is counted, so that books stay as small as the history is.
    """

    start: ClassVar[Book] = {"sure": {}, "open": {}}
    shape: ClassVar[Any] = HistoryBook

    def __init__(self, rule: Rule, of: Member, formula: Formula, resolve: Resolve) -> None:
        self.form = form_of(formula, rule.on)
        atoms = [counter.of for counter in self.form.counters]
        self.members = tuple(
            resolve(atom.name if atom.where is None else {"of": atom.name, "where": atom.where}) for atom in atoms
        )
        super().__init__(rule, of, *self.members)
        counted = list(zip(self.form.counters, self.members, strict=True))
        called = frozenset(of.labels).union(*(member.labels for counter, member in counted if counter.called))
        self.learning = self.labels - called
        """The names that count by their success alone."""
        self.of, self.formula = of, formula
        # numbers count what ran, also what the rule refused and that ran under watch
        self.counts = any(isinstance(node, Count) for node in formula.nodes)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        for member in self.members:
            if member.takes(act) is None:
                return unsure(member, act)
        if not judged:
            return None
        numbers = self._numbers(book, act.batch)
        holds = self._holds(numbers)
        if holds[-1]:
            return None
        if act.batch is not None and self._holds(self._numbers(book, None))[-1]:
            help = "wait for the answer, then ask in a new message"
        else:
            steps = self._steps(numbers, holds)
            first = " and ".join(f"`{self._shown(place)}`" for place, _ in steps or ())
            help = f"{first} must succeed first" if steps else "do without it"
        wants = [part for part, held in zip(self.form.parts, holds, strict=True)
                 if isinstance(part, Want) and part.least and not held]  # fmt: skip
        expected = {label for part in wants for place in part.counters if not numbers[place]
                    or not part.distinct for label in self.members[place].labels}  # fmt: skip
        message = f"`{act.label}` needs {self._missing(numbers, holds)}"
        return Refusal("order", message, help, tuple(sorted(expected)))

    def admit(self, book: Book, act: Act) -> Book:
        mine = [place for place, counter in enumerate(self.form.counters)
                if counter.called and self.members[place].takes(act) is True]  # fmt: skip
        if not mine:
            return book
        if act.id is None:
            return {**book, "sure": self._more(book["sure"], mine, act.batch)}
        return {**book, "open": {**book["open"], act.id: [act.batch, mine]}}

    def back(self, book: Book, act: Act) -> Book:
        if act.id not in book["open"]:
            return book
        return {**book, "open": {key: value for key, value in book["open"].items() if key != act.id}}

    def win(self, book: Book, act: Act, result: Any) -> Book:
        book = self.spent(book, act, result)
        mine = [place for place, counter in enumerate(self.form.counters)
                if not counter.called and self.members[place].takes(act) is True]  # fmt: skip
        return self._with(book, mine, act.batch) if mine else book

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        if act.id not in book["open"]:
            return book
        batch, mine = book["open"][act.id]
        return self._with(self.back(book, act), mine, batch)

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.of.labels.get(label) == () and not self._holds(self._numbers(book, None))[-1]

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return next((names for names, _ in self.lacks(book, label)), ())

    def lacks(self, book: Book, label: str) -> tuple[tuple[tuple[str, ...], int], ...]:
        if label not in self.of.labels:
            return ()
        numbers = self._numbers(book, None)
        steps = self._steps(numbers, self._holds(numbers)) or ()
        return tuple((tuple(sorted(self.members[place].labels)), times) for place, times in steps)

    def fits(self, book: Book) -> bool:
        places = range(len(self.form.counters))
        return (
            super().fits(book)
            and {*book["sure"]} <= {str(place) for place in places}
            and all(place in places for _, mine in book["open"].values() for place in mine)
        )

    def _with(self, book: Book, mine: list[int], batch: str | None) -> Book:
        sure = self._more(book["sure"], mine, batch)
        return book if sure is book["sure"] else {**book, "sure": sure}

    def _more(self, sure: Any, mine: list[int], batch: str | None) -> Any:
        """The sure numbers with one more of these: no more batches are told apart than any term asks for."""
        fresh = dict(sure)
        for place in mine:
            counter, most = self.form.counters[place], self.form.most[place]
            row = sure.get(str(place), [])
            apart = batch if counter.apart else None
            if any(each == apart and n >= most for each, n in row) or (None, most) in [(b, n) for b, n in row]:
                continue
            row = [[each, n + (each == apart)] for each, n in row]
            if all(each != apart for each, _ in row):
                row.append([apart, 1])
            # of more batches than are asked for, those outside of any one are enough
            fresh[str(place)] = [[None, most]] if len(row) > most else row
        return sure if fresh == sure else fresh

    def _numbers(self, book: Book, batch: str | None) -> list[int]:
        """How many there are of each counter, for an act of this batch."""
        found = [0] * len(self.form.counters)
        for place, row in book["sure"].items():
            found[int(place)] = sum(n for each, n in row if batch is None or each != batch)
        for each, mine in book["open"].values():
            for number in mine:
                found[number] += batch is None or each != batch or not self.form.counters[number].apart
        return found

    def _holds(self, numbers: list[int]) -> list[bool]:
        """Which parts hold; the last one is the whole."""
        held: list[bool] = []
        for part in self.form.parts:
            if isinstance(part, Want):
                n = _number(part, numbers)
                held.append(n >= part.n if part.least else n <= part.n)
            else:
                held.append((all if part.whole else any)(held[place] for place in part.of))
        return held

    def _steps(self, numbers: list[int], held: list[bool]) -> list[tuple[int, int]] | None:
        """The fewest successes after which the whole holds, as counters and how often; None where none are enough."""
        parts = self.form.parts
        cost: list[int | None] = []
        for part, holds in zip(parts, held, strict=True):
            if holds:
                cost.append(0)
            elif isinstance(part, Want):
                cost.append(part.n - _number(part, numbers) if part.least else None)
            else:
                known = [each for each in (cost[place] for place in part.of) if each is not None]
                enough = len(known) == len(part.of) if part.whole else bool(known)
                cost.append((sum(known) if part.whole else min(known)) if enough else None)
        if cost[-1] is None:
            return None
        steps: dict[int, int] = {}
        todo = [len(parts) - 1]
        while todo:
            place = todo.pop()
            part, price = parts[place], cost[place]
            if not price:
                continue
            if isinstance(part, Want):
                missing = [each for each in part.counters if not numbers[each]] if part.distinct else part.counters
                for each in missing[: price if part.distinct else None]:
                    steps[each] = max(steps.get(each, 0), 1 if part.distinct else price)
            else:
                todo += reversed(part.of) if part.whole else [next(each for each in part.of if cost[each] == price)]
        return [*steps.items()]

    def _missing(self, numbers: list[int], held: list[bool]) -> str:
        """What does not hold, in words; a long history is cited as it is written."""
        said = self._said(len(held) - 1, numbers, held, None, 0)
        if said is None or len(said) > LONGEST:
            text = text_of(self.formula)
            return f"`{text[:LONGEST]}…`" if len(text) > LONGEST else f"`{text}`"
        return said

    def _said(
        self, place: int, numbers: list[int], held: list[bool], within: bool | None, deep: int
    ) -> str | None:
        part = self.form.parts[place]
        if isinstance(part, Want):
            return self._wanted(part, numbers)
        if deep > _DEEP:
            return None
        parts = [self._said(each, numbers, held, part.whole, deep + 1) for each in part.of if not held[each]]
        words = [each for each in parts if each is not None]
        if len(words) < len(parts):
            return None
        joined = (" and " if part.whole else " or ").join(words)
        return f"({joined})" if within is not None and within != part.whole and len(words) > 1 else joined

    def _wanted(self, part: Want, numbers: list[int]) -> str:
        n, names = _number(part, numbers), [f"`{self._shown(place)}`" for place in part.counters]
        if part.distinct:
            missing = [name for name, place in zip(names, part.counters, strict=True) if not numbers[place]]
            if part.least and part.n == len(names):
                return "an earlier " + " and ".join(missing)
            if part.least and part.n == 1:
                return "an earlier " + " or ".join(names)
            listed = ", ".join(names)
            much = f"{part.n} different ones of {listed} before it" if part.least else (
                f"at most {part.n} different ones of {listed} before it" if part.n else f"none of {listed} before it"
            )
            return f"{much}, not {n}"
        if part.least:
            return f"an earlier {names[0]}" if part.n == 1 else f"{names[0]} {part.n} times before it, not {_times(n)}"
        if part.n == 0:
            return f"no {names[0]} before it"
        return f"{names[0]} at most {_times(part.n)} before it, not {_times(n)}"

    def _shown(self, place: int) -> str:
        return self.members[place].shown


def _number(part: Want, numbers: list[int]) -> int:
    if part.distinct:
        return sum(numbers[place] > 0 for place in part.counters)
    return numbers[part.counters[0]]


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"
