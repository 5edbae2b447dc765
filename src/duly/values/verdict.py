"""What ``decide`` says of an event: verdicts with reasons, and how several join into the gravest.

Text is made last: a reason carries facts. A refusal works out its reasons, legal acts and repair when they are read.
"""

from collections.abc import Iterable
from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct, structs

from .plain import own
from .source import Span

SHOWN: Final = ("reasons", "legal", "repair")
"""The parts of a refusal that a model is told, unless its contract says otherwise."""


class Reason(Struct, frozen=True):
    """Why an act is refused, or what is found of something that has happened.

    ``rule`` is the id of the rule (or ``protocol``, ``schema``, ``contract``), ``kind`` a stable word for what is
    wrong (``order``, ``count``, ``protocol``, ``unknown``, ``malformed``, ``in_flight``, ``ungated`` …), ``got`` what
    came, ``expected`` what would have fitted, ``help`` one line on what to do instead. ``follow_on`` marks a further
    finding of the same machine in a run that went on all the same. ``span`` is what the contract says there, and
    ``place`` the same as text (``desk.yaml:14:5``), where a journal has kept no more of it; neither is for the model.
    """

    rule: str
    kind: str
    message: str
    got: str = ""
    expected: tuple[str, ...] = ()
    help: str = ""
    span: Span | None = None
    follow_on: bool = False
    untimed: bool = False
    possible: bool = False
    severity: str = "error"
    place: str = ""

    @property
    def where(self) -> str:
        """Where the contract says so, as editors read it: ``desk.yaml:14:5``; empty where no text says it."""
        return self.place if self.span is None else named(self.span.where())

    def text(self) -> str:
        line = self.message
        if self.expected:
            shown = ", ".join(f"`{name}`" for name in self.expected[:8])
            more = f" and {len(self.expected) - 8} more" if len(self.expected) > 8 else ""
            line += f"; expected {shown}{more}"
        return f"{line} ({self.help})" if self.help else line


class Legal(Struct, frozen=True):
    """An act that is not refused for every payload: its label, its conditions in words, and whether it needs a yes."""

    label: str
    conditions: tuple[str, ...] = ()
    approval: bool = False

    def text(self) -> str:
        notes = [*self.conditions, *(["needs approval"] if self.approval else [])]
        return f"{self.label} ({'; '.join(notes)})" if notes else self.label


class Repair(Struct, frozen=True):
    """What would make a refused act legal: ``answer`` is ``steps``, ``none`` or ``undecided`` (within the bound)."""

    answer: str
    steps: tuple[str, ...] = ()

    def text(self) -> str:
        if self.answer == "steps":
            return "first " + ", then ".join(self.steps) if self.steps else "ask again with other arguments"
        if self.answer == "none":
            return "nothing makes this act legal in this session"
        return "no way to make this act legal was found within the bound"


class Explanation(Protocol):
    """What stands behind a refusal, worked out on demand."""

    def reasons(self) -> tuple[Reason, ...]: ...

    def legal(self) -> tuple[Legal, ...]: ...

    def repair(self) -> Repair | None: ...


class Allowed(Struct, frozen=True, gc=False):
    """``payload`` is what is to run (defaults filled, edits taken); ``recorded`` holds the stored result where a
    finished call is answered from the record (``replayed`` is then true). ``id`` is the call's number; ``noted`` is
    what was found beside it: by rules in shadow, or of what was not done in time.

    ``payload`` and ``recorded`` are copies of the fields ``ready`` and ``stored``: who runs a tool with them may change
    them, and what was judged, recorded and agreed to stays as it was.
    """

    ready: Any = None
    stored: Any = None
    replayed: bool = False
    id: str | None = None
    noted: tuple[Reason, ...] = ()

    word = "allowed"
    reasons = ()

    @property
    def payload(self) -> Any:
        return own(self.ready)

    @property
    def recorded(self) -> Any:
        return own(self.stored)

    def __bool__(self) -> bool:
        return True

    def text(self) -> str:
        return "allowed, answered from the record" if self.replayed else "allowed"


class Refusal(Struct, frozen=True, eq=False):
    """The part that all verdicts but ``Allowed`` share. Never true, equal by what it says, safe to pickle and copy.

    ``reasons`` are all of them, ``legal`` the acts that are legal instead, ``repair`` what would make this act legal;
    ``halted`` says that acts are blocked from now on; ``finding`` marks what is said of something that has happened.
    ``noted`` is what was found beside it. Reasons, legal acts and repair are the fields ``given``, ``instead`` and
    ``mend``, or worked out by ``why`` when they are read. ``show`` names the parts that the contract lets a model see.
    """

    given: tuple[Reason, ...] = ()
    why: Explanation | None = None
    halted: bool = False
    finding: bool = False
    ticket: str | None = None
    instead: tuple[Legal, ...] = ()
    mend: Repair | None = None
    noted: tuple[Reason, ...] = ()
    show: tuple[str, ...] = SHOWN

    __match_args__ = ("reasons",)
    word = "violation"

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return self.given if self.why is None else self.why.reasons()

    @property
    def legal(self) -> tuple[Legal, ...]:
        return self.instead if self.why is None else self.why.legal()

    @property
    def repair(self) -> Repair | None:
        return self.mend if self.why is None else self.why.repair()

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules that refuse, each once."""
        return tuple(dict.fromkeys(reason.rule for reason in self.reasons))

    def text(self) -> str:
        """What a model is told: short, and only what the contract lets it see."""
        return refusal_text(self)

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self.reasons))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._values()

    def __copy__(self) -> "Refusal":
        return self

    def __deepcopy__(self, memo: Any) -> "Refusal":
        return self

    def _values(self) -> tuple[Any, ...]:
        return (
            self.reasons, None, self.halted, self.finding, self.ticket, self.legal, self.repair, self.noted, self.show
        )  # fmt: skip


class NeedsApproval(Refusal, frozen=True, eq=False):
    """The act is parked under ``ticket`` until a person has decided."""

    word = "needs_approval"


class Violation(Refusal, frozen=True, eq=False):
    """The act is refused, or the observation is a finding."""


class Unrecognized(Refusal, frozen=True, eq=False):
    """A message that nobody could name, or an event that is not well formed. Ask again."""

    word = "unrecognized"


class Blocked(Refusal, frozen=True, eq=False):
    """The session is halted or closed; no act is decided any more."""

    word = "blocked"


Verdict: TypeAlias = Allowed | NeedsApproval | Violation | Unrecognized | Blocked

GRAVITY: Final[dict[type, int]] = {Allowed: 0, NeedsApproval: 1, Violation: 2, Unrecognized: 3, Blocked: 4}
ALLOWED: Final = Allowed()
TEXT_LIMIT: Final = 2000
"""Bytes of refusal text that a model is given at most, whatever the history."""


def join(verdicts: Iterable[Verdict]) -> Verdict:
    """The gravest verdict, with the reasons of all of that gravity, each once, in a fixed order.

    Associative, commutative, idempotent; ``Allowed`` is its unit.
    """
    found = list(verdicts)
    worst = max((GRAVITY[type(v)] for v in found), default=0)
    if worst == 0:
        return next((v for v in found if v != ALLOWED), ALLOWED)
    grave = [v for v in found if GRAVITY[type(v)] == worst]
    reasons = sorted({r for v in grave for r in v.reasons}, key=lambda r: (r.rule, r.kind, r.message, r.got))
    kind: Any = type(grave[0])
    joined: Verdict = kind(
        tuple(reasons),
        instead=tuple(sorted({act for v in grave for act in v.legal}, key=lambda act: (act.label, act.conditions))),  # type: ignore[union-attr]
        mend=min((v.repair for v in grave if v.repair is not None), key=lambda r: (r.answer, r.steps), default=None),  # type: ignore[union-attr]
        halted=any(v.halted for v in grave),  # type: ignore[union-attr]
        finding=all(v.finding for v in grave),  # type: ignore[union-attr]
        ticket=min((v.ticket for v in grave if v.ticket is not None), default=None),  # type: ignore[union-attr]
        show=tuple(part for part in SHOWN if all(part in v.show for v in grave)),  # type: ignore[union-attr]
    )
    return joined


def refusal_text(refusal: Refusal, *, show: tuple[str, ...] | None = None) -> str:
    """What a model is told: five reasons, the rest counted, what is legal now and what would help; 2 kB at most.

    ``show`` names the parts that the model may see, else the refusal says so itself. Each part has room of its own, so
    that a long name in one of them never pushes out the others; no part is longer than a line.
    """
    show = refusal.show if show is None else show
    if type(refusal) is NeedsApproval:
        head = "waiting for a decision"
    elif type(refusal) is Blocked:
        head = "blocked"
    elif type(refusal) is Unrecognized:
        head = "not understood"
    else:
        head = "finding" if refusal.finding else "refused"
    reasons = refusal.reasons if "reasons" in show else ()
    lines = [f"{head}: {_said(reasons[0], 500)}" if reasons else head]
    lines += [f"also: {_said(reason, 160)}" for reason in reasons[1:5]]
    if len(reasons) > 5:
        lines.append(f"and {len(reasons) - 5} more reasons")
    repair = refusal.repair if "repair" in show else None
    if repair is not None:
        lines.append(f"to make it legal: {one_line(repair.text(), 300)}")
    if refusal.halted:
        lines.append("the session is halted: no further act is taken")
    legal = refusal.legal if "legal" in show else ()
    if legal:
        left = TEXT_LIMIT - sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)
        lines.insert(len(lines) - refusal.halted, _listed(legal, left))
    return "\n".join(lines)


def _listed(legal: tuple[Legal, ...], room: int) -> str:
    """The acts that are legal, as many as there is room for (12 at most), and how many more there are."""
    told: list[str] = []
    room -= len("legal now: , and 1000000 more")
    for act in legal:
        text = one_line(act.text(), 160)
        room -= len(text.encode()) + 2
        if len(told) == 12 or room < 0:
            told.append(f"and {len(legal) - len(told)} more")
            break
        told.append(text)
    return "legal now: " + ", ".join(told)


def _said(reason: Reason, limit: int) -> str:
    """A reason as part of one line: what is too long loses its end, and not the help that stands there."""
    text = reason.text()
    if len(text.encode("utf-8", "replace")) <= limit or not reason.help:
        return one_line(text, limit)
    help = one_line(reason.help, limit // 3)
    return f"{one_line(structs.replace(reason, help='').text(), limit - len(help.encode()) - 3)} ({help})"


def one_line(text: str, limit: int) -> str:
    """A text as part of one line: whatever would end the line, or steer a terminal, is a blank."""
    short = text[: 4 * limit]
    if not short.isprintable():
        short = "".join(character if character.isprintable() else " " for character in short)
    return shorten(short if len(short) == len(text) else short + "…", limit)


def named(place: str) -> str:
    """A place whose file name can be written as UTF-8."""
    return place.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def shorten(text: str, limit: int) -> str:
    """A text of at most ``limit`` bytes of UTF-8, cut with an ellipsis."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[: limit - 3].decode("utf-8", "ignore") + "…"
