"""Writes docs/cli.md from the command line itself. A test compares the page with what this gives."""

from pathlib import Path

from typer.testing import CliRunner

from duly.cli.app import VERBS
from duly.cli.main import application

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
HEAD = """\
# The command line

Written by `make docs` from the commands themselves.

| exit code | means |
|---|---|
| 0 | fine |
| 1 | duly itself failed; `--debug`, anywhere on the line, shows where |
| 2 | wrong usage, or a named file does not exist |
| 3 | a contract is not well formed (with `--strict`: or suspicious) |
| 4 | violations were found |
| 5 | evidence does not verify (no verb gives it yet) |
| 6 | undecided or incomplete: a run has not come to its end, a record cannot be read, or nothing was there to read |

Of several the first in the order 1, 2, 3, 5, 4, 6 is given.

Answers go to standard output, complaints to standard error. With `--json`, standard output holds JSON and nothing else.
Without a terminal nothing is coloured, and no progress is shown.
"""


def page() -> str:
    parts = [HEAD]
    for verb, _ in VERBS:
        name = verb.__name__
        said = CliRunner().invoke(application(), [name, "--help"], prog_name="duly", env={"COLUMNS": "100"})
        parts.append(f"\n## duly {name}\n\n```text\n{said.stdout.strip()}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
