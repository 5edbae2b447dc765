"""What people say, as labels: one projection from texts to the labels of a contract, used live and by audits alike.

A text has three ways to end: a label, or nobody could name it, with the reason. Doubt is never a label.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct, structs

from duly.machine.terms import LabelRule, Terms
from duly.notation.examine import pattern_options, pattern_problem
from duly.values.errors import Diagnostic, DulyError
from duly.values.event import Received, Sent

LIMIT: Final = 64 * 1024
"""Bytes of a text that are looked at; a longer one cannot be named."""

Own = Callable[[str], "str | None"]
"""A classifier of the user's own: a text to a declared label, or None."""

Unnamed = Literal["", "empty", "too_long", "not_text", "no_label", "failed", "foreign"]


class Named(Struct, frozen=True):
    """What a text was called; ``reason`` says why nobody could name it.

    ``empty``: nothing but space; ``too_long``: beyond the bound; ``not_text``: no text that can be written as UTF-8;
    ``no_label``: no label takes it; ``failed``: the user's classifier raised; ``foreign``: it answered with something
    that is no declared label.
    """

    label: str | None
    reason: Unnamed = ""


class Classifier:
    """Names texts by the labels that a contract declares, or by a classifier of the user's own.

    Raises DulyError for patterns that do not compile.
    """

    __slots__ = ("_own", "_patterns", "_rest", "labels")

    def __init__(self, labels: Mapping[str, LabelRule], *, own: Own | None = None) -> None:
        import re2  # type: ignore[import-untyped]

        faults = [
            Diagnostic("pattern", f"the pattern of `{label.name}` does not compile: {problem}", span=label.span)
            for label in labels.values()
            for pattern in (label.matches, label.unless)
            if pattern is not None and (problem := pattern_problem(pattern))
        ]
        if faults:
            raise DulyError(faults)
        self.labels = dict(labels)
        self._own = own
        options = pattern_options()
        self._patterns: list[tuple[LabelRule, Any, Any]] = []
        self._rest: dict[str, tuple[str, Any]] = {}
        for label in labels.values():
            found = re2.compile(label.matches, options) if label.matches is not None else None
            barred = re2.compile(label.unless, options) if label.unless is not None else None
            if found is not None:
                self._patterns.append((label, found, barred))
            if label.otherwise:
                self._rest.setdefault(label.source, (label.name, barred))

    def classify(self, text: str, *, source: str = "user") -> str | None:
        """The label of a text; None where nobody can name it."""
        return self.explain(text, source=source).label

    def explain(self, text: str, *, source: str = "user") -> Named:
        """The label of a text, or why it has none; surrounding space does not count."""
        if not isinstance(text, str):
            return Named(None, "not_text")
        said = text.strip()
        if not said:
            return Named(None, "empty")
        try:
            size = len(said.encode())
        except UnicodeEncodeError:
            return Named(None, "not_text")
        if size > LIMIT:
            return Named(None, "too_long")
        if self._own is not None:
            return self._ask(said, source)
        for label, found, barred in self._patterns:
            if label.source == source and found.search(said) and not (barred is not None and barred.search(said)):
                return Named(label.name)
        rest = self._rest.get(source)
        if rest is not None and not (rest[1] is not None and rest[1].search(said)):
            return Named(rest[0])
        return Named(None, "no_label")

    def _ask(self, text: str, source: str) -> Named:
        assert self._own is not None
        try:
            answer = self._own(text)
        except Exception:  # whatever it is, it names nothing
            return Named(None, "failed")
        if answer is None:
            return Named(None, "no_label")
        if type(answer) is not str or answer not in self.labels or self.labels[answer].source != source:
            return Named(None, "foreign")
        return Named(answer)


def name_event(event: Received | Sent, classifier: Classifier) -> Received | Sent:
    """A message without a label, named by the text in its payload; a person's if received, the agent's if sent."""
    if event.label is not None or not isinstance(event.payload, dict):
        return event
    source = "user" if type(event) is Received else "agent"
    return structs.replace(event, label=classifier.classify(event.payload.get("text", ""), source=source))


def run_examples(terms: Terms, classifier: Classifier) -> list[Diagnostic]:
    """One error for each example of a contract that gets another label than it says."""
    found: list[Diagnostic] = []
    for example in terms.examples:
        label = terms.labels.get(example.label) if example.label is not None else None
        sources = [label.source] if label is not None else sorted({each.source for each in terms.labels.values()})
        for source in sources or ["user"]:
            named = classifier.explain(example.text, source=source)
            if named.label != example.label:
                message = f"`{_short(example.text)}` is {_called(named)}, not {_called(Named(example.label))}"
                help = "change the patterns, or the example"
                found.append(Diagnostic("example", message, span=example.span, help=help))
                break
    return found


def _called(named: Named) -> str:
    if named.label is not None:
        return f"`{named.label}`"
    return f"unrecognized ({named.reason.replace('_', ' ')})" if named.reason else "unrecognized"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:60]}…"
