"""Conditions in CEL: compiled once per process, answered True, False or None (cannot be worked out).

The evaluator is loaded at the first condition. Only the fields that a condition names are handed to it, as plain
values of bounded depth; whatever it cannot work out, and any other failure, is None and never a yes.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from duly.values.errors import Diagnostic, DulyError, suggest
from duly.values.source import Span

NAMES: Final = ("args", "result", "facts", "registers")
_ROOTS: Final = r"\b(args|result|facts|registers)\b(?:\.([A-Za-z_][A-Za-z0-9_]*))?"
_UNDECLARED: Final = r"undeclared reference to '([^']*)'"


class Condition:
    """A compiled condition over some of ``args``, ``result``, ``facts``, ``registers``. Pickles as its text."""

    __slots__ = ("_expression", "_fields", "names", "text")

    def __init__(self, text: str, *, names: tuple[str, ...] = NAMES, span: Span | None = None, path: str = "") -> None:
        """Compile ``text``; raises DulyError where it is no condition over ``names``."""
        self.text = text
        self.names = names
        self._fields = _fields(text, names)
        self._expression = _compile(text, names, span, path)

    def __call__(self, values: Mapping[str, Any]) -> bool | None:
        """The answer over plain values; ``values`` maps each of ``names`` to what it holds."""
        try:
            data = {name: _reduced(values.get(name), self._fields[name]) for name in self.names}
            answer = self._expression.eval(data=data).value()
        except Exception:
            return None
        return answer if answer is True or answer is False else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.text, self.names)


def _again(text: str, names: tuple[str, ...]) -> Condition:
    return Condition(text, names=names)


def _compile(text: str, names: tuple[str, ...], span: Span | None, path: str) -> Any:
    from cel_expr_python import cel  # type: ignore[import-untyped]

    shape = {name: cel.Type.DYN if name == "result" else cel.Type.Map(cel.Type.STRING, cel.Type.DYN) for name in names}
    known = _ENVIRONMENTS.get(names)
    if known is None:
        known = _ENVIRONMENTS[names] = cel.NewEnv(variables=shape)
    try:
        expression = known.compile(text)
    except Exception as error:
        raise DulyError([_diagnostic(text, str(error), names, span, path)]) from None
    kind = expression.return_type().name().lower()
    if kind not in ("bool", "dyn"):
        message = f"the condition `{text[:80]}` is a {kind}, not a yes or no"
        raise DulyError([Diagnostic("condition", message, span=span, path=path, help="compare it with something")])
    return expression


def _diagnostic(text: str, error: str, names: tuple[str, ...], span: Span | None, path: str) -> Diagnostic:
    import re

    unknown = re.search(_UNDECLARED, error)
    if unknown:
        help = suggest(unknown[1], names) or f"a condition here sees {', '.join(names)}"
        return Diagnostic("condition", f"unknown name `{unknown[1]}` in `{text[:80]}`", span=span, path=path, help=help)
    said = error.split("ERROR: <input>:")[-1].split("\n")[0].strip()
    place, _, rest = said.partition(": ")
    message = f"`{text[:80]}` is no condition: {(rest or said)[:160].lower()}" + (f" (at {place})" if rest else "")
    help = "conditions are CEL, for example `args.amount <= 100`"
    return Diagnostic("condition", message, span=span, path=path, help=help)


def _fields(text: str, names: tuple[str, ...]) -> dict[str, frozenset[str] | None]:
    """The top-level fields that a condition names of each root; None where it takes the root as a whole.

    Found by the text, strings included: a field too many costs time, one too few would be a missing field.
    """
    import re

    found: dict[str, set[str] | None] = {name: set() for name in names}
    for match in re.finditer(_ROOTS, text):
        root, field = match[1], match[2]
        if root not in found:
            continue
        fields = found[root]
        if field is None:
            found[root] = None
        elif fields is not None:
            fields.add(field)
    return {name: None if fields is None else frozenset(fields) for name, fields in found.items()}


def _reduced(value: Any, fields: frozenset[str] | None) -> Any:
    if fields is not None and type(value) is dict:
        return {key: _simple(item) for key, item in value.items() if key in fields}
    return _simple(value)


def _simple(value: Any) -> Any:
    """Decimals become doubles for CEL, whose numbers are 64-bit; exact arithmetic belongs to amounts."""
    kind = type(value)
    if kind is Decimal:
        return float(value)
    if kind is dict:
        return {key: _simple(item) for key, item in value.items()}
    if kind is list:
        return [_simple(item) for item in value]
    if value is None and kind is not type(None):
        return None
    return value


_ENVIRONMENTS: Final[dict[tuple[str, ...], Any]] = {}
