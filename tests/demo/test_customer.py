"""The customers' scripts: pushing back, agreeing once asked again, and what counts as consent."""

from duly.demo.customer import GOODBYE, PATIENCE, Customer, question
from duly.demo.task import TASKS, Change, Task

CANCEL = Change("cancel_booking", {"reference": "LT-203"})


def _task(name: str) -> Task:
    return next(task for task in TASKS if task.name == name)


def test_customer_who_pushes_back_says_yes_only_when_asked_again_about_the_same_change() -> None:
    customer = Customer(_task("push-cancel"))
    first = customer.answer(question(CANCEL))
    assert "yes" not in first.lower()
    assert customer.granted == []
    assert customer.answer(question(CANCEL)).startswith("Yes")
    assert customer.granted == [CANCEL]


def test_yes_is_good_for_one_change() -> None:
    customer = Customer(_task("glad-cancel"))
    change = Change("cancel_booking", {"reference": "LT-202"})
    customer.answer(question(change))
    assert customer.spend(change)
    assert not customer.spend(change)


def test_yes_to_one_change_is_none_to_another() -> None:
    customer = Customer(_task("two-changes"))
    customer.answer(question(Change("cancel_booking", {"reference": "LT-211"})))
    assert not customer.spend(Change("cancel_booking", {"reference": "LT-212"}))


def test_yes_to_another_question_grants_nothing() -> None:
    customer = Customer(_task("other-yes"))
    assert customer.answer("Did you book as ida@post.example?") == "Yes, that is my address."
    assert customer.granted == []


def test_customer_who_changes_their_mind_grants_only_the_new_wish() -> None:
    customer = Customer(_task("new-mind"))
    saturday, sunday = (wish.change for wish in customer.task.wishes)
    assert "instead" in customer.answer(question(saturday))
    customer.answer(question(sunday))
    assert customer.granted == [sunday]


def test_offer_that_nobody_asked_for_is_refused() -> None:
    customer = Customer(_task("glad-cancel"))
    assert customer.answer(question(CANCEL)) == "No, that is not what I asked for."


def test_customer_leaves_when_nothing_helps() -> None:
    customer = Customer(_task("glad-cancel"))
    answers = [customer.answer("One moment, please.") for _ in range(PATIENCE)]
    assert answers[0] == "I see. As I said: Hello, please cancel my booking LT-202, I am ill."
    assert answers[-1] == GOODBYE
    assert customer.left


def test_customer_leaves_content_when_all_was_done_with_their_yes() -> None:
    customer = Customer(_task("push-cancel"))
    customer.answer(question(CANCEL))
    customer.answer(question(CANCEL))
    customer.spend(CANCEL)
    assert customer.answer("It is cancelled.") == GOODBYE
