"""Rules as Python writes them: one function for each row of the table in ``rules``, and none beside it.

A member is a name, a group (`@change`), a glob, ``{"of": …, "where": …}`` or a list of such. Times are in seconds. What
is a word of Python ends in an underscore: ``except_``, ``from_``, ``for_``.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Literal, TypedDict, Unpack

from duly.values.errors import Diagnostic, DulyError, suggest

from .history import Past, canonical
from .rules import TEMPLATES
from .terms import Rule

Member = str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]
Number = int | float | Decimal
Limit = Number | str | Mapping[str, Number | str]


class Options(TypedDict, total=False):
    """What every rule takes beside its own arguments."""

    id: str
    scope: Literal["session", "turn", "run", "store"]
    severity: Literal["error", "warning"]
    except_: Sequence[str]
    same: str | dict[str, str] | None
    where: str | None
    on: Literal["called", "returned"] | None
    mode: Literal["enforce", "shadow"]
    on_violation: Literal["refuse", "halt"]


class CapOptions(Options, total=False):
    """What caps take as well: people may be asked instead."""

    on_excess: Literal["refuse", "ask"]
    by: Sequence[str]


def must_precede(first: Member, then: Member, **options: Unpack[Options]) -> Rule:
    """``then`` is refused unless a ``first`` has succeeded earlier."""
    return _rule("must_precede", options, first=first, then=then)


def never_after(never: Member, after: Member, **options: Unpack[Options]) -> Rule:
    """``never`` is refused once an ``after`` was admitted earlier."""
    return _rule("never_after", options, never=never, after=after)


def at_most(
    of: Member,
    n: int | str,
    *,
    weigh: Mapping[str, int | str] | None = None,
    per: Literal["act", "day"] | None = None,
    zone: str | None = None,
    **options: Unpack[CapOptions],
) -> Rule:
    """At most ``n`` acts of ``of`` (or what they weigh; or on each day of ``zone``) are admitted."""
    return _rule("at_most", options, of=of, n=n, weigh=weigh, per=per, zone=zone)


def at_most_total(
    of: Member,
    field: str | None,
    limit: Limit,
    *,
    units: str | None = None,
    back: Mapping[str, Any] | None = None,
    per: Literal["act", "day"] | None = None,
    zone: str | None = None,
    reserve: Number | None = None,
    settle: str | None = None,
    **options: Unpack[CapOptions],
) -> Rule:
    """The exact sum of ``field`` over ``of`` stays within ``limit``: a number, a fact, or one of these by unit."""
    more = {"units": units, "back": back, "per": per, "zone": zone, "reserve": reserve, "settle": settle}
    return _rule("at_most_total", options, of=of, field=field, limit=limit, **more)


def at_least(of: Member, n: int | str, **options: Unpack[Options]) -> Rule:
    """At the end it is found that fewer than ``n`` acts of ``of`` have succeeded."""
    return _rule("at_least", options, of=of, n=n)


def must_happen(of: Member, *, before: Member | None = None, **options: Unpack[Options]) -> Rule:
    """``of`` must have succeeded at the end; ``before`` is refused while it has not."""
    return _rule("must_happen", options, of=of, before=before)


def exclusive(*members: Member, **options: Unpack[Options]) -> Rule:
    """An act is refused once another of these was admitted."""
    return _rule("exclusive", options, members=list(members))


def rate_limit(of: Member, n: int | str, per: Number, **options: Unpack[Options]) -> Rule:
    """``of`` is refused while ``n`` admitted ones are younger than ``per`` seconds."""
    return _rule("rate_limit", options, of=of, n=n, per=per)


def cooldown(of: Member, t: Number, **options: Unpack[Options]) -> Rule:
    """``of`` is refused while an admitted one is younger than ``t`` seconds."""
    return _rule("cooldown", options, of=of, t=t)


def must_follow(of: Member, by: Member, within: Number | Mapping[str, int], **options: Unpack[Options]) -> Rule:
    """A ``by`` must succeed after each ``of``: within seconds, or within ``{"acts": n}``."""
    return _rule("must_follow", options, of=of, by=by, within=within)


def within(of: Member, after: Member, t: Number, **options: Unpack[Options]) -> Rule:
    """``of`` is refused later than ``t`` seconds after the last success of ``after``."""
    return _rule("within", options, of=of, after=after, t=t)


def immediately_before(first: Member, then: Member, **options: Unpack[Options]) -> Rule:
    """``then`` is refused unless the last admitted act is a ``first`` that succeeded."""
    return _rule("immediately_before", options, first=first, then=then)


def no_repeat(of: Member, n: int | str, *, among: int | None = None, **options: Unpack[Options]) -> Rule:
    """The next equal act is refused once ``n`` equal ones of ``of`` stand in a row, or ``among`` so many acts."""
    return _rule("no_repeat", options, of=of, n=n, among=among)


def between(of: Member, from_: Member, to: Member, **options: Unpack[Options]) -> Rule:
    """``of`` is refused outside a success of ``from_`` and the next admitted ``to``."""
    return _rule("between", options, of=of, **{"from": from_}, to=to)


def fresh(
    of: Member,
    for_: Member,
    *,
    lasts: Number | None = None,
    until: Member | None = None,
    **options: Unpack[Options],
) -> Rule:
    """``for_`` is refused unless ``of`` succeeded within ``lasts`` seconds, and no ``until`` was admitted since."""
    return _rule("fresh", options, of=of, **{"for": for_}, lasts=lasts, until=until)


def forbid(of: Member, **options: Unpack[Options]) -> Rule:
    """``of`` is always refused."""
    return _rule("forbid", options, of=of)


def permit(of: Member, **options: Unpack[Options]) -> Rule:
    """Refuses nothing; ``duly check`` warns where another rule always refuses ``of``."""
    return _rule("permit", options, of=of)


def requires(of: Member, that: str, **options: Unpack[Options]) -> Rule:
    """``of`` is refused unless ``that`` (CEL over ``args`` and ``facts``) is true."""
    return _rule("requires", options, of=of, that=that)


def history(of: Member, that: str | Past, **options: Unpack[Options]) -> Rule:
    """``of`` is refused unless ``that`` is true of what came before: text, or ``did("a") & (count("b") >= 2)``."""
    return _rule("history", options, of=of, that=canonical(that))


def ensures(of: Member, that: str, **options: Unpack[Options]) -> Rule:
    """A result of ``of`` of which ``that`` (CEL over ``args`` and ``result``) is not true is no success."""
    return _rule("ensures", options, of=of, that=that)


def learns(of: Member, fact: str, value: str, **options: Unpack[Options]) -> Rule:
    """A success of ``of`` sets ``fact`` to ``value`` (CEL over ``args`` and ``result``)."""
    return _rule("learns", options, of=of, fact=fact, value=value)


def collects(
    of: Member,
    fact: str,
    value: str,
    *,
    pattern: str | None = None,
    by: str | None = None,
    keep: int | Literal["all", "last"] | None = None,
    **options: Unpack[Options],
) -> Rule:
    """A success of ``of`` adds ``value`` to the values of ``fact``, which conditions ask by ``in``."""
    return _rule("collects", options, of=of, fact=fact, value=value, pattern=pattern, by=by, keep=keep)


def formula(that: str, **options: Unpack[Options]) -> Rule:
    """An act that makes the temporal formula ``that`` false for good is refused; what is open at the end is found."""
    return _rule("formula", options, that=that)


def _rule(template: str, options: Mapping[str, Any], **args: Any) -> Rule:
    """A rule; an optional argument that is None is one that was not given."""
    more = dict(options)
    if "except_" in more:
        more["excepting"] = tuple(more.pop("except_"))
    if "by" in more:
        more["by"] = tuple(more["by"])
    unknown = [name for name in more if name not in _OPTIONS]
    if unknown:
        known = sorted(("except_" if name == "excepting" else name) for name in _OPTIONS)
        raise DulyError(
            Diagnostic(
                "rule", f"unknown option `{name}` of a rule",
                help=suggest(name, known) or f"options are {', '.join(known)}",
            )
            for name in unknown
        )  # fmt: skip
    optional = {argument.name for argument in TEMPLATES[template].arguments if argument.optional}
    given = {name: value for name, value in args.items() if value is not None or name not in optional}
    return Rule(template, given, **more)


_OPTIONS: Final = frozenset(Rule.__struct_fields__) - {"template", "args"}
