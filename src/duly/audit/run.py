"""A recorded run held to a contract: the session's own fold in the recorded reading, and what it found.

Nothing is decided here. Labels are given by the contract's classifier, findings come from ``judge``, which is told that
each act has happened.
"""

from typing import Any, Final, Literal

from msgspec import Struct, field

from duly.gates.labels import Classifier, name_event
from duly.machine.contract import Contract
from duly.machine.ir import State
from duly.session.decide import judge
from duly.session.ledger import Ledger, over
from duly.session.settle import outcome_of
from duly.values.event import Called, Closed, Event, Failed, Received, Returned, Sent, sign
from duly.values.plain import write_json
from duly.values.verdict import Allowed, Reason, Unrecognized, Verdict, shorten

from .trajectory import Problem, Trajectory

SHOWN: Final = 200
"""Bytes of an event's text that a finding shows."""

ABSENT: Final = frozenset({"order", "protocol", "unfinished", "outcome", "waiting", "ungated", "owed", "guard"})
"""Kinds of findings that say that something did not happen before; where records are missing it may have."""


class Finding(Struct):
    """What a rule says of one event.

    ``index`` is the event's place in the run and ``line`` the line of the file. ``outcome`` is how the call ended, None
    while it is open and for what is no call. ``counted`` is false for what rates leave out: further findings of a rule
    in the same run (``follow_on``), findings that rest on records that are missing (``possible``), and, where effective
    calls are counted, calls that ended in ``error``. ``shown`` is the event in short, ``heard`` what a person
    said last, ``where`` the place of the rule in the contract (``desk.yaml:14:5``).
    """

    file: str
    run: str
    index: int
    rule: str
    kind: str
    label: str
    message: str
    line: int | None = None
    outcome: str | None = None
    follow_on: bool = False
    possible: bool = False
    untimed: bool = False
    severity: str = "error"
    counted: bool = True
    shown: str = ""
    heard: str = ""
    where: str = ""


class RunReport(Struct):
    """One run: its verdict, findings, what nobody could name, what is owed, what could not be read.

    ``violating_calls`` counts events with a finding that nothing but ``follow_on`` leaves out. ``internal`` holds
    errors of duly itself.
    """

    file: str
    run: str
    format: str
    verdict: Literal["violation", "incomplete", "pass"] = "pass"
    task: str | None = None
    trial: str | None = None
    outcome: str | None = None
    reward: float | None = None
    events: int = 0
    findings: list[Finding] = field(default_factory=list)
    violating_calls: int = 0
    unrecognized: int = 0
    ended: bool = False
    owed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    tells_errors: bool = True
    internal: list[str] = field(default_factory=list)


def audit(
    trajectory: Trajectory, contract: Contract, classifier: Classifier | None = None, ledger: Ledger | None = None
) -> RunReport:
    """Folds one run over the contract, in the reading that what is recorded has happened.

    ``ledger`` is what caps with ``scope: store`` count in; runs that share one are taken for all runs of their store.
    """
    return _Fold(trajectory, contract, classifier, ledger if ledger is not None else Ledger()).run()


class _Fold:
    """The state of one audit: what has been found, and which findings wait for the result of their call."""

    def __init__(
        self, trajectory: Trajectory, contract: Contract, classifier: Classifier | None, ledger: Ledger
    ) -> None:
        self.ledger = ledger
        self.trajectory = trajectory
        self.contract = contract
        self.classifier = classifier
        self.state: State = contract.start
        self.report = RunReport(file=trajectory.file, run=trajectory.run, format=trajectory.format)
        self.waiting: dict[str, list[Finding]] = {}
        self.malformed: dict[str, Problem] = {}
        self.heard = ""
        self.line: int | None = None
        self.index = -1
        self.closed = False

    def run(self) -> RunReport:
        trajectory, report = self.trajectory, self.report
        contract = self.contract
        for self.index, event in enumerate(trajectory.events):
            if type(event) is Received or type(event) is Sent:
                event = self._named(event)
            elif (self.waiting or self.malformed) and (type(event) is Returned or type(event) is Failed):
                self._settle(event)
            elif type(event) is Closed:
                self.closed = True
            if contract.outer:
                verdict, self.state, _ = over(judge, self.ledger, contract, self.state, event, True)
            else:
                verdict, self.state = judge(contract, self.state, event, True)
            if type(verdict) is not Allowed or verdict.noted:
                self._place()
                self._say(event, verdict)
        self._place()
        report.events = self.index + 1
        self._end()
        report.problems += [*trajectory.problems, *self.malformed.values()]
        report.task, report.trial = trajectory.task, trajectory.trial
        report.outcome, report.reward = trajectory.outcome, trajectory.reward
        report.left_out, report.tells_errors = trajectory.left_out, trajectory.tells_errors
        report.ended = trajectory.ended
        self._count()
        if any(finding.counted for finding in report.findings):
            report.verdict = "violation"
        elif report.problems or report.owed or report.internal or any(f.possible for f in report.findings):
            report.verdict = "incomplete"
        return report

    def _named(self, event: Received | Sent) -> Event:
        """The event with the contract's label for what is said in it."""
        if type(event) is Received and type(event.payload) is dict and type(event.payload.get("text")) is str:
            self.heard = event.payload["text"]
        return event if self.classifier is None else name_event(event, self.classifier)

    def _place(self) -> None:
        """Where in the file the event stands of which something is to be said."""
        lines = self.trajectory.lines
        self.line = lines[self.index] if 0 <= self.index < len(lines) else None

    def _say(self, event: Event, verdict: Verdict) -> None:
        if type(verdict) is Unrecognized:
            self._unnamed(event, verdict)
        else:
            self._find(event, verdict)

    def _settle(self, event: Any) -> None:
        """Tells the findings of a call how it ended."""
        findings = self.waiting.get(event.id)
        if findings is None and event.id not in self.malformed:
            return
        outcome = "error" if type(event) is Failed and event.effect == "none" else None
        if type(event) is Returned:
            outcome = event.outcome
            call = self.state.open.get(event.id) if event.id is not None else None
            if outcome is None and call is not None:
                try:
                    outcome = outcome_of(self.contract, call, event.payload)
                except Exception:
                    # the fold itself is about to say what went wrong; here nothing is known of the outcome
                    return
        if outcome is None or outcome == "~":
            return
        for finding in findings or ():
            finding.outcome = outcome
        self.waiting.pop(event.id, None)
        if outcome == "error":
            # a call that could not be read and did nothing hides nothing
            self.malformed.pop(event.id, None)

    def _unnamed(self, event: Event, verdict: Verdict) -> None:
        self.report.unrecognized += 1
        if type(event) is Called:
            reasons = verdict.reasons
            message = reasons[0].message if reasons else "not well formed"
            problem = Problem(
                "malformed", f"the call of `{event.label[:80]}` cannot be read: {message}", self.line, self.index
            )
            self.malformed[event.id or f"#{self.index}"] = problem

    def _find(self, event: Event, verdict: Verdict) -> None:
        reasons = (*verdict.reasons, *verdict.noted)
        if not reasons:
            reasons = (Reason("approval", verdict.word, "the act ran without the yes that it needs"),)
        missing = any(problem.index <= self.index for problem in self.trajectory.problems)
        found = []
        for reason in reasons:
            if reason.kind == "internal":
                self.report.internal.append(f"{sign(event)}: {reason.message}")
                continue
            found.append(self._finding(event, reason, missing))
        self.report.findings += found
        call = getattr(event, "id", None)
        if found and type(event) is Called and call is not None:
            self.waiting.setdefault(call, []).extend(found)

    def _finding(self, event: Event, reason: Reason, missing: bool) -> Finding:
        label = sign(event)
        payload = getattr(event, "payload", None)
        shown = label if payload is None else f"{label} {write_json(payload)}"
        return Finding(
            file=self.report.file,
            run=self.report.run,
            index=self.index,
            line=self.line,
            rule=reason.rule,
            kind=reason.kind,
            label=label,
            message=reason.message,
            outcome=event.outcome if type(event) is Returned else None,
            follow_on=reason.follow_on,
            possible=reason.possible or (missing and reason.kind in ABSENT),
            untimed=reason.untimed,
            severity=reason.severity,
            shown=shorten(shown, SHOWN),
            heard=shorten(self.heard, SHOWN),
            where=reason.where,
        )

    def _end(self) -> None:
        """Closes a run whose end is on record; asks of any other what it owes, and leaves it open."""
        if self.closed:
            return
        verdict, _ = judge(self.contract, self.state, Closed(), True)
        if type(verdict) is Allowed:
            return
        if self.trajectory.ended:
            self.index += 1
            self._find(Closed(), verdict)
        else:
            self.report.owed = [reason.text() for reason in verdict.reasons]

    def _count(self) -> None:
        """What rates leave out. The first of a rule that is not left out counts, whatever was left out before it."""
        effective = self.contract.terms.count == "effective"
        seen: set[str] = set()
        events: set[int] = set()
        for finding in self.report.findings:
            left_out = finding.possible or (effective and finding.label.startswith("!") and finding.outcome == "error")
            finding.counted = not left_out and finding.rule not in seen
            if not left_out:
                seen.add(finding.rule)
                events.add(finding.index)
        self.report.violating_calls = len(events)
