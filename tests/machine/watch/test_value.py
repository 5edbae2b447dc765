"""Rules about one act or one result."""

from duly import Closed, ensures, forbid, learns, must_precede, permit, protocol, requires
from steps import back, broke, call, held, ran, why, words


def test_what_is_forbidden_is_always_refused_and_never_legal() -> None:
    session = held(forbid("rm"), permit("ls"), forbid({"of": "sh", "where": "args.c == 'rm'"}), tools=["rm", "ls", "sh"])
    assert [legal.label for legal in session.legal()] == ["ls", "sh"]
    assert words(session, call("rm", "1"), call("ls", "2"), call("sh", "3", {"c": "ls"}), call("sh", "4", {"c": "rm"})) == [
        "violation", "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert why(session.step(call("sh", "5", {})))[0][1] == "unknown"


def test_a_requirement_that_cannot_be_worked_out_refuses() -> None:
    session = held(requires("pay", "args.n <= facts.cap"), facts={"cap": 5})
    verdicts = [session.step(call("pay", str(n), args)) for n, args in enumerate(({"n": 5}, {"n": 6}, {"n": "5"}, {}))]
    assert [reason.kind for verdict in verdicts for reason in verdict.reasons] == ["requires", "unknown", "unknown"]
    assert [legal.conditions for legal in session.legal()] == [("args.n <= facts.cap",)]


def test_a_broken_result_is_a_finding_the_call_is_no_success_and_the_protocol_takes_error() -> None:
    session = held(
        protocol("!a.?{a.!b.end, a=error.end}"), ensures("a", "result.ok == true"), must_precede("a", "b"),
    )
    verdict = session.step(call("a", "1")) and session.step(back("a", "1", {"ok": False}))
    assert (verdict.finding, why(verdict)) == (True, [("ensures(a, result.ok == true)", "ensures")])
    assert session.is_terminal
    assert [reason.rule for reason in session.step(call("b", "2")).reasons] == ["protocol", "must_precede(a, b)"]


def test_a_result_of_which_nobody_can_say_is_broken() -> None:
    session = held(ensures("a", "result.ok == true"))
    words(session, call("a", "1"), call("a", "2"), call("a", "3"))
    assert words(session, back("a", "1", {}), back("a", "2", {"ok": "true"}), back("a", "3", {"ok": True})) == [
        "violation", "violation", "allowed",
    ]  # fmt: skip


def test_in_shadow_a_broken_result_is_noted_and_succeeds() -> None:
    session = held(ensures("a", "result.ok == true", mode="shadow"), must_precede("a", "b"))
    words(session, call("a", "1"))
    verdict = session.step(back("a", "1", {"ok": False}))
    assert (verdict.word, [reason.kind for reason in verdict.noted]) == ("allowed", ["ensures"])
    assert words(session, call("b", "2"), Closed()) == ["allowed", "allowed"]


def test_facts_are_learnt_from_successes_only() -> None:
    session = held(learns("look", "owner", "result.user"), requires("edit", "args.by == facts.owner"))
    edit = {"by": "ana"}
    assert why(session.step(call("edit", "1", edit)))[0][1] == "unknown"
    words(session, call("look", "2"), back("look", "2", {"user": "ana"}, outcome="error"), call("look", "3"), broke("3"))
    assert words(session, call("edit", "4", edit)) == ["violation"]
    ran(session, "look", "5", result={"user": "ana"})
    assert words(session, call("edit", "6", edit), call("edit", "7", {"by": "bo"})) == ["allowed", "violation"]
