"""Formulas as rules: what they refuse, what they find, what they say, and what they look at."""

import pytest

from duly import (
    Charged,
    Closed,
    Contract,
    DulyError,
    Elapsed,
    LabelRule,
    Listed,
    Received,
    Returned,
    Sent,
    Session,
    at_most,
    ensures,
    formula,
)
from duly.machine.watch.watch import Watch
from steps import back, broke, call, hear, held, settle, words


def said(verdict):
    return [(reason.kind, reason.message, reason.help, reason.expected, reason.got) for reason in verdict.reasons]


def test_an_act_that_makes_the_formula_false_for_good_is_refused_and_is_no_position():
    session = held(formula("G(!refund -> Y ?lookup)"))
    refused = session.step(call("refund", "1"))
    assert said(refused) == [(
        "formula", "`refund` would make `G(!refund -> Y ?lookup)` false for good", "`?lookup` must come first",
        ("lookup",), "!refund",
    )]  # fmt: skip
    assert words(session, call("lookup", "2"), back("lookup", "2")) == ["allowed", "allowed"]
    # the act that was refused did not stand between
    assert words(session, call("refund", "3"), call("refund", "4")) == ["allowed", "violation"]


def test_an_observation_that_makes_it_false_for_good_is_a_finding_and_the_machine_stays():
    session = held(formula("G(not ?leak and (!send -> O ?check))", id="f"), labels=[LabelRule("leak")])
    assert session.status("f") == "satisfied"
    found = session.step(hear("leak"))
    assert (found.finding, said(found)) == (True, [
        ("formula", "`leak` makes `G(not ?leak and (!send -> O ?check))` false for good", "it has happened", (), "?leak"),
    ])  # fmt: skip
    assert session.status("f") == "violated"
    assert words(session, call("send", "1"), call("check", "2"), back("check", "2"), call("send", "3")) == [
        "violation", "allowed", "allowed", "allowed",
    ]  # fmt: skip
    again = session.step(hear("leak"))
    assert [reason.follow_on for reason in again.reasons] == [True]


def test_what_is_open_at_the_end_is_a_finding_there():
    session = held(formula("G(!open -> F ?close)", id="f"))
    assert words(session, call("open", "1"), back("open", "1")) == ["allowed", "allowed"]
    assert session.status("f") == "open"
    assert [(reason.kind, reason.help) for reason in session.owed()] == [("open", "`?close` is wanted next")]
    assert words(session, call("close", "2"), back("close", "2")) == ["allowed", "allowed"]
    assert (session.status("f"), session.step(Closed()).word) == ("satisfied", "allowed")


def test_a_formula_that_wants_something_is_open_before_anything_has_happened():
    assert [reason.message for reason in held(formula("F ?done")).owed()] == ["`F ?done` is still open"]
    assert held(formula("G not !a")).owed() == ()


def test_a_condition_that_cannot_be_worked_out_refuses_the_act():
    session = held(formula("G not !pay{args.n > 5}"))
    assert words(session, call("pay", "1", {"n": 3}), call("pay", "2", {"n": 9})) == ["allowed", "violation"]
    refused = session.step(call("pay", "3", {"n": "9"}))
    assert said(refused) == [
        ("unknown", "`args.n > 5` cannot be worked out for `pay`", "correct the arguments", (), "!pay"),
    ]
    refused = session.step(call("pay", "4", {}))
    assert [reason.kind for reason in refused.reasons] == ["unknown"]


def test_a_result_of_which_a_condition_cannot_be_worked_out_is_a_finding_and_permits_nothing():
    session = held(formula("G(!pay -> O ?check{result.ok == true})"), formula("F ?check{result.ok == false}", id="no"))
    found = session.step(call("check", "1")), session.step(back("check", "1", {"other": 1}))
    assert [each.word for each in found] == ["allowed", "violation"]
    assert {(reason.kind, reason.message, reason.help) for reason in found[1].reasons} == {
        ("unknown", "`result.ok == true` cannot be worked out for `check`", "acts that hang on it are refused"),
        ("unknown", "`result.ok == false` cannot be worked out for `check`", "acts that hang on it are refused"),
    }
    # neither true nor false: it has not permitted, and it has not paid
    assert session.step(call("pay", "2")).word == "violation"
    assert [reason.rule for reason in session.owed()] == ["no"]
    kept = Session.from_dict(session.contract, session.to_dict())
    assert (kept.state, kept.step(call("pay", "3")).word) == (session.state, "violation")
    assert words(session, call("check", "4"), back("check", "4", '{"ok": true}'), call("pay", "5")) == ["allowed"] * 3


@pytest.mark.parametrize(
    ("end", "allowed"),
    [
        (back("a", "1"), ["?a"]),
        (back("a", "1", outcome="denied"), ["?a", "?a=denied"]),
        (back("a", "1", outcome="error"), ["?a=error"]),
        (broke("1"), ["?a=error"]),
        (broke("1", "unknown"), []),
    ],
)
def test_a_bare_result_means_every_outcome_but_error(end, allowed):
    found = []
    for atom in ("?a", "?a=denied", "?a=error", "?a=ok"):
        session = held(formula(f"G(!b -> O {atom})"))
        session.step(call("a", "1"))
        session.step(end)
        found += [atom] if session.step(call("b", "2")).word == "allowed" else []
    assert found == [*allowed, "?a=ok"] if end == back("a", "1") else found == allowed


def test_a_result_that_breaks_ensures_is_an_error_to_formulas_too():
    session = held(ensures("a", "result.ok == true"), formula("G(!b -> O ?a=error)"), formula("G(!c -> O ?a)"))
    assert words(session, call("a", "1"), back("a", "1", {"ok": False}), call("b", "2"), call("c", "3")) == [
        "allowed", "violation", "allowed", "violation",
    ]  # fmt: skip


def test_an_uncertain_call_comes_out_when_it_is_settled():
    session = held(formula("G(!b -> O ?a)"))
    assert words(session, call("a", "1"), broke("1", "unknown"), call("b", "2"), settle("1", "done"), call("b", "3")) == [
        "allowed", "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_each_admitted_act_and_each_observation_is_a_position():
    for event in (call("x", "9"), Received("Hi"), Received("Yes"), Elapsed(at=1.0), Charged({"tokens": 1}),
                  Listed("fs", {}), broke("1", "unknown"), back("x", "8"), Sent("Bye")):  # fmt: skip
        session = held(formula("G(!a -> X(X !b))"), labels=[LabelRule("Yes"), LabelRule("Bye", "agent")])
        assert words(session, call("x", "8"), call("a", "1")) == ["allowed", "allowed"]
        assert session.step(call("b", "2")).word == "allowed"  # as the next one it says nothing
        assert session.step(event).word == "violation", event
    session = held(formula("G(!a -> X !b)"), labels=[LabelRule("Yes")])
    assert words(session, call("a", "1"), call("c", "2"), call("b", "3")) == ["allowed", "violation", "allowed"]


def test_what_moves_nothing_is_no_position():
    for event in (Received(None), back("x", "1"), settle("1", "done"), Received("tool")):
        session = held(formula("G(!a -> X !b)", id="f"), tools=["a", "b", "tool"])
        assert words(session, call("a", "1"), event) == ["allowed", session.peek(event).word]
        assert session.status("f") == "open", event
        assert session.step(call("b", "2")).word == "allowed"


def test_groups_globs_and_exceptions_mean_what_they_mean_elsewhere():
    session = held(
        formula("G(!@change -> O ?fs/*)", except_=["fs/list"]),
        tools=["pay", "send", "fs/read", "fs/list", "look"],
        groups={"change": ["pay", "send"]},
    )
    assert words(session, call("fs/list", "1"), back("fs/list", "1"), call("pay", "2"), call("send", "3")) == [
        "allowed", "allowed", "violation", "violation",
    ]  # fmt: skip
    assert words(session, call("fs/read", "4"), back("fs/read", "4"), call("pay", "5")) == ["allowed"] * 3


def test_with_same_each_value_has_its_own_formula():
    session = held(formula("G(!close -> Y ?open)", same="n"))
    one, two = {"n": 1}, {"n": 2}
    assert words(
        session, call("open", "1", one), back("open", "1"), call("close", "2", two), call("open", "3", two),
        back("open", "3"), call("close", "4", one), call("close", "5", one), call("close", "6", {}),
    ) == ["allowed", "allowed", "violation", "allowed", "allowed", "allowed", "violation", "violation"]  # fmt: skip
    kept = Session.from_dict(session.contract, session.to_dict())
    assert kept.step(call("close", "7", two)).word == "allowed"


def test_in_shadow_it_says_what_it_would_have_said():
    session = held(formula("G(!b -> O ?a)", id="f", mode="shadow"), formula("G not ?c", id="g", mode="shadow"))
    verdict = session.step(call("b", "1"))
    assert (verdict.word, [(note.rule, note.kind) for note in verdict.noted]) == ("allowed", [("f", "formula")])
    assert words(session, call("c", "2")) == ["allowed"]
    verdict = session.step(back("c", "2"))
    assert (verdict.word, [(note.rule, note.kind) for note in verdict.noted]) == ("allowed", [("g", "formula")])


def test_an_act_that_ran_all_the_same_and_its_result_are_no_positions_of_the_formula_that_refused_it():
    session = held(formula("G(!a -> O ?c) and G(!b -> O ?a)", id="f"))
    assert session.observe(call("a", "1")).word == "violation"
    assert words(session, back("a", "1"), call("b", "2")) == ["allowed", "violation"]


def test_a_formula_of_a_turn_begins_anew_with_each():
    session = held(formula("G not (!a and Y O !a)", scope="turn"))
    assert words(session, call("a", "1"), call("a", "2"), Received("Hi"), call("a", "3")) == [
        "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_what_is_legal_says_which_acts_and_on_what_conditions():
    session = held(formula("G(!pay{args.n > 5} -> O ?check)"), formula("G(!send -> O ?check)"), tools=["pay", "send", "check"])
    assert [(legal.label, legal.conditions) for legal in session.legal()] == [("check", ()), ("pay", ("!(args.n > 5)",))]
    assert words(session, call("check", "1"), back("check", "1")) == ["allowed", "allowed"]
    assert [legal.label for legal in session.legal()] == ["check", "pay", "send"]


def test_repair_names_the_first_step_of_the_shortest_way():
    session = held(formula("G(!pay -> O(?b and O ?a))"), tools=["pay", "a", "b"])
    assert session.repair("pay").steps == ("call `a`",)
    assert words(session, call("a", "1"), back("a", "1")) == ["allowed", "allowed"]
    assert session.repair("pay").steps == ("call `b`",)
    assert held(formula("G not !pay"), tools=["pay"]).repair("pay").answer == "none"


def test_a_formula_that_no_run_satisfies_refuses_every_act():
    session = held(formula("!a and not !a"))
    assert said(session.step(call("x", "1"))) == [
        ("formula", "`!a and not !a` can never hold", "mend the formula", (), "!x"),
    ]


def test_it_stands_only_under_the_names_that_can_make_a_difference():
    held_to = Contract(formula("G(!refund -> O ?lookup)"), formula("G(!a -> X ?b)"), formula("true or !z"), at_most("q", 1))
    plain, next_, never = held_to.watches
    assert (sorted(plain.labels), plain.everywhere) == (["lookup", "refund"], False)
    assert (sorted(next_.labels), next_.everywhere) == (["a", "b"], True)
    assert (never.labels, never.everywhere) == (frozenset(), False)
    assert held_to.acts["q"].watches == (1,)
    assert held_to.heeds == (1,)
    # told by what the formula means, not by its operators
    assert not Contract(formula("X F !a or !a")).watches[0].everywhere


def test_the_cost_of_an_event_does_not_grow_with_formulas_that_do_not_mention_it(monkeypatch):
    asked = []
    many = [formula(f"G(!a{number} -> O ?b{number})") for number in range(50)]
    session = held(*many, at_most("x", 5))
    for watch in session.contract.watches:
        monkeypatch.setattr(type(watch), "refuse", lambda self, book, act: asked.append(self.id))
    assert words(session, call("x", "1"), back("x", "1"), call("a7", "2")) == ["allowed"] * 3
    assert asked == ["formula(G(!a7 -> O ?b7))"]
    assert issubclass(type(session.contract.watches[0]), Watch)


@pytest.mark.parametrize(
    ("rule", "message", "help"),
    [
        (formula("G(!a"), "`(` is never closed", "close it with `)`"),
        (formula("G(!@nobody -> O ?a)"), "unknown group `nobody`", ""),
        (formula("G !a{args.n >}"), "`args.n >` is no condition", ""),
        (formula("G !a{result.n > 1}"), "unknown name `result` in `result.n > 1`", "a condition here sees args, facts"),
        (formula("G !a{facts.cap > 1}"), "nothing declares or learns the fact `cap`", "declare it under `facts`"),
        (formula("F(!a and " + "X " * 14 + "?b)"), "the formula leads to more than 10000 steps", "say it in several rules"),
        (formula("count(a) < 500"), "the formula has more than 200 different atoms and temporal operators", "say it in"),
        (formula("G !a", where="args.n > 1"), "`formula` takes no `where`", ""),
        (formula("G !a", on="called"), "`formula` says nothing of what comes before, so it takes no `on`", ""),
        (formula(" "), "`that` of `formula` is a text", ""),
        (formula(" and ".join(f"!a{{args.n == {n}}}" for n in range(9))), "asks more than 8 different conditions of `a`", ""),
    ],
)
def test_a_formula_without_a_clear_meaning_is_refused_at_load(rule, message, help):
    with pytest.raises(DulyError) as caught:
        Contract(rule)
    (fault,) = caught.value.diagnostics
    assert message in fault.message
    assert help in fault.help


def test_a_snapshot_with_states_that_the_machine_does_not_have_is_refused():
    session = held(formula("G(!a -> O ?b)"))
    watch = session.contract.watches[0]
    good = [{"at": [0]}, {"at": [0, 2]}]
    bad = [{"at": []}, {"at": [9]}, {"at": [True]}, {"at": ["0"]}, {"at": [2, 0]}, {"at": [0, 0]}, {}, [], {"at": 0},
           {"at": [1]}, {"at": [0], "more": 1}]  # fmt: skip
    assert [watch.fits(book) for book in (*good, *bad)] == [True] * len(good) + [False] * len(bad)


def test_the_digest_and_the_id_know_what_is_said_and_not_how_it_is_written():
    one, two, other = (
        Contract(formula(text)) for text in ("G(!a->O ?b)", "((G ( (!a) -> O ?b ))) # as agreed", "G(!a -> O !b)")
    )
    assert (one.digest, list(one.rules)) == (two.digest, ["formula(G(!a -> O ?b))"])
    assert one.digest != other.digest
    assert Contract(formula("G !a", mode="shadow")).digest == Contract(formula("G !a")).digest


def test_returned_events_of_tools_nobody_mentions_move_formulas_that_count_them():
    session = held(formula("G(!a -> X X X !b)"))
    assert words(session, call("z", "0"), call("a", "1"), Returned("z", {}, id="0"), call("c", "2"), call("d", "3")) == [
        "allowed", "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip
