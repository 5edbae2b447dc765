"""From nodes to terms: defaults, and what is wrong beyond the shape of single values."""

import pytest

from duly.machine.contract import Contract
from duly.machine.terms import Approval, OutsideGuard, Stand, Terms
from duly.notation.document import parse_terms
from duly.values.errors import DulyError

from .bare import bare


def test_a_document_that_says_nothing_leaves_everything_at_its_default() -> None:
    assert bare(parse_terms("duly: 1", name="c.yaml")) == Terms()


def test_an_empty_set_of_tools_is_closed_and_none_is_open() -> None:
    assert parse_terms("duly: 1\ntools: {}", name="c.yaml").tools == {}
    assert parse_terms("duly: 1", name="c.yaml").tools is None


def test_declarations_point_at_their_names() -> None:
    text = "duly: 1\ntools:\n  a: {}\nlabels:\n  Yes: {matches: y}\nrules:\n  - id: x\n    at_most: {of: a, n: 1}\n"
    terms = parse_terms(text, name="c.yaml")
    assert terms.tools is not None
    spans = [terms.tools["a"].span, terms.labels["Yes"].span, terms.rules[0].span]
    assert [span.where() for span in spans if span is not None] == ["c.yaml:3:3", "c.yaml:5:3", "c.yaml:8:5"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("labels: {A: {otherwise: true, matches: x}}", ["`A` has `matches` and `otherwise`"]),
        ("labels: {A: {otherwise: true}, B: {otherwise: true}}", ["`A` and `B` both take what is left"]),
        ("labels: {A: {unless: x}}", ["`A` has `unless` without `matches`"]),
        ("tools: {a: {clamp: {n: {}}}}", ["the clamp of `n` has neither `min` nor `max`"]),
        ("tools: {a: {clamp: {n: {min: 2, max: 1}}}}", ["the clamp of `n` has a `min` above its `max`"]),
        ("labels: {Yes: {matches: y}}\nexamples: [{text: x, label: yes}]", ["unknown label `yes`"]),
        ("examples: [{text: x, label: Yes}]", ["unknown label `Yes`"]),
    ],
)
def test_what_cannot_be_meant_is_an_error(text: str, said: list[str]) -> None:
    with pytest.raises(DulyError) as caught:
        parse_terms(f"duly: 1\n{text}", name="c.yaml")
    assert [fault.message for fault in caught.value.diagnostics] == said


def test_each_source_may_have_a_label_for_what_is_left() -> None:
    labels = "{A: {otherwise: true}, B: {from: agent, otherwise: true}, C: {otherwise: true, from: x, unless: q}}"
    assert len(parse_terms(f"duly: 1\nlabels: {labels}", name="c.yaml").labels) == 3


def test_an_example_of_a_label_that_is_declared_badly_is_no_second_fault() -> None:
    with pytest.raises(DulyError) as caught:
        parse_terms("duly: 1\nlabels: {Yes: {matches: 1}}\nexamples: [{text: x, label: Yes}]", name="c.yaml")
    assert len(caught.value.diagnostics) == 1


def test_an_approval_and_a_guard_are_read_with_their_times_in_seconds() -> None:
    text = """\
duly: 1
approvals:
  - of: pay
    when: args.amount > 100
    ask: "Pay {args.amount}?"
    by: [ana, bo]
    need: 2
    expires: 1h30m
    no: turn
    stand: {within: {path: /srv/**}, lasts: 2d}
    id: large
    except: [look]
  - {of: look, expires: 0.5, stand: none}
withdraw_on: message
guards: [{of: pay, run: "desk.limits:within", within: 2s}]
"""
    terms = bare(parse_terms(text, name="c.yaml"))
    assert terms.approvals == (
        Approval(
            "pay", "args.amount > 100", "Pay {args.amount}?", ("ana", "bo"), 2, 5400.0, "turn",
            Stand({"path": "/srv/**"}, 172800.0), "large", ("look",),
        ),
        Approval("look", expires=0.5, stand="none"),
    )  # fmt: skip
    assert (terms.withdraw_on, terms.guards) == ("message", (OutsideGuard("pay", "desk.limits:within", 2.0),))


def test_a_fault_of_an_approval_points_at_what_it_is_about() -> None:
    terms = parse_terms("duly: 1\napprovals:\n  - by: [ana]\n    of: pay\n    need: 2\n", name="c.yaml")
    with pytest.raises(DulyError) as caught:
        Contract.of(terms)
    (said,) = caught.value.diagnostics
    assert (said.where(), said.message) == ("c.yaml:4:5", "2 people must say yes, and 1 may")


def test_a_total_of_an_approval_reads_and_prints_back() -> None:
    from duly.machine.terms import Above
    from duly.notation.document_print import print_terms

    text = "duly: 1\napprovals:\n  - of: pay\n    above: {total: amount, limit: 0.30, same: order}\n"
    terms = parse_terms(text, name="c.yaml")
    assert terms.approvals[0].above == Above("amount", terms.approvals[0].above.limit, "order")  # type: ignore[union-attr]
    assert str(terms.approvals[0].above.limit) in ("0.3", "0.30")  # type: ignore[union-attr]
    again = parse_terms(print_terms(terms), name="c.yaml")
    assert again.approvals[0].above == terms.approvals[0].above


def test_a_history_is_read_in_its_one_form_and_its_faults_stand_in_the_document() -> None:
    text = 'duly: 1\nrules:\n  - history: {of: pay, that: "(did( kyc )) and\\tcount(check)>=2"}\n'
    (rule,) = parse_terms(text, name="c.yaml").rules
    assert rule.args["that"] == "did(kyc) and count(check) >= 2"
    block = "duly: 1\nrules:\n  - history:\n      of: pay\n      that: |\n        did(kyc) and\n        G(!a)\n"
    with pytest.raises(DulyError) as caught:
        parse_terms(block, name="c.yaml")
    assert [(each.where(), each.message) for each in caught.value.diagnostics] == [
        ("c.yaml:7:9", "a history has no `G`"), ("c.yaml:7:10", "a label by itself says nothing of what has happened"),
    ]  # fmt: skip
