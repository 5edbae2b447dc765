"""Rule files of acel-core: the first breach is where acel-core finds it, wherever the two mean the same.

They mean the same while calls come one after the other and succeed, amounts are numbers from 0, and no call matches
two sides of one rule. Where they do not is listed below, case by case, as in docs/migration.md.
"""

import json
import os
import random
from typing import Any

import pytest
from acel.config import contracts_from_rules
from acel.verdict import Verdict

from duly import Called, Closed, Contract, Failed, Returned, Session
from duly.notation.document import parse_terms

RUNS = 600 * (10 if os.environ.get("DULY_SOAK") else 1)
TOOLS = ("a", "b", "c", "d")


def matcher(rng: random.Random, tool: str) -> Any:
    if rng.random() < 0.7:
        return tool
    said = {"tool": tool, "matches": rng.choice(["git", "^rm ", r"\bX\b", "a|b", "^5", r"\.env$", "(?:x)+y"])}
    return said if rng.random() < 0.5 else {**said, "field": rng.choice(["command", "file path", "n"])}


def spec(rng: random.Random) -> dict[str, Any]:
    first, second = (matcher(rng, tool) for tool in rng.sample(TOOLS, 2))
    number = rng.randrange(4)
    template, parameters, values = rng.choice([
        ("must_precede", ["earlier", "later"], [first, second]),
        ("cannot_follow_without", ["action", "prerequisite"], [first, second]),
        ("never_after", ["a", "b"], [first, second]),
        ("mutually_exclusive", ["a", "b"], [first, second]),
        ("required_before_session_end", ["tool"], [first]),
        ("at_most_n_times", ["tool", "n"], [first, number]),
        ("at_most_total", ["tool", "field", "limit"], [first, "n", rng.choice([0, 5, 7.5, 20])]),
        ("rate_limit", ["tool", "n", "window_seconds"], [first, number + 1, rng.choice([3.5, 6.5])]),
    ])  # fmt: skip
    # arguments by place or by name; acel-core reads a matcher only by place
    keep = max((place + 1 for place, value in enumerate(values) if isinstance(value, dict)), default=0)
    cut = rng.randint(keep, len(values))
    said = {"template": template, "args": values[:cut], "kwargs": dict(zip(parameters[cut:], values[cut:], strict=True))}
    return {key: value for key, value in said.items() if value or key == "template"}


def rules_of(rng: random.Random) -> dict[str, Any]:
    specs = [spec(rng) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.3:
        return {"state": {"x": 1}, "groups": {"g": specs[:2]}, "contracts": [{"group": "g"}, *specs[2:], {"group": "g"}]}
    return {"contracts": specs}


def calls_of(rng: random.Random) -> list[tuple[str, dict[str, Any], float]]:
    at, found = 0.0, []
    for _ in range(rng.randint(1, 12)):
        at += rng.choice([0, 1, 2, 3])
        args: dict[str, Any] = {"n": rng.choice([0, 1, 2.5, 5])}
        if rng.random() < 0.6:
            args["command"] = rng.choice(["git push", "rm -rf", "GIT", "a", "", None, "x X x"])
        if rng.random() < 0.3:
            args["file path"] = rng.choice([".env", "b.env.txt", "xxy"])
        found.append((rng.choice(TOOLS), args, at))
    return found


def theirs(rules: dict[str, Any], calls: list[tuple[str, dict[str, Any], float]]) -> tuple[Any, set[int]]:
    """Where acel-core finds the first breach, and which of the contracts it is about."""
    contracts, now = contracts_from_rules(rules), [0.0]
    for contract in contracts:
        if hasattr(contract, "_clock"):
            contract._clock = lambda: now[0]
    for index, (tool, args, at) in enumerate(calls):
        now[0] = at
        broken = {number for number, each in enumerate(contracts) if each.on_event(tool, args) is Verdict.VIOLATED}
        if broken:
            return index, broken
    return "end", {number for number, each in enumerate(contracts) if each.on_session_end() is Verdict.VIOLATED}


def ours(rules: dict[str, Any], calls: list[tuple[str, dict[str, Any], float]]) -> tuple[Any, set[str]]:
    session = Session(contract_of(rules))
    for index, (tool, args, at) in enumerate(calls):
        verdict = session.step(Called(tool, args, id=f"c{index}", at=at))
        if not verdict:
            return index, {reason.rule for reason in verdict.reasons}
        session.step(Returned(tool, {}, id=f"c{index}", at=at))
    return "end", {reason.rule for reason in session.step(Closed()).reasons}


def contract_of(rules: dict[str, Any]) -> Contract:
    return Contract.of(parse_terms(json.dumps(rules), name="rules.json"))


def ids_of(rules: dict[str, Any]) -> list[str]:
    """The rule of each contract in acel-core's order, each read by itself."""
    specs = [each for said in rules["contracts"] for each in (rules["groups"]["g"] if "group" in said else [said])]
    return [next(iter(contract_of({"contracts": [each]}).rules)) for each in specs]


def test_the_first_breach_is_where_acel_finds_it_and_of_the_same_rules() -> None:
    where: dict[str, int] = {}
    for seed in range(RUNS):
        rng = random.Random(seed)
        rules, calls = rules_of(rng), calls_of(rng)
        index, numbers = theirs(rules, calls)
        ids = ids_of(rules)
        assert ours(rules, calls) == (index, {ids[number] for number in numbers}), (seed, rules, calls)
        kind = "none" if not numbers else "end" if index == "end" else "call"
        where[kind] = where.get(kind, 0) + 1
    # a comparison of nothing but silence would prove nothing
    assert min(where.get(kind, 0) for kind in ("none", "end", "call")) > RUNS / 20


def verdicts(rules: list[dict[str, Any]], calls: list[Any]) -> tuple[str, str]:
    """What each says of every call, one letter each: + runs, - refused. A call is a tool, its arguments, when, and
    whether it succeeds."""
    from acel import ContractViolation
    from acel import Session as Acel

    now = [0.0]
    acel = Acel()
    for contract in contracts_from_rules({"contracts": rules}):
        if hasattr(contract, "_clock"):
            contract._clock = lambda: now[0]
        acel.add_contract(contract)
    session = Session(contract_of({"contracts": rules}))
    said, meant = "", ""
    for index, (tool, args, at, works) in enumerate(calls):
        now[0] = at

        def run(args: Any = None, works: bool = works, **more: Any) -> Any:
            if not works:
                raise OSError
            return {}

        try:
            acel.call(tool, args, run=run)
            said += "+"
        except ContractViolation:
            said += "-"
        except OSError:
            said += "+"
        verdict = session.step(Called(tool, args, id=f"c{index}", at=at))
        meant += "+" if verdict else "-"
        if verdict and works:
            session.step(Returned(tool, {}, id=f"c{index}", at=at))
        elif verdict:
            session.step(Failed(f"c{index}", effect="none", at=at))
    return said, meant


def called(tools: str, **args: Any) -> list[Any]:
    """Calls by the letters of their tools, one second apart; a capital letter is a call that fails."""
    return [(tool.lower(), args, float(at), tool.islower()) for at, tool in enumerate(tools)]


ORDER = {"template": "must_precede", "args": ["a", "b"]}
ONCE = {"template": "at_most_n_times", "args": ["a", 1]}
SUM = {"template": "at_most_total", "args": ["a", "n", 10]}
GIT = {"tool": "a", "matches": "git"}

DIFFERENCES: dict[str, tuple[list[dict[str, Any]], list[Any], str, str]] = {
    "after a refusal the session goes on": ([ORDER], called("babc"), "----", "-+++"),
    "a refused call counts for no other rule": (
        [ONCE, {"template": "must_precede", "args": ["b", "a"]}], called("aba"), "---", "-++",
    ),
    "a call that failed permits nothing": ([ORDER], called("Ab"), "++", "+-"),
    "a call that failed uses nothing up": ([ONCE], called("Aa"), "+-", "++"),
    "an amount that failed is given back": ([SUM], called("Aa", n=6), "+-", "++"),
    "an amount below 0 is refused": ([SUM], [("a", {"n": -5}, 0.0, True), ("a", {"n": 12}, 1.0, True)], "++", "--"),
    "amounts are exact": ([{**SUM, "args": ["a", "n", 0.3]}], called("aaa", n=0.1), "++-", "+++"),
    "an amount written as text counts": ([SUM], called("a", n="5"), "-", "+"),
    "a window is half open": (
        [{"template": "rate_limit", "args": ["a", 1, 2]}], [("a", {}, 0.0, True), ("a", {}, 2.0, True)], "+-", "++",
    ),
    "what is refused for a rate is allowed again later": (
        [{"template": "rate_limit", "args": ["a", 1, 2]}], called("aaaa"), "+---", "+-+-",
    ),
    "a call that is both sides of an exclusion is refused": (
        [{"template": "mutually_exclusive", "args": ["a", GIT]}], called("a", command="git"), "+", "-",
    ),
    "a call that is both sides of an order is not its own predecessor": (
        [{"template": "must_precede", "args": [GIT, "a"]}], called("a", command="git"), "+", "-",
    ),
    "a call that is both sides of never_after may come once": (
        [{"template": "never_after", "args": [GIT, "a"]}], called("aa", command="git"), "--", "+-",
    ),
    "a list where a pattern needs a text refuses": (
        [{"template": "never_after", "args": [GIT, "b"]}], called("a", command=["git"]), "+", "-",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENCES)
def test_where_they_differ_they_differ_as_documented(name: str) -> None:
    rules, calls, theirs, ours = DIFFERENCES[name]
    assert verdicts(rules, calls) == (theirs, ours)


def test_every_difference_stands_in_the_docs() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
    assert [name for name in DIFFERENCES if name not in page] == []
