"""How each rule is made from what a contract says of it: one function for each row of the table in ``rules``."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from msgspec import Struct

from duly.values.errors import Diagnostic, DulyError

from .condition import Condition
from .fields import unfounded
from .names import Names
from .terms import Rule
from .watch.amount import AtMostTotal, Back, amount_of
from .watch.collect import Collects, Learns, compiled, newest
from .watch.count import MOST, AtLeast, AtMost, NoRepeat, Weight
from .watch.duty import FollowWithinActs, FollowWithinTime
from .watch.member import Field, Member, field_of, union
from .watch.order import Adjacent, Between, Exclusive, NeverAfter, Precede
from .watch.same import Same
from .watch.time import Fresh, Rate, Within
from .watch.value import Ensures, Forbid, Permit, Requires
from .watch.watch import Watch, natural

ON_ACTS: Final = ("args", "facts", "registers")
ON_RESULTS: Final = ("args", "result", "facts", "registers")


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


Ask = Needs | Below | Watch


class Maker:
    """Resolves what one rule names; collects what has no clear meaning."""

    def __init__(self, rule: Rule, names: Names, facts: dict[str, Any], learnt: frozenset[str]) -> None:
        self.rule, self.args, self.names, self.facts, self.learnt = rule, rule.args, names, facts, learnt
        self.learning: frozenset[str] = frozenset()
        self.without = frozenset().union(*(names.members(name, rule.span) for name in rule.excepting))
        plain = rule.where is None and rule.same is None and rule.on is None and rule.mode == "enforce"
        plain = plain and rule.scope != "store" and "per" not in self.args
        self.simple = plain and rule.on_violation == "refuse" and rule.on_excess == "refuse"

    def fault(self, message: str, help: str = "") -> None:
        self.names.faults.append(Diagnostic("rule", message, span=self.rule.span, help=help))

    def labels(self, name: str) -> frozenset[str]:
        return self.names.members(name, self.rule.span) - self.without

    def member(self, said: Any, *, judged: bool = False) -> Member:
        """A name, a group, a glob, ``{of, where}``, or a list of such. Acts that are judged also meet ``where``."""
        wheres = [self.rule.where] if judged and self.rule.where is not None else []
        if isinstance(said, list | tuple):
            found = union(tuple(self.member(each) for each in said), " or ".join(shown(each) for each in said))
            return self._narrowed(found, wheres)
        if isinstance(said, dict):
            wheres = [*([said["where"]] if "where" in said else []), *wheres]
            return self._narrowed(Member(self.member(said["of"]).labels, shown(said)), wheres)
        return self._narrowed(Member(dict.fromkeys(sorted(self.labels(said)), ()), said), wheres)

    def _narrowed(self, member: Member, wheres: list[str]) -> Member:
        for text in wheres:
            condition = self.condition(text, ON_ACTS)
            if condition is None:
                continue
            self.founded(text, member)
            labels = {}
            for label, known in member.labels.items():
                if known:
                    both = " && ".join([f"({' || '.join(f'({each.text})' for each in known)})", f"({text})"])
                    joined = self.condition(both, ON_ACTS)
                    labels[label] = (joined,) if joined is not None else known
                else:
                    labels[label] = (condition,)
            member = Member(labels, member.shown)
        return member

    def condition(self, text: str, names: tuple[str, ...]) -> Condition | None:
        try:
            return Condition(text, names=names, span=self.rule.span, path="rules")
        except DulyError as error:
            self.names.faults.extend(error.diagnostics)
            return None

    def value(self, text: str, of: Member) -> Any:
        """What a text gives, in CEL over arguments, result and facts."""
        from .expression import Expression

        self.founded(text, of)
        try:
            return Expression(text, names=ON_RESULTS, span=self.rule.span, path="rules")
        except DulyError as error:
            self.names.faults.extend(error.diagnostics)
            return lambda values: None

    def founded(self, text: str, member: Member) -> None:
        """What a text names must be there for one of these, or for nobody: a misspelt name would always refuse."""
        names = self.names
        names.faults += unfounded(text, member.labels, names.tools, names.facts, self.rule.span, "rules")

    def number(self, name: str, default: Any = None) -> int | str:
        """A whole number from 0, or the fact that holds one."""
        said = self.args.get(name, default)
        fact = self._fact(name, said)
        if fact is not None:
            return fact
        if type(said) is Decimal and said == said.to_integral_value() and abs(said) < 10**18:
            said = int(said)
        if type(said) is not int or said < 0:
            self.fault(f"`{name}` of `{self.rule.template}` is a whole number from 0, or a fact, not `{said!r:.40}`")
            return 0
        return said

    def limit(self, said: Any) -> Decimal | str:
        """An exact amount from 0, or the fact that holds one."""
        fact = self._fact("limit", said)
        if fact is not None:
            return fact
        amount = amount_of(said) if type(said) in (int, float, Decimal) else None
        if amount is None or amount < 0:
            self.fault(f"`limit` of `{self.rule.template}` is a number from 0, or a fact, not `{said!s:.40}`")
            return Decimal(0)
        return amount

    def reserve(self) -> Decimal | None:
        """An exact amount from 0 that is set aside; None where none is."""
        said = self.args.get("reserve")
        amount = None if isinstance(said, str) else amount_of(said)
        if said is not None and (amount is None or amount < 0):
            self.fault(f"`reserve` of `{self.rule.template}` is a number from 0, not `{said!s:.40}`")
            return Decimal(0)
        return amount

    def _fact(self, name: str, said: Any) -> str | None:
        if type(said) is not str:
            return None
        fact = said.removeprefix("facts.")
        if fact not in self.facts and fact not in self.learnt:
            self.fault(f"`{name}` of `{self.rule.template}` names no fact: `{said[:40]}`", "declare it under `facts`")
        return fact

    def seconds(self, name: str) -> float:
        said = self.args.get(name)
        if isinstance(said, int | float | Decimal) and not isinstance(said, bool) and 0 < said < float("inf"):
            return float(said)
        message = f"`{name}` of `{self.rule.template}` is a positive time, not `{said!s:.40}`"
        self.fault(message, "say for example `60s`")
        return 1.0

    def field(self, name: str) -> Field | None:
        said = self.args.get(name)
        return None if said is None else field_of(said)

    def learns_from(self, member: Member) -> Member:
        """A member that counts only once it has succeeded, so that its result may name the value of ``same``."""
        self.learning |= member.labels.keys()
        return member

    def keyed(self, watch: Watch) -> Watch:
        """The rule, parametric where it says ``same``."""
        same = self.rule.same
        if same is None:
            return watch
        paths = {"": same} if isinstance(same, str) else same
        fields: dict[str, Field] = {}
        for name, path in paths.items():
            for label in [""] if name == "" else sorted(self.names.members(name, self.rule.span)):
                fields[label] = field_of(path)
        lost = sorted(watch.labels - fields.keys()) if "" not in fields else []
        if lost:
            self.fault(f"`same` says no path for `{lost[0]}`", "give one path, or one for each name of the rule")
        known = {label: fields.get(label, fields.get("")) for label in watch.labels - self.learning}
        late = sorted(label for label, field in known.items() if field is not None and field.result)
        if late:
            message = f"`same` takes the value of `{late[0]}` from its result, and is asked before there is one"
            self.fault(message, "name a path in its arguments")
        return Same(watch, fields)


def shown(said: Any) -> str:
    """A member as refusals name it."""
    if isinstance(said, dict):
        of = shown(said["of"])
        return f"{of} where {said['where']}" if "where" in said else of
    return " or ".join(map(shown, said)) if isinstance(said, list | tuple) else str(said)


def named(said: Any) -> list[str]:
    """The names, groups and globs that a member is written with."""
    if isinstance(said, dict):
        return named(said["of"])
    return [name for each in said for name in named(each)] if isinstance(said, list | tuple) else [said]


def must_precede(make: Maker) -> Ask:
    first, then, scope = make.args["first"], make.args["then"], make.rule.scope
    if make.simple and isinstance(first, str) and isinstance(then, str):
        judged_labels, learnt = make.labels(then), make.labels(first)
        if not judged_labels & learnt:  # what was refused and ran all the same teaches the rule nothing
            return Needs(judged_labels, Bit(learnt, scope))
    judged = make.member(then, judged=True)
    return Precede(make.rule, _learnt(make, make.member(first), judged), judged)


def _learnt(make: Maker, member: Member, judged: Member) -> Member:
    """A member of which only successes count, unless the rule says ``on: called``, or judges it as well."""
    if make.rule.on != "called" and not member.labels.keys() & judged.labels.keys():
        make.learns_from(member)
    return member


def never_after(make: Maker) -> Ask:
    never, after = make.member(make.args["never"], judged=True), make.member(make.args["after"])
    return NeverAfter(make.rule, never, _learnt(make, after, never) if make.rule.on == "returned" else after)


def exclusive(make: Maker) -> Ask:
    return Exclusive(make.rule, *(make.member(each, judged=True) for each in make.args["members"]))


def immediately_before(make: Maker) -> Ask:
    return Adjacent(make.rule, make.member(make.args["first"]), make.member(make.args["then"], judged=True))


def between(make: Maker) -> Ask:
    of = make.member(make.args["of"], judged=True)
    return Between(make.rule, of, _learnt(make, make.member(make.args["from"]), of), make.member(make.args["to"]))


def at_most(make: Maker) -> Ask:
    of, n, weigh = make.args["of"], make.number("n"), make.args.get("weigh")
    each = make.args.get("per") == "act"
    if make.simple and isinstance(of, str) and isinstance(n, int) and weigh is None and not each:
        labels = make.labels(of)
        return Below(labels, Count(labels, make.rule.scope), n)
    weights: dict[str, Weight] = {}
    for name, weight in (weigh or {}).items():
        for label in make.labels(name):
            weights[label] = weight if type(weight) is int else field_of(str(weight))
    return AtMost(make.rule, make.member(of, judged=True), n, weights, each=each)


def at_most_total(make: Maker) -> Ask:
    said = make.args.get("limit")
    limits = said if isinstance(said, dict) else {"": said}
    back = make.args.get("back")
    reserve = make.reserve()
    if isinstance(said, dict) is not ("units" in make.args) or not limits:
        make.fault("`limit` of `at_most_total` is one by unit where `units` says where the unit stands", "say both")
    if "field" not in make.args and reserve is None:
        make.fault("`at_most_total` needs `field`, where the amount stands, or `reserve`")
    settle = make.field("settle")
    if settle is not None and not settle.result:
        make.fault("`settle` of `at_most_total` is a path in the result", "as in `result.cost`")
    return AtMostTotal(
        make.rule,
        make.member(make.args["of"], judged=True),
        make.field("field"),
        {unit: make.limit(limit) for unit, limit in limits.items()},
        units=make.field("units"),
        back=None if back is None else Back(make.member(back["of"]), field_of(back["call"])),
        reserve=reserve,
        settle=settle,
        each=make.args.get("per") == "act",
    )


def rate_limit(make: Maker) -> Ask:
    n = make.number("n")
    return Rate(make.rule, make.member(make.args["of"], judged=True), n, make.seconds("per"))


def cooldown(make: Maker) -> Ask:
    return Rate(make.rule, make.member(make.args["of"], judged=True), 1, make.seconds("t"))


def at_least(make: Maker) -> Ask:
    return AtLeast(make.rule, make.learns_from(make.member(make.args["of"], judged=True)), make.number("n"))


def must_happen(make: Maker) -> Ask:
    if "before" not in make.args:
        return AtLeast(make.rule, make.learns_from(make.member(make.args["of"], judged=True)), 1)
    before = make.member(make.args["before"], judged=True)
    return AtLeast(make.rule, _learnt(make, make.member(make.args["of"]), before), 1, before)


def must_follow(make: Maker) -> Ask:
    of, by = make.member(make.args["of"], judged=True), make.member(make.args["by"])
    limit = make.args["within"]
    if not isinstance(limit, dict):
        return FollowWithinTime(make.rule, of, by, make.seconds("within"))
    acts = natural(limit.get("acts"))
    if not acts:
        make.fault("`within` of `must_follow` is a time, or a number of acts from 1")
        acts = 1
    return FollowWithinActs(make.rule, of, by, acts)


def within(make: Maker) -> Ask:
    of, after = make.member(make.args["of"], judged=True), make.member(make.args["after"])
    return Within(make.rule, of, _learnt(make, after, of), make.seconds("t"))


def no_repeat(make: Maker) -> Ask:
    n, among = make.number("n"), make.args.get("among")
    if among is not None:
        among = natural(among)
        if among is None or among < 2 or among > MOST or (isinstance(n, int) and among <= n):
            least = max(2, n + 1) if isinstance(n, int) else 2
            help = f"say from {least} to {MOST}"
            make.fault("`among` of `no_repeat` is a whole number of acts, more than `n`", help)
            among = None
    return NoRepeat(make.rule, make.member(make.args["of"], judged=True), n, among)


def fresh(make: Maker) -> Ask:
    until = make.args.get("until")
    judged = make.member(make.args["for"], judged=True)
    return Fresh(
        make.rule,
        _learnt(make, make.member(make.args["of"]), judged),
        judged,
        make.seconds("lasts") if "lasts" in make.args else None,
        None if until is None else make.member(until),
    )


def forbid(make: Maker) -> Ask:
    return Forbid(make.rule, make.member(make.args["of"], judged=True))


def permit(make: Maker) -> Ask:
    return Permit(make.rule, make.member(make.args["of"], judged=True))


def requires(make: Maker) -> Ask:
    that = make.condition(make.args["that"], ON_ACTS)
    of = make.member(make.args["of"], judged=True)
    make.founded(make.args["that"], of)
    return Requires(make.rule, of, that) if that is not None else Permit(make.rule, of)


def ensures(make: Maker) -> Ask:
    that = make.condition(make.args["that"], ON_RESULTS)
    of = make.member(make.args["of"], judged=True)
    make.founded(make.args["that"], of)
    return Ensures(make.rule, of, that) if that is not None else Permit(make.rule, of)


def learns(make: Maker) -> Ask:
    of = make.member(make.args["of"], judged=True)
    return Learns(make.rule, of, make.args["fact"], make.value(make.args["value"], of))


def collects(make: Maker) -> Ask:
    of, pattern, by = make.member(make.args["of"], judged=True), make.args.get("pattern"), make.args.get("by")
    return Collects(
        make.rule, of, make.args["fact"], make.value(make.args["value"], of),
        pattern=None if pattern is None else compiled(pattern), by=None if by is None else make.value(by, of),
        newest=newest(make.args.get("keep")) or 0,
    )  # fmt: skip


def formula(make: Maker) -> Ask:
    from .formula.make import progressed

    return progressed(make)


Make = Callable[[Maker], Ask]
