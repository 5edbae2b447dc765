"""Contracts: built from parts, known by their digest, safe to share and to send."""

import copy
import pickle
from decimal import Decimal
from typing import Any

import pytest

from duly import Breaker, Contract, DulyError, LabelRule, Session, Terms, Tool, at_most, must_precede, protocol
from steps import call, words

PARTS = (protocol("!a(n == 1).?a"), at_most("a", 2), must_precede("a", "b"))


def faults(*parts: Any, **terms: Any) -> list[str]:
    with pytest.raises(DulyError) as caught:
        Contract(*parts, **terms)
    return [fault.message for fault in caught.value.diagnostics]


def test_a_contract_is_equal_by_its_meaning() -> None:
    first = Contract(*PARTS, tools=[Tool("a"), Tool("b")], name="x", version="1")
    assert first == Contract(*PARTS, tools=[Tool("b"), Tool("a")], name="x", version="1")
    assert len({first, Contract(*PARTS, tools=[Tool("a"), Tool("b")], name="x", version="1")}) == 1


@pytest.mark.parametrize(
    "other",
    [
        Contract(protocol("!a(n == 1) . ?a"), *PARTS[1:], name="x"),
        Contract(*PARTS, name="x", mode="shadow"),
        Contract(*PARTS[:2], must_precede("a", "b", severity="error"), name="x"),
        Contract(PARTS[0], PARTS[2], PARTS[1], name="x"),
    ],
    ids=["layout", "mode", "default", "order"],
)
def test_the_digest_does_not_cover_layout_mode_or_order_of_rules(other: Contract) -> None:
    assert other.digest == Contract(*PARTS, name="x").digest


@pytest.mark.parametrize(
    "terms",
    [
        {"name": "y"},
        {"version": "2"},
        {"tools": [Tool("a")]},
        {"labels": [LabelRule("Yes")]},
        {"facts": {"n": 1}},
        {"outside": ("c",)},
        {"breaker": Breaker(2)},
        {"on_violation": "halt"},
        {"forever": True},
        {"view": "client"},
        {"aliases": {"x": "a"}},
        {"facts": {"span": 1}},
        {"groups": {"span": ["a"]}},
    ],
)
def test_the_digest_covers_everything_that_means_something(terms: dict[str, Any]) -> None:
    assert Contract(protocol("!a"), **{"name": "x", **terms}).digest != Contract(protocol("!a"), name="x").digest


def test_numbers_of_equal_value_give_one_digest_and_their_text_another() -> None:
    one, *others = (Contract(facts={"n": n}).digest for n in (Decimal("1.5"), 1.5, Decimal("1.50"), "1.5"))
    assert [other == one for other in others] == [True, True, False]
    assert Contract(facts={"n": Decimal("2.")}) == Contract(facts={"n": 2}) == Contract(facts={"n": 2.0})


def test_the_digest_covers_the_order_in_which_outcomes_are_tried() -> None:
    conditions = {"denied": "result.d", "late": "result.l"}
    turned = dict(reversed(conditions.items()))
    one, other = (Contract(tools=[Tool("a", outcomes=outcomes)]) for outcomes in (conditions, turned))
    assert one != other


@pytest.mark.parametrize(
    "text", ["!a(n == 2).?a", "!a(n != 1).?a", "!a(m == 1).?a", "!a(n == 1).!a", "!a(n == '1').?a"]
)
def test_the_digest_covers_every_clause_of_a_protocol(text: str) -> None:
    assert Contract(protocol(text)).digest != Contract(protocol("!a(n == 1).?a")).digest


@pytest.mark.parametrize("move", [lambda c: pickle.loads(pickle.dumps(c)), copy.deepcopy, copy.copy])
def test_a_contract_that_travelled_means_the_same(move: Any) -> None:
    contract = Contract(*PARTS, tools=[Tool("a", error="result.ok == false", schema={"type": "object"}), Tool("b")],
                        outside=["b"], name="x")  # fmt: skip
    again = move(contract)
    assert (again == contract, again.digest) == (True, contract.digest)
    assert words(Session(again), call("a", "1", {"n": 2}), call("a", "2", {"n": 1})) == ["violation", "allowed"]


def test_terms_make_the_same_contract_as_parts() -> None:
    terms = Terms(protocols=(PARTS[0],), rules=PARTS[1:], name="x")
    assert Contract.of(terms) == Contract(*PARTS, name="x")


def test_all_faults_are_told_at_once() -> None:
    assert faults("!a", 5, nme="x") == [
        "`'!a'` is neither a protocol nor a rule", "`5` is neither a protocol nor a rule", "unknown term `nme`",
    ]  # fmt: skip
    assert faults(at_most("a", 1), at_most("a", 1), at_most("x*", 1), at_most("@g", 1), tools=[Tool("a")]) == [
        "two rules are called `at_most(a, 1)`", "nothing is called `x*`", "unknown group `g`",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"tools": [Tool("a"), Tool("a", effect="write")]}, "the tool `a` is declared twice"),
        ({"labels": [LabelRule("Y"), LabelRule("Y")]}, "the label `Y` is declared twice"),
        ({"outside": "pay"}, "the term `outside`: expected `array`, got `str`"),
        ({"breaker": Breaker(0)}, "a breaker halts at a refusal from the first on"),
        ({"mode": "lax"}, "the term `mode`: invalid enum value 'lax'"),
        ({"on_violation": True}, "the term `on_violation`: expected `str`, got `bool`"),
        ({"tools": [Tool("a", outcomes={"error": "true"})]}, "`error` is no outcome that `a` can name"),
        ({"tools": [Tool("a", outcomes={"~": "true"})]}, "`~` is no outcome that `a` can name"),
        ({"tools": [Tool("a", error="reslt.ok")]}, "unknown name `reslt` in `reslt.ok`"),
        ({"tools": [Tool("a", schema={"type": "x"})]}, "the schema of `a` is no JSON Schema: "),
        ({"tools": [Tool("a")], "outside": ("@chnge",)}, "unknown group `chnge`"),
        ({"tools": [Tool("a")], "outside": ("get_*",)}, "nothing is called `get_*`"),
        ({"tools": [Tool("a")], "outside": ("",)}, "an empty name stands for nothing"),
        ({"tools": [Tool("a")], "groups": {"g": ["a", ""]}}, "an empty name stands for nothing"),
        (
            {"tools": [Tool("a", paths={"p": "."})]},
            "relative paths in `p` of `a` need a whole path to start from, not `.`",
        ),
        ({"tools": [Tool("a", clamp={"n": {"min": 2, "max": 1}})]}, "no number lies between the bounds of `n` of `a`"),
        ({"tools": [Tool("a", clamp={"n": {"min": "1"}})]}, "the bounds of `n` of `a` are numbers"),
        ({"facts": {"n": float("nan")}}, "`facts.n` is not a finite number"),
        ({"facts": {"n": [object()]}}, "`facts.n[0]` is a `object`, which is no JSON value"),
    ],
)
def test_terms_without_a_clear_meaning_are_refused(terms: dict[str, Any], said: str) -> None:
    assert [message[: len(said)] for message in faults(**terms)] == [said]


def test_two_rules_of_one_id_are_an_error_whatever_they_say() -> None:
    assert faults(at_most("a", 1, id="x"), must_precede("a", "b", id="x")) == ["two rules are called `x`"]


def test_a_contract_says_who_it_is() -> None:
    contract = Contract(at_most("a", 1), name="desk", version="1.4")
    assert (contract.name, contract.version) == ("desk", "1.4")
    assert repr(contract) == f"Contract('desk', version='1.4', {contract.digest[:19]})"
