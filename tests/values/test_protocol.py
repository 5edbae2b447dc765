"""The flat tree: depth is no limit, and one thing is said in one way."""

import copy
import pickle

import pytest

from duly.notation.printing import protocol_text
from duly.values.errors import DulyError
from duly.values.protocol import Jump, Loop, Mark, Protocol, Step, brackets, protocol_of

A, B, C = Step("!", "a"), Step("?", "b"), Step("!", "c")
DEEP = 200_000


def deep() -> Protocol:
    return protocol_of([*([Mark.CHOICE, A] * DEEP), *([Mark.CLOSE] * DEEP)])


def test_200_000_brackets_hash_compare_print_copy_pickle_and_go():
    tree = deep()
    again = pickle.loads(pickle.dumps(tree))
    assert again is not tree
    assert again == tree
    assert hash(again) == hash(tree)
    assert copy.copy(tree) == tree
    assert protocol_text(tree).startswith("!{a.!{a.")
    del tree, again


def test_brackets_know_their_parts():
    nodes = (Mark.CHOICE, A, B, Mark.NEXT, C, Mark.CLOSE, B)
    structure = brackets(nodes)
    assert structure.opens == {5: 0}
    assert structure.parts == {0: [1, 4, 6]}


def test_group_that_protects_nothing_is_dropped():
    assert protocol_of([Mark.GROUP, A, Mark.CLOSE, B]).nodes == (A, B)
    assert protocol_of([A, Mark.GROUP, Loop("X"), B, Jump("X"), Mark.CLOSE]).nodes == (A, Loop("X"), B, Jump("X"))


def test_group_that_keeps_a_loop_from_swallowing_stays():
    nodes = (Mark.GROUP, Loop("X"), A, Mark.CLOSE, B)
    assert protocol_of(nodes).nodes == nodes
    assert protocol_of([Mark.GROUP, Mark.GROUP, Loop("X"), A, Mark.CLOSE, Mark.CLOSE, B]).nodes == nodes


def test_sides_within_sides_are_further_sides():
    inner = [Mark.SIDES, A, Mark.NEXT, B, Mark.CLOSE]
    assert protocol_of([Mark.SIDES, *inner, Mark.NEXT, C, Mark.CLOSE]).nodes == (
        Mark.SIDES, A, Mark.NEXT, B, Mark.NEXT, C, Mark.CLOSE,
    )  # fmt: skip
    followed = [Mark.SIDES, *inner, C, Mark.NEXT, C, Mark.CLOSE]
    assert protocol_of(followed).nodes == tuple(followed)


def test_end_alone_in_a_branch_is_dropped_only_where_the_end_comes_anyway():
    assert protocol_of([Mark.CHOICE, A, Mark.END, Mark.NEXT, C, Mark.CLOSE]).nodes == (
        Mark.CHOICE,
        A,
        Mark.NEXT,
        C,
        Mark.CLOSE,
    )
    followed = (Mark.CHOICE, A, Mark.END, Mark.NEXT, C, Mark.CLOSE, B)
    assert protocol_of(followed).nodes == followed


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "an empty protocol"),
        ([Mark.CHOICE, A], "a bracket that is never closed"),
        ([A, Mark.CLOSE], "a bracket that nothing opened"),
        ([Mark.CHOICE, Mark.END, Mark.CLOSE], "a branch must begin with a step"),
        ([Mark.CHOICE, Mark.CLOSE], "an empty part"),
        ([Mark.SIDES, A, Mark.CLOSE], "sides need two parts at least"),
        ([Mark.GROUP, A, Mark.NEXT, B, Mark.CLOSE], "a group has one part"),
        ([A, Loop("X")], "nothing follows `rec X`"),
    ],
)
def test_nodes_that_form_no_protocol_are_refused(nodes, message):
    with pytest.raises(DulyError) as caught:
        protocol_of(nodes)
    assert message in [fault.message for fault in caught.value.diagnostics]
