"""Verdicts: their words, texts and how several join."""

import copy
import pickle

import pytest

from duly import Allowed, Blocked, Legal, NeedsApproval, Reason, Repair, Unrecognized, Violation
from duly.values.verdict import ALLOWED, GRAVITY, TEXT_LIMIT, Verdict, join, refusal_text, shorten

ORDER = Reason("must_precede(a, b)", "order", "`b` needs an earlier `a`", got="!b", expected=("a",), help="call `a`")
COUNT = Reason("at_most(b, 1)", "count", "`b` is spent", got="!b")


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        (Allowed(), "allowed"),
        (NeedsApproval(), "needs_approval"),
        (Violation(), "violation"),
        (Unrecognized(), "unrecognized"),
        (Blocked(), "blocked"),
    ],
)
def test_a_verdict_says_its_word_and_only_allowed_is_true(verdict: Verdict, word: str) -> None:
    assert (verdict.word, bool(verdict)) == (word, word == "allowed")


def test_the_gravest_wins_in_the_stated_order() -> None:
    graver = [Allowed, NeedsApproval, Violation, Unrecognized, Blocked]
    assert [GRAVITY[kind] for kind in graver] == [0, 1, 2, 3, 4]
    for low in graver:
        for high in graver[graver.index(low) :]:
            assert type(join([low(), high()])) is high


def test_a_join_holds_the_reasons_of_the_gravest_each_once() -> None:
    ask = NeedsApproval((Reason("approval", "approval", "ask"),), ticket="t1")
    joined = join([Violation((ORDER,)), Allowed(), ask, Violation((COUNT, ORDER))])
    assert joined == Violation((COUNT, ORDER))


def test_allowed_is_the_unit_and_a_recorded_answer_survives_it() -> None:
    answered = Allowed({"a": 1}, {"ok": True}, True, "c1")
    assert join([]) == ALLOWED
    assert join([ALLOWED, answered, ALLOWED]) == answered


def test_a_join_halts_if_one_halts_and_is_a_finding_only_if_all_are() -> None:
    assert join([Violation(halted=True), Violation()]).halted is True  # type: ignore[union-attr]
    assert join([Violation(finding=True), Violation()]).finding is False  # type: ignore[union-attr]
    assert join([NeedsApproval(ticket="t2"), NeedsApproval(ticket="t1")]).ticket == "t1"  # type: ignore[union-attr]


def test_a_match_takes_reasons_and_repair_by_name() -> None:
    match Violation((ORDER,), instead=(Legal("a"),), mend=Repair("steps", ("call `a`",))):
        case Violation(reasons=why, legal=legal, repair=repair):
            assert (why, legal, repair) == ((ORDER,), (Legal("a"),), Repair("steps", ("call `a`",)))


def test_the_text_says_why_and_what_to_do() -> None:
    refusal = Violation(
        (ORDER, COUNT),
        instead=(Legal("a", ("id == r",)), Legal("c", approval=True)),
        mend=Repair("steps", ("call `a`", "ask for `Yes`")),
        halted=True,
    )
    assert refusal.text() == (
        "refused: `b` needs an earlier `a`; expected `a` (call `a`)\n"
        "also: `b` is spent\n"
        "to make it legal: first call `a`, then ask for `Yes`\n"
        "legal now: a (id == r), c (needs approval)\n"
        "the session is halted: no further act is taken"
    )


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (Allowed(), "allowed"),
        (Allowed(None, 5, True), "allowed, answered from the record"),
        (NeedsApproval((COUNT,)), "waiting for a decision: `b` is spent"),
        (Blocked((COUNT,)), "blocked: `b` is spent"),
        (Unrecognized((COUNT,)), "not understood: `b` is spent"),
        (Violation((COUNT,), finding=True), "finding: `b` is spent"),
        (Violation((COUNT,), mend=Repair("none")),
         "refused: `b` is spent\nto make it legal: nothing makes this act legal in this session"),
        (Violation((COUNT,), mend=Repair("undecided")),
         "refused: `b` is spent\nto make it legal: no way to make this act legal was found within the bound"),
    ],
)  # fmt: skip
def test_each_verdict_has_its_own_head(verdict: Verdict, text: str) -> None:
    assert verdict.text() == text


def test_a_model_is_told_five_reasons_and_two_kilobytes_at_most() -> None:
    reasons = tuple(Reason(f"r{n}", "count", f"reason {n} " + "é" * 60) for n in range(500))
    few = Violation(reasons).text()
    assert few.splitlines()[-1] == "and 495 more reasons"
    assert len(few.splitlines()) == 6
    long = Violation((Reason("r", "count", "é" * 5000),)).text()
    assert (len(long.encode()) <= TEXT_LIMIT, long[-1]) == (True, "…")


def test_what_the_contract_does_not_show_is_not_told() -> None:
    refusal = Violation((ORDER,), instead=(Legal("a"),), mend=Repair("none"))
    assert refusal_text(refusal, show=("legal",)) == "refused\nlegal now: a"
    assert refusal_text(refusal, show=()) == "refused"


def test_long_lists_are_counted() -> None:
    reason = Reason("r", "order", "no", expected=tuple(f"t{n}" for n in range(10)))
    assert reason.text() == "no; expected `t0`, `t1`, `t2`, `t3`, `t4`, `t5`, `t6`, `t7` and 2 more"
    many = Violation(instead=tuple(Legal(f"t{n}") for n in range(14)))
    assert many.text() == f"refused\nlegal now: {', '.join(f't{n}' for n in range(12))}, and 2 more"


def test_a_verdict_is_equal_by_what_it_says_and_travels() -> None:
    refusal = Violation((ORDER,), halted=True, ticket="t1", instead=(Legal("a"),), mend=Repair("none"))
    assert pickle.loads(pickle.dumps(refusal)) == refusal
    assert copy.deepcopy(refusal) == refusal == copy.copy(refusal)
    assert refusal != Blocked((ORDER,), halted=True, ticket="t1", instead=(Legal("a"),), mend=Repair("none"))
    assert {refusal, Violation((ORDER,))} != {refusal}
    assert refusal.rules == ("must_precede(a, b)",)
    assert repr(refusal) == f"Violation({refusal.text()!r})"


def test_text_is_cut_at_bytes_and_never_inside_a_letter() -> None:
    assert shorten("é" * 10, 11) == "éééé…"
    assert shorten("short", 11) == "short"
