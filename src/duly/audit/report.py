"""What an audit of many runs says: figures, findings, and the exit code; as JSON, or as tables (``table.py``)."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct, field

from duly.gates.labels import Classifier
from duly.machine.contract import Contract
from duly.session.ledger import Ledger
from duly.values.errors import Diagnostic, DulyError

from .detect import reader_of
from .document import open_document
from .run import Finding, RunReport, audit

if TYPE_CHECKING:
    from rich.console import Console

OUTCOMES: Final = ("pass", "fail", "unknown")


class Tally(Struct):
    """Runs of one outcome, and how many of them violate."""

    runs: int = 0
    violating: int = 0


class Note(Struct, frozen=True):
    """A record or a file that could not be read, with its place."""

    file: str
    kind: str
    message: str
    line: int | None = None
    run: str | None = None
    help: str = ""

    def text(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.message}" + (f" ({self.help})" if self.help else "")


class Report(Struct):
    """An audit.

    A run violates if it has a finding that rates do not leave out. ``by_outcome`` sets that beside what the record says
    of the run (``pass``, ``fail``, ``unknown``). ``count`` says whether calls count as ``attempted`` or only if
    ``effective``; ``mute_formats`` names formats that cannot say that a call failed: there only the contract's own
    conditions tell. ``untimed`` counts findings of time rules where no time was recorded.
    """

    contract: str = ""
    version: str = ""
    digest: str = ""
    count: str = "attempted"
    files: int = 0
    runs: int = 0
    events: int = 0
    violating_runs: int = 0
    violating_calls: int = 0
    passing_runs: int = 0
    incomplete_runs: int = 0
    unrecognized_events: int = 0
    untimed: int = 0
    by_outcome: dict[str, Tally] = field(default_factory=lambda: {outcome: Tally() for outcome in OUTCOMES})
    by_format: dict[str, int] = field(default_factory=dict)
    mute_formats: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    problems: list[Note] = field(default_factory=list)
    owing: list[Note] = field(default_factory=list)
    unreadable_files: list[Note] = field(default_factory=list)
    internal: list[Note] = field(default_factory=list)

    def add(self, run: RunReport) -> None:
        """Takes one run in."""
        self.runs += 1
        self.events += run.events
        tally = self.by_outcome[run.outcome or "unknown"]
        tally.runs += 1
        self.by_format[run.format] = self.by_format.get(run.format, 0) + 1
        if run.verdict == "violation":
            self.violating_runs += 1
            tally.violating += 1
        elif run.verdict == "incomplete":
            self.incomplete_runs += 1
        else:
            self.passing_runs += 1
        if not run.tells_errors and run.format not in self.mute_formats:
            self.mute_formats.append(run.format)
        for kind, times in run.left_out.items():
            self.left_out[kind] = self.left_out.get(kind, 0) + times
        self.violating_calls += run.violating_calls
        self.unrecognized_events += run.unrecognized
        self.untimed += sum(finding.untimed for finding in run.findings)
        self.findings += run.findings
        self.problems += [Note(run.file, p.kind, p.message, p.line, run.run) for p in run.problems]
        self.owing += [Note(run.file, "owed", message, run=run.run) for message in run.owed]
        self.internal += [Note(run.file, "internal", message, run=run.run) for message in run.internal]

    def unreadable(self, file: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Takes in a file of which nothing could be read."""
        self.unreadable_files += [Note(file, d.code, d.message, help=d.help) for d in diagnostics]

    @property
    def exit_code(self) -> int:
        """1 duly itself failed, 4 violations, 6 incomplete or unreadable, 0 fine; of several the first of these."""
        if self.internal:
            return 1
        if self.violating_runs:
            return 4
        return 6 if self.incomplete_runs or self.unreadable_files or not self.runs else 0

    def rules(self) -> dict[str, list[Finding]]:
        """The findings by rule, the rule with most of them first."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            found.setdefault(finding.rule, []).append(finding)
        return dict(sorted(found.items(), key=lambda row: (-len(row[1]), row[0])))

    def leaves_out(self, finding: Finding) -> bool:
        """Whether the contract does not count this finding's call, since it ended in ``error``."""
        return self.count == "effective" and finding.label.startswith("!") and finding.outcome == "error"

    def plain(self) -> dict[str, Any]:
        """The whole report as plain data, keys in the order of the fields.

        Where a contract counts effective calls, findings on calls that ended in ``error`` stand under
        ``findings_left_out`` and not among ``findings``.
        """
        value: dict[str, Any] = msgspec.to_builtins(self)
        value["findings"] = msgspec.to_builtins([each for each in self.findings if not self.leaves_out(each)])
        value["findings_left_out"] = msgspec.to_builtins([each for each in self.findings if self.leaves_out(each)])
        return {**value, "exit_code": self.exit_code}

    def to_json(self) -> str:
        """The same as one JSON object."""
        return msgspec.json.encode(self.plain()).decode()

    def render(self, console: "Console", *, runs: int = 10) -> None:
        """Tables for people; ``runs`` is how many violating runs are shown."""
        from .table import render

        render(self, console, runs=runs)


def audit_files(
    files: Iterable[str | Path],
    contract: Contract,
    classifier: Classifier | None = None,
    *,
    format: str | None = None,
    on_file: Callable[[int, int], None] | None = None,
) -> Report:
    """Audits every run of these files. A file that cannot be read is named in the report and stops nothing. Caps with
    ``scope: store`` count over all of the runs together, in their order.

    ``format`` names the reader for all of them; ``on_file`` is told after each file how many of how many are done.
    """
    paths = [Path(file) for file in files]
    report = begun(contract)
    ledger = Ledger()
    for done, path in enumerate(paths, start=1):
        report.files += 1
        try:
            document = open_document(path)
            reader = reader_of(document, format=format)
            before = report.runs
            for trajectory in reader.read(document):
                report.add(audit(trajectory, contract, classifier, ledger))
            if report.runs == before:
                report.unreadable(str(path), [Diagnostic("empty", "holds no run", path=str(path))])
        except DulyError as error:
            report.unreadable(str(path), error.diagnostics)
        except OSError as error:
            message = f"cannot be read: {(error.strerror or 'unknown').lower()}"
            report.unreadable(str(path), [Diagnostic("unreadable", message, path=str(path))])
        except Exception as error:
            # a reader's fault is ours (or a plug-in's): it is named as such, and the other files are still audited
            message = f"the reader failed: {type(error).__name__}: {str(error)[:200]}"
            report.internal.append(Note(str(path), "internal", message, help="report this"))
        if on_file is not None:
            on_file(done, len(paths))
    return report


def begun(contract: Contract) -> Report:
    """A report to which runs are added."""
    return Report(contract=contract.name, version=contract.version, digest=contract.digest, count=contract.terms.count)
