"""What people say: a label or none, the same live and in audits, and the classifiers that come with duly."""

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from audit.corpora import AIRLINE, AIRLINE_TAU2, needs_corpora
from duly.audit.detect import read
from duly.audit.run import audit
from duly.gates.files import load, load_terms
from duly.gates.labels import LIMIT, Classifier, Named, name_event, run_examples
from duly.machine.terms import Example, LabelRule, Terms
from duly.values.errors import DulyError
from duly.values.event import Received, Sent

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/airline"
LABELS = {
    "Yes": LabelRule("Yes", matches="(?i)^yes", unless="(?i)but"),
    "Yesterday": LabelRule("Yesterday", matches="(?i)^yes"),
    "Other": LabelRule("Other", otherwise=True, unless="^#"),
    "Promise": LabelRule("Promise", source="agent", matches="I will"),
}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Yes please", "Yes"),
        ("  \n yes\t", "Yes"),
        ("yes, but", "Yesterday"),
        ("no", "Other"),
        ("I will", "Other"),
        ("# note", None),
        ("", None),
        (" \n\u00a0", None),
    ],
)
def test_labels_are_tried_in_order_and_the_last_takes_what_is_left(text: str, label: str | None) -> None:
    assert Classifier(LABELS).classify(text) == label


def test_each_source_has_its_own_labels() -> None:
    classifier = Classifier(LABELS)
    assert classifier.classify("I will, yes", source="agent") == "Promise"
    assert classifier.explain("yes", source="agent") == Named(None, "no_label")
    assert classifier.explain("yes", source="nobody") == Named(None, "no_label")


def test_who_could_not_name_a_text_says_why() -> None:
    classifier = Classifier(LABELS)
    texts: list[Any] = [" ", "# x", "yes" + "x" * LIMIT, "\ud800", None, 7, b"yes"]
    assert [classifier.explain(text).reason for text in texts] == [
        "empty", "no_label", "too_long", "not_text", "not_text", "not_text", "not_text",
    ]  # fmt: skip
    assert classifier.classify("yes" + "x" * (LIMIT - 3)) == "Yes"


def test_patterns_that_do_not_compile_are_all_reported() -> None:
    labels = {"A": LabelRule("A", matches="(?=a)"), "B": LabelRule("B", matches="b", unless="(")}
    with pytest.raises(DulyError) as caught:
        Classifier(labels)
    assert [fault.message for fault in caught.value.diagnostics] == [
        "the pattern of `A` does not compile: invalid perl operator: (?=",
        "the pattern of `B` does not compile: missing ): (",
    ]


def test_the_bound_counts_bytes() -> None:
    assert Classifier(LABELS).explain("é" * (LIMIT // 2 + 1)).reason == "too_long"


def test_a_pattern_that_backtracks_elsewhere_takes_linear_time() -> None:
    labels = {"A": LabelRule("A", matches="^(a+)+$")}
    assert Classifier(labels).explain("a" * (LIMIT - 1) + "b") == Named(None, "no_label")


def test_a_classifier_of_the_users_own_is_asked_instead() -> None:
    said: list[str] = []

    def own(text: str) -> str | None:
        said.append(text)
        return "Yes" if text == "si" else None

    classifier = Classifier(LABELS, own=own)
    assert [classifier.classify(text) for text in (" si ", "yes", "")] == ["Yes", None, None]
    assert said == ["si", "yes"]


@pytest.mark.parametrize("answer", ["Nonsense", "Promise", 1, True, ["Yes"], b"Yes"])
def test_a_foreign_answer_of_the_users_classifier_names_nothing(answer: Any) -> None:
    assert Classifier(LABELS, own=lambda text: answer).explain("x") == Named(None, "foreign")


def test_a_failure_of_the_users_classifier_names_nothing() -> None:
    def own(text: str) -> str | None:
        raise RuntimeError("no model")

    assert Classifier(LABELS, own=own).explain("yes") == Named(None, "failed")


def test_messages_without_a_label_are_named_by_who_speaks() -> None:
    classifier = Classifier(LABELS)
    yes = {"text": "yes"}
    assert name_event(Received(None, yes), classifier) == Received("Yes", yes)
    assert name_event(Sent(None, {"text": "I will"}), classifier) == Sent("Promise", {"text": "I will"})
    assert name_event(Received("No", yes), classifier) == Received("No", yes)
    assert name_event(Received(None, {"image": "…"}), classifier) == Received(None, {"image": "…"})
    assert name_event(Received(None, "yes"), classifier) == Received(None, "yes")


def test_an_example_that_gets_another_label_is_an_error_of_its_own() -> None:
    examples = (Example("yes", "Yes"), Example("no", "Yes"), Example("# x", "Other"), Example("hm", None))
    terms = Terms(labels=LABELS, examples=examples)
    assert [fault.message for fault in run_examples(terms, Classifier(LABELS))] == [
        "`no` is `Other`, not `Yes`",
        "`# x` is unrecognized (no label), not `Other`",
        "`hm` is `Other`, not unrecognized",
    ]


@pytest.mark.parametrize("name", ["lenient", "strict"])
def test_the_examples_of_the_classifiers_that_come_with_duly_hold(name: str) -> None:
    with resources.as_file(resources.files("duly.labels") / f"{name}.yaml") as path:
        terms = load_terms(path)
    assert [fault.text() for fault in run_examples(terms, Classifier(terms.labels))] == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_of_the_airline_desk_hold(path: Path) -> None:
    terms = load_terms(path)
    assert [fault.text() for fault in run_examples(terms, Classifier(terms.labels))] == []


def strict() -> Classifier:
    with resources.as_file(resources.files("duly.labels") / "strict.yaml") as path:
        return Classifier(load_terms(path).labels)


@pytest.mark.parametrize(
    "text",
    [
        "I'm not sure",
        "Don't do it",
        "I can't confirm that",
        "that is not okay",
        "Yes, my name is Bob",
        "disallow this",
        "no, don't approve it",
        "you could bypass the check yesterday",
        "ok, thanks for explaining",
        "Yes, please, after you have told me the price",
    ],
)
def test_a_careful_yes_is_not_read_into_a_no_a_question_or_a_remark(text: str) -> None:
    assert strict().classify(text) != "Yes"


FIGURES = {
    "lenient": ((1, 3, 15), (0, 0)),
    "last_turn": ((2, 23, 39), (1, 3)),
    "yes": ((2, 34, 54), (3, 5)),
    "begins": ((5, 35, 58), (3, 5)),
    "each": ((6, 45, 78), (3, 7)),
}


@needs_corpora
@pytest.mark.parametrize("name", FIGURES)
def test_an_audit_with_the_shipped_contracts_gives_the_published_figures(name: str) -> None:
    contract = load(EXAMPLES / f"confirm_{name}.yaml")
    classifier = Classifier(contract.terms.labels)
    found = []
    for path in (AIRLINE, AIRLINE_TAU2):
        reports = [audit(run, contract, classifier) for run in read(path)]
        bad = [report for report in reports if report.verdict == "violation"]
        passing = sum(report.outcome == "pass" for report in bad)
        calls = sum(report.violating_calls for report in reports)
        found.append((passing, len(bad) - passing, calls))
        assert not any(report.internal for report in reports)
    assert (found[0], found[1][:2]) == FIGURES[name]
