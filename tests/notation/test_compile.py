"""From strings to graphs: the faults of the peer's compiler, each with the right answer, and our own rules."""

import time

import pytest

from duly.machine.graph import Fork
from duly.notation.compile import compile_text
from duly.values.errors import DulyError


def arrows(text):
    graph = compile_text(text)
    return [(arc.origin, arc.side + (arc.label or "Unrecognized"), arc.target) for arc in graph.arcs]


def run(text, *labels):
    """Whether these labels are a legal run, and whether the session may end after it."""
    graph = compile_text(text)
    state = graph.start
    for label in labels:
        found = [arc.target for arc in graph.arcs if arc.origin == state and arc.side + (arc.label or "") == label]
        if len(found) != 1:
            return None
        state = found[0]
    return state in graph.finals


def faults(text):
    with pytest.raises(DulyError) as caught:
        compile_text(text)
    return [(fault.code, fault.span.text(), fault.message) for fault in caught.value.diagnostics]


def notes(text):
    return [(note.code, note.span.text()) for note in compile_text(text).notes]


# -- the peer's faults ----------------------------------------------------------------------------------------------


def test_inner_loop_loops_and_its_exit_goes_on_with_the_outer_one():
    assert arrows("rec X.!a.rec Y.!{b.Y, c}.X") == [(0, "!a", 1), (1, "!b", 1), (1, "!c", 0)]
    order = "rec Order.?approve.rec Item.!{add.Item, pay}.Order"
    assert run(order, "?approve", "!add", "!add", "!pay", "?approve") is False
    assert run(order, "?approve", "!add", "?approve") is None


@pytest.mark.parametrize("count", [1, 16, 20, 1000])
def test_n_sequential_binary_choices_are_n_plus_one_states(count):
    assert compile_text(".".join(f"?{{ok{n}, err{n}}}" for n in range(count)) + ".end").size == count + 1


def test_end_in_a_branch_ends_whatever_follows_the_choice():
    text = "?{ok.!pay.end, no.end}.!thanks.end"
    assert run(text, "?no") is True
    assert run(text, "?ok", "!pay") is True
    assert run(text, "?no", "!thanks") is None
    assert notes(text) == [("dead", "!thanks")]
    assert notes("!a.end.!b.end") == [("dead", "!b.end")]
    assert notes("end.!a") == [("dead", "!a")]


def test_long_and_deep_protocols_need_no_recursion():
    assert compile_text(".".join(f"!a{n}" for n in range(10_000))).size == 10_001
    assert compile_text("!{a." * 5000 + "!b" + "}" * 5000).size == 5002
    assert compile_text("rec X." * 3000 + "!a.X").size == 1
    assert compile_text("(" * 3000 + "!a" + " || end)" * 3000).size > 3000


def test_a_million_actions_compile():
    assert compile_text("!a." * 1_000_000 + "end").size == 1_000_001


def test_unguarded_recursion_is_an_error():
    message = "`rec X` comes back to itself without a step"
    for text in (
        "rec X.X",
        "rec X.rec Y.X",
        "!{a.rec X.X, b}",
        "rec X.(end || end).X",
        "(rec X.X).!a",
        "rec X.(rec Y.X).!b",
    ):
        assert faults(text) == [("unguarded", "rec X", message)]


def test_unbound_variables_are_all_reported_with_suggestions():
    with pytest.raises(DulyError) as caught:
        compile_text("rec Loop.!{a.loop, b.Other, c.Loop}.!d.Z")
    assert [(fault.span.text(), fault.help) for fault in caught.value.diagnostics] == [
        ("loop", "did you mean `Loop`?"),
        ("Other", 'write `rec Other.` before; if `b.Other` is one label, quote it: `"b.Other"`'),
        ("Z", 'write `rec Z.` before; if `d.Z` is one label, quote it: `"d.Z"`'),
    ]


def test_dotted_names_are_pointed_at_and_quoted_ones_work():
    assert faults("!fs.read.end") == [("unbound", "read", "unbound recursion variable `read`")]
    assert arrows('!{"fs.read", "fs.write"}.end') == [(0, "!fs.read", 1), (0, "!fs.write", 1)]


def test_dead_text_unused_and_shadowed_loops_are_noted():
    assert notes("rec X.?{a.X.!q.end, b.end}") == [("dead", "!q.end")]
    assert notes("rec X.!a.X.end") == [("dead", "end")]
    assert notes("rec U.!a.end") == [("unused", "rec U")]
    assert notes("rec X.!a.rec X.!b.X") == [("unused", "rec X"), ("shadowed", "rec X")]


def test_clauses_stand_in_branches_and_one_label_may_have_several():
    graph = compile_text("rec L.?{read(path as p).L, write(path == p).L, write(else)}")
    assert [(arc.label, arc.otherwise, arc.target) for arc in graph.arcs] == [
        ("read", False, 0), ("write", False, 0), ("write", True, 1),
    ]  # fmt: skip


def test_booleans_and_null_are_literals_and_never_registers():
    graph = compile_text("!a(x == true, y == null, z < 1e5)")
    assert [guard.operand.value for guard in graph.arcs[0].guards][:2] == [True, None]


# -- our own rules --------------------------------------------------------------------------------------------------


def test_registers_that_nothing_binds_are_errors_at_the_register():
    assert faults("!a(x == tru).?b(y as truth).!c(z == on)") == [
        ("unbound_register", "tru", "register `tru` is never bound"),
        ("unbound_register", "on", "register `on` is never bound"),
    ]


def test_comparisons_that_can_never_hold_are_errors():
    assert [code for code, _, _ in faults("!a(x < true, y in 5, z >= null, w < [1])")] == ["comparison"] * 4


def test_branches_must_differ_or_have_disjoint_guards():
    assert faults("!{a, b, a}") == [("indistinguishable", "a", "`!a` stands twice in one choice")]
    assert faults("!{a(x <= 5), a(x >= 5)}") == [
        ("indistinguishable", "a(x >= 5)", "`!a` has guards that can both hold")
    ]
    assert faults("?q(v as r).!{a(x == r), a(y == 1)}")[0][2] == "`!a` has guards that cannot be told apart"
    assert faults("!{a(else), a(x == 1), a(else)}")[0][2] == "`!a` has two branches with `else`"
    compile_text("!{a(x < 5), a(x >= 5), b}.?{v, v=denied}")
    compile_text("?q(v as r).!{a(x == r), a(y == 1), a(else)}")


def test_sides_have_regions_of_their_own_and_join():
    graph = compile_text("(!a || ?b).!c")
    assert graph.forks == {0: Fork((1, 2), 3)}
    assert graph.regions == (0, 1, 2, 0, 1, 2, 0)
    assert graph.finals == {4, 5, 6}
    assert arrows("(!a || ?b).!c") == [(1, "!a", 4), (2, "?b", 5), (3, "!c", 6)]


def test_sides_that_share_a_label_are_refused_however_deep():
    assert faults("!a || ?b || !a") == [("shared_label", "!a", "`!a` stands on both sides of `||`")]
    assert faults("!z.((!b || ?c).!d || !{q.!b, r})")[0][:2] == ("shared_label", "!b")
    assert faults("?v=no || ?v")[0][0] == "shared_label"
    compile_text("!a.(!b || ?b).!a")


def test_no_recursion_variable_crosses_sides():
    assert faults("rec X.(!a.X || !b)") == [
        ("crossing", "X", "`X` crosses `||`: its `rec` stands outside of this side")
    ]
    compile_text("rec X.(rec Y.!{a.Y, c} || !b).X")


def test_brackets_keep_a_loop_from_swallowing_what_follows():
    assert arrows("(rec X.!{a.X, q}).!z") == [(0, "!a", 0), (0, "!q", 1), (1, "!z", 2)]


def test_spans_point_at_the_step_with_its_clauses():
    graph = compile_text("!a . ?b ( x as r ) . !{ c(y == r).end }")
    assert [graph.span(arc).text() for arc in graph.arcs] == ["!a", "?b ( x as r )", "c(y == r)"]


def test_groups_stay_groups_and_the_graph_carries_its_canonical_text():
    graph = compile_text('!@change . !@"fs/*" . end')
    assert [arc.group for arc in graph.arcs] == [True, True]
    assert graph.text == '!@change.!@"fs/*".end'


def test_time_grows_in_line_with_the_text():
    def cost(count):
        text = ".".join(f"!a{n}" for n in range(count))
        begun = time.process_time()
        compile_text(text)
        return time.process_time() - begun

    compile_text("!warm")
    assert cost(100_000) <= 15 * min(cost(10_000) for _ in range(3)) + 0.5
