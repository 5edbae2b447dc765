"""The command as a process, and what holds for all verbs."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duly import __version__
from duly.cli import app as cli
from duly.cli.main import application
from duly.cli.output import worst

from .conftest import Duly

VERBS = [verb.__name__ for verb, _ in cli.VERBS]


def process(*args: str, cwd: Path, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-c", "from duly.cli.main import run; run()", *args]
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, timeout=60)


def test_the_command_runs_as_a_process(here: Path) -> None:
    said = process("audit", "bad.jsonl", "-c", "contract.yaml", "-q", cwd=here)
    assert (said.returncode, said.stderr) == (4, b"")
    assert said.stdout == b"1 run: 1 violating, 0 incomplete, 0 passing; 2 violating calls, 0 unreadable files\n"


def test_a_process_without_a_terminal_prints_no_colours(here: Path) -> None:
    assert b"\x1b" not in process("audit", "bad.jsonl", "-c", "contract.yaml", cwd=here).stdout


def test_text_that_a_terminal_cannot_show_ends_no_verb(here: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from duly.cli.main import run; run()",
        "check",
        "-p",
        "!caf\u00e9.rec X.!\u2603.X",
    ]
    said = subprocess.run(command, cwd=here, capture_output=True, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (said.returncode, said.stderr) == (3, b"")


def test_a_file_name_that_is_no_text_ends_no_verb(here: Path) -> None:
    (here / "runs" / "caf\udce9.jsonl").write_text("{}")
    said = process("audit", "runs", "-c", "contract.yaml", "--json", cwd=here)
    assert (said.returncode, said.stderr) == (6, b"")
    assert process("audit", "runs", "-c", "contract.yaml", cwd=here).returncode == 6


def test_importing_the_entry_loads_no_parser_and_no_verb(here: Path) -> None:
    code = "import sys, duly.cli.main; print({'typer', 'rich', 'lark', 'yaml', 'duly.audit'} & {*sys.modules})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=here)
    assert said.stdout == "set()\n"


def test_the_version_is_the_packages(duly: Duly) -> None:
    said = duly("--version")
    assert (said.code, said.out) == (0, f"duly {__version__}\n")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_documented_with_an_example(verb: str, duly: Duly) -> None:
    said = duly(verb, "--help")
    assert (said.code, f"  duly {verb}" in said.out, "Example" in said.out) == (0, True, True)
    assert f"\n  {verb}" in duly("--help").out


def test_an_unknown_verb_is_a_usage_error_with_a_suggestion(duly: Duly) -> None:
    said = duly("chek")
    assert (said.code, "check" in said.err) == (2, True)


def test_a_fault_of_dulys_own_is_one_line_and_exit_code_1(
    duly: Duly, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **more: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("duly.audit.report.audit_files", broken)
    said = duly("audit", "runs", "-c", "contract.yaml")
    assert (said.code, said.out, said.err) == (1, "", "duly failed: KeyError: 'x' (`--debug` shows where)\n")
    result = CliRunner().invoke(application(), ["audit", "runs", "-c", "contract.yaml", "--debug"])
    assert isinstance(result.exception, KeyError)


def test_of_several_exit_codes_the_gravest_is_given() -> None:
    assert [worst(codes) for codes in ([], [0], [6, 4], [4, 5], [5, 3], [3, 2], [2, 1], [0, 6])] == [
        0,
        0,
        4,
        5,
        3,
        2,
        1,
        6,
    ]
