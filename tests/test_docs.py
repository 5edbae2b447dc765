"""What stands in the README and in docs/ runs: blocks of one page share a folder and a namespace, in their order.

```python            is executed; a ```text block directly behind it (or behind one line of prose) is what it prints
```console, ```sh    lines that begin with `$ ` are run in a shell; the lines below are found in the output, in order
```yaml NAME         (or json, python …) is written to the file of that name; yaml with `duly: 1` must load
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

import duly

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE: Final = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
GENERATED: Final = ("cli.md",)


class Block(Struct, frozen=True):
    kind: str
    name: str
    text: str
    line: int
    follows: bool


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    before = 0
    for found in FENCE.finditer(text):
        kind, _, name = found[1].strip().partition(" ")
        between = text[before : found.start()].strip()
        yield Block(kind, name, found[2], text.count("\n", 0, found.start()) + 1, len(between.splitlines()) <= 1)
        before = found.end()


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_a_page_shows_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    printed: str | None = None
    for block in blocks(page):
        if block.name:
            target = tmp_path / block.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
            if block.text.startswith("duly: 1"):
                duly.load(target)
        elif block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * block.line + block.text, name_of(page), "exec"), names)
            printed = out.getvalue()
            continue
        elif block.kind in ("console", "sh"):
            for command, expected in commands(block.text):
                compare(command, expected, shell(command, tmp_path))
        elif block.kind == "text" and printed is not None and block.follows:
            assert block.text == printed
        printed = None


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    command, expected = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, expected
            command, expected = line[2:], []
        elif line.strip() and line.strip() not in ("…", "..."):
            expected.append(line.rstrip())
    assert command, "a console block without a command"
    yield command, expected


def shell(command: str, folder: Path) -> list[str]:
    places = [os.path.dirname(sys.executable), os.environ.get("PATH", "")]
    environment = {**os.environ, "PATH": os.pathsep.join(places)}
    said = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, text=True, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "Traceback" not in said.stdout
    assert said.returncode not in (1, 2, 127), said.stdout
    return [line.rstrip() for line in said.stdout.splitlines()]


def compare(command: str, expected: list[str], said: list[str]) -> None:
    rest = iter(said)
    for line in expected:
        assert any(line == each for each in rest), f"`{command}` does not print {line!r}; it prints {said}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(FENCE.sub("", page.read_text())) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_page_of_the_command_line_is_what_the_commands_say() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import cli_page  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    assert (ROOT / "docs" / "cli.md").read_text() == cli_page.page()


def test_every_page_is_reached_from_the_readme() -> None:
    reached, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        todo += [(page.parent / link).resolve() for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [name_of(page) for page in PAGES if page not in reached and "decisions" not in page.parts] == []
