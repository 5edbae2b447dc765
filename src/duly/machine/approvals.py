"""Approvals, compiled: which calls wait for people, under which condition, and who may say yes."""

from msgspec import Struct

from duly.values.definition import is_digest
from duly.values.errors import Diagnostic, DulyError, nearest, suggest

from .condition import Condition
from .fields import unfounded
from .names import Names
from .terms import Approval, Stand, Terms

LONGEST = 1e15
"""Seconds, some 30 million years: what lasts longer is no length of time."""

ALL = "*"
"""Among the servers whose tools are pinned: every tool."""

SEEN = ("args", "facts", "registers")
"""What a condition on an act may name."""


class Asker(Struct, frozen=True):
    """One approval over the tools ``names``; ``when`` None wants a yes for each of their calls."""

    id: str
    approval: Approval
    names: frozenset[str]
    when: Condition | None

    def admits(self, name: str, program: bool = False) -> bool:
        """Whether somebody of this name may decide; a program may only where the contract names it."""
        return name in self.approval.by if self.approval.by else not program

    def shown(self) -> str:
        """Who is to say yes, in words."""
        who = " or ".join(self.approval.by) or "a person"
        return who if self.approval.need == 1 else f"{self.approval.need} of {', '.join(self.approval.by) or 'a group'}"


def text_of(approval: Approval) -> str:
    """The canonical text of an approval, which is its id unless it is given one."""
    parts = [approval.of, *([f"when={approval.when}"] if approval.when is not None else [])]
    above = approval.above
    if above is not None:
        parts.append(f"above={above.total} {above.limit}" + (f" same {above.same}" if above.same is not None else ""))
    parts += [f"except={name}" for name in approval.excepting]
    return f"approval({', '.join(parts)})"


def askers(terms: Terms, names: Names, taken: frozenset[str], faults: list[Diagnostic]) -> tuple[Asker, ...]:
    """The approvals of a contract; what has no clear meaning is appended to ``faults``. ``taken`` are ids of rules."""
    found: list[Asker] = []
    for approval in terms.approvals:
        span, id = approval.span, approval.id or text_of(approval)
        wrong = [*_misfits(approval)]
        if id in taken or any(asker.id == id for asker in found):
            wrong.append((f"two of the contract's rules and approvals are called `{id}`", "give one another `id`"))
        members = names.members(approval.of, span)
        without = frozenset().union(*(names.members(name, span) for name in approval.excepting))
        said = sorted(members & set(names.messages))
        if said:
            wrong.append((f"`{said[0]}` is a message; approvals are about calls", "name a tool"))
        when = None
        if approval.when is not None:
            try:
                when = Condition(approval.when, names=SEEN, span=span, path="approvals")
            except DulyError as error:
                faults.extend(error.diagnostics)
            else:
                faults += unfounded(approval.when, members - without, names.tools, names.facts, span, "approvals")
        faults += [Diagnostic("approval", message, span=span, help=help) for message, help in wrong]
        found.append(Asker(id, approval, members - without, when))
    return tuple(found)


def pinned(terms: Terms, faults: list[Diagnostic]) -> dict[str, Asker]:
    """By label, who must say yes to acts of a pinned tool while its definition is not the accepted one.

    They are those who may decide anything here: all that approvals name, or any person where one names nobody.
    """
    by = tuple(dict.fromkeys(name for approval in terms.approvals for name in approval.by))
    if not all(approval.by for approval in terms.approvals):
        by = ()
    found: dict[str, Asker] = {}
    servers = {name.partition("/")[0] for name in terms.tools or {} if "/" in name}
    for server in terms.pin:
        if server != ALL and server not in servers:
            help = suggest(server, servers) or f"the tools of a server are declared as `{server[:40]}/…`"
            message = f"no declared tool of the server `{server[:80]}`"
            faults.append(Diagnostic("tool", message, span=terms.span, help=help))
    for name, tool in (terms.tools or {}).items():
        whole = ALL in terms.pin or ("/" in name and name.partition("/")[0] in terms.pin)
        if not tool.pin and not whole:
            continue
        if type(tool.pin) is not bool and not is_digest(tool.pin):
            help = "write `true`, or the digest that a listing shows, `sha256:` and 64 digits"
            faults.append(Diagnostic("tool", f"the pin of `{name}` is no digest", span=tool.span, help=help))
            continue
        ask = f"The definition of `{name}` has changed since it was accepted. Run it all the same?"
        approval = Approval(name, ask=ask, by=by, stand="none", id=f"pin({name})", span=tool.span)
        found[name] = Asker(approval.id, approval, frozenset((name,)), None)
    return found


def _misfits(approval: Approval) -> list[tuple[str, str]]:
    found = []
    for name in ("by", "excepting"):
        # a text holds its parts, and would let in whoever is called like one of them
        if not isinstance(getattr(approval, name), (list, tuple)):
            found.append((f"`{name.removesuffix('ting')}` is a list of names", "write it in brackets"))
            return found
    if type(approval.need) is not int or approval.need < 1:
        found.append(("`need` is a whole number from 1", "say how many people must say yes"))
    elif approval.by and approval.need > len(set(approval.by)):
        found.append((f"{approval.need} people must say yes, and {len(set(approval.by))} may", "name more under `by`"))
    if any(not name.strip() for name in approval.by):
        found.append(("a decider without a name", "name who may decide"))
    for what, seconds in (
        ("expires", approval.expires),
        ("lasts", approval.stand.lasts if isinstance(approval.stand, Stand) else None),
    ):
        if seconds is not None and not 0 < seconds <= LONGEST:
            found.append((f"`{what}` is a positive time", "say for example `5m`"))
    if not isinstance(approval.stand, Stand) and approval.stand not in ("exact", "none"):
        near = nearest(str(approval.stand), ("exact", "none")) or "exact"
        found.append((f"unknown width `{approval.stand}` of a standing yes", f"did you mean `{near}`?"))
    if approval.no not in ("call", "turn"):
        found.append((f"unknown reach `{approval.no}` of a no", "a no covers the equal `call`, or the `turn`"))
    return found
