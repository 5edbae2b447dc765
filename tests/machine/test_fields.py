"""Names in conditions that cannot be there: arguments that no schema describes, facts that nobody writes."""

from typing import Any

import pytest

from duly import Approval, Contract, DulyError, Rule, Tool
from duly.machine.fields import missing, paths

SCHEMA = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "amount": {"type": "number"},
        "address": {"type": "object", "properties": {"city": {}, "zip": {}}},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {}}}},
        "notes": {"type": "object"},
    },
}
REFUND = Tool("refund", effect="write", schema=SCHEMA)
OTHER = Tool("other", schema={"type": "object", "properties": {"amount": {}, "reason": {}}})
OPEN = Tool("open")


def faults(*parts: Any, tools: Any = (REFUND, OTHER, OPEN), **terms: Any) -> list[tuple[str, str]]:
    with pytest.raises(DulyError) as raised:
        Contract(*parts, tools=tools, **terms)
    return [(each.message, each.help) for each in raised.value.diagnostics]


def requires(that: str, of: Any = "refund") -> Rule:
    return Rule("requires", {"of": of, "that": that})


@pytest.mark.parametrize(
    ("that", "shown", "help"),
    [
        ("args.order_idd != ''", "args.order_idd", "did you mean `order_id`?"),
        ("has(args.adress)", "args.adress", "did you mean `address`?"),
        ("args.address.town == 'x'", "args.address.town", "its arguments are city, zip"),
        ("args['amonut'] > 1", "args.amonut", "did you mean `amount`?"),
        ("args.lines[0].skuu == 'x'", "args.lines[0].skuu", "did you mean `sku`?"),
        ("args.order_idd.startsWith('x')", "args.order_idd", "did you mean `order_id`?"),
    ],
)
def test_an_argument_that_the_schema_cannot_have_is_an_error_at_load(that: str, shown: str, help: str) -> None:
    assert faults(requires(that)) == [(f"`{shown}` is no argument of `refund`, in `{that}`", help)]


@pytest.mark.parametrize(
    "that",
    [
        "args.order_id.startsWith('args.nope') && args.notes.anything == 1",
        "args.lines.exists(line, line.nope == 1) && size(args.lines) > 0",
        "args.lines.map(each, each.sku)[0] == 'x'",
    ],
)
def test_what_may_be_there_is_no_error(that: str) -> None:
    Contract(requires(that), tools=[REFUND])


def test_a_condition_about_several_tools_may_name_what_one_of_them_has() -> None:
    tools = [REFUND, OTHER]
    Contract(requires("has(args.reason) || args.amount > 1", ["refund", "other"]), tools=tools)
    Contract(requires("args.nope == 1", ["refund", "open"]), tools=[*tools, OPEN])
    assert faults(requires("args.amuont > 1", ["refund", "other"])) == [
        ("`args.amuont` is no argument of any of `other`, `refund`, in `args.amuont > 1`", "did you mean `amount`?")
    ]


def test_every_condition_of_a_contract_is_held_to_the_schema_of_its_tool() -> None:
    tool = Tool("refund", schema=SCHEMA, error="args.a == 1", outcomes={"late": "args.b == 1"}, uncertain="args.c == 1")
    parts = [
        Approval("refund", when="args.d == 1"),
        Rule("at_most", {"of": {"of": "refund", "where": "args.e == 1"}, "n": 1}),
        Rule("forbid", {"of": "refund"}, where="args.f == 1"),
        Rule("ensures", {"of": "refund", "that": "result.ok == args.g"}),
        Rule("learns", {"of": "refund", "fact": "x", "value": "args.h"}),
        Rule("collects", {"of": "refund", "fact": "y", "value": "args.i", "by": "args.j"}),
    ]
    with pytest.raises(DulyError) as raised:
        Contract(*parts, tools=[tool])
    found = {each.message.split("`")[1]: each.path for each in raised.value.diagnostics}
    assert found == {
        "args.a": "tools.refund.error", "args.b": "tools.refund.outcomes.late", "args.c": "tools.refund.uncertain",
        "args.d": "approvals", **{f"args.{name}": "rules" for name in "efghij"},
    }  # fmt: skip


def test_a_fact_that_nobody_declares_or_learns_is_an_error_with_a_suggestion() -> None:
    assert faults(requires("args.amount <= facts.capp && facts['x']"), facts={"cap": 5}) == [
        ("nothing declares or learns the fact `capp`, in `args.amount <= facts.capp && facts['x']`",
         "did you mean `cap`?"),
        ("nothing declares or learns the fact `x`, in `args.amount <= facts.capp && facts['x']`",
         "declare it under `facts`, or let a rule learn it"),
    ]  # fmt: skip
    Contract(
        requires("args.amount in facts.seen && args.order_id == facts.order"),
        Rule("learns", {"of": "other", "fact": "order", "value": "result"}),
        Rule("collects", {"of": "other", "fact": "seen", "value": "result"}),
        tools=[REFUND, OTHER],
    )


def test_a_fault_points_at_its_rule() -> None:
    from duly.notation.document import parse_terms

    text = (
        "duly: 1\ntools:\n  pay: {effect: write, schema: {type: object, properties: {amount: {}}}}\n"
        "rules:\n  - requires: {of: pay, that: args.amuont > 1}\n"
    )
    with pytest.raises(DulyError) as raised:
        Contract.of(parse_terms(text, name="pay.yaml"))
    assert raised.value.diagnostics[0].where() == "pay.yaml:5:5"


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"properties": {"a": {}}, "additionalProperties": True},
        {"properties": {"a": {}}, "additionalProperties": {"type": "string"}},
        {"properties": {"a": {}}, "patternProperties": {"^b": {}}},
        {"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}]},
        {"$ref": "#/$defs/x", "properties": {"a": {}}},
        True,
    ],
)
def test_a_schema_that_may_describe_more_misses_nothing(schema: Any) -> None:
    assert missing(schema, ("b",)) is None


def test_a_schema_without_any_argument_misses_every_one() -> None:
    assert missing({"type": "object", "properties": {}}, ("b",)) == ("b", ())
    assert missing({"properties": {"a": {}}, "additionalProperties": False}, ("b", "c")) == ("b", ("a",))


def test_paths_are_read_as_they_stand_and_texts_hold_none() -> None:
    text = """x.args.no == args.a.b[0]['c d'].size() + args . e && 'args.f' != "args.g" && args["h\\"i"].j"""
    assert paths(text, "args") == [("a", "b", 0, "c d"), ("e",)]
    assert paths("facts.x in args", "args") == []
