from pathlib import Path

from .conftest import CONTRACT, Duly

LOOSE = "rec   L.{ ?Ask . !a . ?a . L ,\n ?Bye . end }"
TIGHT = "rec L.?{Ask.!a.?a.L, Bye}\n"


def test_a_protocol_is_printed_in_its_one_form(duly: Duly, here: Path) -> None:
    assert duly("fmt", "-", stdin=LOOSE).out == TIGHT
    assert duly("fmt", "-", stdin=TIGHT).out == TIGHT


def test_a_printed_document_is_the_same_contract_and_prints_as_itself(duly: Duly, here: Path) -> None:
    printed = duly("fmt", "contract.yaml").out
    (here / "again.yaml").write_text(printed)
    assert duly("fmt", "again.yaml").out == printed
    assert duly("fmt", "again.yaml", "--check").code == 0


def test_check_shows_what_would_differ_and_writes_nothing(duly: Duly, here: Path) -> None:
    (here / "p.txt").write_text(LOOSE)
    said = duly("fmt", "p.txt", "--check")
    assert (said.code, said.out.splitlines()[-1]) == (4, "+" + TIGHT.strip())
    assert (here / "p.txt").read_text() == LOOSE


def test_write_writes_in_place_and_only_what_differs(duly: Duly, here: Path) -> None:
    (here / "p.txt").write_text(LOOSE)
    assert duly("fmt", "p.txt", "--write").err == "p.txt: written\n"
    assert (here / "p.txt").read_text() == TIGHT
    assert duly("fmt", "p.txt", "--write").err == ""


def test_a_document_whose_comments_would_be_lost_is_not_written(duly: Duly, here: Path) -> None:
    text = CONTRACT.replace("rules:", "# why these rules\nrules:")
    (here / "c.yaml").write_text(text)
    said = duly("fmt", "c.yaml", "--write")
    assert (said.code, (here / "c.yaml").read_text()) == (2, text)
    assert said.err == "c.yaml: not written, since 1 comment would be lost (`--drop-comments` writes it)\n"
    assert duly("fmt", "c.yaml", "--write", "--drop-comments").code == 0
    assert "why" not in (here / "c.yaml").read_text()


def test_of_several_files_each_is_formatted_and_the_gravest_code_is_given(duly: Duly, here: Path) -> None:
    (here / "bad.txt").write_text("rec X.X")
    (here / "p.txt").write_text(LOOSE)
    said = duly("fmt", "bad.txt", "p.txt", "--check")
    assert (said.code, "bad.txt:1:1: error" in said.err, TIGHT.strip() in said.out) == (3, True, True)


def test_wrong_usage_exits_with_2(duly: Duly, here: Path) -> None:
    assert duly("fmt").code == 2
    assert duly("fmt", "nowhere.yaml").code == 2
    assert duly("fmt", "runs").code == 2
    assert duly("fmt", "contract.yaml", "--check", "--write").code == 2
    assert duly("fmt", "-", "--write", stdin=LOOSE).code == 2
    (here / "c.toml").write_text("duly = 1\n")
    assert duly("fmt", "c.toml").out == "duly: 1\n"
    assert duly("fmt", "c.toml", "--write").code == 2


def test_a_contract_prints_as_a_pack_where_a_pack_can_say_it(duly: Duly, here: Path) -> None:
    (here / "p.yaml").write_text('duly: 1\ncontract: p\nrules: [{history: {of: pay, that: "did(kyc)"}}]\n')
    said = duly("fmt", "p.yaml", "--to", "pack")
    assert said.code == 0
    (here / "p.json").write_text(said.out)
    assert duly("fmt", "p.json", "--to", "pack").out == said.out
    assert duly("fmt", "p.json").out == "duly: 1\ncontract: p\nrules:\n  - history: {of: pay, that: \"did(kyc)\"}\n"
    said = duly("fmt", "contract.yaml", "--to", "pack")
    assert (said.code, "a pack cannot say `tools`" in said.err) == (3, True)
    assert duly("fmt", "p.yaml", "--to", "pack", "--write").code == 2
