import json
from pathlib import Path

from .conftest import GOOD, Duly, sparse

CHAT = [
    {"role": "user", "content": "Yes, please"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "x", "type": "function", "function": {"name": "refund_order", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "x", "content": "done"},
]


def verdicts(lines: list[dict[str, object]]) -> list[object]:
    return [line["verdict"] for line in lines]


def test_every_event_of_a_good_run_is_allowed(duly: Duly, here: Path) -> None:
    said = duly("replay", "runs/good.jsonl", "--contract", "contract.yaml", "--json")
    assert said.code == 0
    assert verdicts(said.lines) == ["allowed"] * 4
    assert said.lines[0]["event"] == {"event": "received", "label": "Yes", "payload": {"text": "Yes, please"}}
    assert [line["index"] for line in said.lines] == [0, 1, 2, 3]


def test_a_refused_act_comes_with_its_reasons_and_exits_with_4(duly: Duly, here: Path) -> None:
    said = duly("replay", "bad.jsonl", "-c", "contract.yaml", "--json")
    assert said.code == 4
    assert verdicts(said.lines) == ["violation", "allowed", "allowed", "allowed", "allowed"]
    reason = said.lines[0]["reasons"][0]
    assert (reason["rule"], reason["kind"], reason["where"]) == (
        "must_precede(Yes, refund_order)",
        "order",
        "contract.yaml:11:5",
    )
    assert said.lines[0]["legal"] == [{"label": "find_order", "conditions": [], "approval": False}]


def test_live_a_refused_act_uses_nothing_up_and_recorded_it_does(duly: Duly, here: Path) -> None:
    live = duly("replay", "bad.jsonl", "-c", "contract.yaml", "--as", "live", "--json")
    recorded = duly("replay", "bad.jsonl", "-c", "contract.yaml", "--as", "recorded", "--json")
    assert verdicts(live.lines)[2] == "allowed"
    assert verdicts(recorded.lines)[2] == "violation"
    assert recorded.lines[2]["reasons"][0]["rule"] == "at_most(refund_order, 1)"


def test_people_are_shown_one_line_an_event_and_the_reasons_below(duly: Duly, here: Path) -> None:
    said = duly("replay", "bad.jsonl", "-c", "contract.yaml")
    lines = said.out.splitlines()
    assert lines[0].split() == ["0", "!refund_order", "violation"]
    assert lines[1].strip().startswith("must_precede(Yes, refund_order): `refund_order` needs an earlier `Yes`")
    assert lines[1].endswith("[contract.yaml:11:5]")


def test_an_unreadable_line_is_reported_where_it_stands(duly: Duly, here: Path) -> None:
    lines = GOOD.splitlines()
    (here / "odd.jsonl").write_text("\n".join([lines[0], "{nonsense", *lines[1:]]) + "\n")
    said = duly("replay", "odd.jsonl", "-c", "contract.yaml", "--json")
    assert said.code == 6
    assert verdicts(said.lines) == ["allowed", "unrecognized", "allowed", "allowed", "allowed"]
    assert (said.lines[1]["line"], said.lines[1]["event"]) == (2, None)


def test_an_event_with_an_unknown_key_is_unreadable_and_says_what_was_meant(duly: Duly, here: Path) -> None:
    (here / "odd.jsonl").write_text('{"event": "called", "lable": "x"}\n{"event": "closed"}\n')
    said = duly("replay", "odd.jsonl", "-c", "contract.yaml", "--json")
    assert said.code == 6
    assert said.lines[0]["reasons"][0]["message"] == "unknown key `lable` in a `called` event; did you mean `label`?"


def test_a_torn_trace_is_incomplete_and_its_violations_go_first(duly: Duly, here: Path) -> None:
    (here / "torn.jsonl").write_text((here / "bad.jsonl").read_text() + '{"event": "ca')
    said = duly("replay", "torn.jsonl", "-c", "contract.yaml", "--json")
    assert (said.code, said.lines[-1]["reasons"][0]["kind"]) == (4, "torn")


def test_a_trace_of_zeros_exits_with_6(duly: Duly, here: Path) -> None:
    sparse(here / "zeros.jsonl")
    said = duly("replay", "zeros.jsonl", "-c", "contract.yaml")
    assert (said.code, said.out, "holds nothing but zero bytes" in said.err) == (6, "", True)
    said = duly("replay", "zeros.jsonl", "-c", "contract.yaml", "--json")
    assert (said.json["exit_code"], said.json["diagnostics"][0]["code"]) == (6, "empty")


def test_a_foreign_run_is_replayed_with_the_contracts_labels(duly: Duly, here: Path) -> None:
    (here / "chat.json").write_text(json.dumps(CHAT))
    said = duly("replay", "chat.json", "-c", "contract.yaml", "--json")
    assert said.code == 0
    assert [line["event"].get("label") for line in said.lines] == ["Yes", "refund_order", "refund_order"]


def test_of_several_runs_one_must_be_picked(duly: Duly, here: Path) -> None:
    (here / "two.jsonl").write_text("".join(json.dumps({"id": name, "messages": CHAT}) + "\n" for name in ("r1", "r2")))
    said = duly("replay", "two.jsonl", "-c", "contract.yaml")
    assert said.code == 2
    assert said.err.startswith("error: `two.jsonl` holds several runs; pick one with `--run`\n  help: runs are `")
    names = said.err.split("`")[5::2]
    assert len(duly("replay", "two.jsonl", "-c", "contract.yaml", "--run", names[1], "--json").lines) == 3
    assert duly("replay", "two.jsonl", "-c", "contract.yaml", "--run", "nobody").code == 2


def test_wrong_usage_exits_with_2(duly: Duly, here: Path) -> None:
    assert duly("replay", "nowhere.jsonl", "-c", "contract.yaml").err == "error: `nowhere.jsonl` does not exist\n"
    assert duly("replay", "nowhere.jsonl", "-c", "contract.yaml").code == 2
    assert duly("replay", "bad.jsonl", "-c", "contract.yaml", "--as", "lively").code == 2
