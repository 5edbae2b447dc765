"""The machine of a formula against the automaton that MONA makes of it, where the program is there."""

import os
import random
import re
import shutil
import subprocess
from itertools import product

import pytest

from .evaluator import Tree, text, tree
from .test_progress import NAMES, compiled

TIMES = 10 if os.environ.get("DULY_SOAK") else 1
MONA = shutil.which("mona")


def logic(formula: Tree, at: str, fresh: list[int]) -> str:
    """The formula at a position in the monadic logic of strings; ``A0``, ``A1`` are the positions of its atoms."""

    def inner(part: Tree, place: str) -> str:
        return logic(part, place, fresh)

    def name() -> str:
        fresh[0] += 1
        return f"p{fresh[0]}"

    kind, *parts = formula
    first = parts[0] if parts else None
    match kind:
        case "true":
            return "true"
        case "atom":
            return f"({at} in A{first})"
        case "not":
            return f"(~{inner(first, at)})"
        case "and" | "or" | "->" | "<->":
            sign = {"and": "&", "or": "|", "->": "=>", "<->": "<=>"}[kind]
            return f"({inner(first, at)} {sign} {inner(parts[1], at)})"
    other, between = name(), name()
    if kind in ("X", "WX", "Y", "WY"):
        low, high = (at, other) if kind in ("X", "WX") else (other, at)
        near = f"{low} < {high} & ~(ex1 {between}: {low} < {between} & {between} < {high})"
        if kind in ("X", "Y"):
            return f"(ex1 {other}: {near} & {inner(first, other)})"
        return f"(all1 {other}: ({near}) => {inner(first, other)})"
    order = f"{at} <= {other}" if kind in ("F", "G", "U", "R", "W") else f"{other} <= {at}"
    if kind in ("F", "O"):
        return f"(ex1 {other}: {order} & {inner(first, other)})"
    if kind in ("G", "H"):
        return f"(all1 {other}: {order} => {inner(first, other)})"
    second = parts[1]
    within = f"{at} <= {between} & {between} < {other}" if kind != "S" else f"{other} < {between} & {between} <= {at}"
    if kind == "R":
        return f"(all1 {other}: {order} => ({inner(second, other)} | ex1 {between}: {within} & {inner(first, between)}))"
    until = f"(ex1 {other}: {order} & {inner(second, other)} & all1 {between}: ({within}) => {inner(first, between)})"
    return f"({until} | {inner(('G', first), at)})" if kind == "W" else until


def asked(formula: Tree, atoms: int) -> tuple[set[int], dict[tuple[int, int | None], int]]:
    """MONA's automaton, as the states in which a string may end and the moves: by no atom, or by one."""
    names = ", ".join(f"A{number}" for number in range(atoms))
    apart = " & ".join(
        f"~(ex1 q: q in A{one} & q in A{two})" for one, two in product(range(atoms), repeat=2) if one < two
    )
    program = f"m2l-str; var2 {names}; ({apart}) => (ex1 s: (all1 t: s <= t) & {logic(formula, 's', [0])});\n"
    assert MONA is not None
    found = subprocess.run(
        [MONA, "-w", "-q", "/dev/stdin"], input=program, capture_output=True, text=True, timeout=120, check=False
    )
    assert "Accepting states:" in found.stdout, (found.stdout, found.stderr, program)
    good = {int(state) for state in re.search(r"Accepting states:([\d ]*)", found.stdout)[1].split()}  # type: ignore[index]
    moves: dict[tuple[int, int | None], int] = {}
    for state, test, target in re.findall(r"State (\d+): ([01X]*) -> state (\d+)", found.stdout):
        for letter in (None, *range(atoms)):
            if all(mark in ("X", "1" if number == letter else "0") for number, mark in enumerate(test)):
                moves[int(state), letter] = int(target)
    return good, moves


@pytest.mark.skipif(MONA is None, reason="needs MONA, Debian's package `mona`")
def test_the_machine_accepts_the_strings_that_monas_automaton_accepts() -> None:
    """Exactly those with at least one position, and so what is false and true for good agrees as well."""
    compared = 0
    for seed in range(150 * TIMES):
        rng = random.Random(f"mona {seed}")
        formula = tree(rng, rng.randrange(2, 9), 2)
        machine = compiled(formula, NAMES[:2])
        if machine is None:
            continue
        good, moves = asked(formula, 2)
        todo = [(0, moves[0, None])]  # MONA's first step reads no position
        seen = {*todo}
        for mine, other in todo:
            for letter in (None, 0, 1):
                pair = (machine.moves[mine][0 if letter is None else letter + 1], moves[other, letter])
                assert machine.holds[pair[0]] is (pair[1] in good), text(formula, NAMES)
                if pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
        compared += 1
    assert compared > 140 * TIMES
