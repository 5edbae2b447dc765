"""`duly log`: what happened in a session, and why."""

from pathlib import Path

from cli.conftest import Duly
from cli.desk import desk, stored


def test_every_event_stands_with_its_verdict_and_reasons(duly: Duly, here: Path) -> None:
    said = duly("log", "s1", *stored(desk(here)))
    assert said.code == 0
    assert "!pay                             violation" in said.out
    assert "protocol: `pay` has no place in the protocol in state `Desk`" in said.out
    assert "(take one of the expected steps) [" in said.out
    assert "desk.yaml:11:13]" in said.out
    assert "“yes please”" in said.out
    assert "needs_approval" in said.out


def test_refusals_alone_as_data(duly: Duly, here: Path) -> None:
    lines = duly("log", "s1", "--refused", "--json", *stored(desk(here))).lines
    assert [(line["index"], line["verdict"]) for line in lines] == [(0, "violation"), (5, "needs_approval")]
    assert lines[1]["ticket"] == "t-c8"
    (reason,) = lines[0]["reasons"]
    assert (reason["rule"], reason["kind"], reason["got"], reason["expected"], reason["help"]) == (
        "protocol", "protocol", "!pay", ["?Other", "?Yes"], "take one of the expected steps",
    )  # fmt: skip
    assert reason["where"].endswith("desk.yaml:11:13")


def test_a_log_may_begin_in_the_middle(duly: Duly, here: Path) -> None:
    lines = duly("log", "s1", "--from", 4, "--json", *stored(desk(here))).lines
    assert [line["index"] for line in lines] == [4, 5]


def test_a_session_that_does_not_exist_is_said_so(duly: Duly, here: Path) -> None:
    assert duly("log", "s2", *stored(desk(here))).code == 2
