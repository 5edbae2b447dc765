"""Arguments before they are judged: defaults, clamps, paths in normal form, and the tool's JSON Schema.

What comes out is what is judged, shown, hashed and run.
"""

from decimal import Decimal
from typing import Any, Final

from duly.values.errors import Diagnostic, DulyError
from duly.values.expr import exact, kind
from duly.values.plain import DEPTH, own

from .terms import Tool

SHOWN: Final = 8


class Preparer:
    """Prepares the arguments of one tool. Raises DulyError where the tool's schema is none."""

    __slots__ = ("_defaults", "_validator", "tool")

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self._defaults = {
            name: part["default"]
            for name, part in ((tool.schema or {}).get("properties") or {}).items()
            if isinstance(part, dict) and "default" in part
        }
        self._validator = _validator(tool) if tool.schema else None

    def __call__(self, args: dict[str, Any], *, schema: bool = True) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """The prepared arguments, and what is wrong with them as (kind, message); without ``schema`` only clamps and
        paths are looked at."""
        wrong: list[tuple[str, str]] = []
        ready = dict(args)
        for name, value in self._defaults.items() if schema else ():
            if name not in ready:
                ready[name] = own(value)
        for name, bounds in self.tool.clamp.items():
            if kind(ready.get(name)) == "number":
                ready[name] = _clamped(ready[name], bounds)
            elif ready.get(name) is not None:
                # a text such as "1000" would run unbounded
                wrong.append(("clamp", f"`{name}`: what is bounded is a number"))
        for name, base in self.tool.paths.items():
            if name in ready:
                ready[name], fault = _path(ready[name], base)
                if fault:
                    wrong.append(("path", f"`{name}`: {fault}"))
        if schema and self._validator is not None:
            wrong += [("schema", text) for text in self._misfits(ready)]
        return ready, wrong

    def _misfits(self, args: dict[str, Any]) -> list[str]:
        found = []
        for error in self._validator.iter_errors(_decimals(args)):  # type: ignore[union-attr]
            place = ".".join(str(step) for step in error.instance_path)
            found.append(f"`{place}`: {error.message[:160]}" if place else error.message[:160])
            if len(found) == SHOWN:
                break
        return found


def _validator(tool: Tool) -> Any:
    import jsonschema_rs

    def refuse(uri: str) -> Any:
        raise ValueError(f"`{uri}` is outside the schema; schemas never fetch")

    try:
        # RE2 is not what this validator speaks; its own linear engine is, and it refuses what is not linear
        return jsonschema_rs.validator_for(
            _decimals(tool.schema or {}),
            retriever=refuse,
            pattern_options=jsonschema_rs.RegexOptions(),
            validate_formats=False,
        )
    except Exception as error:
        message = f"the schema of `{tool.name}` is no JSON Schema: {str(error).splitlines()[0][:160]}"
        help = "references must stay inside the schema, and patterns need a linear form"
        path = f"tools.{tool.name}.schema"
        raise DulyError([Diagnostic("schema", message, span=tool.span, path=path, help=help)]) from None


def _decimals(value: Any) -> Any:
    """The same with decimals for doubles: 0.1 is the number that was written, for a bound as for an argument."""
    mine = type(value)
    if mine is float:
        return Decimal(repr(value))
    if mine is dict:
        return {key: _decimals(item) for key, item in value.items()}
    if mine is list:
        return [_decimals(item) for item in value]
    return value


def _clamped(value: Any, bounds: dict[str, Any]) -> Any:
    """The number within its bounds."""
    low, high = bounds.get("min"), bounds.get("max")
    if low is not None and exact(value) < exact(low):
        return low
    if high is not None and exact(value) > exact(high):
        return high
    return value


def _path(value: Any, base: str | None) -> tuple[Any, str]:
    """A path in normal form without touching the disk: ``.``, ``..`` and repeated ``/`` resolved."""
    if not isinstance(value, str):
        return value, "a path is text"
    if "\0" in value:
        return value, "a path holds no NUL"
    if not value.startswith("/"):
        if base is None:
            return value, "a relative path needs a base; give the whole path"
        value = f"{base}/{value}"
    steps: list[str] = []
    for step in value.split("/"):
        if step == "..":
            if steps:
                steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    if len(steps) > DEPTH * 4:
        return value, "too many steps"
    return "/" + "/".join(steps), ""
