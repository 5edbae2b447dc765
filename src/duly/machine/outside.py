"""Guards that a contract names: which calls they are asked about. They are looked up and asked by a gate."""

import re
from typing import Final

from duly.values.errors import Diagnostic

from .approvals import LONGEST
from .names import Names
from .terms import Terms

_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)


def outsiders(terms: Terms, names: Names, faults: list[Diagnostic]) -> dict[str, tuple[str, ...]]:
    """The names of the guards of each label; what has no clear meaning is appended to ``faults``."""
    found: dict[str, tuple[str, ...]] = {}
    for guard in terms.guards:
        wrong = []
        if type(guard.run) is not str or _NAME.fullmatch(guard.run) is None:
            wrong.append((f"`{guard.run!s:.80}` is no name of a guard", "say `module:callable`"))
        if type(guard.within) not in (int, float) or not 0 < guard.within <= LONGEST:
            wrong.append(("`within` is a positive time", "say for example `5s`"))
        members = names.members(guard.of, guard.span)
        said = sorted(members & set(names.messages))
        if said:
            wrong.append((f"`{said[0]}` is a message; guards are asked about calls", "name a tool"))
        faults += [Diagnostic("guard", message, span=guard.span, help=help) for message, help in wrong]
        for label in members:
            found[label] = tuple(dict.fromkeys((*found.get(label, ()), guard.run)))
    return found
