"""The kinds of events that a formula can tell apart: the alphabet of its machine, and how an event is read.

An event is one act, one result or one message, so it satisfies the atoms of at most one label; of a result it also
matters how it came out, and conditions in atoms may hold or not, each for itself. Every other event satisfies none.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Final

from msgspec import Struct

from ..condition import Condition
from .core import TooLarge
from .node import Atom
from .progress import Letter

MOST_CONDITIONS: Final = 8
"""Different conditions that a formula may ask of one label with one outcome."""
OTHER: Final = 0
"""The letter of an event that satisfies no atom."""


class Reading(Struct, frozen=True):
    """How an event of one label is read: by its ``conditions``, whose answers (the first is the highest bit) number
    ``letters``."""

    conditions: tuple[Condition, ...]
    letters: tuple[int, ...]

    def letters_of(self, ask: Callable[[Condition], bool | None]) -> tuple[tuple[int, ...], str]:
        """The letters that the event may be (several only where ``ask`` cannot answer a condition), and the first such
        condition."""
        if not self.conditions:
            return self.letters, ""
        places = [0]
        unknown = ""
        for condition in self.conditions:
            answer = ask(condition)
            if answer is None:
                unknown = unknown or condition.text
                places = [2 * place + bit for place in places for bit in (0, 1)]
            else:
                places = [2 * place + answer for place in places]
        return tuple(sorted({self.letters[place] for place in places})), unknown


class Alphabet(Struct, frozen=True):
    """The letters of a formula, and how events become letters.

    ``acts`` reads an act by its label; ``results`` what is learnt by label and outcome, None standing for every outcome
    that the formula does not name but ``error``.
    """

    letters: tuple[Letter, ...]
    acts: dict[str, Reading]
    results: dict[str, dict[str | None, Reading]]

    def labels_of(self, letter: int) -> tuple[tuple[str, str], ...]:
        """The sides and labels whose events may be this letter."""
        found = [("!", label) for label, reading in self.acts.items() if letter in reading.letters]
        found += [
            ("?", label)
            for label, outcomes in self.results.items()
            if any(letter in reading.letters for reading in outcomes.values())
        ]
        return tuple(sorted(found))

    def labels(self, letters: frozenset[int]) -> frozenset[str]:
        """The labels of which some event may be one of these letters."""
        return frozenset(label for letter in letters for _, label in self.labels_of(letter))


class Said(Struct, frozen=True):
    """An atom, with the labels that it means and its condition."""

    atom: Atom
    labels: frozenset[str]
    where: Condition | None


def alphabet(atoms: Sequence[Said]) -> Alphabet:
    """The alphabet of a formula with these atoms, in the order of their numbers; raises TooLarge."""
    acts: dict[str, tuple[list[Letter], tuple[Condition, ...]]] = {}
    results: dict[str, dict[str | None, tuple[list[Letter], tuple[Condition, ...]]]] = {}
    for side, label in sorted({(said.atom.side, label) for said in atoms for label in said.labels}):
        mine = [
            (number, said) for number, said in enumerate(atoms) if said.atom.side == side and label in said.labels
        ]
        if side == "!":
            acts[label] = _valuations(mine, label)
            continue
        named = {said.atom.outcome for _, said in mine if said.atom.outcome is not None}
        outcomes: list[str | None] = [None, *sorted({"error", *named})]
        results[label] = {
            outcome: _valuations([pair for pair in mine if _means(pair[1].atom, outcome)], label)
            for outcome in outcomes
        }
    every = list(acts.values())
    every += [pair for outcomes in results.values() for pair in outcomes.values()]
    letters = sorted({letter for found, _ in every for letter in found} - {frozenset()}, key=sorted)
    numbers = {letter: number for number, letter in enumerate([frozenset(), *letters])}

    def reading(pair: tuple[list[Letter], tuple[Condition, ...]]) -> Reading:
        return Reading(pair[1], tuple(numbers[letter] for letter in pair[0]))

    return Alphabet(
        tuple(numbers),
        {label: reading(pair) for label, pair in acts.items()},
        {label: {name: reading(pair) for name, pair in row.items()} for label, row in results.items()},
    )


def _means(atom: Atom, outcome: str | None) -> bool:
    """Whether an atom can hold of a result with this outcome: bare, it means every outcome but ``error``."""
    return atom.outcome == outcome if atom.outcome is not None else outcome != "error"


def _valuations(mine: list[tuple[int, Said]], label: str) -> tuple[list[Letter], tuple[Condition, ...]]:
    """The sets of atoms that can hold of one event, one for each way in which the conditions can come out."""
    conditions = list({said.where.text: said.where for _, said in mine if said.where is not None}.values())
    if len(conditions) > MOST_CONDITIONS:
        raise TooLarge(f"asks more than {MOST_CONDITIONS} different conditions of `{label[:80]}`")
    found: list[Letter] = []
    for answers in product((False, True), repeat=len(conditions)):
        true = {condition.text for condition, answer in zip(conditions, answers, strict=True) if answer}
        found.append(frozenset(number for number, said in mine if said.where is None or said.where.text in true))
    return found, tuple(conditions)
