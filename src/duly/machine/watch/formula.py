"""Temporal formulas: one position for each admitted act and each observation, one look-up in a table for each.

What would make the formula false for good is refused where it is an act, and found where it has happened; then the
machine stays where it was, like any other that cannot take an observation. What is open at the end is found there.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from duly.values.plain import as_data

from ..condition import Condition
from ..formula.alphabet import OTHER, Alphabet
from ..formula.progress import Automaton
from ..terms import Rule
from .member import Act, asked
from .watch import Book, Facts, Owed, Refusal, Watch

_SHOWN: Final = 300
_MOST_NAMES: Final = 5


class Progressed(Watch):
    """A formula. The book holds the states that its machine may be in: several only after an observation of which a
    condition could not be worked out."""

    start: ClassVar[Book] = {"at": [0]}
    heeds = True

    def __init__(self, rule: Rule, text: str, letters: Alphabet, machine: Automaton) -> None:
        super().__init__(rule)
        self.letters, self.machine = letters, machine
        self.text = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        still = frozenset(letter for letter in range(len(letters.letters)) if machine.still(letter))
        # nothing can be said to make false for good what is false from the start, so every act is refused
        self.hopeless = 0 in machine.dead
        self.everywhere = OTHER not in still or self.hopeless
        self.labels = letters.labels(frozenset(range(len(letters.letters))) - still)
        # acts that no condition tells apart: one look-up each
        self._plain = {label: each.letters[0] for label, each in letters.acts.items() if not each.conditions}
        self._ways: dict[tuple[int, str], tuple[int, ...] | None] = {}

    def _read(self, act: Act) -> tuple[tuple[int, ...], str]:
        reading = self.letters.acts.get(act.label)
        if reading is None:
            return (OTHER,), ""
        return reading.letters_of(lambda condition: asked(condition, act))

    def _after(self, book: Book, letters: Iterable[int]) -> list[int]:
        """The states after an event that is one of these letters, those excepted from which no end is good."""
        moves, dead = self.machine.moves, self.machine.dead
        found = {moves[state][letter] for state in book["at"] for letter in letters}
        return sorted(found - dead)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        moves, dead = self.machine.moves, self.machine.dead
        plain = self._plain.get(act.label)
        if plain is not None and len(book["at"]) == 1 and moves[book["at"][0]][plain] not in dead:
            return None
        letters, unknown = self._read(act)
        if unknown:
            message = f"`{unknown[:_SHOWN]}` cannot be worked out for `{act.label}`"
            return Refusal("unknown", message, "correct the arguments")
        if not any(moves[state][letters[0]] in dead for state in book["at"]):
            return None
        message = f"`{act.label}` would make `{self.text}` false for good"
        if self.hopeless:
            return Refusal("formula", f"`{self.text}` can never hold", "mend the formula")
        steps = self._way(book, act.label)
        if steps is None:
            return Refusal("formula", message, "do without it")
        first = self.letters.labels_of(steps[0])
        names = " or ".join(f"`{side}{label}`" for side, label in first[:_MOST_NAMES])
        return Refusal("formula", message, f"{names} must come first", tuple(sorted({label for _, label in first})))

    def admit(self, book: Book, act: Act) -> Book:
        plain = self._plain.get(act.label)
        if plain is not None and len(book["at"]) == 1:
            state = book["at"][0]
            target = self.machine.moves[state][plain]
            return book if target == state or target in self.machine.dead else {"at": [target]}
        return self._at(book, self._after(book, self._read(act)[0]))

    def learn(self, book: Book, act: Act | None, outcome: str | None, result: Any) -> tuple[Book, Refusal | None]:
        letters: tuple[int, ...] = (OTHER,)
        unknown = ""
        if act is not None and outcome is not None:
            outcomes = self.letters.results.get(act.label)
            if outcomes is not None:
                reading = outcomes.get(outcome) or outcomes[None]
                values = {**act.values, "args": act.args, "result": result}
                letters, unknown = reading.letters_of(lambda condition: _of_result(condition, values))
        after = self._after(book, letters)
        name = act.label if act is not None else "what has happened"
        if not after:
            return book, Refusal("formula", f"`{name}` makes `{self.text}` false for good", "it has happened")
        if unknown:
            message = f"`{unknown[:_SHOWN]}` cannot be worked out for `{name}`"
            return self._at(book, after), Refusal("unknown", message, "acts that hang on it are refused")
        return self._at(book, after), None

    def _at(self, book: Book, states: list[int]) -> Book:
        return book if not states or states == book["at"] else {"at": states}

    def owed(self, book: Book, facts: Facts) -> list[Owed]:
        if all(self.machine.holds[state] for state in book["at"]):
            return []
        if self.hopeless:
            return [Owed("formula", f"`{self.text}` can never hold", "mend the formula")]
        steps = self._search(book["at"][0], lambda state: self.machine.holds[state])
        first = self.letters.labels_of(steps[0]) if steps else ()
        names = " or ".join(f"`{side}{label}`" for side, label in first[:_MOST_NAMES])
        help = f"{names} is wanted next" if names else "something must come after it"
        return [Owed("open", f"`{self.text}` is still open", help, tuple(sorted({label for _, label in first})))]

    def fits(self, book: Book) -> bool:
        if type(book) is not dict or book.keys() != {"at"} or type(book["at"]) is not list or not book["at"]:
            return False
        states, count = book["at"], len(self.machine.moves)
        if any(type(state) is not int or not 0 <= state < count for state in states):
            return False
        return states == sorted(set(states)) and (self.hopeless or self.machine.dead.isdisjoint(states))

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self._open(book, label) == []

    def says(self, book: Book, label: str) -> str:
        reading = self.letters.acts.get(label)
        if reading is None or not reading.conditions:
            return ""
        good, size = self._open(book, label), len(reading.conditions)
        if len(good) == len(reading.letters):
            return ""
        if size == 1:
            text = reading.conditions[0].text
            return text if good == [1] else f"!({text})"
        ways = [
            " && ".join(
                f"({each.text})" if place >> (size - 1 - at) & 1 else f"!({each.text})"
                for at, each in enumerate(reading.conditions)
            )
            for place in good
        ]
        return " || ".join(ways)

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        steps = self._way(book, label) if self.shut(book, label, 0.0, {}) else None
        return tuple(sorted({name for _, name in self.letters.labels_of(steps[0])})) if steps else ()

    def _open(self, book: Book, label: str) -> list[int]:
        """The ways in which the conditions on an act can come out so that it is admitted; [0] where there are none."""
        reading = self.letters.acts.get(label)
        letters = (OTHER,) if reading is None else reading.letters
        moves, dead = self.machine.moves, self.machine.dead
        return [
            place
            for place, letter in enumerate(letters)
            if not any(moves[state][letter] in dead for state in book["at"])
        ]

    def _way(self, book: Book, label: str) -> tuple[int, ...] | None:
        """The shortest row of events after which an act of this name is admitted; None where there is none."""
        state = next((state for state in book["at"] if not self._open({"at": [state]}, label)), book["at"][0])
        key = (state, label)
        if key not in self._ways:
            self._ways[key] = self._search(state, lambda other: self._open({"at": [other]}, label) != [])
        return self._ways[key]

    def _search(self, start: int, good: Callable[[int], bool]) -> tuple[int, ...] | None:
        """The shortest row of events from a state to a good one, breadth first; at least one event."""
        rows: list[tuple[int, tuple[int, ...]]] = [(start, ())]
        seen = {start}
        for state, steps in rows:
            for letter, target in enumerate(self.machine.moves[state]):
                if target in seen or target in self.machine.dead:
                    continue
                if good(target):
                    return (*steps, letter)
                seen.add(target)
                rows.append((target, (*steps, letter)))
        return None


def _of_result(condition: Condition, values: dict[str, Any]) -> bool | None:
    answer = condition(values)
    if answer is None and type(values["result"]) is str:
        # a condition that makes no sense of the text may speak of the data that the text holds
        answer = condition({**values, "result": as_data(values["result"])})
    return answer
