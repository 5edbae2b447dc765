"""Chat messages in both dialects, in every container."""

import json
from pathlib import Path
from typing import Any

import pytest

from duly.audit.detect import read
from duly.audit.trajectory import Trajectory
from duly.values.event import Called, Event, Received, Returned, Sent

OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "be nice"},
    {"role": "user", "content": "refund order 1"},
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "lookup", "arguments": '{"order": 1}'}},
            {"id": "y", "type": "function", "function": {"name": "policy", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "y", "content": "fine"},
    {"role": "tool", "tool_call_id": "x", "content": '{"total": 50}'},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "x", "type": "function", "function": {"name": "refund", "arguments": '{"order": 1, "amount": 50}'}}]},
    {"role": "tool", "tool_call_id": "x", "content": "ok"},
]  # fmt: skip

ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "refund order 1"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "x", "name": "lookup", "input": {"order": 1}},
            {"type": "tool_use", "id": "y", "name": "policy", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "y", "content": [{"type": "text", "text": "fine"}]},
            {"type": "tool_result", "tool_use_id": "x", "content": '{"total": 50}'},
        ],
    },
    {"role": "assistant", "content": [
        {"type": "tool_use", "id": "x", "name": "refund", "input": {"order": 1, "amount": 50}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "ok"}]},
]  # fmt: skip

EVENTS: list[Event] = [
    Received(None, {"text": "refund order 1"}),
    Sent(None, {"text": "Let me look."}),
    Called("lookup", {"order": 1}, "c1", batch="b1"),
    Called("policy", {}, "c2", batch="b1"),
    Returned("policy", "fine", "c2"),
    Returned("lookup", '{"total": 50}', "c1"),
    Called("refund", {"order": 1, "amount": 50}, "c3"),
    Returned("refund", "ok", "c3"),
]


def runs(folder: Path, text: str) -> list[Trajectory]:
    path = folder / "chat.data"
    path.write_text(text, encoding="utf-8")
    return list(read(path))


def lines(values: list[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize(("messages", "name"), [(OPENAI, "openai-chat"), (ANTHROPIC, "anthropic-messages")])
@pytest.mark.parametrize(
    "container",
    [
        lambda messages: json.dumps(messages),
        lambda messages: json.dumps(messages, indent=2),
        lambda messages: json.dumps({"model": "m", "messages": messages}),
        lambda messages: json.dumps([messages]),
        lambda messages: json.dumps([{"messages": messages}], indent=1),
        lines,
        lambda messages: lines([messages]),
        lambda messages: lines([{"messages": messages}]),
    ],
    ids=["list", "pretty", "object", "list of lists", "list of objects", "lines", "run a line", "object a line"],
)
def test_one_meaning_in_every_container_and_dialect(
    tmp_path: Path, messages: list[Any], name: str, container: Any
) -> None:
    (run,) = runs(tmp_path, container(messages))
    assert run.events == EVENTS
    assert (run.format, run.problems) == (name, [])


def test_several_runs_are_told_apart_by_their_ids_or_numbers(tmp_path: Path) -> None:
    found = runs(
        tmp_path, lines([{"messages": OPENAI, "id": "a"}, {"messages": OPENAI}, {"messages": OPENAI, "id": "a"}])
    )
    assert [run.run for run in found] == ["a", "chat/2", "a#2"]


def test_a_task_with_a_trial_and_a_reward_is_taken(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, json.dumps([{"task_id": 3, "trial": 1, "reward": 0, "messages": OPENAI}]))
    assert (run.run, run.task, run.trial, run.outcome) == ("3/1", "3", "1", "fail")


def test_an_error_flag_of_a_block_is_an_outcome_and_other_results_leave_it_open(tmp_path: Path) -> None:
    failed = json.loads(json.dumps(ANTHROPIC))
    failed[2]["content"][1]["is_error"] = True
    (run,) = runs(tmp_path, json.dumps(failed))
    assert [event.outcome for event in run.events if type(event) is Returned] == [None, "error", None]


def test_only_blocks_can_say_that_a_call_failed(tmp_path: Path) -> None:
    assert [runs(tmp_path, json.dumps(m))[0].tells_errors for m in (OPENAI, ANTHROPIC)] == [False, True]


def test_requests_that_repeat_the_conversation_are_one_run(tmp_path: Path) -> None:
    pairs = [
        {"request": {"model": "m", "messages": ANTHROPIC[:1]}, "response": {**ANTHROPIC[1], "type": "message"}},
        {"request": {"model": "m", "messages": ANTHROPIC[:3]}, "response": {**ANTHROPIC[3], "type": "message"}},
        {"request": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
         "response": {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}},
    ]  # fmt: skip
    first, second = runs(tmp_path, lines(pairs))
    assert first.events == EVENTS[:7]
    assert second.events == [Received(None, {"text": "hi"}), Sent(None, {"text": "hello"})]
    assert (first.format, first.run, second.run) == ("anthropic-messages", "chat/1", "chat/2")


def test_responses_with_choices_are_read_as_requests_with_responses(tmp_path: Path) -> None:
    pair = {"request": {"messages": OPENAI[:2]}, "response": {"choices": [{"index": 0, "message": OPENAI[2]}]}}
    (run,) = runs(tmp_path, json.dumps([pair]))
    assert run.events == EVENTS[:4]


def test_arguments_that_cannot_be_parsed_stay_text(tmp_path: Path) -> None:
    call = {"id": "x", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 5'}}
    (run,) = runs(tmp_path, json.dumps([{"role": "assistant", "content": None, "tool_calls": [call]}]))
    assert run.events == [Called("pay", None, "c1", raw='{"amount": 5')]


def test_the_old_function_call_is_a_call_and_its_result_is_found_by_order(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "pay", "arguments": "{}"}},
        {"role": "function", "name": "pay", "content": "done"},
    ]
    assert runs(tmp_path, json.dumps(messages))[0].events == [Called("pay", {}, "c1"), Returned("pay", "done", "c1")]


def test_text_parts_are_joined_and_pictures_leave_an_unnamed_turn(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]},
        {"role": "user", "content": ""},
    ]
    texts = [event.payload["text"] for event in runs(tmp_path, json.dumps(messages))[0].events]  # type: ignore[union-attr]
    assert texts == ["a\nb", "", ""]


def test_messages_that_cannot_be_read_are_named_by_their_line(tmp_path: Path) -> None:
    broken = [OPENAI[1], {"role": "wizard", "content": "x"}, 5, {"role": "assistant", "content": {"a": 1}}]
    broken.append({"role": "assistant", "content": None, "tool_calls": [{"id": "x", "function": {}}]})
    (run,) = runs(tmp_path, lines(broken))
    assert [(problem.line, problem.message) for problem in run.problems] == [
        (2, "a message with the unknown role `wizard`"),
        (3, "a message that is not an object"),
        (4, "an assistant message whose content cannot be read"),
        (5, "a call without the name of its tool"),
    ]


def test_a_run_that_cannot_be_read_keeps_its_place_among_the_others(tmp_path: Path) -> None:
    found = runs(tmp_path, lines([{"messages": OPENAI}]) + '{"messages": 3}\n' + '{"messages": [{"role": "us')
    assert [(run.run, [problem.message for problem in run.problems]) for run in found] == [
        ("chat/1", []),
        ("chat/2", ["a record that holds no messages"]),
        ("chat/3", ["the file ends inside this record"]),
    ]


def test_a_long_run_is_handed_on_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duly.audit.document.LONG", 10)
    (run,) = runs(tmp_path, lines(OPENAI) + '{"role": "us')
    assert run.problems == []
    assert list(run.events) == EVENTS
    assert [problem.line for problem in run.problems] == [8]
