"""Names in conditions that cannot be there: arguments that a tool's schema does not have, facts that nobody writes."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from duly.values.errors import Diagnostic, suggest
from duly.values.source import Span

from .terms import Rule, Tool

WRITERS: Final = ("learns", "collects")
"""The rules that write facts."""

Path = tuple[str | int, ...]

_TOKENS: Final = re.compile(r"""[rR]?'(?:\\.|[^'\\])*'|[rR]?"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*|\S""")
_MORE: Final = frozenset({
    "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "prefixItems",
    "unevaluatedProperties",
})  # fmt: skip
"""With one of these a schema may describe more than its own `properties`."""


def unfounded(
    text: str, labels: Collection[str], tools: Mapping[str, Tool], facts: Collection[str], span: Span | None, path: str
) -> Iterator[Diagnostic]:
    """What a condition or a value about these tools names that cannot be there; each name once.

    An argument is missed where none of the tools can have it: about several, a condition may name what one has.
    """
    for steps in paths(text, "args"):
        said = _nowhere(steps, labels, tools)
        if said is not None:
            message, help = said
            yield Diagnostic("condition", f"{message}, in `{text[:80]}`", span=span, path=path, help=help)
    for name in dict.fromkeys(str(steps[0]) for steps in paths(text, "facts")):
        if name not in facts:
            message = f"nothing declares or learns the fact `{name[:80]}`, in `{text[:80]}`"
            help = suggest(name, facts) or "declare it under `facts`, or let a rule learn it"
            yield Diagnostic("condition", message, span=span, path=path, help=help)


def written(rules: Iterable[Rule]) -> frozenset[str]:
    """The facts that rules write."""
    return frozenset(str(rule.args["fact"]) for rule in rules if rule.template in WRITERS and "fact" in rule.args)


def paths(text: str, root: str) -> list[Path]:
    """The paths below a root that a text in CEL names, each once; what is called at the end of one is no step."""
    if root not in text:
        return []
    tokens = _TOKENS.findall(text)
    found: dict[Path, None] = {}
    for place, token in enumerate(tokens):
        if token == root and (place == 0 or tokens[place - 1] != "."):
            steps = _steps(tokens, place + 1)
            if steps:
                found.setdefault(steps)
    return list(found)


def _steps(tokens: list[str], at: int) -> Path:
    steps: list[str | int] = []
    while at + 1 < len(tokens):
        if tokens[at] == "." and tokens[at + 1].isidentifier():
            if tokens[at + 2 : at + 3] == ["("]:
                break
            steps.append(tokens[at + 1])
            at += 2
            continue
        inner = tokens[at + 1]
        if tokens[at] != "[" or tokens[at + 2 : at + 3] != ["]"] or "\\" in inner:
            break
        if not inner.isdecimal() and inner[0] not in "'\"":
            break
        steps.append(int(inner) if inner.isdecimal() else inner[1:-1])
        at += 3
    return tuple(steps)


def missing(schema: Any, steps: Path) -> tuple[str, tuple[str, ...]] | None:
    """The first step that a value of this schema cannot have, and what could stand there; None where it may be there.

    A schema that lists ``properties`` is taken to list all, unless it says otherwise: as JSON Schema it allows more,
    but nobody means by a condition what the tool does not describe.
    """
    for step in steps:
        if type(schema) is not dict or not _MORE.isdisjoint(schema):
            return None
        if type(step) is int:
            schema = schema.get("items")
            continue
        known = schema.get("properties")
        if type(known) is not dict:
            return None
        if step not in known:
            return (str(step), tuple(known)) if schema.get("additionalProperties", False) is False else None
        schema = known[step]
    return None


def _nowhere(steps: Path, labels: Collection[str], tools: Mapping[str, Tool]) -> tuple[str, str] | None:
    names = sorted(labels)
    shown = "".join(f"[{step}]" if type(step) is int else f".{step}" for step in steps)
    near: dict[str, None] = {}
    step = ""
    for name in names:
        tool = tools.get(name)
        found = missing(tool.schema, steps) if tool is not None and tool.schema else None
        if found is None:
            return None
        step = found[0]
        near.update(dict.fromkeys(found[1]))
    if not names:
        return None
    of = f"`{names[0]}`" if len(names) == 1 else f"any of {', '.join(f'`{name}`' for name in names[:5])}"
    help = suggest(step, near) or (f"its arguments are {', '.join(sorted(near)[:9])}" if near else "it has none")
    return f"`args{shown[:80]}` is no argument of {of}", help
