"""An installation without extras is enough: the wheel is built, installed into a fresh environment, and used."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements" / "base.lock"

USE: Final = """
import duly
contract = duly.load("contract.yaml")
session = duly.Session(contract)
gate = duly.Gate.of(session)
refund = duly.guard(session, lambda amount: {"ok": True}, name="refund_order")
try:
    refund(amount=3)
except duly.Refused as refused:
    print(refused.verdict.rules)
gate.hear("Yes, please.")
print(refund(amount=3))
print(duly.protocol("rec L.{?Ask.!a.?a.L, ?Bye.end}").text)
"""
CONTRACT: Final = """\
duly: 1
contract: bare
include: ["duly:strict"]
tools:
  refund_order:
    effect: write
    error: "has(result.error)"
    schema: {type: object, properties: {amount: {type: integer}}, required: [amount]}
rules:
  - must_precede: [Yes, refund_order]
"""


def run(*command: object, cwd: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    said = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean, text=True, timeout=500,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert said.returncode == 0, said.stdout
    return said.stdout


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds duly and what it depends on."""
    folder = tmp_path_factory.mktemp("bare")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("duly-*.whl")
    run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    # the versions that are locked, and of them only what the wheel itself asks for
    pins = folder / "pins.txt"
    pins.write_text("".join(line.split(" \\")[0] + "\n" for line in LOCK.read_text().splitlines() if "==" in line))
    run(python, *pip[1:], "install", "--only-binary=:all:", "-c", pins, wheel, cwd=folder)
    return folder / "venv" / "bin"


def test_a_contract_holds_without_extras(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    said = run(bare / "python", "-c", USE, cwd=tmp_path)
    assert said.splitlines() == ["('must_precede(Yes, refund_order)',)", "{'ok': True}", "rec L.?{Ask.!a.?a.L, Bye}"]


def test_the_command_line_works_without_extras(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "contract.yaml").write_text(CONTRACT)
    (tmp_path / "run.jsonl").write_text('{"event": "called", "label": "find", "payload": {}, "id": "c1"}\n')
    assert run(bare / "duly", "check", "contract.yaml", cwd=tmp_path) == "0 errors, 0 warnings\n"
    assert run(bare / "duly", "init", "first.yaml", "--from", "run.jsonl", cwd=tmp_path).startswith(
        "first.yaml: 1 tool"
    )
    assert run(bare / "duly", "audit", "run.jsonl", "-c", "first.yaml", "-q", cwd=tmp_path).startswith(
        "1 run: 0 violating"
    )
    assert run(bare / "duly", "show", "-", "--help", cwd=tmp_path).startswith("Usage: duly show")
    assert run(bare / "duly", "--version", cwd=tmp_path).startswith("duly ")


def test_nothing_that_only_developers_need_is_installed(bare: Path, tmp_path: Path) -> None:
    code = "from importlib.metadata import distributions as d; print(*sorted(x.name.lower() for x in d()))"
    names = run(bare / "python", "-c", code, cwd=tmp_path).split()
    assert "duly" in names
    assert not {"pytest", "hypothesis", "mypy", "ruff", "hatchling", "llmsessioncontract", "anthropic", "openai"} & {
        *names
    }


def test_the_wheel_holds_types_schemas_and_labels(bare: Path, tmp_path: Path) -> None:
    files = ("py.typed", "labels/strict.yaml", "labels/lenient.yaml")
    code = f"from importlib.resources import files; print([(files('duly') / name).is_file() for name in {files}])"
    assert run(bare / "python", "-c", code, cwd=tmp_path) == "[True, True, True]\n"
