"""Rows of successes: what is kept, what ends them, what is given back."""

from duly.machine.watch.member import Act
from duly.machine.watch.won import ended, ending, gained, lost, open_to, sure, thawed


def act(id: str, batch: str | None = None, at: float = 0.0) -> Act:
    return Act("a", {}, at, batch, id)


def test_the_last_success_outside_batches_is_as_good_as_all_before() -> None:
    row = gained(gained(gained([], act("1", "x")), act("2", "y")), act("3", at=4.0))
    assert row == [[None, 4.0, [], None]]


def test_of_batches_the_last_of_two_are_kept_so_that_each_has_one_that_is_no_sibling() -> None:
    row = gained(gained(gained(gained([], act("1", "x")), act("2", "y")), act("3", "z")), act("4", "z", 2.0))
    assert [each[0] for each in row] == ["y", "z"]
    assert [each[0] for each in open_to(row, "z")] == ["y"]
    assert open_to(row[1:], "z") == []


def test_what_may_still_be_taken_back_stays_until_it_is_sure() -> None:
    row = gained(gained([], act("1"), sure=False), act("2"))
    assert len(row) == 2
    assert lost(row, "2") == row  # a success is not taken back
    assert lost(row, "1") == [[None, 0.0, [], None]]
    assert sure(row, "1") == [[None, 0.0, [], None]]


def test_an_end_that_is_given_back_has_ended_nothing() -> None:
    row = ending(gained([], act("1")), "e")
    assert open_to(row, None) == []
    assert open_to(lost(row, "e"), None) == [[None, 0.0, [], None]]
    assert ended(row, "e") == []


def test_a_success_after_the_end_was_admitted_stands() -> None:
    row = gained(ending(gained([], act("1")), "e"), act("2", at=1.0))
    assert ended(row, "e") == [[None, 1.0, [], None]]


def test_a_message_ends_at_once() -> None:
    assert ending(gained([], act("1")), None) == []


def test_times_from_paper_are_floats_again() -> None:
    assert [type(each[1]) for each in thawed([["x", 3, [], None]])] == [float]
