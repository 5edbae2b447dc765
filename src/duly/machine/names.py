"""What names mean in a contract: aliases, groups, globs, servers."""

from duly.values.errors import Diagnostic, suggest
from duly.values.source import Span

from .fields import written
from .glob import fits
from .terms import Terms


class Names:
    """Resolves members (a name, ``@group`` or a glob) to the names they stand for; collects what is wrong.

    ``known`` are all names that the contract declares or speaks of; ``closed`` says that no other act exists.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.faults: list[Diagnostic] = []
        self.tools = dict(terms.tools or {})
        self.messages = dict(terms.labels)
        self.facts = written(terms.rules) | terms.facts.keys()
        self._groups: dict[str, frozenset[str]] = {}
        for name in self.tools.keys() & self.messages.keys():
            self._fault(
                "name", f"`{name}` is declared as a tool and as a message", self.tools[name].span,
                "tools and messages are two kinds of names; rename one",
            )  # fmt: skip
        for alias, name in terms.aliases.items():
            if alias in self.tools or alias in self.messages:
                self._fault(
                    "name", f"the alias `{alias}` is also declared under its own name", terms.span, "rename one"
                )
            if name in terms.aliases:
                self._fault(
                    "name", f"the alias `{alias}` stands for another alias, `{name}`", terms.span, "name the tool"
                )
        for name in terms.groups:
            self.group(name, terms.span)

    def canonical(self, name: str) -> str:
        return self.terms.aliases.get(name, name)

    def members(self, name: str, span: Span | None = None) -> frozenset[str]:
        """The names that a member stands for; empty, with a diagnostic, where it stands for nothing."""
        if not name:
            self._fault("name", "an empty name stands for nothing", span, "name a tool, a message, a group or a glob")
            return frozenset()
        if name.startswith("@"):
            inner = name[1:]
            return (
                self._glob(inner, span) if "*" in inner and inner not in self.terms.groups else self.group(inner, span)
            )
        if "*" in name:
            return self._glob(name, span)
        return frozenset((self.canonical(name),))

    def group(self, name: str, span: Span | None = None) -> frozenset[str]:
        """The members of a group, those of the groups in it included; a group inside itself adds nothing."""
        if name not in self._groups:
            # on a list of our own, so that no chain of groups is too long
            todo, loop, before = [name], False, len(self._groups)
            path: list[str] = []
            within: set[str] = set()
            while todo:
                here = todo[-1]
                if path and path[-1] == here:
                    self._groups[path.pop()] = self._select(here, span)
                    within.discard(here)
                if here in self._groups or here in within:
                    loop = loop or here in within
                    todo.pop()
                    continue
                path.append(here)
                within.add(here)
                todo += self._inner(here)
            if loop:
                self._close()
            for here in [*self._groups][before:]:
                if not self._groups[here] and here in self.terms.groups:
                    help = "name a tool, or an effect that a tool has"
                    self._fault("group", f"the group `{here}` has no member", span, help)
        return self._groups[name]

    def _inner(self, name: str) -> list[str]:
        """The groups that a group names."""
        selection = self.terms.groups.get(name)
        if not isinstance(selection, (list, tuple)):
            return []
        inner = [item[1:] for item in selection if item.startswith("@")]
        return [item for item in inner if "*" not in item or item in self.terms.groups]

    def _select(self, name: str, span: Span | None) -> frozenset[str]:
        if name not in self.terms.groups:
            near = suggest(name, self.terms.groups) if len(self.faults) < 100 else ""
            self._fault("group", f"unknown group `{name}`", span, near or "declare it under `groups`")
            return frozenset()
        selection = self.terms.groups[name]
        if isinstance(selection, dict):
            effect = selection.get("effect")
            found = frozenset(name for name, tool in self.tools.items() if tool.effect == effect)
        else:
            inner = set(self._inner(name))
            found = frozenset().union(
                *(
                    self._groups.get(item[1:], frozenset())
                    if item[:1] == "@" and item[1:] in inner
                    else self.members(item, span)
                    for item in selection
                )
            )
        return found

    def _close(self) -> None:
        """Groups that name each other have the same members, whichever was asked for first."""
        grew = True
        while grew:
            grew = False
            for name, members in self._groups.items():
                whole = members.union(*(self._groups.get(item, frozenset()) for item in self._inner(name)))
                if whole != members:
                    self._groups[name], grew = whole, True

    def _glob(self, pattern: str, span: Span | None) -> frozenset[str]:
        found = frozenset(name for name in (*self.tools, *self.messages) if fits(pattern, name))
        if not found:
            help = "globs expand where tools are declared" if self.tools else "declare the tools under `tools`"
            self._fault("glob", f"nothing is called `{pattern}`", span, help)
        return found

    def _fault(self, code: str, message: str, span: Span | None, help: str) -> None:
        self.faults.append(Diagnostic(code, message, span=span, help=help))
