"""Rules about one act or one result: what is forbidden, what must hold of arguments, what must hold of results."""

from typing import Any

from ..condition import Condition
from ..terms import Rule
from .member import Act, Member
from .watch import Book, Facts, Refusal, Watch, unsure


class Forbid(Watch):
    """``of`` is always refused."""

    def __init__(self, rule: Rule, of: Member) -> None:
        super().__init__(rule, of)
        self.of = of

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        return Refusal("forbidden", f"`{act.label}` is forbidden", "do without it") if judged else None

    def shut(self, book: Book, label: str, now: float, facts: Facts) -> bool:
        return self.of.labels.get(label) == ()


class Permit(Watch):
    """Refuses nothing; says what is meant to be possible, which `duly check` holds against the other rules."""

    def __init__(self, rule: Rule, of: Member) -> None:
        super().__init__(rule, of)
        self.of = of


class Requires(Watch):
    """``of`` is refused unless ``that`` holds of its arguments."""

    def __init__(self, rule: Rule, of: Member, that: Condition) -> None:
        super().__init__(rule, of)
        self.of, self.that = of, that

    def refuse(self, book: Book, act: Act) -> Refusal | None:
        judged = self.of.takes(act)
        if judged is None:
            return unsure(self.of, act)
        if not judged:
            return None
        answer = self.that({**act.values, "args": act.args})
        if answer is True:
            return None
        text = self.that.text[:300]
        if answer is None:
            return Refusal("unknown", f"`{text}` cannot be worked out for `{act.label}`", "correct the arguments")
        return Refusal("requires", f"`{act.label}` requires `{text}`", "correct the arguments")

    def says(self, book: Book, label: str) -> str:
        return self.that.text if self.of.labels.get(label) == () else ""


class Ensures(Watch):
    """A result of ``of`` must meet ``that``; one that does not is no success."""

    def __init__(self, rule: Rule, of: Member, that: Condition) -> None:
        super().__init__(rule, of)
        self.of, self.that = of, that

    def breach(self, book: Book, act: Act, result: Any) -> Refusal | None:
        if self.of.takes(act) is False:
            return None
        if self.that({**act.values, "args": act.args, "result": result}) is True:
            return None
        message = f"the result of `{act.label}` does not meet `{self.that.text[:300]}`"
        return Refusal("ensures", message, "it has happened; its result is withheld")
