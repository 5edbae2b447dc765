from pathlib import Path

import pytest

from .conftest import GOOD, Duly, sparse


def test_a_folder_of_good_runs_is_fine(duly: Duly, here: Path) -> None:
    said = duly("audit", "runs", "--contract", "contract.yaml")
    assert said.code == 0
    assert "refunds 1 1 run in 1 file, 4 events: 0 violating, 0 incomplete, 1 passing" in said.out


def test_a_violating_run_is_shown_with_its_rule_and_exits_with_4(duly: Duly, here: Path) -> None:
    said = duly("audit", "bad.jsonl", "runs", "-c", "contract.yaml")
    assert said.code == 4
    assert "must_precede(Yes, refund_order): `refund_order` needs an earlier `Yes` [contract.yaml:11:5]" in said.out


def test_json_holds_figures_findings_and_the_exit_code(duly: Duly, here: Path) -> None:
    said = duly("audit", "bad.jsonl", "runs", "-c", "contract.yaml", "--json")
    assert said.code == said.json["exit_code"] == 4
    assert (said.json["runs"], said.json["violating_runs"], said.json["missing"]) == (2, 1, [])
    finding = said.json["findings"][0]
    assert (finding["rule"], finding["where"]) == ("must_precede(Yes, refund_order)", "contract.yaml:11:5")


def test_quiet_prints_one_line_of_figures(duly: Duly, here: Path) -> None:
    said = duly("audit", "runs", "-c", "contract.yaml", "--quiet")
    line = "1 run: 0 violating, 0 incomplete, 1 passing; 0 violating calls, 0 unreadable files\n"
    assert (said.code, said.out, said.err) == (0, line, "")


def test_globs_in_quotes_are_expanded(duly: Duly, here: Path) -> None:
    said = duly("audit", "**/*.jsonl", "-c", "contract.yaml", "--json")
    assert said.json["files"] == 2


def test_a_contract_inside_the_folder_is_no_run(duly: Duly, here: Path) -> None:
    (here / "runs" / "contract.json").write_text('{"duly": 1, "rules": [{"must_precede": ["a", "b"]}]}')
    said = duly("audit", "runs", "-c", "runs/contract.json", "--json")
    assert said.json["files"] == 1


def test_a_missing_file_is_named_and_the_others_are_audited(duly: Duly, here: Path) -> None:
    said = duly("audit", "nowhere.jsonl", "none*.jsonl", "bad.jsonl", "-c", "contract.yaml", "--json")
    assert said.code == said.json["exit_code"] == 2
    assert said.json["missing"] == ["nowhere.jsonl", "none*.jsonl"]
    assert said.json["violating_runs"] == 1
    assert said.err.splitlines() == ["error: `nowhere.jsonl` does not exist", "error: `none*.jsonl` does not exist"]


def test_an_unreadable_line_makes_the_run_incomplete(duly: Duly, here: Path) -> None:
    (here / "torn.jsonl").write_text(GOOD + '{"event": "retur')
    said = duly("audit", "torn.jsonl", "-c", "contract.yaml")
    assert said.code == 6
    assert "torn.jsonl:5: the file ends inside this record" in said.out


BROKEN = {
    "empty": b"",
    "blank": b" \n\n",
    "zeros": b"\0" * 4096,
    "not_json": b"hello\nworld\n",
    "utf16": GOOD.encode("utf-16"),
    "unknown_format": b'{"a": 1}\n{"a": 2}\n',
    "deep": b"[" * 100_000,
    "torn": b'{"messages": [{"role": "user", "con',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_of_which_nothing_can_be_read_exits_with_6_and_says_why(name: str, duly: Duly, here: Path) -> None:
    (here / f"{name}.json").write_bytes(BROKEN[name])
    said = duly("audit", f"{name}.json", "-c", "contract.yaml", "-q")
    assert said.code == 6
    assert said.err.startswith(f"{name}.json")
    assert said.err.endswith("error: no run could be read in 1 file\n")


def test_a_large_file_of_zeros_is_refused_quickly(duly: Duly, here: Path) -> None:
    sparse(here / "zeros.jsonl")
    said = duly("audit", "zeros.jsonl", "-c", "contract.yaml", "-q")
    assert (said.code, "holds nothing but zero bytes" in said.err) == (6, True)


def test_a_byte_order_mark_is_no_fault(duly: Duly, here: Path) -> None:
    (here / "bom.jsonl").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert duly("audit", "bom.jsonl", "-c", "contract.yaml").code == 0


@pytest.mark.parametrize(
    "line", [b'{"event": "called", "event": "sent", "label": "a"}', b'{"event": "sent", "label": "\xff"}']
)
def test_a_record_that_json_does_not_settle_is_never_passed_over(line: bytes, duly: Duly, here: Path) -> None:
    (here / "odd.jsonl").write_bytes(GOOD.encode() + line + b"\n")
    said = duly("audit", "odd.jsonl", "-c", "contract.yaml", "--json")
    assert (said.code, len(said.json["problems"])) == (6, 1)


def test_an_empty_folder_is_not_taken_for_a_clean_record(duly: Duly, here: Path) -> None:
    (here / "none").mkdir()
    said = duly("audit", "none", "-c", "contract.yaml")
    assert (said.code, said.err) == (6, "error: no run could be read in 0 files\n")


def test_an_unknown_format_is_a_usage_error_with_a_suggestion(duly: Duly, here: Path) -> None:
    said = duly("audit", "runs", "-c", "contract.yaml", "--format", "tua2")
    assert (said.code, said.err) == (2, "error: unknown format `tua2`\n  help: did you mean `tau2`?\n")


def test_without_a_contract_nothing_is_read(duly: Duly, here: Path) -> None:
    assert duly("audit", "runs").code == 2
    said = duly("audit", "runs", "-c", "contrakt.yaml")
    assert (said.code, said.err.splitlines()[0]) == (2, "error: the contract `contrakt.yaml` does not exist")


def test_a_faulty_contract_exits_with_3_and_names_the_place(duly: Duly, here: Path) -> None:
    (here / "wrong.yaml").write_text("duly: 1\nrules:\n  - must_preceed: [a, b]\n")
    said = duly("audit", "runs", "-c", "wrong.yaml")
    assert said.code == 3
    assert said.err.startswith("wrong.yaml:3:5: error: unknown rule `must_preceed`")
    said = duly("audit", "runs", "-c", "wrong.yaml", "--json")
    assert (said.code, said.json["exit_code"], said.json["diagnostics"][0]["line"]) == (3, 3, 3)
