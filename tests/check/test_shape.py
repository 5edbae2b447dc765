"""What is said of a protocol's shape: with its place, a shortest run, and what helps."""

import time

from duly.check.name import look_alikes
from duly.check.run import shortest_runs
from duly.check.shape import check_outcomes, check_shape
from duly.notation.blocks import parse_blocks
from duly.notation.compile import compile_text
from duly.notation.transitions import from_transitions


def said(text, **options):
    found = check_shape(compile_text(text), **options)
    return [(fault.code, fault.severity, fault.span.text(), fault.witness) for fault in found]


def test_a_sound_protocol_is_silent():
    assert said("rec L.{?ask.L, !get.?get(id as maybe r).L, !pay(id == r).?pay.L, ?bye}") == []
    assert said("(!a(x as r) || !q.?q).!b(y == r)") == []


def test_a_loop_without_an_end_is_an_error_unless_accepted():
    assert said("!a.rec X.!b.!c.X") == [("no_end", "error", "!b", ("!a",))]
    assert said("!a.rec X.!b.!c.X", forever=True) == []
    assert said("!{a.rec X.!b.X, c, d.rec Y.!e.Y}") == [
        ("no_end", "error", "!b", ("!a",)), ("no_end", "error", "!e", ("!d",)),
    ]  # fmt: skip


def test_a_side_without_an_end_is_the_fault_and_what_follows_is_unreachable():
    assert said("!z.(!y.rec X.!a.X || !b).!c") == [
        ("unreachable", "warning", "!c", ()), ("no_end", "error", "!a", ("!z", "!y")),
    ]  # fmt: skip


def test_the_shortest_run_to_a_fault_passes_the_sides_of_a_fork():
    assert said("(!a.?a || {!b.!c, ?d}).rec X.!e.X") == [("no_end", "error", "!e", ("!a", "?a", "?d"))]


def test_a_register_that_some_path_leaves_unbound_is_an_error():
    assert said("!{a(x as r), c}.!b(x == r)") == [("maybe_unbound", "error", "!b(x == r)", ("!c", "!b"))]
    assert said("!{a(x as r), c(y as maybe r)}.!b(x == r)") == []
    assert said("!a(x as r).!b(x == r, y as s).rec L.!{c(z == s).L, d(z as q).!e(w == q)}") == []
    assert said("!a(x as r) || !b(y == r)") == [("maybe_unbound", "error", "!b(y == r)", ("!b",))]
    assert said("(!a(x as r) || {!c(y as s), ?d}).!e(y == r, z == s)") == [
        ("maybe_unbound", "error", "!e(y == r, z == s)", ("!a", "?d", "!e"))
    ]
    assert said("!a(x == r, y as r).!b(z == r)") == [("maybe_unbound", "error", "!a(x == r, y as r)", ("!a",))]


def test_guards_that_can_never_hold_are_warned_of_and_close_the_way():
    assert said("!{a(x > 5, x < 3).!b, c}") == [
        ("never", "warning", "a(x > 5, x < 3)", ()), ("unreachable", "warning", "!b", ()),
    ]  # fmt: skip


def test_dead_text_unused_and_shadowed_loops_are_warnings():
    assert said("rec X.!a.rec X.!{b.X, c}.end.!d") == [
        ("unused", "warning", "rec X", ()), ("shadowed", "warning", "rec X", ()), ("dead", "warning", "!d", ()),
    ]  # fmt: skip


def test_a_lonely_else_is_a_warning():
    assert said("!a(else).!b") == [("else", "warning", "!a(else)", ())]


def test_names_that_look_alike_are_warnings():
    names = ["Pay", "pay", "p\u0430y", "caf\u00e9", "cafe\u0301", "\uff50ay", "a", "b"]
    assert look_alikes(names) == [
        ("Pay", "pay", "case"), ("Pay", "p\u0430y", "script"), ("caf\u00e9", "cafe\u0301", "Unicode normalisation"),
        ("Pay", "\uff50ay", "width or form"),
    ]  # fmt: skip
    assert said("!e\u0301.!\u00e9") == [("look_alike", "warning", "!\u00e9", ())]


def test_states_of_other_notations_are_named():
    graph = parse_blocks("protocol R:\n  a -> b | c\n  b -> b\n  c:\n  d -> c\n")["R"]
    assert [(fault.code, fault.message, fault.witness) for fault in check_shape(graph)] == [
        ("unreachable", "state `d` is never reached", ()), ("no_end", "no way to an end from state `b`", ("!b",)),
    ]  # fmt: skip
    stuck = from_transitions(
        [{"source": "a", "event": "!x", "target": "b"}, {"source": "b", "event": "!y", "target": "b"}],
        initial="a", forever=True,
    )  # fmt: skip
    assert [fault.help for fault in check_shape(stuck)] == ["give the loop a branch that ends, or say `forever: true`"]


def test_outcomes_that_no_edge_names_are_warned_of():
    declared = {"verify": ["denied", "late"]}
    graph = compile_text("!verify.?{verify=ok.!pay.?pay, verify=denid}.end")
    assert [(fault.code, fault.message, fault.help, fault.witness) for fault in check_outcomes(graph, declared)] == [
        ("unknown_outcome", "`verify` has no outcome `denid`", "did you mean `denied`?", ()),
        ("unhandled_outcome", "no edge takes `verify` with outcome `denied`, `late`",
         "add `?verify=denied`, or a bare `?verify` for all the rest", ("!verify", "?verify=denied")),
    ]  # fmt: skip
    assert check_outcomes(compile_text("!verify.?{verify, verify=denied}"), declared) == []
    assert (
        check_outcomes(compile_text("!verify.?{verify=ok, verify=denied, verify=late, verify=error}"), declared) == []
    )


def test_runs_count_what_all_sides_cost():
    graph = compile_text("!a.(!b.!c || ?d).!e")
    runs = shortest_runs(graph)
    (end,) = (state for state in graph.finals if graph.regions[state] == 0)
    assert runs.cost[end] == 5
    assert runs.to(end) == ("!a", "!b", "!c", "?d", "!e")


def test_a_hundred_thousand_states_are_checked_in_linear_time():
    graphs = [compile_text(".".join(f"!a{at}" for at in range(count)) + ".rec X.!b.X") for count in (10_000, 100_000)]
    times = []
    for graph in graphs:
        begun = time.process_time()
        (fault,) = check_shape(graph)
        times.append(time.process_time() - begun)
        assert len(fault.witness) == graph.size - 1
    assert times[1] < 25 * times[0] + 1


def test_deeply_nested_sides_need_no_recursion():
    text = "!a0"
    for at in range(1, 300):
        text = f"(!a{at}.{text if text.startswith('(') else '(' + text + ')'} || ?b{at})"
    graph = compile_text(text)
    assert check_shape(graph) == []
    assert max(shortest_runs(graph).cost.values()) == 599
