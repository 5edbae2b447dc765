"""Values in CEL: what a fact is learnt from. A plain path is followed without CEL, so that decimals stay exact."""

from collections.abc import Mapping
from typing import Any, Final

from duly.values.expr import UNSET, reach
from duly.values.plain import Malformed, plain
from duly.values.source import Span

from .condition import NAMES, compiled, fields_named, reduced

_NONE: Final = frozenset({"ERROR", "UNKNOWN"})
_PATH: Final = r"(args|result|facts|registers)((?:\.[A-Za-z_]\w*|\[\d+\])*)"


class Expression:
    """A compiled expression; gives a plain value, or None where it cannot be worked out. Pickles as its text."""

    __slots__ = ("_expression", "_fields", "_path", "names", "text")

    def __init__(self, text: str, *, names: tuple[str, ...] = NAMES, span: Span | None = None, path: str = "") -> None:
        """Compile ``text``; raises DulyError where it is no expression over ``names``."""
        import re

        self.text, self.names = text, names
        self._fields = fields_named(text, names)
        self._expression = compiled(text, names, span, path, truth=False)
        match = re.fullmatch(_PATH, text.strip())
        self._path: tuple[str | int, ...] | None = None
        if match is not None:
            steps = re.findall(r"\.([A-Za-z_]\w*)|\[(\d+)\]", match[2])
            self._path = (match[1], *(name if name else int(index) for name, index in steps))

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The value; ``values`` maps each of ``names`` to what it holds."""
        if self._path is not None:
            found = reach(values, self._path)
            return None if found is UNSET else found
        try:
            data = {name: reduced(values.get(name), self._fields[name]) for name in self.names}
            answer = self._expression.eval(data=data)
            # an error is a value, too: a text that says what went wrong, and nothing that was learnt
            return None if answer.type().name() in _NONE else plain(_native(answer.value()))
        except (Malformed, Exception):
            return None

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.text, self.names)


def _again(text: str, names: tuple[str, ...]) -> Expression:
    return Expression(text, names=names)


def _native(value: Any) -> Any:
    """The evaluator's containers as plain ones."""
    if isinstance(value, Mapping):
        return {str(_native(key)): _native(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_native(item) for item in value]
    inner = getattr(value, "value", None)
    return _native(inner()) if callable(inner) else value
