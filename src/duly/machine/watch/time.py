"""Rules about time: windows, rests, freshness. All intervals are half open: at their end they are over."""

from typing import Any, ClassVar

from ..terms import Rule
from .member import Act, Member
from .watch import Book, Refusal, Watch, earlier, no_limit, seen, unsure, whole


class Rate(Watch):
    """At most ``n`` admitted acts younger than ``per`` seconds."""

    counts = True
    start: ClassVar[Book] = {"at": [], "open": {}}

    def __init__(self, rule: Rule, of: Member, n: int | str, per: float) -> None:
        super().__init__(rule, of)
        self.of, self.n, self.per = of, n, per

    def _young(self, book: Book, now: float) -> list[float]:
        times = [*book["at"], *book["open"].values()]
        return sorted(each for each in times if now - each < self.per)

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        if not judged:
            return None
        n = whole(self.n, act)
        if n is None:
            return no_limit(self.n, act)
        young = self._young(book, act.at)
        if len(young) < n:
            return None
        # room comes when enough of them are old
        wait = (young[len(young) - n] + self.per - act.at) if n else None
        most = "once" if n == 1 else f"{n} times"
        help = f"wait {wait:g} s" if wait is not None else "do without it"
        return Refusal("rate", f"`{act.label}` is allowed {most} in {self.per:g} s", help, wait=wait)

    def admit(self, book: Book, act: Act) -> Book:
        if self.of.takes(act) is not True:
            return book
        young = [each for each in book["at"] if act.at - each < self.per]
        if isinstance(self.n, int):
            young = young[-self.n :] if self.n else []
        if act.id is None:
            return {**book, "at": [*young, act.at]}
        return {"at": young, "open": {**book["open"], act.id: act.at}}

    def back(self, book: Book, act: Act) -> Book:
        return self._settled(book, act, keep=False)

    def win(self, book: Book, act: Act, result: Any) -> Book:
        return self._settled(book, act, keep=True)

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self.win(book, act, result)

    def _settled(self, book: Book, act: Act, *, keep: bool) -> Book:
        if act.id not in book["open"]:
            return book
        then = book["open"][act.id]
        rest = {key: value for key, value in book["open"].items() if key != act.id}
        return {"at": sorted([*book["at"], then]) if keep else book["at"], "open": rest}

    def shut(self, book: Book, label: str, now: float) -> bool:
        return self.of.labels.get(label) == () and isinstance(self.n, int) and len(self._young(book, now)) >= self.n

    def waits(self, book: Book, label: str, now: float) -> float | None:
        young = self._young(book, now)
        if not isinstance(self.n, int) or not self.n or len(young) < self.n:
            return None
        return young[len(young) - self.n] + self.per - now

    def thaw(self, book: Book) -> Book:
        return {"at": [*map(float, book["at"])], "open": {id: float(at) for id, at in book["open"].items()}}


class Within(Watch):
    """``of`` is refused later than ``t`` seconds after the last success of ``after``."""

    start: ClassVar[Book] = {"at": None}

    def __init__(self, rule: Rule, of: Member, after: Member, t: float) -> None:
        super().__init__(rule, of, after)
        self.of, self.after, self.t = of, after, t

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None or self.after.takes(act) is None:
            return unsure(self.of if judged is None else self.after, act)
        if not judged or book["at"] is None or act.at - book["at"] < self.t:
            return None
        message = f"`{act.label}` comes later than {self.t:g} s after `{self.after.shown}`"
        return Refusal("late", message, f"`{self.after.shown}` must succeed again", tuple(sorted(self.after.labels)))

    def win(self, book: Book, act: Act, result: Any) -> Book:
        return {"at": act.at} if self.after.takes(act) is True else book

    def shut(self, book: Book, label: str, now: float) -> bool:
        return self.of.labels.get(label) == () and book["at"] is not None and now - book["at"] >= self.t

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.after.labels)) if label in self.of.labels else ()

    def thaw(self, book: Book) -> Book:
        return book if book["at"] is None else {"at": float(book["at"])}


class Fresh(Watch):
    """``then`` needs a success of ``of`` within ``lasts`` seconds, and no ``until`` admitted since."""

    start: ClassVar[Book] = {"won": [], "at": None, "shut": []}

    def __init__(self, rule: Rule, of: Member, then: Member, lasts: float | None, until: Member | None) -> None:
        super().__init__(rule, of, then, *([until] if until is not None else []))
        self.of, self.then, self.lasts, self.until = of, then, lasts, until

    def _is(self, book: Book, now: float) -> bool:
        if not book["won"] or book["shut"]:
            return False
        return self.lasts is None or now - book["at"] < self.lasts

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        for member in (self.of, self.then, self.until):
            if member is not None and member.takes(act) is None:
                return unsure(member, act)
        if not self.then.takes(act) or (self._is(book, act.at) and earlier(book["won"], act.batch)):
            return None
        since = "" if self.lasts is None else f" within the last {self.lasts:g} s"
        until = "" if self.until is None else f", and no `{self.until.shown}` since"
        message = f"`{act.label}` needs a `{self.of.shown}` that succeeded{since}{until}"
        return Refusal("stale", message, f"`{self.of.shown}` must succeed again", tuple(sorted(self.of.labels)))

    def admit(self, book: Book, act: Act) -> Book:
        if self.until is None or not book["won"] or self.until.takes(act) is not True:
            return book
        return self.start if act.id is None else {**book, "shut": [*book["shut"], act.id]}

    def back(self, book: Book, act: Act) -> Book:
        return {**book, "shut": [each for each in book["shut"] if each != act.id]} if act.id in book["shut"] else book

    def win(self, book: Book, act: Act, result: Any) -> Book:
        if self.of.takes(act) is True:
            won = [act.batch] if book["shut"] or not self._is(book, act.at) else seen(book["won"], act.batch)
            return {"won": won, "at": act.at, "shut": []}
        return self.start if act.id is not None and act.id in book["shut"] else book

    def spent(self, book: Book, act: Act, result: Any) -> Book:
        return self.start if act.id in book["shut"] else book

    def shut(self, book: Book, label: str, now: float) -> bool:
        return self.then.labels.get(label) == () and not self._is(book, now)

    def needs(self, book: Book, label: str) -> tuple[str, ...]:
        return tuple(sorted(self.of.labels)) if label in self.then.labels else ()

    def thaw(self, book: Book) -> Book:
        return book if book["at"] is None else {**book, "at": float(book["at"])}
