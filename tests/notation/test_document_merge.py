"""Includes: names are united, nothing wins silently, and settings belong to the outermost document."""

import pytest

from duly.machine.terms import Terms
from duly.notation.document import Fetched, parse_terms
from duly.values.errors import DulyError


def load(own: str, included: str) -> Terms:
    def fetch(path: str, holder: str) -> Fetched:
        return Fetched(path, f"duly: 1\n{included}")

    return parse_terms(f"duly: 1\ninclude: [o.yaml]\n{own}", name="c.yaml", fetch=fetch)


def faults(own: str, included: str) -> list[str]:
    with pytest.raises(DulyError) as caught:
        load(own, included)
    return [f"{fault.where()}: {fault.message}" for fault in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("own", "included", "said"),
    [
        ("tools: {a: {}}", "tools: {a: {effect: none}}", "`a` is declared twice under `tools`, and differently"),
        ("facts: {a: 1}", "facts: {a: 2}", "`a` is declared twice under `facts`, and differently"),
        (
            "labels: {A: {matches: x}}",
            "labels: {A: {matches: y}}",
            "`A` is declared twice under `labels`, and differently",
        ),
        ("labels: {A: {otherwise: true}}", "labels: {B: {otherwise: true}}", "`A` and `B` both take what is left"),
        ("protocol: '!a'", "protocol: '!b'", "two protocols have no name"),
        ("protocols: {p: '!a'}", "protocols: {p: '!b'}", "two protocols are called `p`"),
        ("mode: enforce", "mode: shadow", "`o.yaml` sets `mode`, which holds for the whole contract"),
        ("", "withdraw_on: message", "`o.yaml` sets `withdraw_on`, which holds for the whole contract"),
        ("", "audit: {count: effective}", "`o.yaml` sets `audit`, which holds for the whole contract"),
        ("forever: false", "forever: true", "`o.yaml` sets `forever`, which holds for the whole contract"),
    ],
)
def test_what_two_documents_say_differently_is_an_error_where_the_one_includes_the_other(
    own: str, included: str, said: str
) -> None:
    assert faults(own, included) == [f"c.yaml:2:11: {said}"]


def test_what_two_documents_say_alike_is_said_once() -> None:
    terms = load("tools: {a: {effect: none}}\nmode: shadow", "tools: {a: {effect: none}, b: {}}\nmode: shadow")
    assert (list(terms.tools or ()), terms.mode) == (["a", "b"], "shadow")


def test_an_example_may_name_a_label_of_an_included_document() -> None:
    assert load("examples: [{text: x, label: A}]", "labels: {A: {matches: x}}").examples[0].label == "A"


def test_a_document_without_tools_leaves_the_world_as_its_includes_leave_it() -> None:
    assert load("", "contract: x").tools is None
    assert load("", "tools: {}").tools == {}


def test_approvals_and_guards_of_all_documents_are_joined() -> None:
    terms = load(
        "approvals: [{of: a}]\nguards: [{of: a, run: 'm:f'}]", "approvals: [{of: b}]\nguards: [{of: b, run: 'm:g'}]"
    )
    assert [approval.of for approval in terms.approvals] == ["a", "b"]
    assert [guard.run for guard in terms.guards] == ["m:f", "m:g"]
