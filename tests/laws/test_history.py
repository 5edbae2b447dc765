"""Histories against a naive reading of the whole past: what permits counts successes outside of the own batch, what
forbids counts from admission until it is known not to have happened."""

import os
import random
from typing import Any

import pytest

from duly import Called, Contract, Returned, Rule, Session
from laws.test_rules import History, Past, run

RUNS = 1500 * (10 if os.environ.get("DULY_SOAK") else 1)
LABELS = ("a", "b", "c")
Tree = tuple[Any, ...]
Atom = tuple[str, str, bool]


def atom(rng: random.Random) -> Atom:
    """Side, name, and whether only acts whose `n` is 1 are meant."""
    return rng.choice(["", "", "", "!", "?"]), rng.choice(LABELS), rng.random() < 0.2


def tree(rng: random.Random, deep: int = 0) -> Tree:
    kind = rng.randrange(7 if deep < 3 else 3)
    if kind == 0:
        return ("did", atom(rng))
    if kind == 1:
        sign = rng.choice(["==", "!=", "<", "<=", ">", ">="])
        return ("count", atom(rng), sign, rng.randint(1 if sign in ("<", ">=") else 0, 3))
    if kind == 2:
        # a side is part of a name, so names are told apart by it
        atoms = list(dict.fromkeys(atom(rng) for _ in range(3)))
        which = rng.choice(["all", "any_of", "at_least", "at_most"])
        n = rng.randint(1, len(atoms)) if which == "at_least" else rng.randint(0, len(atoms) - 1)
        return (which, n, atoms)
    if kind == 3:
        return ("not", tree(rng, deep + 1))
    return (rng.choice(["and", "or", "->", "<->"]), tree(rng, deep + 1), tree(rng, deep + 1))


def written(said: Any) -> str:
    match said:
        case (side, str(name), bool(one)):
            return f"{side}{name}{'{args.n == 1}' if one else ''}"
        case ("did", of):
            return f"did({written(of)})"
        case ("count", of, sign, n):
            return f"count({written(of)}) {sign} {n}"
        case ("not", part):
            return f"not ({written(part)})"
        case (("and" | "or" | "->" | "<->") as op, left, right):
            return f"({written(left)}) {op} ({written(right)})"
        case (which, n, atoms):
            names = ", ".join(map(written, atoms))
            return f"{which}({names})" if which in ("all", "any_of") else f"{which}({n}, {names})"
    raise AssertionError(said)


def number(history: History, of: Atom, permits: bool, on: str | None, batch: str | None) -> int:
    """How often it has happened, as one who permits or one who forbids counts it."""
    side, label, one = of
    how = {"!": "called", "?": "returned"}.get(side, on) or ("returned" if permits else "called")
    return sum(
        past.label == label and (not one or past.args["n"] == 1)
        and (past.state == "won" if how == "returned" else past.state != "back")
        and not (permits and batch is not None and past.batch == batch)
        for past in history
    )  # fmt: skip


def true(said: Tree, wanted: bool, history: History, on: str | None, batch: str | None) -> bool:
    """Whether a tree (with ``wanted`` False: its opposite) is true of the past."""
    match said:
        case ("did", of):
            return true(("count", of, ">=", 1), wanted, history, on, batch)
        case ("count", of, sign, n):
            if not wanted:
                sign = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}[sign]
            many, few = number(history, of, True, on, batch), number(history, of, False, on, batch)
            return {
                "==": many >= n and few <= n, "!=": many > n or few < n, "<": few < n, "<=": few <= n, ">": many > n,
                ">=": many >= n,
            }[sign]  # fmt: skip
        case ("not", part):
            return true(part, not wanted, history, on, batch)
        case ("->", left, right):
            return true(("or", ("not", left), right), wanted, history, on, batch)
        case ("<->", left, right):
            same = ("or", ("and", left, right), ("and", ("not", left), ("not", right)))
            other = ("or", ("and", left, ("not", right)), ("and", ("not", left), right))
            return true(same if wanted else other, True, history, on, batch)
        case (("and" | "or") as op, left, right):
            both = (true(left, wanted, history, on, batch), true(right, wanted, history, on, batch))
            return all(both) if (op == "and") is wanted else any(both)
        case (which, n, atoms):
            n = {"all": len(atoms), "any_of": 1}.get(which, n)
            many = sum(number(history, each, True, on, batch) > 0 for each in atoms)
            few = sum(number(history, each, False, on, batch) > 0 for each in atoms)
            at_least = (which != "at_most") is wanted
            n = n if wanted else n + 1 if which == "at_most" else n - 1
            return many >= n if at_least else few <= n
    raise AssertionError(said)


def test_a_history_says_what_the_whole_past_says() -> None:
    refused = 0
    for seed in range(RUNS):
        rng = random.Random(seed)
        said, on = tree(rng), rng.choice([None, None, "called", "returned"])
        of, same = rng.choice(LABELS), rng.choice([None, None, "n"])
        where = "args.n == 2" if rng.random() < 0.2 else None

        def judged(
            history: History, label: str, args: Any, at: float, batch: str | None, *,
            said: Tree = said, on: str | None = on, of: str = of, same: str | None = same, where: str | None = where,
        ) -> bool:  # fmt: skip
            nonlocal refused
            if label != of or (where is not None and args["n"] != 2):
                return False
            seen: list[Past] = [past for past in history if same is None or past.args == args]
            no = not true(said, True, seen, on, batch)
            refused += no
            return no

        rule = Rule("history", {"of": of, "that": written(said)}, id="r0", on=on, same=same, where=where)
        run(Contract(rule), [judged], seed, batches=seed % 2 == 0)
    assert refused > RUNS


@pytest.mark.parametrize("n", [1, 3, 50])
def test_books_do_not_grow_with_the_history(n: int) -> None:
    contract = Contract(Rule("history", {"of": "b", "that": f"count(a) >= {n} and count(a) <= 10000"}))
    session = Session(contract)
    sizes = []
    for number in range(200):
        session.step(Called("a", {}, id=f"c{number}", batch=f"turn {number}"))
        session.step(Returned("a", {}, id=f"c{number}"))
        sizes.append(len(str(session.state.books)))
    assert max(sizes[n + 5 :]) <= max(sizes[: n + 5]) + 8
    assert session.step(Called("b", {}, id="b"))


def test_an_act_is_judged_by_its_own_requirements_however_many_others_there_are() -> None:
    rules = [Rule("history", {"of": f"t{n}", "that": f"did(u{n})"}) for n in range(2000)]
    contract = Contract(*rules)
    assert [len(contract.acts[f"t{n}"].watches) for n in (0, 1, 1999)] == [1, 1, 1]
    assert len(contract.acts["u5"].watches) == 1
