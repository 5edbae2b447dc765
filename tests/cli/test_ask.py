"""`duly pending --ask`: what waits is put to the person at the terminal, one ticket after the other."""

from pathlib import Path

import pytest

from cli.conftest import Duly
from cli.test_order import Till, ticket


@pytest.fixture
def till(here: Path, monkeypatch: pytest.MonkeyPatch) -> Till:
    monkeypatch.setattr("duly.cli.ask.terminal", lambda: True)
    return Till(here)


def asked(till: Till) -> list[str]:
    """A till with three tickets."""
    calls = [("write", {"path": "/srv/a"}), ("write", {"path": "/srv/b"}), ("pay", {"amount": 5})]
    return [ticket(till.call(label, payload)) for label, payload in calls]  # type: ignore[arg-type]


def test_where_nobody_sits_at_the_terminal_nobody_is_asked(duly: Duly, here: Path) -> None:
    till = Till(here)
    name = ticket(till.call("write", {"path": "/srv/a"}))
    said = duly("pending", "--ask", "--by", "ana", *till.options, stdin="y\n")
    assert said.code == 2
    assert "nobody sits at this terminal" in said.err
    assert [line["ticket"] for line in duly("pending", "--json", *till.options).lines] == [name]


def test_each_ticket_is_shown_and_answered(duly: Duly, till: Till) -> None:
    names = asked(till)
    said = duly("pending", "--ask", "--by", "ana", *till.options, stdin="y\nn\ny\n")
    lines = said.out.splitlines()
    assert [line for line in lines if line.startswith("(")] == [
        f"(1 of 3) s1: {names[0]}: Allow `write`?", f"(2 of 3) s1: {names[1]}: Allow `write`?",
        f"(3 of 3) s1: {names[2]}: Pay 5?",
    ]  # fmt: skip
    assert (said.code, "      0 of 2 have said yes" in lines, lines[-1]) == (6, True, "3 tickets shown")
    assert [till.call("write", {"path": path}).word for path in ("/srv/a", "/srv/b")] == ["allowed", "violation"]
    (left,) = duly("pending", "--json", *till.options).lines
    assert (left["ticket"], left["yes"]) == (names[2], ["ana"])


def test_an_edit_is_asked_for_until_it_is_an_object(duly: Duly, till: Till) -> None:
    till.call("write", {"path": "/etc/x"})
    said = duly("pending", "--ask", "--by", "ana", *till.options, stdin='e\n{\ne\n[]\ne\n{"path": "/srv/x"}\n')
    assert (said.code, "no JSON" in said.err, "one JSON object" in said.err) == (0, True, True)
    assert till.call("write", {"path": "/etc/x"}).payload == {"path": "/srv/x"}  # type: ignore[union-attr]


def test_a_standing_yes_is_offered_only_where_the_contract_has_one(duly: Duly, till: Till) -> None:
    till.call("write", {"path": "/srv/a"})
    assert duly("pending", "--ask", "--by", "ana", *till.options, stdin="a\n/srv/**\n").code == 0
    assert till.call("write", {"path": "/srv/b"}).word == "allowed"


def test_what_is_left_or_stopped_at_still_waits(duly: Duly, till: Till) -> None:
    names = asked(till)
    for typed in ("s\ns\ns\n", "what\ns\nq\n", ""):
        assert duly("pending", "--ask", "--by", "ana", *till.options, stdin=typed).code == 6
        assert [line["ticket"] for line in duly("pending", "--json", *till.options).lines] == names


def test_a_decision_that_is_not_taken_says_why(duly: Duly, till: Till) -> None:
    till.call("pay", {"amount": 5})
    said = duly("pending", "--ask", "--by", "eve", *till.options, stdin="y\n")
    assert (said.code, "`eve` does not decide" in said.err) == (4, True)


@pytest.mark.parametrize("hidden", ["\x1b[2K", "\u202e", "\x9b1A", "\n(9 of 9)"])
def test_what_a_model_has_written_shows_on_the_terminal_as_what_it_is(duly: Duly, till: Till, hidden: str) -> None:
    till.call("pay", {"amount": f"5{hidden}"})
    for said in (
        duly("pending", *till.options), duly("pending", "--ask", "--by", "ana", *till.options, stdin="s\n")
    ):  # fmt: skip
        assert hidden not in said.out
        assert f"Pay 5{ascii(hidden)[1:-1]}?" in said.out
