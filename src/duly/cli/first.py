"""The text of a first contract: what was answered, each rule with a comment that says what it does."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from duly.notation.emit import scalar
from duly.values.errors import Diagnostic, DulyError, suggest

from .toolset import Described

_CAP: Final = re.compile(r"(.+)\.([^.=\s]+)\s*=\s*(\d{1,15}(?:\.\d{1,9})?)(?:\s+([A-Z]{3})(?:\s+in\s+(\S+))?)?")
_FIRST: Final = re.compile(r"(.+?)\s*->\s*(.+)")
CONSENT: Final = ("Yes", "Other")
"""The messages that `duly:strict` declares; a tool of that name leaves no room for them."""


class Cap(Struct, frozen=True):
    """The sum of a field stays within a limit; with ``unit`` only sums in that currency are allowed, which ``where``
    names."""

    tool: str
    field: str
    limit: str
    unit: str = ""
    where: str = "currency"


class Answers(Struct, frozen=True):
    """What a first contract is to say. ``consent`` lets nothing change before the user has said yes,
    which with ``lenient`` is any affirmative word."""

    name: str
    tools: tuple[Described, ...]
    origin: str
    consent: bool = True
    firsts: tuple[tuple[str, str], ...] = ()
    caps: tuple[Cap, ...] = ()
    approvals: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    mode: str = "shadow"
    lenient: bool = False


def cap_of(text: str, names: Sequence[str]) -> Cap:
    """A cap as it is written on the command line: ``refund.amount=500 USD in currency``; ``names`` are the tools."""
    said = _CAP.fullmatch(text.strip())
    if said is None:
        help = "write TOOL.FIELD=LIMIT, as in `refund.amount=500`, or `refund.amount=500 USD in currency`"
        raise DulyError([Diagnostic("cap", f"`{text[:80]}` is no cap", help=help)])
    whole, field, limit, unit, where = said.groups()
    # both names and fields may hold points; the longest name that there is decides
    whole = f"{whole}.{field}"
    tool = max((name for name in names if whole.startswith(f"{name}.")), key=len, default=said[1])
    field = whole[len(tool) + 1 :]
    return Cap(tool, field, limit, unit or "", where or "currency")


def first_of(text: str) -> tuple[str, str]:
    """What must come first, as it is written on the command line: ``find -> refund``."""
    said = _FIRST.fullmatch(text.strip())
    if said is None:
        help = "write FIRST -> THEN, as in `find -> refund`"
        raise DulyError([Diagnostic("order", f"`{text[:80]}` is no order", help=help)])
    return said[1], said[2]


def changed(tools: Sequence[Described], names: Sequence[str]) -> tuple[Described, ...]:
    """The tools, of which exactly these change something; raises DulyError for names that are none of them."""
    known = [tool.name for tool in tools]
    _check(names, known)
    return tuple(
        Described(tool.name, "write" if tool.name in names else "none", True, tool.idempotent and tool.name in names,
                  tool.arguments)
        for tool in tools
    )  # fmt: skip


def contract_text(answers: Answers) -> str:
    """The contract as commented YAML; raises DulyError where an answer names no tool."""
    tools = answers.tools
    names = [tool.name for tool in tools]
    _check([each for pair in answers.firsts for each in pair], names)
    _check([*(cap.tool for cap in answers.caps), *answers.approvals], names)
    lines = [
        "# What this agent may do. Change it, run `duly check` and, on recorded runs, `duly audit`; then enforce it.",
        "duly: 1",
        f"contract: {scalar(answers.name)}",
        'version: "0.1"',
        "# shadow: everything runs, and what would be refused is recorded. enforce: it is refused.",
        f"mode: {answers.mode}",
        "",
        f"# The tools{answers.origin}. There are no others: a call of another tool is refused.",
        "# `effect` says whether a tool changes anything; what is marked as a guess is to be checked.",
        '# `error` says how a failed call is known by its result: {effect: write, error: "has(result.error)"}.',
        "tools:",
        *(_declared(tool) for tool in tools),
    ]
    writes = any(tool.effect == "write" for tool in tools)
    consent = answers.consent and writes and not {*CONSENT} & {*names}
    if writes:
        lines += ["", "# Names for sets of tools, written `@change` where they are used.", "groups:",
                  "  change: {effect: write}"]  # fmt: skip
    else:
        lines += ["", "# No tool seems to change anything, so nothing has to wait for a yes."]
    if consent:
        lines += ["", "# How a yes is known: `duly:lenient` takes any affirmative word, for a first look at old runs.",
                  "# Before anything is enforced, it is to be `duly:strict`, which takes a plain yes only.",
                  f'include: ["duly:{"lenient" if answers.lenient else "strict"}"]']  # fmt: skip
    rules = _rules(answers, consent)
    if rules:
        lines += ["", "# What must hold, whatever the order of everything else.", "rules:", *rules]
    if answers.approvals:
        lines += ["", "# Each of these calls waits until somebody has decided: `duly pending`, `duly approve`."]
        lines.append("approvals:")
        by = f", by: [{', '.join(map(scalar, answers.by))}]" if answers.by else ""
        lines += [f"  - {{of: {scalar(name)}, ask: \"May this be done?\"{by}}}" for name in answers.approvals]
    if consent:
        lines += ["", "# What people write, and what it is called. `duly check` runs these.", "examples:",
                  "  - {text: \"Yes\", label: Yes}", "  - {text: \"What would that cost?\", label: Other}"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _declared(tool: Described) -> str:
    more = ", idempotent: true" if tool.idempotent else ""
    guess = "" if tool.said else "  # a guess by its name"
    return f"  {scalar(tool.name)}: {{effect: {tool.effect}{more}}}{guess}"


def _rules(answers: Answers, consent: bool) -> list[str]:
    lines: list[str] = []
    if consent:
        lines += ["  # Nothing is changed before the user has said yes.", '  - must_precede: [Yes, "@change"]']
    for first, then in answers.firsts:
        lines += ["  # The second is refused until the first has succeeded.",
                  f"  - must_precede: [{scalar(first)}, {scalar(then)}]"]  # fmt: skip
    for cap in answers.caps:
        of = f"of: {scalar(cap.tool)}, field: {scalar(cap.field)}"
        if cap.unit:
            lines += [
                f"  # The exact sum stays within {cap.limit} {cap.unit} a session; any other currency is refused.",
                f"  - at_most_total: {{{of}, units: {scalar(cap.where)}, limit: {{{cap.unit}: {cap.limit}}}}}",
            ]
        else:
            lines += [f"  # The exact sum stays within {cap.limit} a session; what has no number there is refused.",
                      f"  - at_most_total: {{{of}, limit: {cap.limit}}}"]  # fmt: skip
    return lines


def _check(names: Sequence[str], known: Sequence[str]) -> None:
    """Raises DulyError for names that are no tools, or that would stand for something else in a rule."""
    found = [
        Diagnostic("name", f"`{name[:80]}` is none of the tools",
                   help=suggest(name, known) or f"tools: {', '.join(known)[:200]}")
        for name in names if name not in known
    ]  # fmt: skip
    found += [
        Diagnostic("name", f"`{name[:80]}` reads as a group or a glob in a rule", help="write the rule by hand")
        for name in names if name in known and (name.startswith("@") or "*" in name)
    ]  # fmt: skip
    if found:
        raise DulyError(found)
