"""Conditions in CEL: compiled once per process, answered True, False or None (cannot be worked out).

The evaluator is loaded at the first condition. Only the fields that a condition names are handed to it, as plain
values of bounded depth; whatever it cannot work out, and any other failure, is None and never a yes.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from duly.values.errors import Diagnostic, DulyError, suggest
from duly.values.expr import UNSET, kind, reach
from duly.values.source import Span

from .equality import functions, strict
from .native import native
from .operation import Other

NAMES: Final = ("args", "result", "facts", "registers")
_ROOTS: Final = r"\b(args|result|facts|registers)\b(?:\.([A-Za-z_][A-Za-z0-9_]*))?"
_TOKENS: Final = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*|[=!<>]=|&&|\|\||\S"""
_UNDECLARED: Final = r"undeclared reference to '([^']*)'"


class Condition:
    """A compiled condition over some of ``args``, ``result``, ``facts``, ``registers``. Pickles as its text."""

    __slots__ = ("_expression", "_fields", "_kinds", "_native", "names", "quick", "simple", "text")

    def __init__(self, text: str, *, names: tuple[str, ...] = NAMES, span: Span | None = None, path: str = "") -> None:
        """Compile ``text``; raises DulyError where it is no condition over ``names``."""
        self.text = text
        self.names = names
        self._fields = fields_named(text, names)
        self._kinds = _kinds(text)
        self._expression = compiled(text, names, span, path)
        self._native = native(text, names, self._fields)
        self.quick = self._native.quick if self._native is not None else None
        self.simple = self._native.simple if self._native is not None else None

    def __call__(self, values: Mapping[str, Any]) -> bool | None:
        """The answer over plain values; ``values`` maps each of ``names`` to what it holds."""
        if self.quick is not None:
            quick = self.quick(values)
            if quick is not None:
                return quick
        for where, kinds in self._kinds:
            found = reach(values, where)
            # CEL takes a value of another kind for merely unequal: false, and true when negated
            if found is not None and found is not UNSET and kind(found) not in kinds:
                return None
        if self._native is not None:
            try:
                full = self._native.run(values)
                return full if full is True or full is False else None
            except (Other, RecursionError):
                pass
        try:
            data = {name: reduced(values.get(name), self._fields[name]) for name in self.names}
            answer = self._expression.eval(data=data).value()
        except Exception:
            return None
        return answer if answer is True or answer is False else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.text, self.names)


def _again(text: str, names: tuple[str, ...]) -> Condition:
    return Condition(text, names=names)


def compiled(text: str, names: tuple[str, ...], span: Span | None, path: str, *, truth: bool = True) -> Any:
    """The program of an expression over ``names``, with ``truth`` of one that answers yes or no; raises DulyError."""
    from cel_expr_python import cel  # type: ignore[import-untyped]

    shape = {name: cel.Type.DYN if name == "result" else cel.Type.Map(cel.Type.STRING, cel.Type.DYN) for name in names}
    known = _ENVIRONMENTS.get(names)
    if known is None:
        known = _ENVIRONMENTS[names] = cel.NewEnv(variables=shape)
        _STRICT[names] = cel.NewEnv(variables=shape, functions=functions())
    try:
        expression = known.compile(text)
    except Exception as error:
        raise DulyError([_diagnostic(text, str(error), names, span, path)]) from None
    answer = expression.return_type().name().lower()
    if truth and answer not in ("bool", "dyn"):
        message = f"the condition `{text[:80]}` is a {answer}, not a yes or no"
        raise DulyError([Diagnostic("condition", message, span=span, path=path, help="compare it with something")])
    return strict(expression, _STRICT[names])


def _diagnostic(text: str, error: str, names: tuple[str, ...], span: Span | None, path: str) -> Diagnostic:
    import re

    unknown = re.search(_UNDECLARED, error)
    if unknown:
        name = unknown[1].partition(".")[0]
        help = suggest(name, names) or f"a condition here sees {', '.join(names)}"
        return Diagnostic("condition", f"unknown name `{name}` in `{text[:80]}`", span=span, path=path, help=help)
    said = error.split("ERROR: <input>:")[-1].split("\n")[0].strip()
    place, _, rest = said.partition(": ")
    message = f"`{text[:80]}` is no condition: {(rest or said)[:160].lower()}" + (f" (at {place})" if rest else "")
    help = "conditions are CEL, for example `args.amount <= 100`"
    return Diagnostic("condition", message, span=span, path=path, help=help)


def fields_named(text: str, names: tuple[str, ...]) -> dict[str, frozenset[str] | None]:
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


def _kinds(text: str) -> tuple[tuple[tuple[str | int, ...], frozenset[str]], ...]:
    """The paths that a condition compares with literals by ``==``, ``!=`` or ``in``, and the kinds of the literals."""
    import re

    tokens = [match.group() for match in re.finditer(_TOKENS, text)]
    found: dict[tuple[str | int, ...], set[str]] = {}
    at = 0
    while at < len(tokens):
        path, end = _path(tokens, at)
        if not path:
            at += 1
            continue
        before, operator = tokens[at - 1] if at else "", tokens[end] if end < len(tokens) else ""
        kinds: set[str] = set()
        if operator in ("==", "!="):
            kinds.add(_literal(tokens, end + 1))
        elif operator == "in" and tokens[end + 1 : end + 2] == ["["]:
            close = next((n for n in range(end + 2, len(tokens)) if tokens[n] == "]"), len(tokens))
            kinds.update(_literal(tokens, n) for n in range(end + 2, close) if tokens[n] not in (",", "-"))
        if before in ("==", "!=") and at > 1 and operator != "(":
            kinds.add(_literal(tokens, at - 2))
        if kinds and "" not in kinds:
            found.setdefault(path, set()).update(kinds)
        at = end
    return tuple((path, frozenset(kinds)) for path, kinds in found.items() if kinds != {"null"})


def _path(tokens: list[str], at: int) -> tuple[tuple[str | int, ...], int]:
    """A path that begins at a token, as (steps, token behind it); no steps where none does, or where it is called."""
    if tokens[at] not in NAMES or (at and tokens[at - 1] == "."):
        return (), at + 1
    steps: list[str | int] = [tokens[at]]
    at += 1
    while at + 1 < len(tokens):
        if tokens[at] == "." and tokens[at + 1].isidentifier():
            steps.append(tokens[at + 1])
            at += 2
        elif tokens[at] == "[" and tokens[at + 2 : at + 3] == ["]"] and tokens[at + 1].isdecimal():
            steps.append(int(tokens[at + 1]))
            at += 3
        elif tokens[at] == "[" and tokens[at + 2 : at + 3] == ["]"] and tokens[at + 1][0] in "'\"":
            steps.append(tokens[at + 1][1:-1])
            at += 3
        else:
            break
    return ((), at) if at < len(tokens) and tokens[at] in ("(", "[") else (tuple(steps), at)


def _literal(tokens: list[str], at: int) -> str:
    """The kind of the literal at a token, or an empty text where it is none."""
    token = tokens[at] if at < len(tokens) else ""
    if token == "-":
        token = tokens[at + 1] if at + 1 < len(tokens) else ""
    if token[:1] in ("'", '"'):
        return "text"
    if token[:1].isdecimal():
        return "number"
    return {"true": "truth", "false": "truth", "null": "null", "[": "list", "{": "object"}.get(token, "")


def reduced(value: Any, fields: frozenset[str] | None) -> Any:
    """What CEL is given of a value: the fields that an expression names, in kinds that it knows."""
    if fields is not None and not fields:
        return {}
    if fields is not None and type(value) is dict:
        return {key: _simple(item) for key, item in value.items() if key in fields}
    return _simple(value)


def _simple(value: Any) -> Any:
    """Decimals become doubles for CEL, whose numbers are 64-bit; exact arithmetic belongs to amounts."""
    kind = type(value)
    if kind is str:
        if "\0" in value:
            raise ValueError("the evaluator would read this text up to its first NUL only")
        return value
    if kind is Decimal:
        return float(value)
    if kind is dict:
        return {_simple(key): _simple(item) for key, item in value.items()}
    if kind is list:
        return [_simple(item) for item in value]
    if value is None and kind is not type(None):
        return None
    return value


_ENVIRONMENTS: Final[dict[tuple[str, ...], Any]] = {}
_STRICT: Final[dict[tuple[str, ...], Any]] = {}
