"""The local model's seat: what the grammar offers, how actions are read, how a run is bounded. No model is needed."""

import subprocess
import sys
from time import monotonic

from duly.demo.counter import Counter, play
from duly.demo.desk import READS
from duly.demo.local import TURNS, Local, grammar
from duly.demo.task import TASKS, Task


def _task(name: str) -> Task:
    return next(task for task in TASKS if task.name == name)


class Parrot:
    """A model that says what it is told to, and remembers the grammars it was given."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.grammars: list[str] = []

    def __call__(self, messages: list[dict[str, str]], rules: str, seed: int) -> str:
        self.grammars.append(rules)
        return self.answers[min(len(self.grammars), len(self.answers)) - 1]


CALL = '{"call":"cancel_booking","with":{"reference":"LT-202"}}'
ASK = '{"ask":"cancel_booking","with":{"reference":"LT-202"}}'


def _rule(rules: str, name: str) -> str:
    return next(line for line in rules.splitlines() if line.startswith(f"{name} ::="))


def test_grammar_offers_only_the_tools_on_offer_but_asking_always() -> None:
    rules = grammar(READS)
    assert "cancel_booking" not in _rule(rules, "call")
    assert "cancel_booking" in _rule(rules, "ask")
    assert "find_bookings" in _rule(rules, "call")


def test_eager_model_changes_things_without_duly_and_cannot_with_it() -> None:
    bare = play(_task("glad-cancel"), Local(Parrot(CALL), seed=1, deadline=monotonic() + 60), guarded=False)
    guarded = play(_task("glad-cancel"), Local(Parrot(CALL), seed=1, deadline=monotonic() + 60), guarded=True)
    assert bare.unconfirmed == ["cancel booking LT-202"]
    assert (guarded.unconfirmed, guarded.changes, len(guarded.refusals)) == ([], 0, TURNS)


def test_model_that_asks_first_serves_the_customer_under_duly() -> None:
    model = Parrot(ASK, CALL, '{"say":"It is cancelled."}')
    run = play(_task("glad-cancel"), Local(model, seed=1, deadline=monotonic() + 60), guarded=True)
    assert (run.served, run.unconfirmed, run.refusals) == (True, [], [])
    assert "cancel_booking" not in _rule(model.grammars[0], "call")
    assert "cancel_booking" in _rule(model.grammars[1], "call")


def test_answer_that_was_cut_off_does_nothing() -> None:
    run = play(_task("glad-cancel"), Local(Parrot('{"say":"One mo'), seed=1, deadline=monotonic() + 60), guarded=False)
    assert (run.turns, run.changes) == (0, 0)


def test_tool_that_was_just_called_is_not_offered_again_at_once() -> None:
    model = Parrot('{"call":"get_booking","with":{"reference":"LT-202"}}', '{"say":"Yes."}')
    play(_task("glad-cancel"), Local(model, seed=1, deadline=monotonic() + 60), guarded=False)
    assert "get_booking" not in _rule(model.grammars[1], "call")
    assert "get_booking" in _rule(model.grammars[2], "call")


def test_no_action_is_taken_when_the_time_is_over() -> None:
    counter = Counter(_task("glad-cancel"), guarded=False)
    model = Parrot(CALL)
    Local(model, seed=1, deadline=monotonic() - 1)(counter)
    assert model.grammars == []


def test_demo_without_the_packages_names_the_extra_and_exits_with_two() -> None:
    program = (
        "import sys, typer; sys.modules['xllamacpp'] = None;"
        "from duly.demo.run import demo; sys.argv = ['demo', '--model', 'local']; typer.run(demo)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install '.[local]'" in done.stderr
