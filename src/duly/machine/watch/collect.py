"""Facts that runs teach: one value (``learns``), or a set of values that is gathered (``collects``).

A sibling of the same batch permits nothing, so a book also keeps what was known without the batch that wrote it last:
the acts of that batch are judged by that.
"""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, Final

from duly.values.expr import UNSET
from duly.values.plain import write_json

from ..terms import Rule
from .member import Act, Member, key_of
from .watch import Book, Watch

VALUES: Final = 10_000
"""Values that one fact holds at most."""
SIZE: Final = 1_000_000
"""Characters that the values of one fact have at most, and that one value is searched for a pattern."""

Value = Callable[[dict[str, Any]], Any]
"""What an expression gives, None where it cannot be worked out."""


class Teacher(Watch):
    """A rule that writes the fact ``name``."""

    def __init__(self, rule: Rule, of: Member, name: str) -> None:
        super().__init__(rule, of)
        self.of, self.name = of, name

    def holds(self, book: Book, batch: str | None, declared: Any) -> Any:
        """The fact as acts of this batch see it; ``declared`` is what the contract says of it, or UNSET."""
        raise NotImplementedError

    def misfits(self, declared: Any) -> Iterator[tuple[str, str]]:
        """What this rule cannot mean, as message and help; ``declared`` is what the contract says of the fact."""
        if self.rule.same is not None:
            message = f"a fact is one for the session: `{self.rule.template}` takes no `same`"
            yield message, "`collects` with `by` keeps a list for each text"


class Learns(Teacher):
    """A successful ``of`` sets the fact ``name`` to what ``value`` gives."""

    def __init__(self, rule: Rule, of: Member, name: str, value: Value) -> None:
        super().__init__(rule, of, name)
        self.value = value

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.of.takes(act) is not True:
            return book
        found = self.value({**act.values, "args": act.args, "result": result})
        return book if found is None else replaced(book, found, act.batch)

    def holds(self, book: Book, batch: str | None, declared: Any) -> Any:
        found = seen(book, batch)
        return declared if found is UNSET else found


class Collects(Teacher):
    """A successful ``of`` adds to the fact ``name`` what ``value`` gives: each item of a list, or with ``pattern`` (a
    compiled one) what it finds in the texts of it. With ``by``, one such list for each text that it gives.

    ``newest`` is 0 for all, -1 for those of the last time, else how many are kept. What is more than a book holds
    makes the fact one that cannot be worked out, which refuses, whichever way a condition asks.
    """

    def __init__(
        self, rule: Rule, of: Member, name: str, value: Value, *, pattern: Any = None, by: Value | None = None,
        newest: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(rule, of, name)
        self.value, self.pattern, self.by, self.newest = value, pattern, by, newest

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if "full" in book or self.of.takes(act) is not True:
            return book
        values = {**act.values, "args": act.args, "result": result}
        key = self.by(values) if self.by is not None else ""
        if type(key) is not str:
            return book
        cells = book.get("cells", {})
        cell = cells.get(key, {})
        found = self._found(values)
        if self.newest == -1:
            after = replaced(cell, found, act.batch)
        elif found is None:
            return book
        else:
            after = added(cell, found, act.batch, self.newest)
        if after is cell:
            return book
        cells = {**cells, key: after}
        return {"cells": cells} if self._fits_in(cells) else {"full": True}

    def holds(self, book: Book, batch: str | None, declared: Any) -> Any:
        if "full" in book:
            return UNSET
        cells = book.get("cells", {})
        if self.by is None:
            return self._whole(cells.get("", {}), batch, declared)
        first = {} if declared is UNSET else declared
        found = {key: self._whole(cells.get(key, {}), batch, first.get(key, UNSET)) for key in {**first, **cells}}
        return {key: items for key, items in found.items() if items is not UNSET}

    def misfits(self, declared: Any) -> Iterator[tuple[str, str]]:
        yield from super().misfits(declared)
        lists = declared.values() if isinstance(declared, dict) and self.by is not None else [declared]
        whole = all(isinstance(each, list) for each in lists) and isinstance(declared, dict) is (self.by is not None)
        if declared is not None and not whole:
            shape = "a mapping of lists" if self.by is not None else "a list"
            yield f"`{self.name}` does not begin with {shape}", "say so under `facts`, or take it out there"

    def fits(self, book: Book) -> bool:
        if type(book) is not dict or not book.keys() <= {"cells", "full"}:
            return False
        cells = book.get("cells", {})
        return type(cells) is dict and all(
            type(cell) is dict
            and "value" in cell
            and type(cell["value"]) in (list, type(None))
            and type(cell.get("before")) in (list, type(None))
            and type(cell.get("apart", {})) is dict
            and all(type(items) is list for items in cell.get("apart", {}).values())
            for cell in cells.values()
        )

    def _whole(self, cell: Any, batch: str | None, declared: Any) -> Any:
        """The list that acts of a batch see, with what the contract declares before it."""
        first = [] if declared is UNSET else declared
        found = seen(cell, batch)
        if found is UNSET:
            # nothing was gathered yet, or what there was could not be worked out
            return UNSET if cell.get("value", ()) is None else first
        if self.newest == -1:
            return found
        apart = cell.get("apart", {}).get(batch) if batch is not None else None
        if apart:
            hidden = set(map(_mark, apart))
            found = [item for item in found if _mark(item) not in hidden]
        return [*first, *found] if first else found

    def _found(self, values: dict[str, Any]) -> list[Any] | None:
        """The distinct values of one event, one more than there may be at most; None where nothing can be told."""
        given = self.value(values)
        if given is None:
            return None
        items: Iterable[Any] = given if type(given) is list else [given]
        if self.pattern is not None:
            items = _matches(self.pattern, given)
        found: dict[Any, Any] = {}
        for item in items:
            if item is not None:
                found.setdefault(_mark(item), item)
            if len(found) > VALUES:
                break
        return list(found.values())

    def _fits_in(self, cells: dict[str, Any]) -> bool:
        lists = [cell["value"] or [] for cell in cells.values()]
        if sum(map(len, lists)) + len(cells) > VALUES + 1:
            return False
        return sum(_size(item) for items in (list(cells), *lists) for item in items) <= SIZE


def newest(keep: Any) -> int | None:
    """``all``, ``last`` or a number, as ``Collects`` takes it; None for anything else."""
    if keep is None or type(keep) is str:
        return {None: 0, "all": 0, "last": -1}.get(keep)
    number = type(keep) in (int, float, Decimal) and 1 <= keep <= VALUES and keep == int(keep)
    return int(keep) if number else None


def compiled(pattern: str) -> Any:
    """An RE2 pattern; raises ``re2.error`` where it is none."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors, options.max_mem = False, 1 << 20
    return re2.compile(pattern, options)


def uncompiled(pattern: str) -> str:
    """What a text has to be, where it is no pattern; else nothing."""
    import re2

    try:
        compiled(pattern)
    except (re2.error, ValueError):
        return "is a pattern (RE2: no look-around, no back-references)"
    return ""


def replaced(cell: Any, value: Any, batch: str | None) -> Any:
    """The cell with another value in the place of what was there; of this batch and of what came before another."""
    if batch is None:
        return {"value": value}
    before = cell.get("before", UNSET) if cell.get("batch") == batch else cell.get("value", UNSET)
    return {"value": value, "batch": batch, **({} if before is UNSET else {"before": before})}


def seen(cell: Any, batch: str | None) -> Any:
    """What a cell holds for acts of a batch; UNSET where that is nothing, or cannot be told."""
    found = cell.get("before" if batch is not None and cell.get("batch") == batch else "value")
    return UNSET if found is None else found


def added(cell: Any, items: list[Any], batch: str | None, newest: int) -> Any:
    """The cell with further values, those apart that only one batch has given; with ``newest`` only so many."""
    old = cell.get("value", [])
    marks = {_mark(item): item for item in items}
    known = set(map(_mark, old))
    fresh = [item for mark, item in marks.items() if mark not in known]
    apart = {
        other: [item for item in given if other == batch or _mark(item) not in marks]
        for other, given in cell.get("apart", {}).items()
    }
    if batch is not None and fresh:
        apart[batch] = [*apart.get(batch, ()), *fresh]
    if newest:
        value = [*(item for item in old if _mark(item) not in marks), *items][-newest:]
        left = set(map(_mark, value))
        apart = {other: [item for item in given if _mark(item) in left] for other, given in apart.items()}
    else:
        value = [*old, *fresh] if fresh else old
    apart = {other: given for other, given in apart.items() if given}
    if value == old and apart == cell.get("apart", {}) and "value" in cell:
        return cell
    return {"value": value, **({"apart": apart} if apart else {})}


def _mark(item: Any) -> Any:
    """What equal values share and others do not; a text is its own."""
    return item if type(item) is str else (key_of(item),)


def _size(item: Any) -> int:
    return len(item) if type(item) is str else len(write_json(item))


def _matches(pattern: Any, value: Any) -> Iterator[str]:
    """What the pattern finds in the texts within a value: its first group, or the whole match where it has none."""
    left = SIZE
    group = min(pattern.groups, 1)
    for text in _texts(value):
        left -= len(text)
        if left < 0:
            # more than is searched, so the set is not known: too many values say just that
            yield from (f"#{number}" for number in range(VALUES + 1))
            return
        for match in pattern.finditer(text):
            found = match[group]
            if found:
                yield found


def _texts(value: Any) -> Iterator[str]:
    """All texts within a value, in their order; names of fields are none."""
    todo = [value]
    while todo:
        item = todo.pop()
        if type(item) is str:
            yield item
        elif type(item) is dict:
            todo.extend(reversed(item.values()))
        elif type(item) is list:
            todo.extend(reversed(item))
