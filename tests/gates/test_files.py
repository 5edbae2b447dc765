"""Contracts from files: what may be included, and what a fault of the disk is called."""

import os
from pathlib import Path

import pytest

from duly.gates.files import load, load_terms, packaged_names, read_text
from duly.values.errors import DulyError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/airline"


def faults(path: Path, root: Path | None = None) -> list[str]:
    with pytest.raises(DulyError) as caught:
        load_terms(path, root=root)
    return [fault.message for fault in caught.value.diagnostics]


def write(folder: Path, **documents: str) -> Path:
    for name, text in documents.items():
        (folder / f"{name}.yaml").write_text(f"duly: 1\n{text}\n")
    return folder / "c.yaml"


def test_a_contract_is_loaded_from_its_file(tmp_path: Path) -> None:
    contract = load(write(tmp_path, c="contract: desk\nrules: [{at_most: {of: a, n: 1}}]"))
    assert contract.name == "desk"


def test_includes_are_found_beside_the_document_and_below_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write(tmp_path, c="include: [deep/d.yaml]", e="facts: {e: 1}")
    write(tmp_path / "deep", d="include: [../e.yaml]\nfacts: {d: 1}")
    assert load_terms(tmp_path / "c.yaml").facts == {"d": 1, "e": 1}


def test_positions_name_the_file_as_the_user_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, c="include: [d.yaml]", d="mod: x")
    with pytest.raises(DulyError) as caught:
        load_terms("c.yaml")
    assert [fault.where() for fault in caught.value.diagnostics] == ["d.yaml:2:1"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("/etc/hosts.yaml", "`/etc/hosts.yaml` is not a relative path"),
        ("https://example.org/c.yaml", "`https://example.org/c.yaml` is not a relative path"),
        ("../other.yaml", "`../other.yaml` leads out of `here`"),
        ("notes.txt", "`notes.txt` is no document"),
        ("missing.yaml", "`{}/missing.yaml` does not exist"),
        ("folder.yaml", "`{}/folder.yaml` is a folder"),
        ("link.yaml", "`link.yaml` leads out of `here`"),
        ("duly:stern", "`duly:stern` does not come with duly"),
        ("c.yaml", "the documents include each other: `{}/c.yaml` → `{}/c.yaml`"),
    ],
)
def test_what_must_not_or_cannot_be_included_is_refused(tmp_path: Path, written: str, said: str) -> None:
    here = tmp_path / "here"
    (here / "folder.yaml").mkdir(parents=True)
    (tmp_path / "other.yaml").write_text("duly: 1")
    (here / "link.yaml").symlink_to(tmp_path / "other.yaml")
    path = write(here, c=f"include: ['{written}']")
    assert faults(path) == [said.replace("{}", str(here))]


def test_a_wider_root_lets_includes_lead_further_up(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    write(tmp_path, other="facts: {a: 1}")
    path = write(tmp_path / "here", c="include: [../other.yaml]")
    assert load_terms(path, root=tmp_path).facts == {"a": 1}
    assert faults(path, tmp_path / "nowhere") == [f"`{tmp_path / 'nowhere'}` is no folder"]


def test_circles_are_seen_whatever_the_spelling(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    path = write(tmp_path, c="include: [d/../e.yaml]", e="include: [d/../c.yaml]")
    assert faults(path)[0].startswith("the documents include each other")


def test_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff")
    said = []
    for name in ("missing.yaml", "pipe.yaml", "bytes.yaml", "nul\0.yaml", ""):
        with pytest.raises(DulyError) as caught:
            read_text(tmp_path / name)
        said.append(caught.value.diagnostics[0].message.replace(f"{tmp_path}/", ""))
    assert said == [
        "`missing.yaml` does not exist",
        "`pipe.yaml` is no regular file",
        "byte 0 (line 1) is not UTF-8",
        "`nul\0.yaml` does not exist",
        f"`{tmp_path}` is a folder",
    ]


def test_the_classifiers_that_come_with_duly_can_be_included(tmp_path: Path) -> None:
    assert packaged_names() == ("duly:lenient", "duly:strict")
    for name in packaged_names():
        terms = load_terms(write(tmp_path, c=f"include: ['{name}']\nlabels: {{No: {{matches: no}}}}"))
        assert list(terms.labels) == ["No", "Yes", "Other"]
        assert len(terms.examples) > 20


@pytest.mark.parametrize("name", ["lenient", "last_turn", "yes", "begins", "each"])
def test_every_reading_of_the_airline_desk_loads_as_a_contract(name: str) -> None:
    contract = load(EXAMPLES / f"confirm_{name}.yaml")
    assert (len(contract.tools), contract.terms.count) == (15, "effective")
