"""Facts that may be unlearnt when something names them."""

from duly import Approval, Contract, Rule, Tool, must_precede, protocol
from duly.check.contract import check_contract

TOOLS = [Tool("look", effect="none"), Tool("pay", effect="write")]
LEARNS = Rule("learns", {"of": "look", "fact": "cap", "value": "result.cap"})
REQUIRES = Rule("requires", {"of": "pay", "that": "args.n <= facts.cap"}, id="within")


def warned(*parts: object, **terms: object) -> list[str]:
    contract = Contract(*parts, tools=TOOLS, **terms)  # type: ignore[arg-type]
    return [each.message for each in check_contract(contract) if each.code == "unlearnt"]


def test_a_fact_that_may_be_unlearnt_is_a_warning() -> None:
    said = "names the fact `cap`, which may be unlearnt then, and refuses where it is"
    assert warned(LEARNS, REQUIRES) == [f"the rule `within` {said}"]
    assert warned(LEARNS, Approval("pay", when="args.n > facts.cap", id="large")) == [f"the approval `large` {said}"]
    assert warned(LEARNS, Rule("at_most", {"of": "pay", "n": "cap"}, id="few")) == [f"the rule `few` {said}"]


def test_a_fact_with_a_first_value_one_gathered_and_one_learnt_before_are_none() -> None:
    assert warned(LEARNS, REQUIRES, facts={"cap": 1}) == []
    assert warned(LEARNS, REQUIRES, must_precede("look", "pay")) == []
    assert warned(LEARNS, REQUIRES, protocol("!look.?look.!pay.?pay.end")) == []
    gathers = Rule("collects", {"of": "look", "fact": "cap", "value": "result"})
    assert warned(gathers, Rule("requires", {"of": "pay", "that": "args.n in facts.cap"})) == []


def test_another_order_does_not_make_a_fact_sure() -> None:
    assert len(warned(LEARNS, REQUIRES, must_precede("pay", "look"))) == 1
    assert len(warned(LEARNS, REQUIRES, must_precede("look", "pay", scope="turn"))) == 1
