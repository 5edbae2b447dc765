"""The table of rules: one row and one function each. Every later rule joins it here.

A rule says what it asks of acts; ``build`` turns equal questions of many rules into one.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from duly.values.errors import Diagnostic, DulyError

from .terms import Rule

SCOPES: Final = ("session", "turn", "run")


class Bit(Struct, frozen=True):
    """True once one of these names has succeeded; begins anew with each ``scope``."""

    names: frozenset[str]
    scope: str


class Count(Struct, frozen=True):
    """How many acts of these names were admitted and not given back; begins anew with each ``scope``."""

    names: frozenset[str]
    scope: str


class Needs(Struct, frozen=True):
    """Acts of these names are refused unless the bit is set."""

    names: frozenset[str]
    bit: Bit


class Below(Struct, frozen=True):
    """Acts of these names are refused once the count has reached the limit."""

    names: frozenset[str]
    count: Count
    limit: int


Ask = Needs | Below


class Argument(Struct, frozen=True):
    """One argument of a template: ``kind`` is ``member`` or ``count``."""

    name: str
    kind: str
    about: str


class Template(Struct, frozen=True):
    """One row: how the rule is written (``form`` ``list`` or ``mapping``), what it takes, and what it asks."""

    name: str
    form: str
    arguments: tuple[Argument, ...]
    about: str
    asks: Callable[[Rule, Callable[[str], frozenset[str]]], tuple[Ask, ...]]


def text_of(rule: Rule) -> str:
    """The canonical text of a rule, which is its id unless it is given one: ``must_precede(lookup, refund)``."""
    template = TEMPLATES[rule.template]
    parts = [str(rule.args[argument.name]) for argument in template.arguments]
    parts += [f"except={name}" for name in rule.excepting]
    if rule.scope != "session":
        parts.append(f"scope={rule.scope}")
    return f"{rule.template}({', '.join(parts)})"


def misfits(rule: Rule) -> list[str]:
    """What is wrong with the arguments and options of a rule, in words."""
    found = []
    arguments = TEMPLATES[rule.template].arguments
    for argument in arguments:
        value = rule.args.get(argument.name)
        if argument.kind == "count":
            if type(value) is not int or value < 0:
                found.append(f"`{argument.name}` of `{rule.template}` is a whole number from 0, not `{value!r:.40}`")
        elif not isinstance(value, str) or not value:
            found.append(f"`{argument.name}` of `{rule.template}` names a tool or a message, not `{value!r:.40}`")
    known = {argument.name for argument in arguments}
    found += [f"`{rule.template}` takes no `{name}`" for name in rule.args if name not in known]
    if rule.scope not in SCOPES:
        found.append(f"unknown scope `{rule.scope!s:.40}`; scopes are {', '.join(SCOPES)}")
    return found


def _must_precede(rule: Rule, members: Callable[[str], frozenset[str]]) -> tuple[Ask, ...]:
    return (Needs(members(rule.args["then"]), Bit(members(rule.args["first"]), rule.scope)),)


def _at_most(rule: Rule, members: Callable[[str], frozenset[str]]) -> tuple[Ask, ...]:
    of = members(rule.args["of"])
    return (Below(of, Count(of, rule.scope), rule.args["n"]),)


TEMPLATES: Final[dict[str, Template]] = {
    row.name: row
    for row in (
        Template(
            "must_precede", "list",
            (Argument("first", "member", "what must have succeeded"), Argument("then", "member", "what waits for it")),
            "refuses `then` unless a `first` has succeeded earlier; a sibling of the same batch is not earlier",
            _must_precede,
        ),
        Template(
            "at_most", "mapping",
            (Argument("of", "member", "what is counted"), Argument("n", "count", "how many are allowed")),
            "refuses what would exceed `n`, over admitted acts that were not given back",
            _at_most,
        ),
    )
}  # fmt: skip


def must_precede(first: str, then: str, **options: Any) -> Rule:
    """``then`` is refused unless a ``first`` has succeeded earlier. Members are names, groups (`@change`) or globs."""
    return Rule("must_precede", {"first": first, "then": then}, **_options(options))


def at_most(of: str, n: int, **options: Any) -> Rule:
    """At most ``n`` acts of ``of`` are admitted. ``scope`` is ``session``, ``turn`` or ``run``."""
    return Rule("at_most", {"of": of, "n": n}, **_options(options))


def _options(options: dict[str, Any]) -> dict[str, Any]:
    if "except_" in options:
        options["excepting"] = tuple(options.pop("except_"))
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise DulyError(
            Diagnostic("rule", f"unknown option `{name}` of a rule", help=f"options are {', '.join(sorted(_OPTIONS))}")
            for name in unknown
        )
    return options


_OPTIONS: Final = frozenset(Rule.__struct_fields__) - {"template", "args"}
