"""What a contract says, as data: the declarations that documents and Python build, and that ``build`` compiles.

Nothing is resolved here: groups, globs and aliases are still names, conditions still text.
"""

from typing import Any, Literal

from msgspec import Struct, field

from duly.values.source import Span

from .graph import Graph


class Tool(Struct, frozen=True):
    """A declared tool.

    ``error``, ``outcomes`` (name to condition, in listed order) and ``uncertain`` are CEL over ``args`` and ``result``;
    ``schema`` is a JSON Schema of the arguments; ``paths`` maps argument names to the base directory of relative
    paths (None: relative paths are refused); ``clamp`` maps argument names to ``{"min": …, "max": …}``; ``pairs`` names
    fields that a result shares with the arguments of its call. ``pin`` holds the tool to the definition that its server
    lists first, or to the one of this digest.
    """

    name: str
    effect: Literal["none", "write"] | None = None
    error: str | None = None
    outcomes: dict[str, str] = field(default_factory=dict)
    uncertain: str | None = None
    on_error: Literal["back", "unknown"] = "back"
    idempotent: bool = False
    schema: dict[str, Any] | None = None
    paths: dict[str, str | None] = field(default_factory=dict)
    clamp: dict[str, dict[str, Any]] = field(default_factory=dict)
    pairs: tuple[str, ...] = ()
    pin: bool | str = False
    span: Span | None = None


class LabelRule(Struct, frozen=True):
    """A declared message: who says it (``source``, on paper ``from``) and how its text is known.

    ``matches`` and ``unless`` are RE2 patterns searched in the text; ``otherwise`` takes what no other label takes.
    """

    name: str
    source: str = "user"
    matches: str | None = None
    unless: str | None = None
    otherwise: bool = False
    span: Span | None = None


class Rule(Struct, frozen=True):
    """One row of ``rules:``: a template's name, its arguments, and the options that all rules share.

    ``same`` is a path (or one by label) in whose value the rule is parametric; ``where`` a condition on the acts that
    are judged; ``on`` whether what comes before counts when called or when it has returned. ``on_excess`` ``ask`` lets
    people of ``by`` decide what a cap would refuse. The digest covers all of them but ``mode``.
    """

    template: str
    args: dict[str, Any]
    id: str = ""
    excepting: tuple[str, ...] = ()
    scope: Literal["session", "turn", "run", "store"] = "session"
    severity: Literal["error", "warning"] = "error"
    same: str | dict[str, str] | None = None
    where: str | None = None
    on: Literal["called", "returned"] | None = None
    mode: Literal["enforce", "shadow"] = "enforce"
    on_violation: Literal["refuse", "halt"] = "refuse"
    on_excess: Literal["refuse", "ask"] = "refuse"
    by: tuple[str, ...] = ()
    span: Span | None = None


class Stand(Struct, frozen=True):
    """How wide a standing yes may be: ``within`` maps arguments to globs (``*`` stays inside a step of a path, ``**``
    does not) inside which they may vary; ``lasts`` bounds it in seconds."""

    within: dict[str, str] = field(default_factory=dict)
    lasts: float | None = None


class Above(Struct, frozen=True):
    """A total from which on acts need a yes: the sum of the field ``total`` over the acts of an approval that were
    admitted, for each value of the field ``same`` by itself, beyond ``limit`` (a number, or the name of a fact)."""

    total: str
    limit: Any
    same: str | None = None


class Approval(Struct, frozen=True):
    """Calls of ``of`` that meet ``when`` (CEL over ``args``, ``facts`` and ``registers``; None: all) wait for people.

    ``by`` names who may decide (empty: any person), ``need`` how many different ones must say yes; ``expires`` is in
    seconds from the request. ``no`` says what a no covers: the equal ``call``, or with ``turn`` all of this approval
    until the next turn. ``stand`` is ``exact``, ``none`` or a Stand: what a standing yes may cover. With ``above`` only
    acts wait that would lead beyond a total, and meet ``when``.
    """

    of: str
    when: str | None = None
    ask: str = ""
    by: tuple[str, ...] = ()
    need: int = 1
    expires: float | None = None
    no: Literal["call", "turn"] = "call"
    stand: Literal["exact", "none"] | Stand = "exact"
    id: str = ""
    excepting: tuple[str, ...] = ()
    above: Above | None = None
    span: Span | None = None


class Budget(Struct, frozen=True):
    """What calls of ``of`` (None: all calls) may use up, by unit: ``calls``, and any other unit that is charged.

    ``scope`` ``store`` lets all sessions of a store use it up together; ``per`` ``day`` begins it anew with each day of
    ``zone`` (UTC where none is named).
    """

    limits: dict[str, Any]
    of: str | None = None
    excepting: tuple[str, ...] = ()
    scope: Literal["session", "turn", "run", "store"] = "session"
    id: str = ""
    per: Literal["day"] | None = None
    zone: str | None = None
    span: Span | None = None


class OutsideGuard(Struct, frozen=True):
    """Python that is asked before a call of ``of``: ``run`` is its name, ``module:callable``, which only a gate looks
    up; whatever is not a plain yes within ``within`` seconds refuses."""

    of: str
    run: str
    within: float = 5.0
    span: Span | None = None


class Breaker(Struct, frozen=True):
    """The n-th refusal (in a row, or of equal acts) within a turn, run or session halts it."""

    refusals: int
    of: Literal["in_a_row", "equal"] = "in_a_row"
    per: Literal["turn", "run", "session"] = "session"


class Example(Struct, frozen=True):
    """A text and the label it must be given (None: nobody can name it)."""

    text: str
    label: str | None
    span: Span | None = None


class Terms(Struct, frozen=True):
    """Everything one contract says.

    ``tools`` None leaves the world open. ``groups`` map a group's name to a selection: a list of names and globs, or
    ``{"effect": "write"}``. ``aliases`` map another spelling to a declared name. ``outside`` names tools that the
    protocols do not speak of. ``withdraw_on`` ``message`` lets a person's message withdraw what waits for a decision.
    ``show`` names the parts of a refusal that the model is told. ``pin`` names servers whose tools are pinned (``*``:
    all tools are). ``undeclared`` is how state blocks were read, which their text needs again when it is printed.
    """

    name: str = ""
    version: str = ""
    mode: Literal["enforce", "shadow"] = "enforce"
    tools: dict[str, Tool] | None = None
    groups: dict[str, Any] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    labels: dict[str, LabelRule] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    protocols: tuple[Graph, ...] = ()
    rules: tuple[Rule, ...] = ()
    budget: tuple[Budget, ...] = ()
    approvals: tuple[Approval, ...] = ()
    withdraw_on: Literal["order", "message"] = "order"
    guards: tuple[OutsideGuard, ...] = ()
    outside: tuple[str, ...] = ()
    breaker: Breaker | None = None
    on_violation: Literal["refuse", "halt"] = "refuse"
    show: tuple[str, ...] = ("reasons", "legal", "repair")
    count: Literal["attempted", "effective"] = "attempted"
    forever: bool = False
    view: Literal["agent", "client"] = "agent"
    undeclared: Literal["error", "terminal"] = "error"
    pin: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    span: Span | None = None
