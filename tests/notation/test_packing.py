"""Contracts as packs: what is read from one is written as one, and what a pack cannot say is named."""

import json
import random

import pytest
from llmcontract.pack import ContractPack, validate_pack
from llmcontract.policy import Requirement

import duly
from duly import Contract, DulyError, Tool, at_most, forbid, history, must_precede, never_after, protocol
from duly.notation.document import parse_terms
from duly.notation.packing import print_pack
from notation.test_pack import LABELS, predicate


def test_a_pack_that_was_read_is_written_with_the_same_meaning_and_once_more_the_same_text() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        needs = [Requirement(rng.choice(LABELS), predicate(rng), rng.choice(["", "why"])) for _ in range(rng.randint(1, 4))]
        text = rng.choice(["", "rec L.?{Ask.!a.L, Bye}", "?x(id as r).!y(id == r, n != 2)"])
        first = parse_terms(json.dumps(ContractPack("p", text, tuple(needs)).to_dict()), name="p.json")
        written = print_pack(first)
        again = parse_terms(written, name="again.json")
        assert validate_pack(json.loads(written)) == []
        assert Contract.of(again).digest == Contract.of(first).digest, (seed, written)
        assert print_pack(again) == written


def test_rules_that_a_requirement_can_say_are_written_as_one() -> None:
    contract = Contract(
        protocol("!a . ?b"), must_precede("kyc", "pay", id="kyc first"), never_after("pay", "deny"), at_most("pay", 2),
        history("pay", "did(x) -> (did(y) or did(z))"), name="desk",
    )  # fmt: skip
    said = json.loads(duly.pack(contract))
    assert said["requirements"] == [
        {"action": "pay", "require": {"type": "Did", "label": "kyc"}, "message": "kyc first"},
        {"action": "pay", "require": {"type": "Not", "inner": {"type": "Did", "label": "deny"}}, "message": ""},
        {"action": "pay", "require": {"type": "Count", "label": "pay", "op": "<", "k": 2}, "message": ""},
        {"action": "pay", "require": {"type": "Or", "parts": [
            {"type": "Not", "inner": {"type": "Did", "label": "x"}},
            {"type": "Or", "parts": [{"type": "Did", "label": "y"}, {"type": "Did", "label": "z"}]},
        ]}, "message": ""},
    ]  # fmt: skip
    assert validate_pack(said) == []


def test_all_that_a_pack_cannot_say_is_named() -> None:
    contract = Contract(
        protocol("!{a, b}.!c || ?d"), forbid("x", id="never"), must_precede("a", "@g", id="g"),
        history("c", "did(!a)", id="h"), at_most("c", 1, scope="turn", id="t"), history("a", "did(b) <-> did(c)", id="i"),
        tools=[Tool("a"), Tool("b"), Tool("c"), Tool("x")], groups={"g": ["b"]}, version="2",
    )  # fmt: skip
    with pytest.raises(DulyError) as caught:
        duly.pack(contract)
    assert [each.message for each in caught.value.diagnostics] == [
        "a pack cannot say `version`", "a pack cannot say `tools`", "a pack cannot say `groups`",
        "llmcontract's strings have no `|| ?d` where it stands in `!{a, b}.!c || ?d`",
        "a pack cannot say the rule `never`: it is no requirement over what came before",
        "a pack cannot say the rule `g`: requirements are about one name",
        "a pack cannot say the rule `h`: predicates are about one name each, without side and condition",
        "a pack cannot say the rule `t`: requirements have no options",
        "a pack cannot say the rule `i`: predicates have no `<->`; write it with `and`, `or` and `not`",
    ]


@pytest.mark.parametrize(
    "text",
    ["{!a.?b, ?c.!d}", '!"fs.read"', "!a.?a=ok", "!@g.end", "?{a(x == 1).!b, c}", "!a(x < 2)", "!a(x == true)", "!a(x.y == 1)",
     "!a(x in [1])", '!"Unrecognized"', "(!a || !b).!c"],
)  # fmt: skip
def test_strings_that_llmcontract_does_not_have_are_no_packs(text: str) -> None:
    contract = Contract(protocol(text), groups={"g": ["z"]} if "@" in text else {})
    with pytest.raises(DulyError, match=r"llmcontract's strings have no|cannot say"):
        duly.pack(contract)


@pytest.mark.parametrize(
    "text", ["!a", "rec X.!{add.X, pay}.?done", "?a(x as r).!b(y == r, z != 'no', n == -1.5).end", "?{Unrecognized, a:b-c.end}"]
)
def test_strings_that_both_have_are_written(text: str) -> None:
    said = json.loads(duly.pack(Contract(protocol(text))))
    assert validate_pack(said) == []
    assert parse_terms(json.dumps(said), name="p.json").protocols[0].text == protocol(text).text
