"""Faults of definitions: diagnostics, the errors that carry them, suggestions."""

import pickle

from duly import Diagnostic, DulyError, Reason, Refused, Violation
from duly.values.errors import fault, nearest, suggest
from duly.values.source import Source, Span


def test_a_diagnostic_shows_place_picture_witness_and_help() -> None:
    span = Span(Source("c", "!a . !b"), 5, 7)
    found = Diagnostic("order", "never reached", "warning", span, help="remove it", witness=("!a", "?a"))
    assert found.where() == "c:1:6"
    assert found.text() == (
        "c:1:6: warning: never reached\n   1 | !a . !b\n     |      ^^\n  witness: !a . ?a\n  help: remove it"
    )


def test_a_diagnostic_without_a_place_says_its_path_or_nothing() -> None:
    assert Diagnostic("x", "wrong", path="tools.a").text() == "tools.a: error: wrong"
    assert Diagnostic("x", "wrong").text() == "error: wrong"


def test_an_error_carries_every_diagnostic_and_travels() -> None:
    error = DulyError([Diagnostic("a", "one"), Diagnostic("b", "two")])
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.diagnostics) == ("error: one\nerror: two", error.diagnostics)
    assert fault("a", "one").diagnostics == (Diagnostic("a", "one"),)


def test_a_refusal_raised_carries_its_verdict_and_travels() -> None:
    verdict = Violation((Reason("r", "count", "spent"),))
    back = pickle.loads(pickle.dumps(Refused(verdict)))
    assert (str(back), back.verdict) == ("refused: spent", verdict)


def test_a_near_name_is_suggested_whatever_its_case() -> None:
    options = ["delete_record", "read_record"]
    assert suggest("delete_recrod", options) == "did you mean `delete_record`?"
    assert nearest("DELETE_RECORD", options) == "delete_record"
    assert suggest("zzz", options) == ""
    assert suggest("a", []) == ""


def test_a_message_is_cut_however_long_the_name_is_that_it_cites() -> None:
    name = "x" * 1_000_000
    shown = str(fault("a", f"unknown `{name}`", path=name, help=f"declare `{name}`"))
    assert len(shown) < 7_000
    assert suggest(name, [name[:-1]]) == ""


def test_only_options_that_can_be_near_are_compared() -> None:
    assert nearest("aaaa", ["a" * 11, "aaab"]) == "aaab"
    assert nearest("lookup", [*(f"tool_{n}" for n in range(4_000)), "look_up"]) == "look_up"
