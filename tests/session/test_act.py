"""Acts: which are admitted, which are refused, and what each of both changes."""

import pytest

from duly import Called, LabelRule, Received, Returned, Sent, Session, Tool, at_most, must_precede
from duly.machine.ir import State
from steps import back, broke, call, hear, held, ran, settle, why, words


def test_what_waits_for_a_success_is_refused_until_then() -> None:
    session = held(must_precede("validate", "delete"))
    assert words(session, call("delete", "d1"), call("validate", "v1"), call("delete", "d2")) == [
        "violation", "allowed", "violation",
    ]  # fmt: skip
    assert words(session, back("validate", "v1"), call("delete", "d3")) == ["allowed", "allowed"]


def test_a_refusal_says_which_rule_and_what_would_help() -> None:
    refusal = held(must_precede("validate", "delete")).step(call("delete", "d1"))
    assert refusal.text() == (
        "refused: `delete` needs an earlier `validate`; expected `validate` (`validate` must have succeeded first)\n"
        "to make it legal: first call `validate`\n"
        "legal now: validate"
    )


def test_a_count_is_taken_at_admission_and_not_at_the_end() -> None:
    session = held(at_most("search", 2))
    assert words(session, *(call("search", f"s{n}", batch="b") for n in range(3))) == [
        "allowed",
        "allowed",
        "violation",
    ]
    assert session.state.data == (2,)


def test_a_refused_act_is_not_counted_against_its_limit() -> None:
    session = held(at_most("delete", 1), must_precede("validate", "delete"))
    assert words(session, call("delete", "d1"), call("delete", "d2")) == ["violation", "violation"]
    ran(session, "validate", "v1")
    assert words(session, call("delete", "d3"), call("delete", "d4")) == ["allowed", "violation"]


def test_all_rules_that_refuse_are_named() -> None:
    session = held("!a.?a.!b", at_most("b", 0), must_precede("a", "b"))
    verdict = session.step(call("b", "b1"))
    assert why(verdict) == [
        ("protocol", "protocol"), ("must_precede(a, b)", "order"), ("at_most(b, 0)", "count"),
    ]  # fmt: skip


def test_an_exception_written_inside_a_rule_is_spared() -> None:
    session = held(
        at_most("delete_*", 0, except_=["delete_draft"]),
        tools=["delete_draft", "delete_drafts", "delete_user", "undelete_user"],
    )
    names = ["delete_draft", "delete_drafts", "delete_user", "undelete_user"]
    assert words(session, *(call(name, name) for name in names)) == ["allowed", "violation", "violation", "allowed"]


def test_a_glob_does_not_cross_a_slash() -> None:
    session = held(at_most("db*", 0), tools=["db1", "db1/drop"])
    assert words(session, call("db1", "1"), call("drop", "2", server="db1")) == ["violation", "allowed"]


def test_a_group_counts_over_all_its_members() -> None:
    session = held(at_most("@change", 1), tools=["a", "b", "c"], groups={"change": ["a", "b"]})
    assert words(session, call("a", "1"), call("b", "2"), call("c", "3")) == ["allowed", "violation", "allowed"]


def test_a_choice_over_a_group_has_one_continuation() -> None:
    session = held("!@change.!done", tools=["a", "b", "done"], groups={"change": ["a", "b"]})
    assert words(session, call("b", "1"), call("a", "2"), call("done", "3")) == ["allowed", "violation", "allowed"]


def test_an_unknown_tool_of_a_closed_set_is_refused_with_a_suggestion() -> None:
    verdict = held(tools=["delete", "read"]).step(call("delte", "d1"))
    assert why(verdict) == [("contract", "unknown")]
    assert verdict.reasons[0].text() == "unknown tool `delte` (did you mean `delete`?)"


@pytest.mark.parametrize(
    "name", ["Delete_User", "delete_user ", "delete_u\u0455er", "\uff44elete_user", "delete\u200b_user"]
)
def test_names_that_only_look_alike_are_other_names(name: str) -> None:
    session = held(tools=["delete_user"])
    assert why(session.step(call(name, "u"))) == [("contract", "unknown")]


def test_rules_alone_leave_the_world_open() -> None:
    session = held(at_most("pay", 1))
    assert words(session, call("anything", "x"), back("anything", "x", {"ok": 1}), Sent("Whatever")) == ["allowed"] * 3


def test_a_protocol_closes_the_world_over_the_declared_tools() -> None:
    session = held("!a.?a", tools=["a", "b", "c"], outside=["b"])
    assert why(session.step(call("c", "c1"))) == [("protocol", "protocol")]
    assert words(session, call("b", "b1"), back("b", "b1"), call("a", "a1")) == ["allowed"] * 3


def test_a_protocol_without_declared_tools_knows_only_what_it_speaks_of() -> None:
    session = held("!a.?a.!b")
    assert why(session.step(call("c", "c1"))) == [("contract", "unknown")]
    assert why(session.step(call("b", "b1"))) == [("protocol", "protocol")]


def test_a_tool_of_a_server_is_named_with_it() -> None:
    session = held(at_most("db2/sql", 0), tools=["db1/sql", "db2/sql", "fs/read"])
    assert words(session, call("sql", "1", server="db1"), call("sql", "2", server="db2")) == ["allowed", "violation"]


def test_a_bare_name_that_several_servers_have_is_ambiguous() -> None:
    session = held(tools=["db1/sql", "db2/sql", "fs/read"])
    verdict = session.step(call("sql", "q1"))
    assert why(verdict) == [("contract", "ambiguous")]
    assert (
        verdict.reasons[0].text()
        == "`sql` may be a tool of several servers; expected `db1/sql`, `db2/sql` (name the server)"
    )


def test_a_bare_name_that_one_server_has_means_that_tool() -> None:
    session = held(at_most("fs/read", 1), tools=["db1/sql", "db2/sql", "fs/read"])
    assert words(session, call("read", "1"), Returned("read", "x"), call("read", "2", server="fs")) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_an_alias_is_the_same_tool() -> None:
    session = held(
        at_most("write_file", 1),
        tools=["write_file"],
        aliases={"mcp__fs__write_file": "write_file", "fs.write": "write_file"},
    )
    assert words(session, call("mcp__fs__write_file", "1"), back("write_file", "1")) == ["allowed", "allowed"]
    assert words(session, call("fs.write", "2"), call("write_file", "3")) == ["violation", "violation"]


def test_short_forms_take_an_alias_for_the_tool_that_it_is() -> None:
    session = held("!write.?write", tools=["write"], aliases={"w": "write"})
    assert (session.send("w").word, session.receive("w").word, session.is_terminal) == ("allowed", "allowed", True)


def test_a_tool_that_is_called_like_a_message_cannot_forge_consent() -> None:
    session = held(
        "rec L.{?Yes.!refund.?refund.L, ?Bye}", tools=["refund"], labels=[LabelRule("Yes"), LabelRule("Bye")]
    )
    assert why(session.step(call("Yes", "y1"))) == [("contract", "kind")]
    assert why(session.step(back("Yes", "y1"))) == [("call", "ungated")]
    assert words(session, call("refund", "r1"), hear("Yes"), call("refund", "r2")) == [
        "violation",
        "allowed",
        "allowed",
    ]


def test_what_a_protocol_only_receives_cannot_be_called_or_said_by_the_agent() -> None:
    session = held("rec L.{?Yes.!refund.?refund.L, ?Bye}", must_precede("Yes", "refund"), at_most("Yes", 5))
    assert words(session, call("Yes", "y1"), back("Yes", "y1"), Sent("Yes")) == ["violation"] * 3
    assert session.step(call("refund", "r1")).word == "violation"


def test_the_agent_cannot_say_what_a_person_is_declared_to_say() -> None:
    session = held(must_precede("Yes", "refund"), tools=["refund"], labels=[LabelRule("Yes")])
    verdict = session.step(Sent("Yes"))
    assert why(verdict) == [("contract", "kind")]
    assert verdict.reasons[0].text() == (
        "`Yes` is said by others, not by the agent (what others say cannot be said for them)"
    )
    assert words(session, call("refund", "r1"), hear("Yes"), call("refund", "r2")) == [
        "violation",
        "allowed",
        "allowed",
    ]


def test_a_message_of_the_agent_has_succeeded_when_it_is_admitted() -> None:
    session = held(must_precede("Warned", "wipe"), tools=["wipe"], labels=[LabelRule("Warned", source="agent")])
    assert words(session, call("wipe", "w1"), Sent("Warned"), call("wipe", "w2")) == ["violation", "allowed", "allowed"]


def test_a_tool_is_called_and_not_said() -> None:
    session = held("!a.?a", tools=["a"])
    assert why(session.step(Sent("a"))) == [("contract", "kind")]


def test_words_of_the_agent_that_nobody_names_are_no_step() -> None:
    session = held("!a.?a", tools=["a"])
    before = session.state
    assert session.step(Sent(None, {"text": "hm"})).word == "allowed"
    assert session.state == before


def test_arguments_that_fit_no_guard_are_refused_and_bind_nothing() -> None:
    session = held("!lookup(id as r).?lookup.!pay(id == r, amount <= 100)")
    ran(session, "lookup", "l", {"id": 7})
    assert words(
        session,
        call("pay", "1", {"id": 8, "amount": 5}),
        call("pay", "2", {"id": 7, "amount": 101}),
        call("pay", "3", {"id": 7}),
        call("pay", "4", {"id": "7", "amount": 5}),
        call("pay", "5", {"id": 7.0, "amount": 100}),
    ) == ["violation"] * 4 + ["allowed"]
    assert session.registers == {"r": 7}


def test_a_binding_of_a_missing_field_is_refused_unless_it_may_stay_unbound() -> None:
    strict = held("rec L.{!a(id as r).L, !b(id == r).L}")
    assert words(strict, call("a", "1", {"id": 5}), call("a", "2", {}), call("b", "3", {"id": 5})) == [
        "allowed", "violation", "allowed",
    ]  # fmt: skip
    maybe = held("rec L.{!a(id as maybe r).L, !b(id == r).L}")
    assert words(maybe, call("a", "1", {"id": 5}), call("a", "2", {}), call("b", "3", {"id": 5})) == [
        "allowed", "allowed", "violation",
    ]  # fmt: skip


def test_a_null_does_not_meet_an_unbound_register() -> None:
    session = held("rec L.{?read(path as maybe p).L, !write(path == p).L}")
    assert words(session, hear("read"), call("write", "w", {"path": None})) == ["allowed", "violation"]


def test_all_updates_of_one_event_read_the_old_values() -> None:
    session = held("rec L.!swap(a as x, b as y).L")
    session.step(call("swap", "1", {"a": 1, "b": 2}))
    session.step(call("swap", "2", {"a": 2, "b": 1}))
    assert session.registers == {"x": 2, "y": 1}


def test_else_is_taken_only_where_every_other_edge_is_known_to_be_shut() -> None:
    text = "!{pay(amount <= 100).!small, pay(else).!large}"
    assert words(held(text), call("pay", "1", {"amount": 5}), call("small", "2")) == ["allowed", "allowed"]
    assert words(held(text), call("pay", "1", {"amount": 500}), call("large", "2")) == ["allowed", "allowed"]
    assert words(held(text), call("pay", "1", {}), call("pay", "2", {"amount": "5"})) == ["violation", "violation"]


def test_a_null_is_not_among_the_literals_and_takes_else() -> None:
    session = held("!{run(env in ['prod', 'live']).!ask, run(else).!go}")
    assert words(session, call("run", "1", {"env": 7}), call("run", "2", {"env": None}), call("go", "3")) == [
        "violation", "allowed", "allowed",
    ]  # fmt: skip


def test_a_misspelt_message_is_unknown() -> None:
    session = held("!Hello.!Bye", labels=[LabelRule("Hello", source="agent"), LabelRule("Bye", source="agent")])
    assert session.step(Sent("Helo")).reasons[0].text() == "unknown message `Helo` (did you mean `Hello`?)"


# ids and numbers


def test_calls_without_an_id_are_numbered() -> None:
    session = held(tools=["a"])
    verdicts = [session.step(Called("a", {})) for _ in range(3)]
    assert [verdict.id for verdict in verdicts] == ["#1", "#2", "#3"]  # type: ignore[union-attr]
    assert list(session.state.open) == ["#1", "#2", "#3"]


def test_a_number_that_an_outer_id_has_is_passed_over() -> None:
    session = held(tools=["a"])
    session.step(call("a", "#1"))
    assert session.step(Called("a", {})).id == "#2"  # type: ignore[union-attr]


def test_the_id_of_an_open_call_with_other_arguments_is_malformed() -> None:
    session = held(tools=["a", "b"])
    session.step(call("a", "1", {"n": 1}))
    before = session.state
    assert words(session, call("a", "1", {"n": 2}), call("b", "1", {"n": 1})) == ["unrecognized"] * 2
    assert session.state == before


def test_an_open_call_asked_again_is_in_flight() -> None:
    session = held(at_most("a", 1), tools=["a"])
    session.step(call("a", "1", {"n": 1}))
    verdict = session.step(call("a", "1", {"n": 1.0}))
    assert (verdict.word, why(verdict)) == ("violation", [("call", "in_flight")])


def test_ids_are_compared_by_what_would_run_under_the_declared_name() -> None:
    tool = Tool("write", paths={"path": "/w"}, schema={"properties": {"mode": {"default": "w"}}})
    session = held(tools=[tool], aliases={"w": "write"})
    session.step(call("write", "1", {"path": "a/../b"}))
    verdict = session.step(call("w", "1", {"path": "/w/b", "mode": "w"}))
    assert why(verdict) == [("call", "in_flight")]


def test_the_id_of_an_ended_call_is_free_again() -> None:
    session = held(at_most("a", 2), tools=["a"])
    ran(session, "a", "1", {"n": 1})
    assert words(session, call("a", "1", {"n": 2}), call("a", "3")) == ["allowed", "violation"]


# arguments


def test_what_is_judged_and_run_are_the_prepared_arguments() -> None:
    tool = Tool(
        "copy",
        schema={"type": "object", "properties": {"n": {"type": "integer", "default": 3}}, "additionalProperties": True},
        paths={"to": "/w"},
        clamp={"amount": {"min": 0, "max": 50}},
    )
    session = held("!copy(to == '/w/b', n == 3)", tools=[tool])
    verdict = session.step(call("copy", "1", {"to": "./a/..//b", "amount": 100}))
    assert verdict.payload == {"to": "/w/b", "amount": 50, "n": 3}  # type: ignore[union-attr]
    assert session.state.open["1"].args == {"to": "/w/b", "amount": 50, "n": 3}


def test_a_misfit_of_the_schema_is_a_violation_that_no_rule_counts() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    session = held(at_most("a", 1), tools=[Tool("a", schema=schema)])
    verdict = session.step(call("a", "1", {"n": "x"}))
    assert why(verdict) == [("schema", "schema")]
    assert session.state.data == (0,)


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        ('{"n": 1}', "allowed"),
        ('{"n": 1, "n": 1}', "unrecognized"),
        ('{"n": NaN}', "unrecognized"),
        ('{"t": "\\ud800"}', "unrecognized"),
        ('{"n": 1e999}', "allowed"),
        ("[1]", "unrecognized"),
        ('{"n": 1', "unrecognized"),
        ("", "unrecognized"),
        ("  ", "unrecognized"),
        ("null", "unrecognized"),
    ],
)
def test_argument_text_is_one_json_object(raw: str, word: str) -> None:
    tool = Tool("a", schema={"type": "object", "required": ["n"], "properties": {"n": {"type": "number"}}})
    session = held(at_most("a", 1), tools=[tool])
    assert session.step(Called("a", raw=raw, id="1")).word == word
    assert session.state.data == (1 if word == "allowed" else 0,)


def test_empty_argument_text_is_an_empty_object_where_nothing_is_required() -> None:
    session = held(tools=["a"])
    assert session.step(Called("a", raw="", id="1")).payload == {}  # type: ignore[union-attr]


# batches


def test_a_sibling_permits_nothing_even_if_its_result_arrives_first() -> None:
    session = held(must_precede("validate", "delete"))
    assert words(
        session,
        call("validate", "v1", batch="b1"),
        back("validate", "v1"),
        call("delete", "d1", batch="b1"),
        call("delete", "d2", batch="b2"),
        call("delete", "d3"),
    ) == ["allowed", "allowed", "violation", "allowed", "allowed"]


def test_a_refused_sibling_is_told_to_wait_for_the_answer() -> None:
    session = held(must_precede("validate", "delete"))
    words(session, call("validate", "v1", batch="b1"), back("validate", "v1"))
    verdict = session.step(call("delete", "d1", batch="b1"))
    assert verdict.reasons[0].help == "wait for the answer, then ask in a new message"


def test_a_success_of_an_earlier_batch_permits_siblings_of_a_later_success() -> None:
    session = held(must_precede("v", "d"))
    words(session, call("v", "1", batch="b1"), back("v", "1"), call("v", "2", batch="b2"), back("v", "2"))
    assert words(session, call("d", "3", batch="b2"), call("d", "4", batch="b1")) == ["allowed", "allowed"]


def test_a_message_of_the_agent_permits_no_sibling_either() -> None:
    session = held(must_precede("Warned", "wipe"), tools=["wipe"], labels=[LabelRule("Warned", source="agent")])
    assert words(session, Sent("Warned", batch="b"), call("wipe", "1", batch="b"), call("wipe", "2")) == [
        "allowed", "violation", "allowed",
    ]  # fmt: skip
    said = held("rec L.!{Warned.L, wipe.L}", must_precede("Warned", "wipe"))
    assert words(said, Sent("Warned", batch="b"), call("wipe", "1", batch="b")) == ["allowed", "violation"]


def test_a_step_of_a_protocol_that_a_siblings_result_has_opened_is_refused() -> None:
    session = held("!validate.?validate.!delete.?delete")
    assert words(
        session,
        call("validate", "v1", batch="b1"),
        back("validate", "v1"),
        call("delete", "d1", batch="b1"),
        call("delete", "d2"),
    ) == ["allowed", "allowed", "violation", "allowed"]


def test_a_register_that_a_siblings_result_has_bound_permits_nothing() -> None:
    session = held("rec L.{!lookup.L, ?lookup(id as r).L, !pay(id == r).L}")
    words(session, call("lookup", "l1", {}, batch="b"), back("lookup", "l1", {"id": 7}))
    assert words(session, call("pay", "p1", {"id": 7}, batch="b"), call("pay", "p2", {"id": 7})) == [
        "violation", "allowed",
    ]  # fmt: skip


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)])
def test_siblings_of_a_batch_move_the_protocol_alike_whether_results_come_between_or_after(
    order: tuple[int, ...],
) -> None:
    events = [
        call("a", "1", {}, batch="b"), back("a", "1", {"v": 5}), call("b", "2", {}, batch="b"), back("b", "2"),
    ]  # fmt: skip
    session = held("!a.!b.?a(v as r).?b.!c(v == r)")
    assert words(session, *(events[index] for index in order), call("c", "3", {"v": 5})) == ["allowed"] * 5


def test_counts_and_cursors_see_a_sibling_from_admission() -> None:
    session = held("!{close.end, escalate.end}", at_most("close", 1))
    assert words(session, call("close", "1", batch="b"), call("escalate", "2", batch="b")) == ["allowed", "violation"]


# nested calls


def test_a_call_inside_a_tool_is_counted_and_moves_no_protocol_that_does_not_name_it() -> None:
    session = held("!run_code.?run_code.!done", at_most("place_order", 1), tools=["run_code", "place_order", "done"],
                   outside=["place_order"])  # fmt: skip
    assert words(
        session,
        call("run_code", "c1"),
        call("place_order", "o1", parent="c1"),
        call("done", "x", parent="c1"),
        call("place_order", "o2", parent="c1"),
        back("run_code", "c1"),
        call("place_order", "o3"),
        call("done", "d"),
    ) == ["allowed", "allowed", "allowed", "violation", "allowed", "violation", "allowed"]


def test_a_call_inside_a_tool_moves_the_protocol_where_a_state_names_it() -> None:
    session = held("!run.!inner(n == 1).?inner.?run")
    session.step(call("run", "c1"))
    assert words(
        session,
        call("inner", "i1", {"n": 2}, parent="c1"),
        call("inner", "i2", {"n": 1}, parent="c1"),
        back("inner", "i2"),
    ) == ["violation", "allowed", "allowed"]
    assert words(session, back("run", "c1")) == ["allowed"]
    assert session.is_terminal


def test_a_call_inside_no_open_call_is_malformed() -> None:
    session = held("!a.!b")
    assert words(session, call("b", "1", parent="c1"), call("a", "2")) == ["unrecognized", "allowed"]


# interleaving


def test_sides_move_independently_and_the_rest_waits_for_both() -> None:
    session = held("(rec A.{!a.?a.A, !x} || !b.?b).!c")
    assert words(session, call("b", "1"), call("a", "2"), back("a", "2"), call("c", "3")) == [
        "allowed", "allowed", "allowed", "violation",
    ]  # fmt: skip
    assert (
        words(session, call("a", "4"), back("b", "1"), back("a", "4"), call("x", "5"), call("c", "6"))
        == ["allowed"] * 5
    )


def test_a_failed_call_of_one_side_goes_back_whatever_the_other_has_done() -> None:
    session = held("(rec A.{!a.?a.A, !x} || rec B.{!b.?b.B, !y})")
    fresh = session.state
    assert words(session, call("a", "1"), call("b", "2"), broke("1"), broke("2")) == ["allowed"] * 4
    assert session.state == fresh


def test_a_failed_call_that_opened_the_sides_takes_them_back() -> None:
    session = held("!start.(!a || !b).!c")
    fresh = session.state
    assert words(session, call("start", "1"), broke("1")) == ["allowed", "allowed"]
    assert session.state == fresh
    assert words(session, call("start", "1"), call("b", "2"), broke("1")) == ["allowed", "allowed", "violation"]


def test_a_failed_call_that_ended_the_last_side_opens_it_again() -> None:
    session = held("(!a || !b).!c")
    assert words(session, call("a", "1"), call("b", "2"), broke("2"), call("c", "3"), call("b", "4"), call("c", "5")) == [
        "allowed", "allowed", "allowed", "violation", "allowed", "allowed",
    ]  # fmt: skip


# uncertain calls


def test_an_equal_act_waits_while_a_call_that_writes_is_uncertain() -> None:
    session = held(tools=[Tool("pay", effect="write"), "get"])
    words(session, call("pay", "p1", {"to": "x", "amount": 5}), broke("p1", "unknown"))
    verdict = session.step(call("pay", "p2", {"to": "x", "amount": 5.0}))
    assert (verdict.word, why(verdict), verdict.ticket) == ("needs_approval", [("call", "uncertain")], "t-p2")  # type: ignore[union-attr]
    assert words(session, call("pay", "p3", {"to": "y", "amount": 5}), call("get", "g")) == ["allowed", "allowed"]


@pytest.mark.parametrize("tool", [Tool("a"), Tool("a", effect="none"), Tool("a", effect="write", idempotent=True)])
def test_what_may_safely_run_twice_does_not_wait(tool: Tool) -> None:
    session = held(tools=[tool])
    assert words(session, call("a", "1"), broke("1", "unknown"), call("a", "2")) == ["allowed"] * 3


def test_what_a_rule_refuses_does_not_wait() -> None:
    session = held(at_most("pay", 1), tools=[Tool("pay", effect="write")])
    words(session, call("pay", "p1"), broke("p1", "unknown"))
    assert (words(session, call("pay", "p2")), session.state.more.parked) == (["violation"], {})


@pytest.mark.parametrize(
    ("how", "word"), [("done", "allowed"), ("failed", "allowed"), ("retry", "allowed"), ("maybe", "violation")]
)
def test_a_waiting_act_is_decided_anew_when_a_person_has_settled_the_cause(how: str, word: str) -> None:
    session = held(tools=[Tool("pay", effect="write")])
    words(session, call("pay", "p1"), broke("p1", "unknown"), call("pay", "p2"))
    assert words(session, settle("p1", how)) == [word]
    assert words(session, call("pay", "p2")) == ["allowed" if word == "allowed" else "needs_approval"]
    assert list(session.state.more.parked) == ([] if word == "allowed" else ["p2"])


def test_a_waiting_act_is_decided_anew_when_the_result_has_come_after_all() -> None:
    session = held(tools=[Tool("pay", effect="write")])
    words(session, call("pay", "p1"), broke("p1", "unknown"), call("pay", "p2"), back("pay", "p1", {"ok": True}))
    assert session.state.more.parked == {}
    assert words(session, call("pay", "p2")) == ["allowed"]


def test_the_id_of_a_waiting_act_with_other_arguments_is_malformed() -> None:
    session = held(tools=[Tool("pay", effect="write")])
    words(session, call("pay", "p1"), broke("p1", "unknown"), call("pay", "p2"))
    assert words(session, call("pay", "p2", {"n": 1})) == ["unrecognized"]


def test_a_waiting_act_asked_again_without_an_id_stays_one() -> None:
    session = held(tools=[Tool("pay", effect="write"), "get"])
    words(session, call("pay", "p1"), broke("p1", "unknown"))
    tickets = {session.step(Called("pay", {})).ticket for _ in range(5)}  # type: ignore[union-attr]
    assert (len(tickets), len(session.state.more.parked)) == (1, 1)
    assert session.step(Called("get", {})).id not in session.state.more.parked  # type: ignore[union-attr]


# the fast ways


@pytest.mark.parametrize("odd", [{"batch": "b"}, {"turn": "t"}, {"run": "r"}, {"at": 0.0}])
def test_what_is_seldom_gives_the_same_verdict_and_the_same_place(odd: dict[str, str]) -> None:
    def go(**more: object) -> tuple[list[str], State]:
        session = held("rec L.{!a.?a.L, !b.?b.L}", at_most("a", 2), must_precede("a", "b"))
        return words(
            session, call("b", "1", {}, **more), call("a", "2", {}, **more), back("a", "2"), call("b", "3"), broke("3")
        ), session.state

    (plain_words, plain_state), (odd_words, odd_state) = go(), go(**odd)
    assert odd_words == plain_words
    assert (odd_state.cursors, odd_state.facts, odd_state.data) == (
        plain_state.cursors, plain_state.facts, plain_state.data,
    )  # fmt: skip


def test_several_contracts_hold_one_session() -> None:
    first, second = held("!a.?a.!b").contract, held(at_most("a", 1)).contract
    session = Session(first, second)
    assert words(session, call("a", "1"), Returned("a", None, id="1"), call("a", "2"), call("b", "3")) == [
        "allowed", "allowed", "violation", "allowed",
    ]  # fmt: skip


def test_a_received_name_of_a_tool_is_no_message() -> None:
    session = held("!a.?a", tools=["a"])
    session.step(call("a", "1"))
    assert why(session.step(Received("a"))) == [("contract", "kind")]
    assert not session.is_terminal
