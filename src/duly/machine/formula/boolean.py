"""Boolean functions as ordered decision diagrams, so that equal ones are one number (Bryant 1986).

``0`` is false, ``1`` is true; any other number stands for a test of one variable.
"""

from typing import Final

from .core import TooLarge

MOST_NODES: Final = 100_000
"""Tests that the functions of one formula may share."""
_LAST: Final = 1 << 30

Function = int


class Functions:
    """The functions of one formula."""

    def __init__(self) -> None:
        self.variable = [_LAST, _LAST]
        self.low = [0, 1]
        self.high = [0, 1]
        self._known: dict[tuple[int, int, int], Function] = {}
        self._asked: dict[tuple[int, int, int], Function] = {}

    def test(self, variable: int, high: Function = 1, low: Function = 0) -> Function:
        """``high`` where the variable is true, else ``low``; both test later variables only."""
        if high == low:
            return high
        key = (variable, high, low)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = len(self.variable)
            if known > MOST_NODES:
                raise TooLarge(f"needs more than {MOST_NODES} tests to tell its states apart")
            self.variable.append(variable)
            self.low.append(low)
            self.high.append(high)
        return known

    def choose(self, when: Function, then: Function, other: Function) -> Function:
        """``then`` where ``when`` is true, else ``other``. Recurs at most once for each variable."""
        if when == 1 or then == other:
            return then
        if when == 0:
            return other
        if then == 1 and other == 0:
            return when
        key = (when, then, other)
        known = self._asked.get(key)
        if known is None:
            variable = self.variable
            first = min(variable[when], variable[then], variable[other])
            high, low = [], []
            for each in key:
                mine = variable[each] == first
                high.append(self.high[each] if mine else each)
                low.append(self.low[each] if mine else each)
            known = self._asked[key] = self.test(first, self.choose(*high), self.choose(*low))
        return known

    def both(self, left: Function, right: Function) -> Function:
        return self.choose(left, right, 0)

    def either(self, left: Function, right: Function) -> Function:
        return self.choose(left, 1, right)

    def negated(self, of: Function) -> Function:
        return self.choose(of, 0, 1)

    def replaced(self, of: Function, by: list[Function], known: dict[Function, Function]) -> Function:
        """The function with functions in place of its variables; ``known`` are answers for the same ``by``."""
        if of < 2:
            return of
        answer = known.get(of)
        if answer is None:
            high = self.replaced(self.high[of], by, known)
            low = self.replaced(self.low[of], by, known)
            answer = known[of] = self.choose(by[self.variable[of]], high, low)
        return answer

    def at_end(self, of: Function) -> bool:
        """The value where every variable is false."""
        while of > 1:
            of = self.low[of]
        return of == 1
