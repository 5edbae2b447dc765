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
