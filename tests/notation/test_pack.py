"""Packs of llmcontract: they load as they are, and what they say without meaning is refused at its place."""

import json
import random
from typing import Any

import pytest
from llmcontract.pack import ContractPack, normalize_pack, validate_pack
from llmcontract.policy import All, And, AnyOf, AtLeast, AtMost, Count, Did, Not, Or, PolicyMonitor, Requirement

from duly import Contract, Session
from duly.notation.document import parse_terms
from duly.values.errors import DulyError


def loaded(pack: Any, name: str = "desk.json") -> Any:
    return parse_terms(json.dumps(pack if isinstance(pack, dict) else pack.to_dict(), indent=1), name=name)


def test_a_pack_without_requirements_loads_as_it_is() -> None:
    pack = ContractPack("desk", "rec L.?{Ask.!lookup.L, Bye}", layout={"nodes": []}, description="a desk")
    terms = loaded(normalize_pack(pack.to_dict()))
    assert (terms.name, [graph.text for graph in terms.protocols]) == ("desk", ["rec L.?{Ask.!lookup.L, Bye}"])


def test_requirements_become_histories_under_their_messages() -> None:
    some = And(Did("kyc"), Or(Count("check", ">=", 2), Not(All("a", "b"))), AtMost(1, "x", "y"))
    pack = ContractPack("loans", requirements=(
        Requirement("pay", some, "check first"), Requirement("pay", AnyOf("a", "b"), "check first"),
        Requirement("send", AtLeast(2, "a", "b", "c")), Requirement("send", AtLeast(2, "a", "b", "c")),
    ))  # fmt: skip
    assert [(rule.template, rule.id, rule.args) for rule in loaded(pack).rules] == [
        ("history", "check first", {
            "of": "pay", "that": "did(kyc) and (count(check) >= 2 or not all(a, b)) and at_most(1, x, y)",
        }),
        ("history", "check first (2)", {"of": "pay", "that": "any_of(a, b)"}),
        ("history", "", {"of": "send", "that": "at_least(2, a, b, c)"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("require", "said"),
    [
        ({"type": "Count", "label": "a", "op": "=~", "k": 1}, ("unknown comparison `=~`", "did you mean `==`?")),
        ({"type": "Count", "label": "a", "op": "<", "k": "3"},
         ("expected a whole number from 0 to 10,000 under `k`, got `3`", "write it without quotes")),
        ({"type": "All", "labels": "kyc"}, ("expected a list of labels under `labels`, got `kyc`", "")),
        ({"type": "Did", "label": None}, ("expected the name of a tool under `label`, got nothing", "")),
        ({"type": "And", "parts": []}, ("`And` of nothing is always true", "name what must hold, or take it out")),
        ({"type": "Or", "parts": []}, ("`Or` of nothing is never true", "name what must hold, or take it out")),
        ({"type": "All", "labels": []}, ("`all` lists no names", "as in `all(a, b)`")),
        ({"type": "AtLeast", "k": 5, "labels": ["a"]},
         ("`at_least` asks for 5 of 1 names, which is never true", "write a number from 1 to 1")),
        ({"type": "AtMost", "k": 2, "labels": ["a", "a"]},
         ("a name stands twice in `at_most`", "different ones are counted; say each once")),
        ({"type": "Count", "label": "a", "op": ">=", "k": 0},
         ("`count(…) >= 0` is always true", "compare it with another number")),
        ({"type": "Did", "lable": "a"}, ("unknown key `lable` in `Did`", "did you mean `label`?")),
        ({"type": "did", "label": "a"}, ("unknown predicate `did`", "did you mean `Did`?")),
        ({"label": "a"}, ("the predicate has no `type`",
                          "one of Did, Count, All, AnyOf, AtLeast, AtMost, Not, And, Or")),
        ({"type": "Not", "inner": "a"}, ("expected a predicate under a requirement, got `a`", "")),
        ({"type": "Did", "label": "a*"}, ("`a*` is one name for llmcontract, and would be a glob here",
                                          "write a contract document, where groups and globs are declared")),
    ],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_at_its_place(require: Any, said: tuple[str, str]) -> None:
    with pytest.raises(DulyError) as caught:
        loaded({"pack_version": "1.0", "name": "p", "requirements": [{"action": "pay", "require": require}]})
    assert said in [(each.message, each.help) for each in caught.value.diagnostics]
    assert all(each.span is not None for each in caught.value.diagnostics)


def test_all_faults_of_a_pack_are_reported_at_once() -> None:
    text = '{"pack_version": "2.0", "name": 1, "protocol": "!a . X", "requirement": [], "requirements": [1, {"acton": "a"}]}'
    with pytest.raises(DulyError) as caught:
        parse_terms(text, name="desk.json")
    assert [fault.message for fault in caught.value.diagnostics] == [
        "expected the pack version `1.0`, got `2.0`",
        "expected a text under `name`, got `1`",
        "unbound recursion variable `X`",
        "unknown key `requirement` in a pack of llmcontract",
        "expected a mapping with `action` and `require` under a requirement, got `1`",
        "the key `action` is missing in a requirement",
        "the key `require` is missing in a requirement",
        "unknown key `acton` in a requirement",
    ]


LABELS = ("a", "b", "c", "d")


def predicate(rng: random.Random, deep: int = 0) -> Any:
    kind = rng.randrange(9 if deep < 3 else 5)
    some = rng.sample(LABELS, rng.randint(2, 4))
    match kind:
        case 0 | 1:
            return Did(rng.choice(LABELS))
        case 2:
            op = rng.choice(["==", "!=", "<", "<=", ">", ">="])
            return Count(rng.choice(LABELS), op, rng.randint(1, 3))
        case 3:
            return rng.choice([All, AnyOf])(*some)
        case 4:
            return rng.choice([AtLeast, AtMost])(rng.randint(1, len(some) - 1), *some)
        case 5 | 6:
            return Not(predicate(rng, deep + 1))
    return rng.choice([And, Or])(*(predicate(rng, deep + 1) for _ in range(rng.randint(1, 3))))


def test_where_acts_come_one_after_the_other_and_succeed_both_say_the_same() -> None:
    refused = 0
    for seed in range(400):
        rng = random.Random(seed)
        needs = [Requirement(rng.choice(LABELS), predicate(rng), rng.choice(["", "why"])) for _ in range(rng.randint(1, 4))]
        pack = ContractPack("p", requirements=tuple(needs)).to_dict()
        assert validate_pack(pack) == []
        theirs, ours = PolicyMonitor(needs), Session(Contract.of(loaded(pack)))
        for _ in range(12):
            label = rng.choice(LABELS)
            said = type(theirs.observe(label)).__name__ == "Ok"
            assert bool(ours.send(label)) is said, (seed, label, pack)
            refused += not said
    assert refused > 400
