"""What may stand under a key, as data: the shapes that parser, published schema and reference page share."""

from typing import Final, TypeAlias

from msgspec import Struct


class Text(Struct, frozen=True):
    """A text; ``pattern`` (whole text) limits it; ``regex`` says that it is itself a pattern, which must compile."""

    called: str = "a text"
    pattern: str = ""
    regex: bool = False
    nullable: bool = False


class Whole(Struct, frozen=True):
    """An integer that is not below ``least``."""

    least: int = 0


class Number(Struct, frozen=True):
    """Any finite number."""


class Duration(Struct, frozen=True):
    """A length of time: seconds, or a text such as ``1h30m``."""


class Exactly(Struct, frozen=True):
    """One number and no other."""

    value: int


class Flag(Struct, frozen=True):
    """True or false."""


class Choice(Struct, frozen=True):
    """One of a few words."""

    options: tuple[str, ...]


class Anything(Struct, frozen=True):
    """Any plain value."""


class Listing(Struct, frozen=True):
    """A list of one shape; of exactly ``length`` items where that is given."""

    item: "Shape"
    length: int | None = None
    unique: bool = False


class Mapping(Struct, frozen=True):
    """Names of the user's choice, each with one shape."""

    item: "Shape"
    names: str = "name"


class Record(Struct, frozen=True):
    """Named keys; ``planned`` are keys that a later version will know, refused with a message of their own."""

    keys: tuple["Key", ...]
    called: str = "a mapping"
    planned: tuple[str, ...] = ()

    def key(self, name: str) -> "Key | None":
        for key in self.keys:
            if key.name == name:
                return key
        return None


class Rows(Struct, frozen=True):
    """A list of mappings that each hold exactly one of ``heads``, or of ``others``, which are other names for them, and
    any of ``options`` beside it."""

    heads: tuple["Key", ...]
    options: Record
    planned: tuple[str, ...] = ()
    others: tuple["Key", ...] = ()


class Either(Struct, frozen=True):
    """Shapes that differ in the kind of value they take."""

    shapes: tuple["Shape", ...]


Shape: TypeAlias = (
    Text | Whole | Number | Duration | Exactly | Flag | Choice | Anything | Listing | Mapping | Record | Rows | Either
)


class Key(Struct, frozen=True):
    """One key: its shape, one sentence for readers, and an example of its value as YAML."""

    name: str
    shape: "Shape"
    about: str
    default: str = ""
    required: bool = False
    example: str = ""


def kinds(shape: Shape) -> tuple[str, ...]:
    """The kinds of nodes that a shape takes."""
    if isinstance(shape, Either):
        return tuple(kind for each in shape.shapes for kind in kinds(each))
    if isinstance(shape, Anything):
        return ("text", "number", "truth", "null", "list", "object")
    if isinstance(shape, Text) and shape.nullable:
        return ("text", "null")
    return _KINDS[type(shape)]


def expected(shape: Shape) -> str:
    """What a message says should stand there."""
    if isinstance(shape, Text):
        return shape.called + (" or `null`" if shape.nullable else "")
    if isinstance(shape, Whole):
        return "a non-negative integer" if shape.least == 0 else f"an integer of at least {shape.least}"
    if isinstance(shape, Exactly):
        return f"`{shape.value}`"
    if isinstance(shape, Choice):
        *most, last = (f"`{option}`" for option in shape.options)
        return f"{', '.join(most)} or {last}" if most else last
    if isinstance(shape, Listing):
        count = "" if shape.length is None else f"{shape.length} items, each "
        return f"a list of {count}{expected(shape.item)}"
    if isinstance(shape, Mapping):
        return f"a mapping from {shape.names} to {expected(shape.item)}"
    if isinstance(shape, Record):
        return shape.called
    if isinstance(shape, Either):
        return " or ".join(expected(each) for each in shape.shapes)
    return _EXPECTED[type(shape)]


_KINDS: Final[dict[type, tuple[str, ...]]] = {
    Text: ("text",), Whole: ("number",), Number: ("number",), Duration: ("number", "text"), Exactly: ("number",),
    Flag: ("truth",), Choice: ("text",), Listing: ("list",), Mapping: ("object",), Record: ("object",), Rows: ("list",),
}  # fmt: skip
_EXPECTED: Final[dict[type, str]] = {
    Number: "a number", Duration: "a duration", Flag: "`true` or `false`", Anything: "a value", Rows: "a list of rules",
}  # fmt: skip
