"""Formats are known by what is in a file; other packages can add theirs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duly.audit import detect
from duly.audit.detect import READERS, files, read, readers
from duly.audit.document import Document
from duly.audit.trajectory import Trajectory
from duly.values.errors import Diagnostic, DulyError

KNOWN = "known formats: duly, tau-bench, tau2, tau-bench-few-shot, steps, anthropic-messages, openai-chat"


class Diary:
    name = "diary"
    about = "a format of another package"

    def fits(self, document: Document) -> bool:
        return any(type(value) is dict and "dear" in value for value in document.head)

    def read(self, document: Document) -> Iterator[Trajectory]:
        yield Trajectory(str(document.path), "d", format=self.name)


class Entry:
    name = "diary"

    def __init__(self, found: Any) -> None:
        self.found = found

    def load(self) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def written(folder: Path, text: str) -> Path:
    path = folder / "x"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path, **options: Any) -> Diagnostic:
    with pytest.raises(DulyError) as caught:
        list(read(path, **options))
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def test_an_unknown_format_names_those_that_are_known(tmp_path: Path) -> None:
    path = written(tmp_path, '{"trajectory": [], "info": {}}')
    assert refusal(path) == Diagnostic(
        "unknown_format", "the format of this file is unknown", path=str(path), help=KNOWN
    )


def test_a_file_without_a_record_is_said_to_be_empty(tmp_path: Path) -> None:
    assert refusal(written(tmp_path, "[]")).message == "holds no record that can be read"


def test_a_format_can_be_named_and_a_misspelt_one_is_corrected(tmp_path: Path) -> None:
    path = written(tmp_path, '{"messages": [{"role": "user", "content": "hi"}]}')
    assert [run.format for run in read(path, format="anthropic-messages")] == ["anthropic-messages"]
    diagnostic = refusal(path, format="openai-chta")
    assert (diagnostic.message, diagnostic.help) == ("unknown format `openai-chta`", "did you mean `openai-chat`?")


@pytest.mark.parametrize("found", [Diary, Diary()])
def test_a_reader_of_another_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    monkeypatch.setattr(detect, "entry_points", lambda group: [Entry(found)] if group == "duly.readers" else [])
    assert [run.format for run in read(written(tmp_path, '{"dear": "diary"}'))] == ["diary"]
    assert [reader.name for reader in readers()] == [*(reader.name for reader in READERS), "diary"]


def test_a_reader_that_cannot_be_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "entry_points", lambda group: [Entry(ImportError("No module"))])
    assert refusal(written(tmp_path, '{"dear": 1}')).message == "the reader `diary` cannot be loaded: no module"


def test_the_name_of_a_file_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(json.dumps([{"task_id": 1, "traj": [], "reward": 1, "trial": 0}]), encoding="utf-8")
    assert [run.format for run in read(path)] == ["tau-bench"]


def test_folders_are_searched_in_the_order_of_names_and_files_taken_as_named(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("z.json", "b/a.jsonl", "README.md"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    found = files([tmp_path, tmp_path / "README.md", tmp_path / "z.json"])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["b/a.jsonl", "z.json", "README.md"]


def test_readers_have_different_names() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS)
