"""From the text of a rule to its watch."""

from typing import Any

import pytest

from duly import Contract, DulyError, LabelRule, Tool, formula, load, merge
from duly.machine.formula.make import names_of, renamed, tidy


def loaded(tmp_path: Any, text: str) -> Contract:
    (tmp_path / "c.yaml").write_text(text)
    return load(tmp_path / "c.yaml")


def faults(tmp_path: Any, text: str) -> list[str]:
    with pytest.raises(DulyError) as caught:
        loaded(tmp_path, text)
    return [f"{fault.where().rpartition('c.yaml:')[2]}: {fault.message}" for fault in caught.value.diagnostics]


def test_a_fault_is_pointed_at_in_the_document(tmp_path: Any) -> None:
    assert faults(tmp_path, 'duly: 1\nrules:\n  - formula: "G(!a -> and ?b)"\n') == [
        "3:23: a formula is missing before `and`"
    ]
    assert faults(tmp_path, "duly: 1\nrules:\n  - formula: {that: G !a ?b, id: f}\n") == [
        "3:26: an operator is missing before `?b`"
    ]
    folded = "duly: 1\nrules:\n  - formula: >-\n      G(!a ->\n      and ?b)\n"
    assert faults(tmp_path, folded) == ["3:5: a formula is missing before `and` (at character 9 of the formula)"]


def test_a_document_may_give_the_options_inside_or_beside(tmp_path: Any) -> None:
    beside = loaded(tmp_path, 'duly: 1\nrules:\n  - {formula: "F !a", id: f, mode: shadow, severity: warning}\n')
    inside = loaded(tmp_path, 'duly: 1\nrules:\n  - formula: {that: "F !a", id: f, mode: shadow, severity: warning}\n')
    assert inside.digest == beside.digest
    (one,), (two,) = inside.rules.values(), beside.rules.values()
    assert (one.id, one.mode, one.severity, one.args) == (two.id, two.mode, two.severity, {"that": "F !a"})


def test_a_document_prints_back_to_the_same_contract(tmp_path: Any) -> None:
    from duly.notation.document_print import print_terms

    first = loaded(tmp_path, 'duly: 1\nrules:\n  - formula: {that: "G(!a{args.n > 1} -> O ?b)", id: f}\n  - formula: F !a\n')
    text = print_terms(first.terms)
    assert loaded(tmp_path, text).digest == first.digest
    assert print_terms(loaded(tmp_path, text).terms) == text


def test_merged_contracts_keep_what_their_groups_mean() -> None:
    def held(name: str, members: list[str]) -> Contract:
        tools = [Tool(each) for each in ("a", "b", "look")]
        return Contract(formula("G(!@change -> O ?look)", id=name), tools=tools, groups={"change": members})

    both = merge([held("one", ["a"]), held("two", ["b"])])
    assert [sorted(watch.labels) for watch in both.watches] == [["a", "look"], ["b", "look"]]
    assert [rule.args["that"] for rule in both.rules.values()] == ["G(!@change -> O ?look)", 'G(!@"change~2" -> O ?look)']


def test_names_of_a_formula_are_told_and_replaced() -> None:
    assert names_of("did(a) and !@g and all(fs/*, ?a)") == ["a", "@g", "fs/*"]
    assert names_of("G(") == []
    assert renamed("did(a) and count(!a{args.n > 1}) > 2 and all(b, a) -> ?a=ok", {"a": "x y", "b": "b"}.__getitem__) == (
        'did("x y") and count(!"x y"{args.n > 1}) > 2 and all(b, "x y") -> ?"x y"=ok'
    )
    assert (renamed("G(", str), tidy("G("), tidy("G( !a )")) == ("G(", "G(", "G !a")


def test_a_message_that_people_say_is_learnt(tmp_path: Any) -> None:
    made = Contract(formula("G(!pay -> O ?Yes)"), labels=[LabelRule("Yes")], tools=[Tool("pay")])
    assert sorted(made.watches[0].labels) == ["Yes", "pay"]
