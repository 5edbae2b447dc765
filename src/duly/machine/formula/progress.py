"""Progression: what is left of a formula once one position has gone by (Bacchus and Kabanza 1998), and the machine
that this makes, with its states told apart exactly.

What is left is a Boolean function over the parts of the formula that can be true at the next position: equal functions
are one state. What the past says is a row of truth values, one for each past operator (Havelund and Rosu 2002); where
a past operator looks at the future, its entry is a function like what is left. All variables are false behind the last
position, which gives what is left its value at the end.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from .boolean import Function, Functions
from .core import Core, TooLarge

MOST_STEPS: Final = 10_000
"""Steps (states times kinds of events) that the machine of one formula may have."""
MOST_VARIABLES: Final = 200
"""Atoms and temporal operators of one formula, each counted once where it stands several times."""

Letter = frozenset[int]
"""The numbers of the atoms that hold at a position."""
Left = tuple[Function, tuple[Function, ...]]
"""What is left, and what the past says."""


class Automaton(Struct, frozen=True):
    """The least machine of a formula, numbered in the order in which its states are first reached.

    ``moves[state][letter]`` is the next state; ``holds[state]`` whether the formula is true if the trace ends there;
    ``dead`` are the states from which no end is good, ``sure`` those from which every end is.
    """

    moves: tuple[tuple[int, ...], ...]
    holds: tuple[bool, ...]
    dead: frozenset[int]
    sure: frozenset[int]

    def still(self, letter: int) -> bool:
        """Whether an event of this kind never makes a difference."""
        return all(row[letter] == state for state, row in enumerate(self.moves))


class Progress:
    """One formula, ready to be progressed."""

    def __init__(self, core: Core) -> None:
        self.functions = functions = Functions()
        # variable 0: there is a next position
        kinds: list[tuple[str, int, int]] = [("more", -1, -1)]
        truth: list[Function] = []
        self._past: dict[int, int] = {}
        for kind, left, right in core.parts:
            match kind:
                case "true":
                    found = 1
                case "not":
                    found = functions.negated(truth[left])
                case "and":
                    found = functions.both(truth[left], truth[right])
                case "or":
                    found = functions.either(truth[left], truth[right])
                case _:
                    number = len(kinds)
                    if number > MOST_VARIABLES:
                        raise TooLarge(f"has more than {MOST_VARIABLES} different atoms and temporal operators")
                    if kind == "atom":
                        kinds.append((kind, left, -1))
                    else:
                        kinds.append((kind, truth[left], truth[right] if right >= 0 else -1))
                    if kind in ("Y", "S"):
                        self._past[number] = len(self._past)
                    found = functions.test(number)
            truth.append(found)
        self._kinds = kinds
        self._images: dict[tuple[Letter, tuple[Function, ...]], tuple[list[Function], dict[int, int]]] = {}
        self.start: Left = (truth[core.root], (0,) * len(self._past))

    def step(self, left: Left, letter: Letter) -> Left:
        """What is left after a position at which exactly these atoms hold."""
        function, past = left
        key = (letter, past)
        known = self._images.get(key)
        if known is None:
            known = self._images[key] = self._image(letter, past)
        images, answers = known
        after = self.functions.replaced(function, images, answers)
        now: list[Function] = []
        for number in self._past:
            kind, of, _ = self._kinds[number]
            now.append(images[number] if kind == "S" else self.functions.replaced(of, images, answers))
        return after, tuple(now)

    def holds(self, left: Left) -> bool:
        """The value if the trace ends here."""
        return self.functions.at_end(left[0])

    def _image(self, letter: Letter, past: tuple[Function, ...]) -> tuple[list[Function], dict[int, int]]:
        """What each variable is at this position, in terms of the next one."""
        functions = self.functions
        images: list[Function] = []
        answers: dict[int, int] = {}
        further = functions.test(0)
        for number, (kind, left, right) in enumerate(self._kinds):
            match kind:
                case "more":
                    image = 1
                case "atom":
                    image = int(left in letter)
                case "X":
                    image = functions.both(left, further)
                case "U":
                    first = functions.replaced(left, images, answers)
                    then = functions.replaced(right, images, answers)
                    image = functions.either(then, functions.both(first, functions.test(number)))
                case "Y":
                    image = functions.replaced(past[self._past[number]], images, answers)
                case _:
                    first = functions.replaced(left, images, answers)
                    then = functions.replaced(right, images, answers)
                    before = functions.replaced(past[self._past[number]], images, answers)
                    image = functions.either(then, functions.both(first, before))
            images.append(image)
        return images, answers


def automaton(core: Core, letters: Sequence[Letter]) -> Automaton:
    """The least machine over these kinds of events, the first of them first; raises TooLarge."""
    progress = Progress(core)
    numbers: dict[Left, int] = {progress.start: 0}
    lefts = [progress.start]
    moves: list[list[int]] = []
    for left in lefts:
        row: list[int] = []
        for letter in letters:
            after = progress.step(left, letter)
            number = numbers.setdefault(after, len(lefts))
            if number == len(lefts):
                lefts.append(after)
                if len(lefts) * len(letters) > MOST_STEPS:
                    raise TooLarge(
                        f"leads to more than {MOST_STEPS} steps: over {MOST_STEPS // len(letters)} states for "
                        f"{len(letters)} kinds of events"
                    )
            row.append(number)
        moves.append(row)
    return _least(moves, [progress.holds(left) for left in lefts])


def _least(moves: list[list[int]], holds: list[bool]) -> Automaton:
    """States that no continuation tells apart are one (Hopcroft 1971), numbered as they are first reached."""
    blocks = _blocks(moves, holds)
    numbers = {blocks[0]: 0}
    order = [0]
    fresh: list[tuple[int, ...]] = []
    for state in order:
        row = []
        for target in moves[state]:
            block = blocks[target]
            if block not in numbers:
                numbers[block] = len(order)
                order.append(target)
            row.append(numbers[block])
        fresh.append(tuple(row))
    ends = tuple(holds[state] for state in order)
    alive = _reaching(fresh, {state for state, good in enumerate(ends) if good})
    shaky = _reaching(fresh, {state for state, good in enumerate(ends) if not good})
    every = frozenset(range(len(order)))
    return Automaton(tuple(fresh), ends, every - alive, every - shaky)


def _blocks(moves: list[list[int]], holds: list[bool]) -> list[int]:
    """The number of the class of each state."""
    count, letters = len(moves), len(moves[0])
    sources: list[list[list[int]]] = [[[] for _ in range(count)] for _ in range(letters)]
    for state, row in enumerate(moves):
        for letter, target in enumerate(row):
            sources[letter][target].append(state)
    members = [{state for state in range(count) if holds[state]}, {state for state in range(count) if not holds[state]}]
    members = [each for each in members if each]
    block = [0] * count
    for number, each in enumerate(members):
        for state in each:
            block[state] = number
    work = {(number, letter) for number in range(len(members)) for letter in range(letters)}
    while work:
        splitter, letter = work.pop()
        touched: dict[int, list[int]] = {}
        for target in members[splitter]:
            for state in sources[letter][target]:
                touched.setdefault(block[state], []).append(state)
        for number, part in touched.items():
            if len(part) == len(members[number]):
                continue
            rest = members[number].difference(part)
            fresh = len(members)
            small, large = sorted((set(part), rest), key=len)
            members[number] = large
            members.append(small)
            for state in small:
                block[state] = fresh
            # of a class that was still to be looked at both halves are, else the smaller one does
            work.update((fresh, each) for each in range(letters))
    return block


def _reaching(moves: Sequence[Sequence[int]], goals: set[int]) -> frozenset[int]:
    """The states from which a goal can be reached, in any number of steps."""
    sources: list[set[int]] = [set() for _ in moves]
    for state, row in enumerate(moves):
        for target in row:
            sources[target].add(state)
    found, todo = set(goals), list(goals)
    while todo:
        for state in sources[todo.pop()]:
            if state not in found:
                found.add(state)
                todo.append(state)
    return frozenset(found)
