"""The table of keys: complete, without doubles, and at one with the terms and the rules of the machine."""

from duly.machine.rules import TEMPLATES
from duly.machine.terms import Breaker, Rule, Terms, Tool
from duly.notation.keys import DOCUMENT, RULE_OPTIONS, RULES, TOOL
from duly.notation.shape import Record


def names(record: Record) -> list[str]:
    return [key.name for key in record.keys]


def test_every_term_can_be_written() -> None:
    spelled = {"name": "contract", "count": "audit"}
    terms = [spelled.get(name, name) for name in Terms.__struct_fields__ if name != "span"]
    assert set(names(DOCUMENT)) == {*terms, "duly", "include", "protocol"}


def test_every_field_of_a_tool_and_of_a_breaker_can_be_written() -> None:
    assert set(names(TOOL)) == set(Tool.__struct_fields__) - {"name", "span"}
    breaker = DOCUMENT.key("breaker")
    assert breaker is not None
    assert isinstance(breaker.shape, Record)
    assert tuple(names(breaker.shape)) == Breaker.__struct_fields__


def test_every_rule_of_the_machine_can_be_written_with_all_options() -> None:
    assert [head.name for head in RULES.heads] == list(TEMPLATES)
    spelled = {"excepting": "except"}
    fields = [spelled.get(name, name) for name in Rule.__struct_fields__ if name not in ("template", "args", "span")]
    assert set(names(RULE_OPTIONS)) == set(fields)


def test_what_is_planned_is_not_known_yet() -> None:
    assert not set(DOCUMENT.planned) & set(names(DOCUMENT))
    assert not set(RULES.planned) & {*TEMPLATES, *names(RULE_OPTIONS)}
