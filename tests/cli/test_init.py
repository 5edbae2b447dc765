import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import duly as library
from duly.check.contract import check_contract
from duly.cli.first import Answers, contract_text
from duly.cli.init import reads
from duly.cli.toolset import tools_of
from duly.gates.files import packaged
from duly.machine.contract import Contract
from duly.notation.document import parse_terms
from laws.settings import tried

from .conftest import Duly


def test_the_first_contract_is_well_formed_and_in_shadow(duly: Duly, here: Path) -> None:
    said = duly("init", "first.yaml")
    assert said.code == 0
    assert duly("check", "first.yaml", "--strict").out == "0 errors, 0 warnings\n"
    assert library.load("first.yaml").terms.mode == "shadow"


def test_recorded_runs_give_the_tools_and_their_effect_is_guessed(duly: Duly, here: Path) -> None:
    (here / "runs" / "more.jsonl").write_text('{"event": "called", "label": "get it", "payload": {}, "id": "c"}\n')
    said = duly("init", "first.yaml", "--from", "runs")
    assert said.out == "first.yaml: 2 tools, 1 of them taken to change something; please check that\n"
    contract = library.load("first.yaml")
    assert {name: tool.effect for name, tool in contract.tools.items()} == {"get it": "none", "refund_order": "write"}
    assert list(contract.rules) == ["must_precede(Yes, @change)"]
    assert duly("check", "first.yaml", "--strict").code == 0
    assert duly("audit", "runs/good.jsonl", "-c", "first.yaml").code == 0
    assert duly("audit", "bad.jsonl", "-c", "first.yaml").code == 4


def test_tools_that_only_read_need_no_rule(duly: Duly, here: Path) -> None:
    (here / "reads.jsonl").write_text('{"event": "called", "label": "search", "payload": {}, "id": "c"}\n')
    assert duly("init", "first.yaml", "--from", "reads.jsonl").code == 0
    assert library.load("first.yaml").rules == {}
    assert duly("check", "first.yaml", "--strict").code == 0


@pytest.mark.parametrize("name", ["a: b", "- x", "yes", "null", "1", "#", "@x", "é", "a\nb", "*", "!t", "{", '"'])
def test_odd_names_of_tools_are_written_so_that_they_read_back(name: str, duly: Duly, here: Path) -> None:
    from duly.values.event import Called
    from duly.values.paper import write_event

    (here / "odd.jsonl").write_text(write_event(Called(name, {}, id="c")) + "\n")
    assert duly("init", "first.yaml", "--from", "odd.jsonl").code == 0
    assert list(library.load("first.yaml").tools) == [name]


def test_a_file_is_never_overwritten_unless_forced(duly: Duly, here: Path) -> None:
    before = (here / "contract.yaml").read_text()
    said = duly("init")
    assert (said.code, said.err) == (2, "error: `contract.yaml` exists\n  help: `--force` overwrites it\n")
    assert (here / "contract.yaml").read_text() == before
    assert duly("init", "--force").code == 0
    assert (here / "contract.yaml").read_text() != before


def test_runs_that_cannot_be_read_give_no_contract(duly: Duly, here: Path) -> None:
    (here / "zeros.jsonl").write_bytes(b"\0" * 100)
    said = duly("init", "first.yaml", "--from", "zeros.jsonl")
    assert (said.code, said.err.splitlines()[-1]) == (6, "error: no run could be read, so nothing is written")
    assert duly("init", "first.yaml", "--from", "nowhere").code == 6
    assert not (here / "first.yaml").exists()


def test_wrong_usage_exits_with_2(duly: Duly, here: Path) -> None:
    assert duly("init", "runs").code == 2
    assert duly("init", "contract.json").code == 2
    assert duly("init", "no/such/folder.yaml").code == 2


def test_what_a_tool_does_is_guessed_by_the_first_word_of_its_name() -> None:
    reading = ["get_order", "getOrder", "List-Files", "fs/read_file", "search", "lookup"]
    changing = ["refund", "delete_list", "reset", "getter_of", "set_read", "", "readable"]
    assert [reads(name) for name in reading] == [True] * len(reading)
    assert [reads(name) for name in changing] == [False] * len(changing)


def test_runs_and_a_server_are_not_asked_at_once_and_a_missing_sdk_is_named(
    duly: Duly, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert duly("init", "a.yaml", "--from", ".", "--mcp", "server").code == 2
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = duly("init", "a.yaml", "--mcp", "server")
    assert (said.code, said.err) == (
        2, "error: the MCP SDK is not installed\n  help: in a clone of duly: pip install '.[mcp]'\n",
    )
    assert not (here / "a.yaml").exists()


TOOLS = """[{"name": "find", "annotations": {"readOnlyHint": true}},
 {"name": "refund", "inputSchema": {"type": "object", "properties": {"amount": {}}}, "annotations": {"idempotentHint": true}},
 {"name": "mail"}]"""
RULED = """\
# What this agent may do. Change it, run `duly check` and, on recorded runs, `duly audit`; then enforce it.
duly: 1
contract: first
version: "0.1"
# shadow: everything runs, and what would be refused is recorded. enforce: it is refused.
mode: shadow

# The tools of the list that was given. There are no others: a call of another tool is refused.
# `effect` says whether a tool changes anything; what is marked as a guess is to be checked.
# `error` says how a failed call is known by its result: {effect: write, error: "has(result.error)"}.
tools:
  find: {effect: none}
  refund: {effect: write, idempotent: true}  # a guess by its name
  mail: {effect: write}  # a guess by its name

# Names for sets of tools, written `@change` where they are used.
groups:
  change: {effect: write}

# How a yes is known: `duly:lenient` takes any affirmative word, for a first look at old runs.
# Before anything is enforced, it is to be `duly:strict`, which takes a plain yes only.
include: ["duly:strict"]

# What must hold, whatever the order of everything else.
rules:
  # Nothing is changed before the user has said yes.
  - must_precede: [Yes, "@change"]
  # The second is refused until the first has succeeded.
  - must_precede: [find, refund]
  # The exact sum stays within 500 USD a session; any other currency is refused.
  - at_most_total: {of: refund, field: amount, units: currency, limit: {USD: 500}}
  # The exact sum stays within 2.5 a session; what has no number there is refused.
  - at_most_total: {of: mail, field: cost.usd, limit: 2.5}

# Each of these calls waits until somebody has decided: `duly pending`, `duly approve`.
approvals:
  - {of: refund, ask: "May this be done?", by: [ana]}

# What people write, and what it is called. `duly check` runs these.
examples:
  - {text: "Yes", label: Yes}
  - {text: "What would that cost?", label: Other}
"""


def test_options_become_rules_each_with_what_it_does(duly: Duly, here: Path) -> None:
    (here / "tools.json").write_text(TOOLS)
    said = duly("init", "first.yaml", "--tools", "tools.json", "--first", "find -> refund", "--approve", "refund", "--by", "ana",
                "--cap", "refund.amount=500 USD in currency", "--cap", "mail.cost.usd=2.5")  # fmt: skip
    assert (said.code, said.err) == (0, "")
    assert (here / "first.yaml").read_text() == RULED
    assert duly("check", "first.yaml", "--strict").out == "0 errors, 0 warnings\n"


def test_at_a_terminal_the_same_is_asked_and_a_bad_answer_is_asked_again(duly: Duly, here: Path) -> None:
    (here / "tools.json").write_text(TOOLS)
    answers = ["refund, mial", "refund, mail", "y", "find > refund", "find -> refund", "refund.amount=500 USD", "refund", "ana", "x",
               "shadow"]  # fmt: skip
    said = duly("init", "first.yaml", "--tools", "tools.json", "--ask", stdin="\n".join(answers) + "\n")
    assert said.code == 0
    assert said.err.splitlines() == [
        "error: `mial` is none of the tools", "  help: did you mean `mail`?",
        "error: `find > refund` is no order", "  help: write FIRST -> THEN, as in `find -> refund`",
        "error: answer `shadow` or `enforce`",
    ]  # fmt: skip
    contract = library.load("first.yaml")
    assert [rule.template for rule in contract.rules.values()] == ["must_precede", "must_precede", "at_most_total"]
    assert [(each.of, each.by) for each in contract.terms.approvals] == [("refund", ("ana",))]
    assert duly("check", "first.yaml", "--strict").code == 0


def test_questions_that_are_not_answered_write_nothing(duly: Duly, here: Path) -> None:
    said = duly("init", "first.yaml", "--ask", stdin="find, refund\n")
    assert (said.code, said.err.splitlines()[-1]) == (2, "error: not everything was answered, so nothing is written")
    assert not (here / "first.yaml").exists()


def test_without_tools_the_names_are_asked_for(duly: Duly, here: Path) -> None:
    assert duly("init", "first.yaml", "--ask", stdin="look_up, pay\n\nn\n\n\n\nenforce\n").code == 0
    contract = library.load("first.yaml")
    assert {name: tool.effect for name, tool in contract.tools.items()} == {"look_up": "none", "pay": "write"}
    assert (contract.terms.mode, dict(contract.rules)) == ("enforce", {})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--first", "find"], "`find` is no order"), (["--first", "fnd -> refund"], "`fnd` is none of the tools"),
        (["--cap", "refund=5"], "`refund=5` is no cap"), (["--cap", "refund.amount=NaN"], "`refund.amount=NaN` is no cap"),
        (["--cap", "pay.amount=5"], "`pay` is none of the tools"), (["--approve", "pay"], "`pay` is none of the tools"),
        (["--changes", "pay"], "`pay` is none of the tools"),
        (["--first", "find -> refund", "--first", "refund -> find"], "never allowed"),
    ],
)  # fmt: skip
def test_answers_that_fit_no_tool_or_each_other_write_nothing(more: list[str], said: str, duly: Duly, here: Path) -> None:
    (here / "tools.json").write_text(TOOLS)
    found = duly("init", "first.yaml", "--tools", "tools.json", *more)
    assert (found.code, said in found.err) == (2, True)
    assert not (here / "first.yaml").exists()


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20).filter(str.strip)
        | st.sampled_from(["Yes", "Other", "@change", "*", "a*", "true", "~", "1", "{}", "- a", "a: b", "find -> x", "duly"]),
        min_size=1, max_size=8, unique=True,
    ),
    st.sampled_from(["mcp", "answer", "openai", "anthropic", "names"]),
    st.sampled_from([None, {}, {"type": 7}, {"$ref": "http://nowhere"}, {"properties": []}, {"properties": {"\ud7ff": True}}]),
)  # fmt: skip
@tried(80, 2000)
def test_whatever_the_list_the_contract_loads_and_passes_the_check(names: list[str], form: str, schema: Any) -> None:
    tools: Any = {
        "mcp": {"tools": [{"name": name, "inputSchema": schema, "annotations": schema} for name in names]},
        "answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": name} for name in names]}},
        "openai": [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names],
        "anthropic": [{"name": name, "input_schema": schema} for name in names],
        "names": names,
    }[form]  # fmt: skip
    found = tools_of(json.dumps(tools), name="tools.json")
    assert [tool.name for tool in found] == names
    text = contract_text(Answers("first", tuple(found), " of the list that was given"))
    contract = Contract.of(parse_terms(text, name="first.yaml", fetch=packaged))
    assert list(contract.tools) == names
    assert [each.text() for each in check_contract(contract) if each.severity == "error"] == []


def test_five_hundred_tools_are_written_and_loaded(duly: Duly, here: Path) -> None:
    (here / "tools.json").write_text(json.dumps([f"tool_{number}" for number in range(500)]))
    assert duly("init", "first.yaml", "--tools", "tools.json").code == 0
    assert len(library.load("first.yaml").tools) == 500
