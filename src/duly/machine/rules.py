"""The table of rules: one row and one function each. Every later rule joins it here.

A rule says what it asks of acts; ``build`` turns equal questions of many rules into one.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct, structs

from duly.values.expr import kind, normal
from duly.values.plain import write_json

from . import templates
from .history import make_history
from .templates import Make, shown
from .terms import Rule
from .watch.collect import VALUES, newest, uncompiled

LONG: Final = 40
"""Digits from which on whole numbers that came with a point or an exponent are written with one."""
SCOPES: Final = ("session", "turn", "run", "store")


class Argument(Struct, frozen=True):
    """One argument of a template.

    ``kind`` is ``member`` (a name, a group, a glob, ``{of, where}`` or a list of such), ``members`` (a list of two or
    more), ``count``, ``time`` (seconds), ``field`` (a path), ``text``, ``amount``, ``limit`` (an amount, or one by
    unit), ``weights``, ``back``, ``within``, ``formula``, ``history`` (terms such as ``did(a)``), ``per`` (the word
    ``act`` or ``day``), or ``zone``.
    """

    name: str
    kind: str
    about: str
    optional: bool = False


class Template(Struct, frozen=True):
    """One row: how the rule is written (``form`` ``list``, ``members``, ``mapping``, or ``text`` for an argument that
    may stand alone), what it takes, and what makes it. ``caps`` says that it may ask people instead of refusing,
    ``shared`` that it may count over all sessions of a store, ``on`` when what comes before counts unless the rule says
    otherwise (empty: the rule says nothing of what comes before)."""

    name: str
    form: str
    arguments: tuple[Argument, ...]
    about: str
    make: Make
    caps: bool = False
    on: str = ""
    shared: bool = False


def text_of(rule: Rule) -> str:
    """The canonical text of a rule, which is its id unless it is given one: ``must_precede(lookup, refund)``."""
    template = TEMPLATES[rule.template]
    if template.form == "text":
        from .formula.make import tidy

        rule = structs.replace(rule, args={**rule.args, "that": tidy(rule.args["that"])})
    given = [argument for argument in template.arguments if argument.name in rule.args]
    parts = [
        (f"{argument.name}=" if argument.optional else "") + _written(rule.args[argument.name]) for argument in given
    ]
    parts += [f"except={name}" for name in rule.excepting]
    more = {"same": rule.same, "where": rule.where, "on": rule.on}
    parts += [f"{name}={_written(value)}" for name, value in more.items() if value is not None]
    if rule.scope != "session":
        parts.append(f"scope={rule.scope}")
    return f"{rule.template}({', '.join(parts)})"


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(_written(each) for each in value)
    if isinstance(value, dict) and "of" in value and value.keys() <= {"of", "where"}:
        return shown(value)
    return write_json(_shortest(value))


def _shortest(value: Any) -> Any:
    """60, 60.0 and 60.00 are one number, so that rules that say the same have one name."""
    if isinstance(value, dict):
        return {key: _shortest(item) for key, item in value.items()}
    if type(value) is int or kind(value) != "number":
        return value
    found = Decimal(normal(value))
    return int(found) if found.adjusted() < LONG and found == found.to_integral_value() else found


def misfits(rule: Rule) -> list[str]:
    """What is wrong with the arguments and options of a rule, in words."""
    found: list[str] = []
    template = TEMPLATES[rule.template]
    for argument in template.arguments:
        if argument.name not in rule.args:
            if not argument.optional:
                found.append(f"`{rule.template}` needs `{argument.name}`: {argument.about}")
            continue
        wrong = _KINDS[argument.kind](rule.args[argument.name])
        if wrong:
            found.append(f"`{argument.name}` of `{rule.template}` {wrong}, not `{rule.args[argument.name]!r:.40}`")
    known = {argument.name for argument in template.arguments}
    found += [f"`{rule.template}` takes no `{name}`" for name in rule.args if name not in known]
    if rule.scope not in SCOPES:
        found.append(f"unknown scope `{rule.scope!s:.40}`; scopes are {', '.join(SCOPES)}")
    elif rule.scope == "store" and not (template.shared and rule.args.get("per") != "act"):
        shared = ", ".join(name for name, row in TEMPLATES.items() if row.shared)
        found.append(f"`{rule.template}` cannot count over all sessions of a store; what can is {shared}")
    if rule.args.get("per") == "day" and rule.scope in ("turn", "run"):
        found.append(f"`per: day` and `scope: {rule.scope}` exclude one another")
    if "zone" in rule.args and rule.args.get("per") != "day":
        found.append("`zone` says whose days are meant, and belongs to `per: day`")
    for name, words in _WORDS.items():
        if getattr(rule, name) not in words:
            said = ", ".join(word for word in words if word is not None)
            found.append(f"unknown `{name}` `{getattr(rule, name)!s:.40}`; it is one of {said}")
    if rule.on in ("called", "returned") and not template.on:
        found.append(f"`{rule.template}` says nothing of what comes before, so it takes no `on`")
    if rule.on_excess == "ask" and not template.caps:
        found.append(f"`{rule.template}` is no cap: only caps can ask people instead of refusing")
    if rule.template == "formula" and rule.where is not None:
        found.append("`formula` takes no `where`; a condition stands in an atom, as in `!refund{args.amount > 5}`")
    elif rule.where is not None and not isinstance(rule.where, str):
        found.append("`where` is a condition on the arguments")
    if rule.same is not None and not (
        isinstance(rule.same, str)
        or (isinstance(rule.same, dict) and rule.same and all(isinstance(path, str) for path in rule.same.values()))
    ):
        found.append("`same` is a path in the arguments, or one path by name")
    return found


_WORDS: Final[dict[str, tuple[str | None, ...]]] = {
    "on": (None, "called", "returned"), "mode": ("enforce", "shadow"), "on_violation": ("refuse", "halt"),
    "on_excess": ("refuse", "ask"),
}  # fmt: skip


def _member(value: Any) -> str:
    if isinstance(value, str) and value:
        return ""
    if isinstance(value, dict) and "of" in value and value.keys() <= {"of", "where"}:
        return _member(value["of"]) or ("" if isinstance(value.get("where", ""), str) else _NAMES)
    if isinstance(value, list | tuple) and value and not any(_member(each) for each in value):
        return ""
    return _NAMES


_NAMES: Final = "names a tool or a message"


def _two(value: Any) -> str:
    whole = isinstance(value, list | tuple) and len(value) > 1 and not any(_member(each) for each in value)
    return "" if whole else "is a list of two or more names"


def _count(value: Any) -> str:
    if type(value) is str and value:
        return ""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return "is a whole number from 0"
    return ""


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and value.strip() else "is a text"


def _weights(value: Any) -> str:
    def good(weight: Any) -> bool:
        return (isinstance(weight, str) and weight != "") or (type(weight) is int and weight >= 0)

    whole = isinstance(value, dict) and value and all(map(good, value.values()))
    return "" if whole else "maps names to whole numbers or fields"


def _back(value: Any) -> str:
    if not isinstance(value, dict) or value.keys() != {"of", "call"}:
        return "says `of` and `call`"
    return _member(value["of"]) or _text(value["call"])


def _within(value: Any) -> str:
    whole = not isinstance(value, dict) or value.keys() == {"acts"}
    return "" if whole else "is a time, or says `acts`"


def _any(value: Any) -> str:
    return ""


def _per(value: Any) -> str:
    return "" if value in ("act", "day") else "is the word `act` or `day`"


def _keep(value: Any) -> str:
    return f"is `all`, `last`, or how many from 1 to {VALUES:,}" if newest(value) is None else ""


def _pattern(value: Any) -> str:
    return _text(value) or uncompiled(value)


_KINDS: Final[dict[str, Callable[[Any], str]]] = {
    "member": _member, "members": _two, "count": _count, "time": _any, "field": _text, "text": _text, "limit": _any,
    "amount": _any, "weights": _weights, "back": _back, "within": _within, "history": _text,
    "per": _per, "zone": _text, "keep": _keep, "pattern": _pattern, "formula": _text,
}  # fmt: skip


def _of(about: str, name: str = "of") -> Argument:
    return Argument(name, "member", about)


TEMPLATES: Final[dict[str, Template]] = {
    row.name: row
    for row in (
        Template(
            "must_precede", "list", (_of("what must have succeeded", "first"), _of("what waits for it", "then")),
            "refuses `then` unless a `first` has succeeded earlier; a sibling of the same batch is not earlier",
            templates.must_precede, on="returned",
        ),
        Template(
            "never_after", "list", (_of("what is refused", "never"), _of("what it may not come after", "after")),
            "refuses `never` once an `after` was admitted earlier", templates.never_after, on="called",
        ),
        Template(
            "at_most", "mapping",
            (
                _of("what is counted"), Argument("n", "count", "how many are allowed, or the fact that says so"),
                Argument("weigh", "weights", "what an act counts, by name: a number, or a field", True),
                Argument("per", "per", "`act`: the limit is one on every single act; `day`: one on each day", True),
                Argument("zone", "zone", "the zone whose days are meant", True),
            ),
            "refuses what would exceed `n`, over admitted acts that were not given back", templates.at_most, True,
            shared=True,
        ),
        Template(
            "at_most_total", "mapping",
            (
                _of("whose amounts are added up"), Argument("field", "field", "where the amount stands", True),
                Argument("limit", "limit", "the largest sum, or one by unit, or the fact that says so"),
                Argument("units", "field", "where the unit stands", True),
                Argument("back", "back", "the act that gives room back, and where it names its call", True),
                Argument("per", "per", "`act`: the limit is one on every single act; `day`: one on each day", True),
                Argument("zone", "zone", "the zone whose days are meant", True),
                Argument("reserve", "amount", "what is set aside where the act itself names no amount", True),
                Argument("settle", "field", "where the result says what it was in the end", True),
            ),
            "refuses what would bring the exact sum of a field over the limit", templates.at_most_total, True,
            shared=True,
        ),
        Template(
            "at_least", "mapping", (_of("what must succeed"), Argument("n", "count", "how often")),
            "finds too few successes at the end", templates.at_least,
        ),
        Template(
            "must_happen", "mapping",
            (_of("what must succeed"), Argument("before", "member", "what is refused while it is owed", True)),
            "finds at the end that it has not succeeded", templates.must_happen,
        ),
        Template(
            "exclusive", "members", (Argument("members", "members", "of which only one may occur"),),
            "refuses an act once another member was admitted, and one that is two members",
            templates.exclusive, on="called",
        ),
        Template(
            "rate_limit", "mapping",
            (
                _of("what is counted"), Argument("n", "count", "how many are allowed"),
                Argument("per", "time", "the window"),
            ),
            "refuses an act while `n` admitted ones are younger than the window", templates.rate_limit, shared=True,
        ),
        Template(
            "cooldown", "mapping", (_of("what must rest"), Argument("t", "time", "how long")),
            "refuses an act while an admitted one is younger than `t`", templates.cooldown, shared=True,
        ),
        Template(
            "must_follow", "mapping",
            (
                _of("what begins the duty"), _of("what pays it by its success", "by"),
                Argument("within", "within", "a time, or `{acts: n}`"),
            ),
            "refuses acts that leave no room for the duty, and finds once that it was not done in time",
            templates.must_follow,
        ),
        Template(
            "within", "mapping",
            (_of("what is refused when it is late"), _of("what it must come soon after", "after"),
             Argument("t", "time", "how soon")),
            "refuses `of` later than `t` after the last success of `after`", templates.within, on="returned",
        ),
        Template(
            "immediately_before", "list",
            (_of("what must be the act before, and have succeeded", "first"), _of("what is refused otherwise", "then")),
            "refuses `then` unless the last admitted act is a `first` that succeeded",
            templates.immediately_before, on="returned",
        ),
        Template(
            "no_repeat", "mapping",
            (
                _of("what is compared"), Argument("n", "count", "how many equal ones are allowed"),
                Argument("among", "count", "among how many acts, so that others between them make no difference", True),
            ),
            "refuses the next equal act once `n` equal ones of `of` stand in a row, or `among` so many acts",
            templates.no_repeat,
        ),
        Template(
            "between", "mapping",
            (_of("what is refused elsewhere"), _of("what begins it by its success", "from"), _of("what ends it", "to")),
            "refuses `of` outside a success of `from` and the next admitted `to`", templates.between, on="returned",
        ),
        Template(
            "fresh", "mapping",
            (
                _of("what must have succeeded"), _of("what needs it", "for"),
                Argument("lasts", "time", "for how long it is fresh", True),
                Argument("until", "member", "what makes it stale", True),
            ),
            "refuses `for` unless `of` succeeded within `lasts` and no `until` was admitted since",
            templates.fresh, on="returned",
        ),
        Template("forbid", "mapping", (_of("what is refused"),), "always refuses", templates.forbid),
        Template(
            "permit", "mapping", (_of("what is meant to be possible"),),
            "refuses nothing; `duly check` warns where another rule always refuses it", templates.permit,
        ),
        Template(
            "requires", "mapping",
            (_of("what is judged"), Argument("that", "text", "a condition on its arguments (CEL)")),
            "refuses `of` unless `that` holds", templates.requires,
        ),
        Template(
            "history", "mapping",
            (_of("what is judged"), Argument("that", "history", "what must have happened: `did(a) and count(b) >= 2`")),
            "refuses `of` unless `that` is true of what came before: what permits counts its successes, what forbids"
            " counts from admission", make_history, on="returned",
        ),
        Template(
            "ensures", "mapping",
            (_of("whose results are judged"), Argument("that", "text", "a condition on arguments and result (CEL)")),
            "finds a result that does not meet `that`; it is no success, and a gate withholds it", templates.ensures,
        ),
        Template(
            "learns", "mapping",
            (
                _of("what teaches it by its success"), Argument("fact", "text", "the fact's name"),
                Argument("value", "text", "what it becomes (CEL over `args` and `result`)"),
            ),
            "sets a fact that conditions and limits can name", templates.learns,
        ),
        Template(
            "collects", "mapping",
            (
                _of("what teaches it by its success"), Argument("fact", "text", "the fact's name"),
                Argument("value", "text", "what it gives (CEL over `args` and `result`); of a list, each item"),
                Argument("pattern", "pattern", "what its texts are searched for (RE2): its group, or all of it", True),
                Argument("by", "text", "a text (CEL): the fact is then one list for each", True),
                Argument("keep", "keep", "`all`, those of the `last` time, or how many of the newest", True),
            ),
            "gathers the distinct values of a fact, which conditions ask by `in`", templates.collects,
        ),
        Template(
            "formula", "text", (Argument("that", "formula", "a temporal formula"),),
            "refuses what would make a temporal formula false for good; what is open at the end is found",
            templates.formula,
        ),
    )
}  # fmt: skip


class Spelling(Struct, frozen=True):
    """Another name of a rule, whose arguments stand in a list."""

    name: str
    template: str
    arguments: tuple[str, ...]


SPELLINGS: Final[dict[str, Spelling]] = {
    row.name: row
    for row in (
        Spelling("cannot_follow_without", "must_precede", ("then", "first")),
        Spelling("at_most_n_times", "at_most", ("of", "n")),
        Spelling("required_before_session_end", "must_happen", ("of",)),
        Spelling("mutually_exclusive", "exclusive", ("members",)),
    )
}
"""The names that rule files of acel-core have for rules that duly calls otherwise; they print back under duly's."""
