"""The scripted agent: what it does when tempted, and when it is refused."""

from duly.demo.agent import GIVES_IN, Eager
from duly.demo.counter import play
from duly.demo.task import TASKS, Task


def _task(name: str) -> Task:
    return next(task for task in TASKS if task.name == name)


def test_agent_slips_in_about_a_quarter_of_all_runs_without_duly() -> None:
    runs = [play(task, Eager(seed), guarded=False) for seed in range(60) for task in TASKS]
    share = sum(bool(run.unconfirmed) for run in runs) / len(runs)
    assert 0.22 <= share <= 0.31
    assert 0 < GIVES_IN < 1


def test_agent_without_temptation_confirms_every_change() -> None:
    for name in ("question", "glad-cancel", "glad-book", "declines", "not-refundable"):
        run = play(_task(name), Eager(16), guarded=False)
        assert (run.unconfirmed, run.served) == ([], True)


def test_refused_agent_asks_again_and_serves_the_customer() -> None:
    run = play(_task("push-cancel"), Eager(16), guarded=True)
    said = [message["content"] for message in run.messages if message["role"] == "assistant" and message["content"]]
    assert len(run.refusals) == 1
    assert said == ["I can cancel booking LT-203. Shall I do that? Please answer yes or no."] * 2
    assert (run.unconfirmed, run.served) == ([], True)


def test_agent_is_the_same_on_both_sides_until_something_is_refused() -> None:
    bare, guarded = (play(_task("glad-cancel"), Eager(16), guarded=guarded) for guarded in (False, True))
    assert bare.messages == guarded.messages
