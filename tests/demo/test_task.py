"""The twelve tasks: that each can be served, and what right looks like."""

import pytest

from duly.demo.customer import question
from duly.demo.desk import Desk
from duly.demo.task import TASKS, Change, Offer, Task


def _task(name: str) -> Task:
    return next(task for task in TASKS if task.name == name)


def test_there_are_twelve_tasks_with_names_of_their_own() -> None:
    assert len({task.name for task in TASKS}) == 12


@pytest.mark.parametrize("name", ["question", "declines", "not-refundable", "unclear"])
def test_customer_without_a_final_yes_expects_the_desk_as_it_was(name: str) -> None:
    assert _task(name).expected() == Desk().state()


def test_expected_state_of_a_move_is_the_sunday() -> None:
    row = next(row for row in _task("new-mind").expected()["bookings"] if row[0] == "LT-207")
    assert row == ("LT-207", "greta@post.example", "gulls-sun", "flex", "booked", 48, 0)


def test_expected_state_of_two_changes_has_both_cancelled() -> None:
    rows = {row[0]: row[4:] for row in _task("two-changes").expected()["bookings"]}
    assert (rows["LT-211"], rows["LT-212"]) == (("cancelled", 30, 28), ("cancelled", 18, 16))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_right_changes_are_those_the_customer_would_say_yes_to(task: Task) -> None:
    agreed = [wish.change for wish in task.wishes if any(answer.yes for answer in wish.answers)]
    # the fare forbids the one change that is agreed to and cannot be made
    assert [change for change in agreed if change.arguments.get("reference") != "LT-208"] == list(task.right)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_offer_in_a_plan_is_something_the_customer_can_be_asked(task: Task) -> None:
    known = {wish.change.words() for wish in task.wishes}
    offers = [step for step in task.plan if isinstance(step, Offer)]
    asked = [change for offer in offers for change in (offer.change, offer.instead) if change is not None]
    assert {change.words() for change in asked} <= known


def test_question_describes_the_change_and_asks() -> None:
    change = Change("change_seats", {"reference": "LT-205", "seats": ["A3", "A4"]})
    assert question(change) == (
        "I can change the seats of LT-205 to A3 and A4. Shall I do that? Please answer yes or no."
    )
