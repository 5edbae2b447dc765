"""`duly pending`, `approve`, `deny`, `settle`: what waits for a person, and the person's answer."""

from pathlib import Path

from cli.conftest import Duly
from cli.desk import desk


def test_what_waits_is_listed_and_exits_with_6(duly: Duly, here: Path) -> None:
    said = duly("pending", *desk(here))
    assert said.code == 6
    assert said.out.splitlines() == [
        's1: t-c8 waits until c7 is settled: pay {"n":1}',
        's1: call c7 is uncertain: pay {"n":1}',
        "2 acts waiting",
    ]


def test_an_uncertain_call_is_settled_and_what_waited_for_it_is_withdrawn(duly: Duly, here: Path) -> None:
    options = desk(here)
    said = duly("settle", "c7", "done", "--by", "ana", *options)
    assert (said.code, said.out) == (0, "taken\n")
    assert duly("pending", *options).code == 0


def test_a_yes_is_no_settlement(duly: Duly, here: Path) -> None:
    options = desk(here)
    for verb in ("approve", "deny"):
        said = duly(verb, "t-c8", "--by", "ana", *options)
        assert said.code == 4
        assert "`t-c8` waits until `c7` is settled" in said.err
    assert duly("pending", *options).code == 6


def test_a_ticket_or_a_call_that_does_not_exist_is_said_so(duly: Duly, here: Path) -> None:
    options = desk(here)
    assert duly("approve", "t-1", "--by", "ana", *options).code == 2
    assert duly("settle", "c9", "done", "--by", "ana", *options).code == 2
    assert duly("settle", "c7", "perhaps", "--by", "ana", *options).code == 2


def test_machines_get_one_object_a_thing_that_waits(duly: Duly, here: Path) -> None:
    parked, uncertain = duly("pending", "--json", *desk(here)).lines
    assert (parked["ticket"], parked["waits_for"], parked["args"]) == ("t-c8", "c7", {"n": 1})
    assert (uncertain["ticket"], uncertain["call"]) == (None, "c7")


def test_a_list_says_where_it_is_cut_and_json_shows_all(duly: Duly, here: Path) -> None:
    import json

    from duly import Approval, Called, Decided, Gate
    from duly.journal.journal import open_journal

    (here / "till.yaml").write_text(
        "duly: 1\ncontract: till\ntools: {pay: {effect: write}}\napprovals: [{of: pay, by: [policy, ana]}]\n"
    )
    import duly as library

    contract, journal = library.load(here / "till.yaml"), open_journal(str(here / "till.sqlite"))
    assert isinstance(contract.asks[0].approval, Approval)
    gate = Gate.open(contract, journal, "s")
    gate.step(Called("pay", {"note": "x" * 500}, id="c1", agent="bot", context={"invoice": 12}))
    gate.step(Decided("leave", "c1", by="policy", recommendation="approve", reason="known", channel="program"))
    gate.leave()
    journal.close()
    options = ["--store", str(here / "till.sqlite"), "--contract", str(here / "till.yaml")]
    said = duly("pending", *options)
    cut = '{"note":"' + "x" * 188 + "…"
    assert said.out.splitlines() == [
        "s: t1-c1: Allow `pay`?", f"      pay {cut} (cut: 200 of 511 bytes; `--json` and `--ask` show all)",
        "      decided by policy or ana; asked by bot; a standing yes may cover exactly these arguments",
        '      with {"invoice":12}', "      policy said leave: approve: known", "1 act waiting",
    ]  # fmt: skip
    (line,) = map(json.loads, duly("pending", "--json", *options).out.splitlines())
    assert (line["args"], line["context"], line["said"]) == (
        {"note": "x" * 500}, {"invoice": 12}, [{"by": "policy", "decision": "leave", "words": "approve: known"}],
    )  # fmt: skip
