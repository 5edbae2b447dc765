"""Rules from Python: one function for each row of the table, with its arguments, in its order."""

import inspect
from typing import Any

import pytest

import duly
from duly import Contract, DulyError
from duly.machine import rule
from duly.machine.rules import SPELLINGS, TEMPLATES, text_of

EXAMPLES: dict[str, Any] = {
    "member": "a", "members": ["a", "b"], "count": 2, "time": 5, "field": "n", "text": "args.n > 1", "limit": 9,
    "amount": 1, "weights": {"a": 2}, "back": {"of": "b", "call": "n"}, "within": 7, "act": "act", "keep": "last",
    "pattern": "x", "formula": "G(!a -> O ?b)", "history": "did(b)",
}  # fmt: skip


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_row_has_its_function_and_it_is_public(name: str) -> None:
    make, template = getattr(duly, name), TEMPLATES[name]
    assert make is getattr(rule, name)
    assert (make.__doc__ or "").count("\n") == 0
    taken = [p.name.rstrip("_") for p in inspect.signature(make).parameters.values() if p.name != "options"]
    assert sorted(taken) == sorted(argument.name for argument in template.arguments)


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_a_function_makes_is_what_the_row_takes(name: str) -> None:
    template = TEMPLATES[name]
    args = {each.name: EXAMPLES[each.kind] for each in template.arguments if not each.optional or each.kind == "field"}
    if name == "at_most_total":
        del args["units"], args["settle"]
    given = {("from_" if key == "from" else "for_" if key == "for" else key): value for key, value in args.items()}
    make = getattr(duly, name)
    made = make(*given.pop("members"), **given, id="mine") if "members" in given else make(**given, id="mine")
    assert (made.template, made.args, made.id) == (name, args, "mine")
    if name not in ("learns", "collects"):
        assert list(Contract(made).rules) == ["mine"]


def test_options_are_the_same_for_all() -> None:
    made = duly.never_after("a", "b", same="order", scope="run", severity="warning", except_=["c"], where="args.n > 1",
                            on="returned", mode="shadow", on_violation="halt")  # fmt: skip
    assert text_of(made) == "never_after(a, b, except=c, same=order, where=args.n > 1, on=returned, scope=run)"


def test_a_misspelt_option_is_said() -> None:
    with pytest.raises(DulyError, match="unknown option `smae` of a rule"):
        duly.forbid("a", smae="n")  # type: ignore[call-arg]


def test_caps_take_who_is_asked() -> None:
    assert duly.at_most("a", 1, on_excess="ask", by=["ana"]).by == ("ana",)
    with pytest.raises(DulyError, match="`rate_limit` is no cap"):
        Contract(duly.rate_limit("a", 1, 5, on_excess="ask"))  # type: ignore[call-arg]


def test_every_other_spelling_stands_for_a_row() -> None:
    for name, spelling in SPELLINGS.items():
        assert name not in TEMPLATES
        assert {*spelling.arguments} <= {argument.name for argument in TEMPLATES[spelling.template].arguments}
