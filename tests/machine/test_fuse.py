"""What is asked at once is answered as it is one by one."""

from random import Random
from typing import Any

import pytest
from msgspec import structs

from duly import Called, Contract, Failed, Returned, Session
from duly.machine.terms import Rule
from duly.values.event import Event

SUMS = [
    Rule("at_most_total", {"of": "pay", "field": "amount", "limit": limit, "back": {"of": "refund", "call": "call"}}, id=f"sum {limit}")
    for limit in (30, 20, 25)
]  # fmt: skip
RULES = [
    SUMS[0],
    Rule("requires", {"of": "pay", "that": "args.amount < 9"}),
    Rule("requires", {"of": ["pay", "refund"], "that": "!(args.to in ['x', 'y'])"}),
    SUMS[1],
    Rule("requires", {"of": "pay", "that": "args.to.matches('^a') || has(args.call)"}),
    Rule("requires", {"of": {"of": "pay", "where": "args.amount > 3"}, "that": "args.to != 'b'"}),
    SUMS[2],
    Rule("at_most_total", {"of": "pay", "field": "amount", "limit": {"eur": 12, "usd": 9}, "units": "unit"}, id="units"),
    Rule("at_most_total", {"of": "pay", "field": "amount", "limit": {"usd": 8, "eur": 15}, "units": "unit"}, id="more units"),
    Rule("at_most_total", {"of": "pay", "field": "amount", "limit": 7, "per": "act"}, id="each", mode="shadow"),
    Rule("at_most_total", {"of": "pay", "field": "amount", "limit": 6, "per": "act"}, id="each in shadow", mode="shadow"),
    Rule("at_most", {"of": {"of": "pay", "where": "args.amount > 2"}, "n": 6}),
]


def one_by_one(contract: Contract) -> Contract:
    contract.acts = {label: structs.replace(plan, fused=None) for label, plan in contract.acts.items()}
    return contract


def events(draw: Random) -> list[Event]:
    made: list[Event] = []
    opened: list[tuple[str, str]] = []
    for number in range(40):
        if opened and draw.random() < 0.6:
            label, id = opened.pop(draw.randrange(len(opened)))
            made.append(Returned(label, {"ok": True}, id=id) if draw.random() < 0.7 else Failed(id=id, effect="none"))
            continue
        label = draw.choice(["pay", "pay", "pay", "refund"])
        args: dict[str, Any] = {
            "amount": draw.choice([0, 1, 2, 3, 5, 8, 9, 2.5, -1, "4", None]), "to": draw.choice(["a", "b", "x", "aé", 5]),
            "unit": draw.choice(["eur", "usd", "usd", "gbp"]), "call": f"c{draw.randrange(number + 1)}",
        }  # fmt: skip
        if draw.random() < 0.2:
            del args[draw.choice(list(args))]
        made.append(Called(label, args, id=f"c{number}"))
        opened.append((label, f"c{number}"))
    return made


@pytest.mark.parametrize("seed", range(60))
def test_rules_that_are_asked_at_once_answer_as_one_by_one(seed: int) -> None:
    draw = Random(seed)
    rules = [rule for rule in RULES if draw.random() < 0.8]
    draw.shuffle(rules)
    fused, plain = Session(Contract(*rules)), Session(one_by_one(Contract(*rules)))
    observed = draw.random() < 0.3
    for event in events(draw):
        if draw.random() < 0.1:
            # a session that was read from paper goes on like the one that was written
            fused = Session.from_dict(fused.contract, fused.to_dict())
        if observed:
            assert fused.observe(event) == plain.observe(event)
        else:
            assert fused.step(event) == plain.step(event)
        assert fused.state == plain.state


def test_sums_that_differ_only_in_their_limits_are_asked_at_once() -> None:
    plan = Contract(*RULES).acts["pay"]
    assert plan.fused is not None
    assert [len(twins.numbers) for twins in plan.fused.twins] == [3, 2, 2]
    assert [(field.name, len(field.tests)) for field in plan.fused.fields] == [("amount", 1), ("to", 1)]
    assert len(plan.fused.checks) == 1
    assert len(plan.fused.alone) == 2


def test_a_sum_whose_limit_is_a_fact_is_asked_by_itself() -> None:
    rules = [Rule("at_most_total", {"of": "pay", "field": "amount", "limit": "cap"}, id=f"r{n}") for n in range(2)]
    assert Contract(*rules, facts={"cap": 5}).acts["pay"].fused is None
