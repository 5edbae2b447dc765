"""The one table of what a contract document may hold: source of parser, published schema and reference page.

A later key is one row here and one line in `document_build`; until then it stands in a list of planned names, so that
a document that has it is refused with a message of its own.
"""

from typing import Final

from duly.machine.rules import SPELLINGS, TEMPLATES, Argument, Spelling, Template

from .shape import (
    Anything,
    Choice,
    Duration,
    Either,
    Exactly,
    Flag,
    Key,
    Listing,
    Mapping,
    Number,
    Record,
    Rows,
    Shape,
    Text,
    Whole,
)

EDITION: Final = 1
"""The edition of the form of documents that this version reads."""

NAME: Final = Text("a name")
MEMBER: Final = Text("a name, a group such as `@change`, or a glob")
CONDITION: Final = Text("a condition (CEL)")
PATTERN: Final = Text("a pattern (RE2)", regex=True)
PIN: Final = Either((Flag(), Text("the digest of the accepted definition")))
FORMULA: Final = Text("a formula")
MODE: Final = Choice(("enforce", "shadow"))

TOOL: Final = Record(
    (
        Key("effect", Choice(("none", "write")), "whether the tool changes anything outside the session"),
        Key("error", CONDITION, "over `args` and `result`: true picks out a result that reports a failed call"),
        Key(
            "outcomes", Mapping(CONDITION, "outcome"),
            "names of further outcomes and their conditions, tried in listed order",
        ),
        Key("uncertain", CONDITION, "true picks out a result after which nobody knows whether the call took effect"),
        Key(
            "on_error", Choice(("back", "unknown")),
            "whether a failed call gives back what it used up, or stays open until it is settled", "back",
        ),
        Key("idempotent", Flag(), "whether calling twice does no more than calling once", "false"),
        Key("schema", Mapping(Anything(), "keyword"), "JSON Schema of the arguments"),
        Key(
            "paths", Mapping(Text("a directory", nullable=True), "argument"),
            "arguments that are paths, each with the directory of relative ones; `null` refuses relative ones",
        ),
        Key(
            "clamp",
            Mapping(
                Record(
                    (Key("min", Number(), "the least value"), Key("max", Number(), "the greatest value")),
                    "a mapping with `min` and `max`",
                ),
                "argument",
            ),
            "bounds to which numeric arguments are brought before any rule sees them",
        ),
        Key("pairs", Listing(NAME, unique=True), "fields that tell which of several open calls a result answers"),
        Key("pin", PIN, "acts wait for people while the definition that is listed is not the accepted one", "false"),
    ),
    "a tool's declaration",
)  # fmt: skip

LABEL: Final = Record(
    (
        Key("from", NAME, "who says it", "user"),
        Key("matches", PATTERN, "found in the text: the text has this label"),
        Key("unless", PATTERN, "found in the text: it has not"),
        Key(
            "otherwise", Flag(),
            "takes every text that no other label of that source takes, the empty one excepted", "false",
        ),
    ),
    "a label's declaration",
)

TRANSITION: Final = Record(
    (
        Key("source", NAME, "the state it leaves", required=True),
        Key("event", NAME, "the label with its side, as in strings: `!refund`, `?verify=denied`", required=True),
        Key("target", NAME, "the state it enters", required=True),
        Key("guards", Text("clauses"), "bindings and guards, as in strings: `amount <= 100, id as r`"),
    ),
    "a transition",
)

TABLE: Final = Record(
    (
        Key("initial", NAME, "the state in which the protocol begins", required=True),
        Key("terminal", Listing(NAME, unique=True), "the states in which it may end"),
        Key("transitions", Listing(TRANSITION), "its steps", required=True),
        Key(
            "partings",
            Listing(
                Record(
                    (
                        Key("source", NAME, "the state in which the sides begin", required=True),
                        Key("starts", Listing(NAME, unique=True), "the first state of each side", required=True),
                        Key("join", NAME, "the state that is entered when all have ended", required=True),
                    ),
                    "a parting",
                )
            ),
            "states in which several sides run next to each other",
        ),
        Key("payloads", Mapping(NAME, "label"), "the type of a label's payload, by name"),
    ),
    "a mapping with `initial`, `terminal` and `transitions`",
)

PROTOCOL: Final = Either((Text("a protocol text"), TABLE))

RULE_OPTIONS: Final = Record(
    (
        Key("id", NAME, "the name under which refusals cite the rule", "its canonical text"),
        Key(
            "scope", Choice(("session", "turn", "run", "store")),
            "with what the rule begins anew; store: a cap counts over all sessions of a store", "session",
        ),
        Key("severity", Choice(("error", "warning")), "how grave a finding is", "error"),
        Key("except", Listing(MEMBER, unique=True), "members that the rule does not speak of"),
        Key(
            "same", Either((Text("a field"), Mapping(Text("a field"), "name"))),
            "a field, or one by name: the rule holds for each value of it by itself",
        ),
        Key("where", CONDITION, "over `args`: only calls of which it is true are judged"),
        Key("on", Choice(("called", "returned")), "whether what comes before counts when called or when returned"),
        Key("mode", MODE, "shadow: what the rule would refuse runs, and is recorded", "enforce"),
        Key("on_violation", Choice(("refuse", "halt")), "whether its refusal ends the session", "refuse"),
        Key("on_excess", Choice(("refuse", "ask")), "ask: what a cap would refuse waits for people", "refuse"),
        Key("by", Listing(NAME, unique=True), "who decides what a cap would refuse"),
    ),
    "a rule",
)


APPROVAL: Final = Record(
    (
        Key("of", MEMBER, "the calls that wait for people", required=True),
        Key("when", CONDITION, "over `args`, `facts` and registers: only calls that meet it wait"),
        Key("ask", Text("a question"), "what people are asked; `{args.name}` stands for the value that would run"),
        Key("by", Listing(NAME, unique=True), "who may decide; empty: any person", "[]"),
        Key("need", Whole(1), "how many different people must say yes", "1"),
        Key(
            "above",
            Record(
                (
                    Key("total", Text("a field"), "the amount that is added up", required=True),
                    Key("limit", Either((Number(), Text("the name of a fact"))), "up to here no yes", required=True),
                    Key("same", Text("a field"), "the total is kept for each value of it by itself"),
                ),
                "a mapping with `total` and `limit`",
            ),
            "only calls wait that would lead beyond a total",
        ),
        Key("expires", Duration(), "how long after the request a decision, and a yes, is good for"),
        Key(
            "no", Choice(("call", "turn")),
            "what a no refuses until the next turn: the equal call, or every call under this approval", "call",
        ),
        Key(
            "stand",
            Either((
                Choice(("exact", "none")),
                Record(
                    (
                        Key(
                            "within", Mapping(Text("a glob, in which `**` stands for any number of steps"), "argument"),
                            "arguments that may vary, each inside its glob",
                        ),
                        Key("lasts", Duration(), "how long a standing yes is good for"),
                    ),
                    "a mapping with `within` and `lasts`",
                ),
            )),
            "how wide a standing yes may be; exact: exactly the arguments that were shown", "exact",
        ),
        Key("id", NAME, "the name under which refusals cite the approval", "its canonical text"),
        Key("except", Listing(MEMBER, unique=True), "members that the approval does not speak of"),
    ),
    "an approval",
)  # fmt: skip

BUDGET: Final = Mapping(
    Either((Number(), Text("a name, or a scope"), Listing(MEMBER, unique=True))), "unit"
)


GUARD: Final = Record(
    (
        Key("of", MEMBER, "the calls that it is asked about", required=True),
        Key("run", Text("`module:callable`"), "what a gate imports and asks, as `module:callable`", required=True),
        Key("within", Duration(), "how long its answer may take", "5s"),
    ),
    "a guard",
)


_SAID: Final = Record(
    (
        Key("of", Either((MEMBER, Listing(MEMBER))), "names, groups or globs", required=True),
        Key("where", CONDITION, "over `args`: only calls of which it is true"),
    ),
    "a mapping with `of` and `where`",
)
_MEMBERS: Final = Either((MEMBER, Listing(MEMBER), _SAID))
_ONE: Final = Either((MEMBER, _SAID))
_AMOUNT: Final = Either((Number(), Text("the name of a fact")))
_SHAPES: Final[dict[str, Shape]] = {
    "member": _MEMBERS,
    "members": Listing(_ONE),
    "count": Either((Whole(), Text("the name of a fact"))),
    "time": Duration(),
    "field": Text("a field"),
    "text": CONDITION,
    "amount": Number(),
    "limit": Either((*_AMOUNT.shapes, Mapping(_AMOUNT, "unit"))),
    "weights": Mapping(Either((Whole(), Text("a field"))), "name"),
    "back": Record(
        (
            Key("of", _MEMBERS, "the act that gives room back", required=True),
            Key("call", Text("a field"), "where it names the call that it refers to", required=True),
        ),
        "a mapping with `of` and `call`",
    ),
    "within": Either((Duration(), Record((Key("acts", Whole(1), "how many acts", required=True),), "`{acts: n}`"))),
    "history": Text("a history, as in `did(a) and count(b) >= 2`"),
    "per": Choice(("act", "day")),
    "zone": Text("a zone, as in `Europe/Berlin`"),
    "keep": Either((Choice(("all", "last")), Whole(1))),
    "pattern": PATTERN,
    "formula": FORMULA,
}  # fmt: skip


def _argument(argument: Argument) -> Shape:
    return _SHAPES[argument.kind]


def _head(template: Template) -> Key:
    if template.form == "members":
        return Key(template.name, Listing(_ONE), template.about, example="[a, b]")
    if template.form == "list":
        names = ", ".join(argument.name for argument in template.arguments)
        return Key(template.name, Listing(_ONE, len(template.arguments)), template.about, example=f"[{names}]")
    keys = tuple(
        Key(each.name, _argument(each), each.about, required=not each.optional) for each in template.arguments
    )
    if template.form == "text":
        # what stands beside such a rule may stand inside of it as well
        beside = tuple(key for key in RULE_OPTIONS.keys if key.name not in ("where", "on", "on_excess", "by"))
        whole = Record((*keys, *beside), "a mapping with `that` and options")
        return Key(template.name, Either((FORMULA, whole)), template.about, example='"G(!a -> O ?b)"')
    return Key(template.name, Record(keys, "a mapping of the rule's arguments"), template.about)


def _spelled(spelling: Spelling) -> Key:
    """Another name of a rule; where it counts, the number stands last."""
    about = f"another name for `{spelling.template}`, as rule files of acel-core have it"
    if spelling.arguments == ("of", "n"):
        return Key(spelling.name, Listing(Either((*_ONE.shapes, Whole())), 2), about, example="[a, 3]")
    size = 2 if spelling.arguments != ("of",) else 1
    return Key(spelling.name, Listing(_ONE, size), about, example="[a, b]" if size == 2 else "[a]")



RULES: Final = Rows(
    tuple(_head(template) for template in TEMPLATES.values()),
    RULE_OPTIONS,
    others=tuple(map(_spelled, SPELLINGS.values())),
)

DOCUMENT: Final = Record(
    (
        Key("duly", Exactly(EDITION), "the edition of this form", required=True),
        Key("contract", NAME, "the contract's name"),
        Key("version", Text("a version, in quotes where it looks like a number"), "the contract's version"),
        Key("mode", MODE, "shadow: everything runs, and what enforce would say is recorded", "enforce"),
        Key(
            "include", Listing(Text("the path of a document")),
            "documents that are merged into this one: paths from this file's folder, or classifiers that come with duly"
            " (`duly:lenient`, `duly:strict`)",
        ),
        Key("tools", Mapping(TOOL, "tool"), "the tools; when given, there are no others"),
        Key(
            "pin", Either((Flag(), Listing(NAME, unique=True))),
            "true: every tool is pinned; or the servers of which every tool is", "false",
        ),
        Key(
            "groups",
            Mapping(
                Either((
                    Listing(MEMBER),
                    Record(
                        (Key("effect", Choice(("none", "write")), "all tools of this effect", required=True),),
                        "a mapping with `effect`",
                    ),
                )),
                "group",
            ),
            "names for sets of tools, written `@name` where they are used",
        ),
        Key("aliases", Mapping(NAME, "other spelling"), "other spellings of declared names"),
        Key("labels", Mapping(LABEL, "label"), "what people say, tried in listed order"),
        Key("facts", Mapping(Anything(), "fact"), "values that conditions can name"),
        Key(
            "protocol", PROTOCOL,
            "which event may come next: a session-type string, state blocks (`protocol Name:` …), or transitions",
        ),
        Key("protocols", Mapping(PROTOCOL, "protocol"), "several protocols, each under its name"),
        Key("rules", RULES, "what must hold whatever the protocol"),
        Key("budget", Either((BUDGET, Listing(BUDGET))), "what may be used up: `calls`, and any unit"),
        Key("approvals", Listing(APPROVAL), "which calls wait for people"),
        Key(
            "withdraw_on", Choice(("order", "message")),
            "message: what waits for people is withdrawn when a person says something", "order",
        ),
        Key("guards", Listing(GUARD), "Python that a gate asks before a call; whatever is not a plain yes refuses"),
        Key("outside", Listing(MEMBER, unique=True), "tools that the protocols do not speak of"),
        Key(
            "breaker",
            Record(
                (
                    Key("refusals", Whole(1), "the refusal with this number halts", required=True),
                    Key("of", Choice(("in_a_row", "equal")), "which refusals are counted", "in_a_row"),
                    Key("per", Choice(("turn", "run", "session")), "with what counting begins anew", "session"),
                ),
                "a mapping with `refusals`, `of` and `per`",
            ),
            "when refusals halt the session",
        ),
        Key("on_violation", Choice(("refuse", "halt")), "whether a refusal ends the session", "refuse"),
        Key(
            "show", Listing(Choice(("reasons", "legal", "repair")), unique=True),
            "what of a refusal the model is told", "[reasons, legal, repair]",
        ),
        Key(
            "audit",
            Record(
                (Key("count", Choice(("attempted", "effective")), "which acts an audit judges", "attempted"),),
                "a mapping with `count`",
            ),
            "how recorded runs are read",
        ),
        Key("forever", Flag(), "accepts a loop without an end", "false"),
        Key("view", Choice(("agent", "client")), "client: the protocols write requests as something received", "agent"),
        Key(
            "undeclared", Choice(("error", "terminal")),
            "terminal: in state blocks, a target that is not declared ends the protocol", "error",
        ),
        Key(
            "examples",
            Listing(
                Record(
                    (
                        Key("text", Text(), "what somebody says", required=True),
                        Key(
                            "label", Text("a label", nullable=True), "the label it must get; `null`: none",
                            required=True,
                        ),
                    ),
                    "a mapping with `text` and `label`",
                )
            ),
            "texts and their labels, which `duly check` runs",
        ),
    ),
    "a contract document",
    planned=(
        "redact", "children", "checks", "actions", "terminal", "sees", "key_scope",
    ),
)  # fmt: skip
