"""The one equality inside conditions: CEL's `==`, `!=` and `in`, wherever they stand, are replaced by duly's own.

CEL answers false where two values are of different kinds, and true where that is negated; by duly's equality neither
can be worked out. A compiled expression is written out (a `CheckedExpr` of google/api/expr/v1alpha1/checked.proto), the
three functions get names of the same length, and it is read back in an environment that has these.
"""

from collections.abc import Callable
from typing import Any, Final

from duly.values.expr import compare

_NAMES: Final = {b"_==_": b"eq__", b"_!=_": b"ne__", b"@in": b"in_"}
_NUMBER: Final = rb"[\x80-\xff]*[\x00-\x7f]"
_TYPES: Final = rb"(?:int|uint|double|bool|string|bytes|list|map|null_type)"
_CALL: Final = (
    rb"(?s)\x12[\x03\x04](_==_|_!=_|@in)"
    # a call whose first argument is `type(…)` or the name of a type compares types, which are of one kind
    + rb"(?!\x1a" + _NUMBER + rb"\x10" + _NUMBER
    + rb"(?:2" + _NUMBER + rb"\x12\x04type|\"" + _NUMBER + rb"\x0a" + _NUMBER + _TYPES + rb"\x1a))"
)  # fmt: skip
"""A call as it is written out: field 2 is the name of its function, field 3 an argument (its id, then call or name)."""


class Misfit(ValueError):
    """Two values that cannot be compared."""


def strict(expression: Any, environment: Any) -> Any:
    """The same expression with duly's equality; ``environment`` is one that knows ``functions``."""
    import re

    written = expression.serialize()
    mended = re.sub(_CALL, lambda call: call[0][:2] + _NAMES[call[1]], written)
    return expression if mended == written else environment.deserialize(mended)


def functions() -> list[Any]:
    """The declarations of the three functions, for a CEL environment."""
    from cel_expr_python import cel  # type: ignore[import-untyped]

    kinds = {
        "int": cel.Type.INT, "uint": cel.Type.UINT, "double": cel.Type.DOUBLE, "text": cel.Type.STRING,
        "truth": cel.Type.BOOL, "null": cel.Type.NULL, "list": cel.Type.List(cel.Type.DYN),
        "map": cel.Type.Map(cel.Type.DYN, cel.Type.DYN), "bytes": cel.Type.BYTES, "instant": cel.Type.TIMESTAMP,
        "time": cel.Type.DURATION,
    }  # fmt: skip

    def declared(name: str, run: Callable[[Any, Any], bool], rights: tuple[str, ...]) -> Any:
        # a parameter that takes any value is never matched at run time, so that each pair is named
        return cel.FunctionDecl(
            name,
            [
                cel.Overload(f"{name}_{left}_{right}", cel.Type.BOOL, [kinds[left], kinds[right]], impl=run)
                for left in kinds
                for right in rights
            ],
        )

    every = tuple(kinds)
    return [
        declared("eq__", lambda left, right: equal(left, right), every),
        declared("ne__", lambda left, right: not equal(left, right), every),
        declared("in_", inside, ("list", "map")),
    ]


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal; raises Misfit where they are of different kinds, of which null is none."""
    answer = compare(left, "==", right)
    if answer is None:
        raise Misfit("values of different kinds are neither equal nor unequal")
    return answer


def inside(value: Any, held: Any) -> bool:
    """Whether a value is in a list, or among the names of an object; raises Misfit where it is of another kind."""
    answer = compare(value, "in", list(held))
    if answer is None:
        raise Misfit("a value of another kind than all of them is neither in nor out")
    return answer
