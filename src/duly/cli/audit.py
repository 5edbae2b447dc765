"""`duly audit`: recorded runs held to a contract after the fact."""

from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from duly.audit.report import Report


def audit(
    files: Annotated[
        list[str], typer.Argument(help="Recorded runs: files, folders, or globs in quotes.", show_default=False)
    ],
    contract: Annotated[str, typer.Option("--contract", "-c", help="The contract document.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print the whole report as one JSON object.")] = False,
    format: Annotated[
        str | None,
        typer.Option("--format", help="The format of the files, where it is not to be recognised.", show_default=False),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=0, help="How many violating runs are shown.")] = 10,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print one line of figures and no tables.")] = False,
) -> None:
    """Holds recorded runs to a contract and says which of them violate it.

    Reads duly's own trace, chat messages (OpenAI and Anthropic), tau-bench and tau2 results, and step logs; the format
    is recognised by what a file holds. Folders are searched for .json, .jsonl, .ndjson and .traj files.

    \b
    Examples:
      duly audit runs/ --contract contract.yaml
      duly audit run.jsonl --contract contract.yaml --json
      duly audit "runs/**/*.json" --contract contract.yaml --format tau2

    Exits with 4 if a run violates the contract, with 6 if a run is incomplete or nothing could be read, and with 2 if a
    named file does not exist.
    """
    from duly.audit.detect import readers
    from duly.audit.report import audit_files
    from duly.gates.labels import Classifier
    from duly.values.errors import suggest

    from .output import contract_of, number, progress, say, usage, worst, write, written

    held = contract_of(contract, json=json)
    names = [reader.name for reader in readers()]
    if format is not None and format not in names:
        raise usage(f"unknown format `{format}`", suggest(format, names) or f"known formats: {', '.join(names)}")
    paths, missing = found(files, contract)
    classifier = Classifier(held.terms.labels) if held.terms.labels else None
    with progress("auditing") as told:
        report = audit_files(paths, held, classifier, format=format, on_file=told)
    code = worst([report.exit_code, 2 if missing else 0])
    if json:
        write(text(report, missing, code))
    elif quiet:
        write(figures(report))
        for note in report.unreadable_files[:10]:
            say(note.text())
    else:
        from .output import console

        report.render(console(), runs=runs)
    for path in missing:
        say(f"error: `{written(path)}` does not exist")
    if not report.runs:
        say(f"error: no run could be read in {number(len(paths), 'file')}")
    raise typer.Exit(code)


def found(patterns: list[str], contract: str) -> tuple[list[Path], list[str]]:
    """The files that are meant, and the names that mean none. A folder's contract is not one of its runs."""
    from duly.audit.detect import files

    paths: list[Path] = []
    missing: list[str] = []
    own = Path(contract).resolve()
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            paths += [file for file in files([path]) if file.resolve() != own]
        elif path.exists():
            paths.append(path)
        else:
            matches = sorted(glob(pattern, recursive=True)) if has_magic(pattern) else []
            paths += [file for file in files(matches) if file.resolve() != own]
            if not matches:
                missing.append(pattern)
    return list(dict.fromkeys(paths)), missing


def figures(report: "Report") -> str:
    from .output import number

    return (
        f"{number(report.runs, 'run')}: {report.violating_runs} violating, {report.incomplete_runs} incomplete, "
        f"{report.passing_runs} passing; {number(report.violating_calls, 'violating call')}, "
        f"{number(len(report.unreadable_files), 'unreadable file')}"
    )


def text(report: "Report", missing: list[str], code: int) -> str:
    """The report as JSON, with the names that mean no file."""
    import msgspec

    from .output import written

    value = {**report.plain(), "missing": [written(path) for path in missing], "exit_code": code}
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        # names of files may be no text; the standard library writes them with escapes
        from json import dumps

        return dumps(value, separators=(",", ":"))
