"""The report as tables for people. Figures are worked out in ``report.py``; here they are only laid out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from .report import Report
    from .run import Finding


def render(report: "Report", console: "Console", *, runs: int = 10) -> None:
    """Prints rules with their counts, findings against outcomes, the first violating runs, and what is unclear."""
    from rich.markup import escape

    name = " ".join(part for part in (report.contract, report.version) if part) or "contract"
    read = f"{_many(report.runs, 'run')} in {_many(report.files, 'file')}, {report.events} events"
    console.print(
        f"[bold]{escape(name)}[/] {read}: "
        f"{report.violating_runs} violating, {report.incomplete_runs} incomplete, {report.passing_runs} passing"
    )
    if report.findings:
        console.print(_rules(report))
    if report.by_outcome["pass"].runs or report.by_outcome["fail"].runs:
        console.print(_outcomes(report))
    _first(report, console, runs)
    _unclear(report, console)


def _rules(report: "Report") -> "Table":
    from rich.markup import escape

    table = _table("rule", "kind", "runs", "findings", "follow-on", "left out", title="findings by rule")
    for rule, findings in report.rules().items():
        table.add_row(
            escape(rule),
            escape(", ".join(sorted({finding.kind for finding in findings}))),
            str(len({(finding.file, finding.run) for finding in findings if finding.counted})),
            str(len(findings)),
            str(sum(finding.follow_on for finding in findings)),
            str(sum(_left_out(finding, report) for finding in findings)),
        )
    return table


def _left_out(finding: "Finding", report: "Report") -> bool:
    return finding.possible or report.leaves_out(finding)


def _outcomes(report: "Report") -> "Table":
    table = _table("outcome", "runs", "violating", "share", title=f"runs against their outcome ({report.count} calls)")
    for outcome, tally in report.by_outcome.items():
        if tally.runs:
            share = f"{100 * tally.violating / tally.runs:.1f} %"
            table.add_row(outcome, str(tally.runs), str(tally.violating), share)
    return table


def _first(report: "Report", console: "Console", runs: int) -> None:
    from rich.markup import escape

    by_run: dict[tuple[str, str], list[Finding]] = {}
    for finding in report.findings:
        by_run.setdefault((finding.file, finding.run), []).append(finding)
    shown = [findings for findings in by_run.values() if any(finding.counted for finding in findings)]
    for findings in shown[:runs]:
        first = next(finding for finding in findings if finding.counted)
        place = first.file if first.line is None else f"{first.file}:{first.line}"
        console.print(f"\n[bold]{escape(first.run)}[/] [dim]{escape(place)}[/] event {first.index}")
        if first.heard:
            console.print(f"  heard  {escape(_line(first.heard))}", style="dim")
        console.print(f"  did    {escape(_line(first.shown))}")
        where = f" [dim]{escape(f'[{first.where}]')}[/]" if first.where else ""
        console.print(f"  [red]{escape(first.rule)}[/]: {escape(first.message)}{where}")
        more = len(findings) - 1
        if more:
            console.print(f"  and {more} more finding{'s' if more > 1 else ''}", style="dim")
    if len(shown) > runs:
        rest = len(shown) - runs
        console.print(f"\nand {rest} more violating run{'s' if rest > 1 else ''}")


def _unclear(report: "Report", console: "Console") -> None:
    from rich.markup import escape

    for title, notes in (
        ("duly itself failed", report.internal),
        ("files that could not be read", report.unreadable_files),
        ("records that could not be read", report.problems),
        ("owed, and no end was seen", report.owing),
    ):
        if notes:
            console.print(f"\n[bold]{title}[/] ({len(notes)})")
            for note in notes[:10]:
                console.print(f"  {escape(note.text())}")
            if len(notes) > 10:
                console.print(f"  and {len(notes) - 10} more")
    if report.unrecognized_events:
        console.print(f"\n{report.unrecognized_events} events that nobody could name")
    if report.untimed:
        console.print(f"{report.untimed} findings of time rules without a recorded time (untimed)")
    for kind, times in report.left_out.items():
        console.print(f"{times} times left out: {escape(kind)}")
    if report.mute_formats:
        names = ", ".join(report.mute_formats)
        console.print(f"{escape(names)} cannot say that a call failed: only `error` conditions of the contract tell")


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _line(text: str) -> str:
    return " ".join(text.split())


def _table(*columns: str, title: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 or column == "kind" else "right", overflow="fold")
    return table
