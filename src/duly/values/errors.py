"""What can be said of a faulty definition: diagnostics, the errors that carry them, and suggestions."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from .source import Span

if TYPE_CHECKING:
    from .verdict import Verdict


class Diagnostic(Struct, frozen=True):
    """One fault of a definition.

    ``message`` is lower case without a full stop, with user text in backticks; ``help`` says in one line what to
    do; ``witness`` is a shortest run that shows the fault (labels such as `!pay`); ``path`` names the place in
    a form without positions (TOML, Python).
    """

    code: str
    message: str
    severity: Literal["error", "warning"] = "error"
    span: Span | None = None
    path: str = ""
    help: str = ""
    witness: tuple[str, ...] = ()

    def where(self) -> str:
        return self.span.where() if self.span is not None else self.path

    def text(self) -> str:
        """Several lines for a person: place, message, picture, witness, help."""
        place, message = _cut(self.where()), _cut(self.message)
        lines = [f"{place}: {self.severity}: {message}" if place else f"{self.severity}: {message}"]
        if self.span is not None:
            lines.append(self.span.picture())
        if self.witness:
            lines.append("  witness: " + " . ".join(self.witness))
        if self.help:
            lines.append("  help: " + _cut(self.help))
        return "\n".join(lines)


class DulyError(Exception):
    """A definition, a document or a snapshot that has no clear meaning; carries every diagnostic at once."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        more = len(self.diagnostics) - _TOLD
        super().__init__(
            "\n".join(
                [*(d.text() for d in self.diagnostics[:_TOLD]), *([f"{more} further faults"] if more > 0 else [])]
            )
        )

    def __reduce__(self) -> tuple[type["DulyError"], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)


class Refused(Exception):
    """Raised where a function call stands for an act that the contract refused; carries the verdict."""

    def __init__(self, verdict: "Verdict") -> None:
        self.verdict = verdict
        super().__init__(verdict.text())

    def __reduce__(self) -> tuple[type["Refused"], tuple["Verdict"]]:
        return type(self), (self.verdict,)


def fault(code: str, message: str, *, span: Span | None = None, path: str = "", help: str = "") -> DulyError:
    """An error with one diagnostic."""
    return DulyError([Diagnostic(code=code, message=message, span=span, path=path, help=help)])


def suggest(name: str, options: Iterable[str]) -> str:
    """`` did you mean `x`?`` for the nearest option, or an empty text."""
    near = nearest(name, options)
    return f"did you mean `{near}`?" if near else ""


def nearest(name: str, options: Iterable[str]) -> str | None:
    """The option that is most like the name; of very many, only the first are looked at."""
    if len(name) > _LONGEST:
        return None
    folded = name.casefold()
    near: list[str] = []
    for option in islice(options, _LOOKED_AT):
        if option.casefold() == folded:
            return option
        # less alike than the cutoff, whatever the letters are
        if 4 * min(len(name), len(option)) >= 3 * abs(len(name) - len(option)) and len(near) < _COMPARED:
            near.append(option)
    from difflib import get_close_matches  # only faulty input pays for it

    found = get_close_matches(name, near, n=1, cutoff=0.6)
    return found[0] if found else None


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_TOLD: Final = 200  # faults in the text of an error; its diagnostics are all of them
_SHOWN: Final = 2000  # characters of a message: a name may be as long as the file it stands in
_LONGEST, _LOOKED_AT, _COMPARED = 100, 10_000, 5_000
