"""Shapes: which kinds of values they take, and how messages call them."""

from duly.notation.shape import (
    Anything,
    Choice,
    Duration,
    Either,
    Exactly,
    Listing,
    Mapping,
    Record,
    Text,
    Whole,
    expected,
    kinds,
)


def test_messages_say_what_a_shape_expects() -> None:
    shapes = [
        Text("a name"),
        Text("a label", nullable=True),
        Whole(),
        Whole(1),
        Exactly(1),
        Duration(),
        Choice(("a",)),
        Choice(("a", "b", "c")),
        Listing(Text("a name"), 2),
        Mapping(Text("a name"), "alias"),
        Record((), "a tool"),
        Either((Text("a name"), Record((), "a mapping"))),
        Anything(),
    ]
    assert [expected(shape) for shape in shapes] == [
        "a name",
        "a label or `null`",
        "a non-negative integer",
        "an integer of at least 1",
        "`1`",
        "a duration",
        "`a`",
        "`a`, `b` or `c`",
        "a list of 2 items, each a name",
        "a mapping from alias to a name",
        "a tool",
        "a name or a mapping",
        "a value",
    ]


def test_the_shapes_of_a_choice_between_shapes_differ_in_kind() -> None:
    from duly.notation.keys import DOCUMENT

    def alternatives(shape: object) -> list[Either]:
        if isinstance(shape, Either):
            return [shape]
        if isinstance(shape, Listing | Mapping):
            return alternatives(shape.item)
        return [each for key in shape.keys for each in alternatives(key.shape)] if isinstance(shape, Record) else []

    found = alternatives(DOCUMENT)
    assert len(found) >= 4
    for either in found:
        taken = [kind for shape in either.shapes for kind in kinds(shape)]
        assert len(taken) == len(set(taken))
