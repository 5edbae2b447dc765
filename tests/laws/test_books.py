"""What holds of all rules with books together, over random contracts and runs."""

import os
import random
from decimal import Decimal
from typing import Any

from msgspec import structs

from duly import Called, Closed, Contract, Elapsed, Failed, LabelRule, Received, Returned, Rule, Session
from duly.machine.rules import TEMPLATES, text_of

RUNS = 400 * (10 if os.environ.get("DULY_SOAK") else 1)
NAMES = ("a", "b", "c", "Say")
PAYLOADS: tuple[Any, ...] = (
    {"n": 1, "k": 1}, {"n": 2, "k": 1}, {"n": 1, "k": 2}, {"n": Decimal("0.5"), "k": 1}, {"n": "2", "k": "x"}, {"n": -1, "k": 1},
    {"k": 1}, {"n": 3}, {},
)  # fmt: skip

FORMULAS = (
    "G(!b -> O ?a)", "G(!a{args.n > 1} -> not O !c)", "F ?a=ok", "G(?a{result.cap > 2} -> X not !b)", "not !b U (?Say or !c)",
    "G(!a -> X(?a or !b))", "count(!a) <= 2 or O ?Say", "!a and not !a",
)  # fmt: skip


def member(rng: random.Random) -> Any:
    return rng.choice(("a", "b", "c", "Say", ["a", "b"], {"of": "a", "where": "args.n > 1"}, {"of": "c", "where": "args.k == 1"}))


def argument(rng: random.Random, kind: str) -> Any:
    made: dict[str, Any] = {
        "member": member(rng), "members": rng.sample(["a", "b", "c", {"of": "a", "where": "args.n == 2"}], 2),
        "zone": "UTC", "count": rng.choice((0, 1, 2, "cap")), "time": rng.choice((1, 3)), "field": "n", "limit": rng.choice((2, 3, "cap")),
        "weights": {"a": rng.choice((2, "args.n"))}, "back": {"of": "c", "call": "args.k"}, "per": "act", "amount": 1,
        "within": rng.choice((2, {"acts": 1}, {"acts": 2})), "keep": "all", "pattern": "x", "text": "args.n > 0",
        "formula": rng.choice(FORMULAS),
        "history": rng.choice(("did(b)", "count(a) < 2 or did(c{args.k == 1})", "not did(b) and at_most(1, a, c, Say)")),
    }  # fmt: skip
    return made[kind]


def rule(rng: random.Random, template: str) -> Rule:
    row = TEMPLATES[template]
    args = {
        each.name: argument(rng, each.kind)
        for each in row.arguments
        if not each.optional or each.name == "field" or rng.random() < 0.4
    }
    for name in ("units", "settle", "reserve", "by", "pattern", "keep", "zone") if template != "must_follow" else ():
        args.pop(name, None)
    if template in ("learns", "collects"):
        args.update(fact="cap" if template == "learns" else "seen", value="result.cap", of="a")
    if "among" in args:
        args["n"] = rng.choice((1, 2))
        args["among"] = args["n"] + rng.choice((1, 2, 3))
    if template == "ensures":
        args["that"] = "result.cap < 3"
    some: dict[str, Any] = {"mode": rng.choice(("enforce", "enforce", "shadow"))}
    if template not in ("learns", "collects"):
        some["same"] = rng.choice((None, None, "k"))
        some["scope"] = rng.choice(("session", "session", "turn", "run"))
        some["where"] = rng.choice((None, None, "args.n == 1")) if template != "formula" else None
        some["on"] = rng.choice((None, "called", "returned")) if row.on else None
    return Rule(template, args, **some)


def rules(rng: random.Random, count: int = 3) -> list[Rule]:
    names = rng.sample([*TEMPLATES], count)
    return [structs.replace(each, id=f"{number} {text_of(each)}") for number, each in enumerate(rule(rng, n) for n in names)]


def contract(made: list[Rule]) -> Contract:
    return Contract(*made, facts={"cap": 2}, labels=[LabelRule("Say")])


def events(rng: random.Random, count: int = 16) -> list[tuple[Any, bool]]:
    found: list[tuple[Any, bool]] = []
    open: list[tuple[str, str]] = []
    at = 0
    for number in range(count):
        at += rng.choice((0, 0, 1, 2))
        happened = rng.random() < 0.15
        chance = rng.random()
        if open and chance < 0.4:
            label, id = rng.choice(open)
            end = rng.choice((Returned(label, {"cap": rng.choice((1, 2, 5))}, id=id), Failed(id, "none"), Failed(id, "unknown"),
                              Returned(label, {}, id=id, outcome="error")))  # fmt: skip
            if not (isinstance(end, Failed) and end.effect == "unknown"):
                open.remove((label, id))
            found.append((structs.replace(end, at=at), False))
        elif chance < 0.5:
            found.append((Received("Say", {"k": 1}, at=at), False))
        elif chance < 0.55:
            found.append((Elapsed(at, run=rng.choice((None, "r1", "r2"))), False))
        else:
            label, id = rng.choice(("a", "b", "c", "other")), f"i{number}"
            open.append((label, id))
            event = Called(label, rng.choice(PAYLOADS), id=id, at=at, batch=rng.choice((None, None, "x", "y")))
            found.append((event, happened))
    return [*found, (Closed(at=at + rng.choice((0, 9))), False)]


def said(verdict: Any) -> Any:
    return verdict.word, sorted((r.rule, r.kind, r.follow_on) for r in (*verdict.reasons, *verdict.noted))


def test_a_session_that_is_kept_and_comes_back_is_the_same_and_says_the_same() -> None:
    for seed in range(RUNS):
        rng = random.Random(seed)
        held = contract(rules(rng))
        first = second = Session(held)
        for event, happened in events(rng):
            one = first.observe(event) if happened else first.step(event)
            two = one if second is first else second.observe(event) if happened else second.step(event)
            assert said(one) == said(two), (seed, event)
            assert not any(reason.kind == "internal" for reason in one.reasons), (seed, event, one.text())
            second = Session.from_dict(held, first.to_dict())
            assert second.state == first.state, (seed, event)


def test_a_refused_act_changes_nothing_that_a_rule_can_see() -> None:
    for seed in range(RUNS):
        rng = random.Random(seed)
        session = Session(contract(rules(rng)))
        for event, happened in events(rng):
            if isinstance(event, Called) and not happened and not session.peek(event):
                session.step(Elapsed(event.at))  # time moves first, for refused acts too
                before = session.state
                session.step(event)
                after = session.state
                assert (after.books, after.facts, after.data, after.open) == (
                    before.books, before.facts, before.data, before.open,
                ), (seed, event)  # fmt: skip
            elif happened:
                session.observe(event)
            else:
                session.step(event)


def test_the_order_of_the_rules_never_matters() -> None:
    for seed in range(RUNS):
        rng = random.Random(seed)
        made = rules(rng, 4)
        other = rng.sample(made, len(made))
        first, second = Session(contract(made)), Session(contract(other))
        for event, happened in events(rng):
            verdicts = [each.observe(event) if happened else each.step(event) for each in (first, second)]
            assert said(verdicts[0]) == said(verdicts[1]), (seed, event)


def test_what_legal_hides_is_refused_for_every_payload() -> None:
    for seed in range(RUNS // 3):
        rng = random.Random(seed)
        session = Session(contract(rules(rng)))
        for event, happened in events(rng)[:-1]:
            session.observe(event) if happened else session.step(event)
        listed = {legal.label for legal in session.legal()}
        for label in {*session.contract.acts} - listed - {"Say"}:
            verdicts = [session.peek(Called(label, payload)) for payload in PAYLOADS]
            assert not any(verdicts), (seed, label, session.legal())


def test_what_is_refused_for_every_payload_is_hidden_where_no_rule_asks_for_arguments() -> None:
    for seed in range(RUNS // 3):
        rng = random.Random(seed)
        made = [each for each in rules(rng, 4) if each.same is None and each.where is None and "args" not in str(each.args)]
        made = [each for each in made if each.template not in ("no_repeat", "requires", "at_most_total", "exclusive")]
        if not made:
            continue
        session = Session(contract(made))
        for event, happened in events(rng)[:-1]:
            session.observe(event) if happened else session.step(event)
        listed = {legal.label for legal in session.legal()}
        for label in {*session.contract.acts} & listed - {"Say"}:
            verdict = session.peek(Called(label, {"n": 1, "k": 1}))
            assert verdict, (seed, label, [text_of(each) for each in made], verdict.text())
