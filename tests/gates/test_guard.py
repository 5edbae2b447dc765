"""Guarded functions: what runs, what is refused, and what is kept of the function."""

import asyncio
import functools
import gc
import inspect
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from duly import DulyError, Gate, Received, Refused, Session, Tool, at_most, guard, must_precede
from duly.gates.gate import batch
from steps import held, why

WRITE = Tool("pay", effect="write")


def once() -> Session:
    return held(at_most("pay", 1), tools=["pay"])


# every kind of function


def test_a_function_runs_once_and_its_result_settles_the_call() -> None:
    session = held("!lookup(id as r).?lookup(name as n)", tools=["lookup"])

    @guard(session)
    def lookup(id: int, *, deep: bool = False) -> dict[str, Any]:
        return {"name": f"n{id}", "deep": deep}

    assert lookup(7) == {"name": "n7", "deep": False}
    assert (session.is_terminal, session.registers) == (True, {"r": 7, "n": "n7"})
    assert session.journal[0].event.payload == {"id": 7, "deep": False}  # type: ignore[union-attr]
    with pytest.raises(Refused) as caught:
        lookup(8)
    assert why(caught.value.verdict) == [("protocol", "ended")]


def test_a_coroutine_function_is_awaited_and_settled_with_its_result() -> None:
    session = once()

    @guard(session)
    async def pay(n: int) -> int:
        await asyncio.sleep(0)
        return n * 2

    assert asyncio.run(pay(4)) == 8
    assert (session.state.open, session.journal[-1].event.payload) == ({}, 8)  # type: ignore[union-attr]


def test_a_refused_coroutine_function_never_begins() -> None:
    ran = []

    @guard(held(at_most("pay", 0)))
    async def pay() -> None:
        ran.append(1)

    with pytest.raises(Refused):
        asyncio.run(pay())
    assert ran == []


def test_a_function_that_returns_something_to_await_is_settled_when_that_ends() -> None:
    session = once()

    async def later() -> int:
        return 5

    pay = guard(session, lambda: later(), name="pay")

    async def main() -> int:
        task = pay()
        assert list(session.state.open) == ["#1"]
        return await task  # type: ignore[no-any-return]

    assert (asyncio.run(main()), session.state.open) == (5, {})


def test_a_generator_holds_its_call_until_it_ends() -> None:
    session = once()

    @guard(session)
    def pay(n: int) -> Iterator[int]:
        yield from range(n)

    stream = pay(3)
    assert (next(stream), list(session.state.open)) == (0, ["#1"])
    assert (list(stream), session.state.open) == ([1, 2], {})


def test_a_generator_takes_what_is_sent_and_thrown_into_it() -> None:
    @guard(once())
    def pay() -> Any:
        try:
            got = yield 1
            yield got
        except ValueError:
            yield "caught"

    stream = pay()
    assert (next(stream), stream.send("x"), stream.throw(ValueError("v"))) == (1, "x", "caught")  # type: ignore[attr-defined]


def test_a_generator_that_is_left_before_its_end_is_uncertain() -> None:
    session = once()

    @guard(session)
    def pay() -> Iterator[int]:
        yield 1
        yield 2

    stream = pay()
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert session.state.open["#1"].uncertain


def test_a_generator_that_never_began_is_given_back_even_when_it_is_forgotten() -> None:
    session = once()

    @guard(session)
    def pay() -> Iterator[int]:
        yield 1

    stream = pay()
    del stream
    gc.collect()
    assert (session.state.open, session.state.data) == ({}, (0,))


def test_an_asynchronous_generator_is_settled_at_its_end_or_uncertain_when_left() -> None:
    session = held(tools=["pay"])

    @guard(session)
    async def pay(n: int) -> AsyncIterator[int]:
        for index in range(n):
            yield index

    async def main() -> list[int]:
        whole = [item async for item in pay(3)]
        assert session.state.open == {}
        left = pay(3)
        await left.__anext__()
        await left.aclose()  # type: ignore[attr-defined]
        await pay(3).aclose()  # type: ignore[attr-defined]
        return whole

    assert asyncio.run(main()) == [0, 1, 2]
    assert [call.uncertain for call in session.state.open.values()] == [True]


def test_methods_are_judged_without_their_object() -> None:
    session = held(tools=["pay", "charge", "make"])

    class Desk:
        @guard(session)
        def pay(self, n: int) -> int:
            return n

        @classmethod
        @guard(session, name="make")
        def of(cls, n: int) -> int:
            return n

        @staticmethod
        @guard(session, name="charge")
        def free(n: int) -> int:
            return n

    assert [Desk().pay(1), Desk.of(2), Desk.free(3), guard(session, Desk().pay.__wrapped__, name="pay")(Desk(), 4)] == [
        1, 2, 3, 4,
    ]  # fmt: skip
    calls = [entry.event for entry in session.journal][::2]
    assert [(event.label, event.payload) for event in calls] == [  # type: ignore[union-attr]
        ("pay", {"n": 1}), ("make", {"n": 2}), ("charge", {"n": 3}), ("pay", {"n": 4}),
    ]  # fmt: skip


def test_a_bound_method_and_a_partial_can_be_guarded() -> None:
    session = held(tools=["append", "add"])
    items: list[int] = []
    guard(session, items.append)(5)
    guard(session, functools.partial(items.append, 6), name="add")()
    assert items == [5, 6]


def test_arguments_are_judged_by_name_with_defaults_and_the_rest() -> None:
    session = held(tools=["pay"])

    @guard(session)
    def pay(a: int, /, b: int = 2, *rest: int, c: int = 3, **more: int) -> tuple[Any, ...]:
        return a, b, rest, c, more

    assert pay(1) == (1, 2, (), 3, {})
    assert pay(1, 5, 6, 7, c=8, d=9) == (1, 5, (6, 7), 8, {"d": 9})
    assert [entry.event.payload for entry in session.journal][::2] == [  # type: ignore[union-attr]
        {"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "rest": [6, 7], "c": 8, "d": 9},
    ]  # fmt: skip


def test_an_argument_cannot_be_judged_under_the_name_of_another() -> None:
    ran: list[int] = []

    @guard(held("rec L.!pay(amount <= 10).L", tools=["pay"]))
    def pay(amount: int, /, **more: int) -> None:
        ran.append(amount)

    with pytest.raises(Refused) as caught:
        pay(1_000_000, amount=1)
    assert (why(caught.value.verdict), ran) == ([("event", "malformed")], [])
    pay(5)
    assert ran == [5]


def test_a_call_that_does_not_fit_the_function_is_no_call() -> None:
    session = once()

    @guard(session)
    def pay(n: int) -> None: ...

    with pytest.raises(TypeError):
        pay()  # type: ignore[call-arg]
    assert list(session.journal) == []


def test_what_was_judged_is_what_runs() -> None:
    tool = Tool("copy", schema={"properties": {"n": {"default": 3}}}, paths={"to": "/w"}, clamp={"amount": {"max": 50}})

    @guard(held(tools=[tool]))
    def copy(to: str, amount: int, **more: int) -> tuple[Any, ...]:
        return to, amount, more

    assert copy("./a/../b", 100) == ("/w/b", 50, {"n": 3})


def test_what_needs_no_change_reaches_the_function_as_the_very_object() -> None:
    given = {"x": [1]}

    @guard(held(tools=["pay"]))
    def pay(data: Any) -> Any:
        return data

    assert pay(given) is given


def test_arguments_that_are_no_json_can_be_projected() -> None:
    session = held("rec L.!pay(amount <= 10).L", tools=["pay"])

    @guard(session, project=lambda given: {"amount": given["order"].real})
    def pay(order: complex) -> complex:
        return order

    assert pay(5j + 3) == 5j + 3
    with pytest.raises(Refused):
        pay(5j + 30)


def test_a_projection_that_fails_is_a_refusal() -> None:
    @guard(held(tools=["pay"]), project=lambda given: given["nothing"])
    def pay(n: int) -> int:
        return n

    with pytest.raises(Refused) as caught:
        pay(1)
    assert why(caught.value.verdict) == [("event", "malformed")]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", [float("nan")], {"a": {"b": float("-inf")}}])
def test_arguments_that_nothing_can_judge_are_refused_and_never_run(value: Any) -> None:
    ran: list[Any] = []
    session = once()
    pay = guard(session, lambda n: ran.append(n), name="pay")
    with pytest.raises(Refused) as caught:
        pay(value)
    assert (why(caught.value.verdict), ran, session.state.data) == ([("event", "malformed")], [], (0,))


# ends


def test_an_error_passes_through_and_gives_the_place_back() -> None:
    session = held("rec L.!pay(n as r).?pay.L", at_most("pay", 1), must_precede("pay", "x"), tools=["pay", "x"],
                   outside=["x"])  # fmt: skip
    fail = True

    @guard(session)
    def pay(n: int) -> int:
        if fail:
            raise ValueError("refused")
        return n

    with pytest.raises(ValueError, match="refused"):
        pay(1)
    assert (session.state.data, session.registers, session.state.open, session.state.facts) == ((0,), {}, {}, 0)
    fail = False
    assert pay(2) == 2


@pytest.mark.parametrize(
    "error", [TimeoutError(), ConnectionResetError(), EOFError(), KeyboardInterrupt(), SystemExit()]
)
@pytest.mark.parametrize(("effect", "kept"), [("write", True), (None, True), ("none", False)])
def test_what_was_cut_off_may_have_happened_unless_the_tool_changes_nothing(
    error: BaseException, effect: Any, kept: bool
) -> None:
    session = held(at_most("pay", 1), tools=[Tool("pay", effect=effect)])

    @guard(session)
    def pay() -> None:
        raise error

    with pytest.raises(type(error)):
        pay()
    assert (session.state.data, [call.uncertain for call in session.state.open.values()]) == (
        ((1,), [True]) if kept else ((0,), [])
    )


def test_a_cancelled_task_leaves_an_uncertain_call() -> None:
    session = held(tools=[WRITE])

    @guard(session)
    async def pay() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(pay())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert session.state.open["#1"].uncertain
    with pytest.raises(Refused) as caught:
        asyncio.run(pay())
    assert caught.value.verdict.word == "needs_approval"


def test_a_result_that_is_no_json_is_returned_as_it_is_and_recorded_by_its_type() -> None:
    session = held("!pay.?pay(name as r)", tools=["pay"])
    result = object()
    assert guard(session, lambda: result, name="pay")() is result
    assert session.journal[-1].event.payload == {"type": "object"}  # type: ignore[union-attr]
    assert (session.journal[-1].verdict.word, session.registers) == ("violation", {})  # type: ignore[union-attr]


# kept of the function


def test_name_text_signature_and_kind_are_kept() -> None:
    session = held(tools=["f", "g", "h", "i"])

    def f(a: int, *, b: str = "x") -> str:
        """What f does."""
        return b

    async def g() -> None: ...

    def h() -> Iterator[int]:
        yield 1

    wrapped = guard(session, f)
    assert (wrapped.__name__, wrapped.__doc__, wrapped.__module__) == ("f", "What f does.", __name__)
    assert inspect.signature(wrapped) == inspect.signature(f)
    assert inspect.iscoroutinefunction(guard(session, g))
    assert not inspect.iscoroutinefunction(wrapped)
    stream = guard(session, h)()
    assert (iter(stream) is stream, list(stream)) == (True, [1])


def test_what_is_no_function_or_has_no_name_is_refused() -> None:
    session = held(tools=["a"])
    with pytest.raises(DulyError, match="`5` is no function"):
        guard(session, 5)  # type: ignore[call-overload]
    with pytest.raises(DulyError, match="a guarded function needs a name"):
        guard(session, functools.partial(print))


def test_types_are_kept(tmp_path: Path) -> None:
    source = """
from duly import Contract, Session, guard
session = Session(Contract())

@guard(session)
def f(a: int) -> str:
    return str(a)

@guard(session, name="g")
async def g(a: int) -> str:
    return str(a)

reveal_type(f)
reveal_type(g)
f("x")
"""
    (tmp_path / "use.py").write_text(source)
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", f"--config-file={root / 'pyproject.toml'}",
         str(tmp_path / "use.py")],
        capture_output=True, text=True, cwd=root, check=False,
    )  # fmt: skip
    said = [line.split(": ", 2)[-1] for line in done.stdout.splitlines() if "use.py" in line]
    assert said == [
        'Revealed type is "def (a: int) -> str"',
        'Revealed type is "def (a: int) -> typing.Coroutine[Any, Any, str]"',
        'Argument 1 to "f" has incompatible type "str"; expected "int"  [arg-type]',
    ]


# shadow, nesting, batches


def test_in_shadow_everything_runs_also_what_cannot_be_judged() -> None:
    session = held(at_most("pay", 1), mode="shadow")
    ran: list[Any] = []

    @guard(session)
    def pay(n: Any) -> None:
        ran.append(n)

    for value in (1, 2, float("nan")):
        pay(value)
    assert len(ran) == 3
    assert [entry.verdict.word for entry in session.journal] == [  # type: ignore[union-attr]
        "allowed", "allowed", "violation", "allowed", "unrecognized", "allowed",
    ]  # fmt: skip
    assert (session.state.data, session.state.open) == ((2,), {})


def test_a_guarded_function_inside_another_is_judged_by_the_same_books() -> None:
    session = held("!run.?run", at_most("order", 1), tools=["run", "order"], outside=["order"])

    @guard(session)
    def order() -> int:
        return 1

    @guard(session)
    def run() -> int:
        return order() + order()

    with pytest.raises(Refused) as caught:
        run()
    assert why(caught.value.verdict) == [("at_most(order, 1)", "count")]
    assert [(entry.event.label, entry.event.parent) for entry in session.journal if hasattr(entry.event, "parent")] == [  # type: ignore[union-attr]
        ("run", None), ("order", "#1"), ("order", "#1"),
    ]  # fmt: skip


def test_a_refusal_inside_a_tool_is_its_error() -> None:
    session = held(at_most("inner", 0), at_most("outer", 1))
    inner = guard(session, lambda: 1, name="inner")
    outer = guard(session, lambda: inner(), name="outer")
    with pytest.raises(Refused):
        outer()
    assert session.state.data == (0, 0)


def test_calls_of_one_batch_permit_nothing_to_each_other() -> None:
    session = held(must_precede("check", "pay"))
    check, pay = (guard(session, lambda: 1, name=name) for name in ("check", "pay"))
    with batch("b"):
        check()
        with pytest.raises(Refused):
            pay()
    assert pay() == 1


# many at once


def test_of_twenty_threads_one_runs_a_tool_that_may_run_once() -> None:
    session, ran, refused = once(), [], []
    start = threading.Barrier(20)

    @guard(session)
    def pay() -> None:
        ran.append(1)

    def work() -> None:
        start.wait()
        try:
            pay()
        except Refused:
            refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ran), len(refused), session.state.data) == (1, 19, (1,))


def test_of_fifty_tasks_one_runs_a_tool_that_may_run_once() -> None:
    session, ran = once(), []

    @guard(session)
    async def pay() -> None:
        ran.append(1)
        await asyncio.sleep(0)

    async def main() -> list[Any]:
        return await asyncio.gather(*(pay() for _ in range(50)), return_exceptions=True)

    results = asyncio.run(main())
    assert (len(ran), sum(isinstance(result, Refused) for result in results)) == (1, 49)


def test_parallel_calls_of_one_turn_all_settle() -> None:
    session = held("rec L.{!pay.L, ?pay.L}", tools=["pay"])

    @guard(session)
    async def pay(n: int) -> int:
        await asyncio.sleep(0)
        return n

    async def main() -> list[int]:
        return list(await asyncio.gather(*(pay(n) for n in range(10))))

    assert (asyncio.run(main()), session.state.open) == (list(range(10)), {})


# what wrappers of llmsessioncontract get wrong: peers, 2D


def test_of_two_calls_of_one_response_the_refused_one_costs_the_other_nothing() -> None:
    session = held("!a.?a.end", tools=["a", "b"])
    a, b = (guard(session, lambda name=name: name, name=name) for name in "ab")
    results: list[Any] = []
    for tool in (a, b):
        try:
            results.append(tool())
        except Refused as error:
            results.append(error.verdict.word)
    assert results == ["a", "violation"]
    assert session.is_terminal


def test_a_tool_that_raised_may_be_tried_again() -> None:
    session = held("rec L.{?Ask.!a.?a.L, ?Bye}", tools=["a"])
    attempts: list[int] = []

    @guard(session)
    def a() -> int:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("429")
        return 5

    session.receive("Ask")
    with pytest.raises(OSError, match="429"):
        a()
    assert (a(), session.receive("Bye").word) == (5, "allowed")


def test_arguments_reach_the_guards_of_the_protocol() -> None:
    session = held("!a(q == 'x').?a(n as r).!b(n == r)", tools=["a", "b"])
    a = guard(session, lambda q: {"n": 7}, name="a")
    b = guard(session, lambda n: n, name="b")
    with pytest.raises(Refused):
        a(q="y")
    assert (a(q="x"), b(n=7)) == ({"n": 7}, 7)


def test_an_unnamed_message_is_answered_softly() -> None:
    session = held("rec L.{?Ask.!a.?a.L, ?Bye}", tools=["a"])
    verdict = Gate.of(session).step(Received(None, {"text": "hm"}))
    assert (verdict.word, session.is_halted) == ("unrecognized", False)


def test_a_refused_tool_has_no_side_effect() -> None:
    ran: list[int] = []
    refused = guard(held("!other"), lambda: ran.append(1), name="tool")
    with pytest.raises(Refused):
        refused()
    assert ran == []


def test_an_unknown_tool_is_recorded() -> None:
    session = held(tools=["a"])
    with pytest.raises(Refused) as caught:
        guard(session, lambda: 1, name="b")()
    assert (why(caught.value.verdict), session.trace) == ([("contract", "unknown")], ["!b"])
