"""Compiles the terms of a contract: protocols to rows, rules to bits and counts, one plan per label.

Joint products are never built; equal questions of several rules become one cell.
"""

from collections.abc import Iterator

from msgspec import Struct, structs

from duly.values.errors import Diagnostic, DulyError
from duly.values.expr import exact, kind
from duly.values.plain import Malformed, plain

from .above import sums
from .approvals import Asker, askers, pinned
from .beyond import beyond, lasting
from .budgets import budgets, paces
from .cells import cells
from .fields import unfounded
from .fuse import fused
from .ir import EMPTY, NOTHING, Hearing, Line, Plan, State
from .names import Names
from .outside import outsiders
from .rows import expanded, protocols, reads_of, renamed, said_of, straight_of
from .rules import TEMPLATES, misfits, text_of
from .templates import Below, Bit, Count, Maker, Needs
from .terms import Approval, Rule, Terms, Tool
from .watch.collect import Teacher
from .watch.same import Same
from .watch.value import Ensures
from .watch.watch import Watch


class Built(Struct):
    """The compiled parts of a contract."""

    acts: dict[str, Plan]
    hearings: dict[str, Hearing]
    unnamed: Hearing | None
    lines: tuple[Line, ...]
    rules: dict[str, Rule]
    bits: tuple[Bit, ...]
    counts: tuple[Count, ...]
    turn_bits: int
    run_bits: int
    start: State
    closed: bool
    owners: dict[str, tuple[str, ...]]
    turned: bool
    askers: tuple[Asker, ...]
    pins: dict[str, Asker]
    watches: tuple[Watch, ...]
    everywhere: tuple[int, ...]
    heeds: tuple[int, ...]
    paces: dict[int, list[int]]


def build(terms: Terms) -> Built:
    """Raises DulyError with everything that has no clear meaning."""
    names = Names(terms)
    faults = names.faults
    rules = _ids(terms.rules, faults)
    graphs = [expanded(graph, names) for graph in renamed(terms.protocols)]
    rows, lines, cursors = protocols(graphs, names, terms)
    taught = frozenset(rule.args["fact"] for rule in rules if rule.template == "learns")
    bits, counts, needs, caps, watches = _cells(rules, names, terms)
    closed = terms.tools is not None or bool(terms.protocols)
    if terms.breaker is not None and (type(terms.breaker.refusals) is not int or terms.breaker.refusals < 1):
        faults.append(Diagnostic("breaker", "a breaker halts at a refusal from the first on", span=terms.span))
    for declared in names.tools.values():
        for outcome in {"error", "~"} & declared.outcomes.keys():
            message = f"`{outcome}` is no outcome that `{declared.name}` can name"
            help = "what is an error is said under `error`" if outcome == "error" else "say it under `uncertain`"
            faults.append(Diagnostic("tool", message, span=declared.span, help=help))
        faults += [Diagnostic("tool", *said, span=declared.span) for said in _bounds(declared)]
        for key, text in _asked(declared):
            where = f"tools.{declared.name}.{key}"
            faults += unfounded(text, (declared.name,), names.tools, names.facts, declared.span, where)
    try:
        plain(terms.facts)
    except Malformed as error:
        faults.append(Diagnostic("facts", str(error).replace("`payload", "`facts"), span=terms.span))
    outside = {name for pattern in terms.outside for name in names.members(pattern, terms.span)}
    people = askers(terms, names, frozenset(rule.id for rule in rules), faults)
    watches += sums(people, names, terms, taught)
    people += _excess(rules, watches)
    pins = pinned(terms, faults)
    purses = budgets(terms, names, frozenset(rule.id for rule in rules))
    watches += purses
    guards = outsiders(terms, names, faults)
    if faults:
        raise DulyError(faults)

    under: dict[str, tuple[int, ...]] = {}
    for number, asker in enumerate(people):
        for label in asker.names if asker.approval.above is None else ():
            under[label] = (*under.get(label, ()), number)
    spoken = {label for line in lines for label in line.acts}
    asked = {name for need in needs for name in need[0]} | {name for cap in caps for name in cap[0]}
    watched, everywhere = _watched(watches)
    heeds = tuple(number for number in everywhere if watches[number].heeds)
    asked |= under.keys() | guards.keys() | watched.keys()
    heard = {label for line in lines for label in line.results}
    won = {name for bit in bits for name in bit.names}
    # what protocols only ever learn is a message, unless it is declared a tool; nobody can call it, even if rules ask
    learnt = heard - spoken - outside
    labels = set(names.tools) | ((spoken | outside | asked | won) - set(names.messages) - learnt)
    if terms.tools is not None:
        # the set of tools is closed: what only protocols name can be said, what only rules name is unknown
        labels = set(names.tools) | (spoken - set(names.messages))
    results = {
        label: tuple(rows[key] for key in (("?", label, line.number) for line in lines) if key in rows)
        for label in heard
    }
    turned = terms.breaker is not None or any(cell.scope != "session" for cell in bits)
    turned = turned or bool(people) or bool(pins) or any(watch.scope != "session" for watch in watches)
    turned = turned or any(count.scope != "session" for count in counts)
    asks = _by_label(bits, counts, needs, caps)
    acts: dict[str, Plan] = {}
    for label in sorted(labels | set(names.messages)):
        mine = tuple(rows[key] for key in (("!", label, line.number) for line in lines) if key in rows)
        ask = asks.get(label, _NOTHING)
        tightest: dict[int, int] = {}
        for slot, limit, _ in ask.caps:
            tightest[slot] = min(limit, tightest.get(slot, limit))
        tool = names.tools.get(label)
        # a declared tool that no protocol speaks of, and that is not outside, is closed out by every protocol
        closed_out = tool is not None and not mine and label not in outside and label not in heard
        told = label in names.messages or (terms.tools is not None and tool is None)
        straight = straight_of(mine, lines)
        looked = tuple(sorted({*watched.get(label, ()), *everywhere}))
        direct = (
            not closed_out
            and not told
            and label not in under
            and label not in guards
            and (straight is not None or not mine)
            and not (tool is not None and (tool.schema or tool.paths or tool.clamp))
            and not (tool is not None and tool.effect == "write" and not tool.idempotent)
        )
        judged = tool is not None and bool(tool.error or tool.outcomes or tool.uncertain)
        acts[label] = Plan(
            label=label,
            tool=tool,
            message=told,
            rows=mine,
            silent=tuple(line.number for line in lines) if closed_out else (),
            want=sum(1 << number for number in {bit for bit, _ in ask.needs}),
            wins=ask.wins,
            limits=tuple(tightest.items()),
            takes=tuple(ask.takes),
            needs=tuple(ask.needs),
            caps=tuple(ask.caps),
            straight=straight,
            plain=direct and not looked,
            light=direct and bool(looked) and not any("calls" in purse.limits for purse in purses),
            said=said_of(straight)
            if tool is None and not (ask.needs or ask.caps or ask.takes or everywhere or label in watched)
            else None,
            answer=None if told or everywhere or label in watched else straight_of(results.get(label, ()), lines),
            still=not (told or looked or mine or results.get(label)),
            judged=judged,
            reads=judged or reads_of(results.get(label, ())),
            moved=tuple(row.protocol for row in mine),
            checked=tool is not None and bool(tool.schema or tool.paths or tool.clamp),
            once=tool is not None and tool.effect == "write" and not tool.idempotent,
            asks=under.get(label, ()),
            guards=guards.get(label, ()),
            watches=looked,
            fused=fused(watches, looked, label),
            heeds=tuple(number for number in looked if watches[number].heeds),
            ensured=tuple(number for number in watched.get(label, ()) if isinstance(_inner(watches[number]), Ensures)),
        )
    hearings = {}
    for label in sorted(heard | set(names.messages) | won | (watched.keys() - names.tools.keys())):
        mine = results.get(label, ())
        straight = straight_of(mine, lines)
        mind = tuple(sorted({*watched.get(label, ()), *heeds}))
        said = None if turned or label in names.tools or mind else said_of(straight)
        mindful = tuple(number for number in mind if watches[number].heeds)
        hearings[label] = Hearing(
            label, mine, asks.get(label, _NOTHING).wins, straight, said,
            tuple(number for number in mind if number not in mindful), mindful,
        )  # fmt: skip
    unnamed = tuple(rows[key] for key in (("?", None, line.number) for line in lines) if key in rows)
    unnamed_hearing = Hearing("Unrecognized", unnamed, heeds=heeds) if unnamed else None
    for alias, name in terms.aliases.items():
        if name in acts:
            acts[alias] = acts[name]
        if name in hearings:
            hearings[alias] = hearings[name]
    owners: dict[str, tuple[str, ...]] = {}
    for label in acts:
        bare = label.rpartition("/")[2]
        if bare != label:
            owners[bare] = (*owners.get(bare, ()), label)
    return Built(
        acts=acts,
        hearings=hearings,
        unnamed=unnamed_hearing,
        lines=lines,
        rules={rule.id: rule for rule in rules},
        bits=bits,
        counts=counts,
        turn_bits=sum(1 << number for number, bit in enumerate(bits) if bit.scope == "turn"),
        run_bits=sum(1 << number for number, bit in enumerate(bits) if bit.scope != "session"),
        start=State(
            cursors=cursors, movers=(None,) * len(cursors), facts=0, data=cells((0,) * len(counts)),
            registers=EMPTY, open=EMPTY, at=0.0, serial=0, more=NOTHING, books=cells(watch.start for watch in watches),
        ),
        closed=closed,
        owners=owners,
        turned=turned,
        askers=people,
        pins=pins,
        watches=watches,
        everywhere=everywhere,
        heeds=heeds,
        paces=paces(lines, acts, hearings, unnamed_hearing) if any("calls" in purse.limits for purse in purses) else {},
    )  # fmt: skip


def _asked(tool: Tool) -> Iterator[tuple[str, str]]:
    """The conditions by which the results of a tool are judged, by their places."""
    if tool.error:
        yield "error", tool.error
    yield from ((f"outcomes.{name}", text) for name, text in tool.outcomes.items())
    if tool.uncertain:
        yield "uncertain", tool.uncertain


def _bounds(tool: Tool) -> Iterator[tuple[str]]:
    """What `paths` and `clamp` of a tool cannot mean."""
    for name, base in tool.paths.items():
        if base is not None and (not base.startswith("/") or "\0" in base):
            yield (f"relative paths in `{name}` of `{tool.name}` need a whole path to start from, not `{base[:40]}`",)
    for name, bounds in tool.clamp.items():
        numbers = [bounds[end] for end in ("min", "max") if bounds.get(end) is not None]
        if any(kind(number) != "number" for number in numbers):
            yield (f"the bounds of `{name}` of `{tool.name}` are numbers",)
        elif len(numbers) == 2 and exact(numbers[0]) > exact(numbers[1]):
            yield (f"no number lies between the bounds of `{name}` of `{tool.name}`",)


class Asked(Struct):
    """What bits and counts have to do with one label."""

    needs: list[tuple[int, str]] = []
    caps: list[tuple[int, int, str]] = []
    takes: list[int] = []
    wins: int = 0


_NOTHING = Asked()


def _by_label(
    bits: tuple[Bit, ...],
    counts: tuple[Count, ...],
    needs: list[tuple[frozenset[str], Bit, str]],
    caps: list[tuple[frozenset[str], Count, int, str]],
) -> dict[str, Asked]:
    """One pass over the rules, so that building stays linear in what they name."""
    asks: dict[str, Asked] = {}
    for number, bit in enumerate(bits):
        for label in bit.names:
            asks.setdefault(label, Asked()).wins |= 1 << number
    for number, count in enumerate(counts):
        for label in count.names:
            asks.setdefault(label, Asked()).takes.append(number)
    numbers: dict[Bit | Count, int] = {bit: number for number, bit in enumerate(bits)}
    numbers.update((count, number) for number, count in enumerate(counts))
    for of, bit, rule in needs:
        number = numbers[bit]
        for label in of:
            asks.setdefault(label, Asked()).needs.append((number, rule))
    for of, count, limit, rule in caps:
        number = numbers[count]
        for label in of:
            asks.setdefault(label, Asked()).caps.append((number, limit, rule))
    return asks


def _ids(rules: tuple[Rule, ...], faults: list[Diagnostic]) -> list[Rule]:
    named: list[Rule] = []
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.template not in TEMPLATES:
            faults.append(Diagnostic("rule", f"unknown rule `{rule.template}`", span=rule.span))
            continue
        wrong = misfits(rule)
        if wrong:
            faults += [Diagnostic("rule", message, span=rule.span) for message in wrong]
            continue
        text = rule.id or text_of(rule)
        if text in seen:
            same = structs.replace(seen[text], span=None) == structs.replace(rule, id=text, span=None)
            help = "one of them can go" if same else "give one of them another `id`"
            faults.append(Diagnostic("rule", f"two rules are called `{text}`", span=rule.span, help=help))
            continue
        seen[text] = structs.replace(rule, id=text)
        named.append(seen[text])
    return named


def _cells(
    rules: list[Rule], names: Names, terms: Terms
) -> tuple[
    tuple[Bit, ...],
    tuple[Count, ...],
    list[tuple[frozenset[str], Bit, str]],
    list[tuple[frozenset[str], Count, int, str]],
    tuple[Watch, ...],
]:
    bits: dict[Bit, None] = {}
    counts: dict[Count, None] = {}
    needs: list[tuple[frozenset[str], Bit, str]] = []
    caps: list[tuple[frozenset[str], Count, int, str]] = []
    watches: list[Watch] = []
    learnt = frozenset(rule.args["fact"] for rule in rules if rule.template == "learns")
    teachers: dict[str, str] = {}
    for rule in rules:
        make = Maker(rule, names, terms.facts, learnt)
        ask = TEMPLATES[rule.template].make(make)
        match ask:
            case Needs(of, bit):
                bits.setdefault(bit)
                needs.append((of, bit, rule.id))
            case Below(of, count, limit):
                counts.setdefault(count)
                caps.append((of, count, limit, rule.id))
            case _:
                if isinstance(ask, Teacher):
                    other = teachers.setdefault(ask.name, rule.id)
                    if other != rule.id:
                        make.fault(f"the fact `{ask.name}` is learnt by two rules", "a fact has one writer")
                    for said in ask.misfits(terms.facts.get(ask.name)):
                        make.fault(*said)
                watches.append(beyond(make, make.keyed(ask), terms.name, lasting(rule)))
    return tuple(bits), tuple(counts), needs, caps, tuple(watches)


def _watched(watches: tuple[Watch, ...]) -> tuple[dict[str, tuple[int, ...]], tuple[int, ...]]:
    """The rules with books by the names that they are about, and those that look at every act."""
    found: dict[str, list[int]] = {}
    for number, watch in enumerate(watches):
        for label in watch.labels:
            found.setdefault(label, []).append(number)
    return (
        {label: tuple(numbers) for label, numbers in found.items()},
        tuple(number for number, watch in enumerate(watches) if watch.everywhere),
    )


def _excess(rules: list[Rule], watches: tuple[Watch, ...]) -> tuple[Asker, ...]:
    """Caps that ask people for what would exceed them."""
    asking = {rule.id: rule for rule in rules if rule.on_excess == "ask"}
    return tuple(
        Asker(watch.id, Approval(watch.id, by=tuple(asking[watch.id].by)), frozenset(), None)
        for watch in watches
        if watch.id in asking
    )


def _inner(watch: Watch) -> Watch:
    return watch.inner if isinstance(watch, Same) else watch
