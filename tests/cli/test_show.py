from pathlib import Path

import pytest

from .conftest import Duly

TWO = """\
duly: 1
protocols:
  First: "!a.?a.end"
  Second: "!b.?b.end"
"""


@pytest.mark.parametrize(
    ("form", "begin"), [("text", ">  0\n"), ("mermaid", "stateDiagram-v2"), ("dot", "digraph"), ("svg", "<svg")]
)
def test_a_protocol_is_shown_in_each_form(form: str, begin: str, duly: Duly, here: Path) -> None:
    said = duly("show", "-", "--as", form, stdin="!a.?a.end")
    assert (said.code, said.out.startswith(begin), said.err) == (0, True, "")


def test_a_drawing_goes_to_a_file(duly: Duly, here: Path) -> None:
    (here / "p.txt").write_text("!a.?a.end")
    said = duly("show", "p.txt", "--as", "svg", "--out", "p.svg")
    assert (said.code, said.out) == (0, "")
    assert (here / "p.svg").read_text().startswith("<svg")


def test_of_several_protocols_a_drawing_shows_the_one_picked(duly: Duly, here: Path) -> None:
    (here / "two.yaml").write_text(TWO)
    assert duly("show", "two.yaml").code == 0
    said = duly("show", "two.yaml", "--as", "dot")
    assert (said.code, said.err.splitlines()[-1]) == (2, "  help: pick one with `--protocol`: First, Second")
    assert "!b" in duly("show", "two.yaml", "--as", "dot", "--protocol", "Second").out
    said = duly("show", "two.yaml", "--protocol", "Secnd")
    assert (said.code, said.err.splitlines()[-1]) == (2, "  help: did you mean `Second`?")


def test_faulty_sources_exit_as_they_do_everywhere(duly: Duly, here: Path) -> None:
    assert duly("show", "nowhere.yaml").code == 2
    assert duly("show", "contract.yaml").err.startswith("error: `contract.yaml` has no protocol")
    assert duly("show", "-", stdin="rec X.X").code == 3
    assert duly("show", "-", "--out", "no/such/folder.txt", stdin="!a.end").code == 2
