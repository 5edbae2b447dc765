"""What names mean in a contract: aliases, groups, globs, servers."""

from typing import Any

from duly.values.errors import Diagnostic, suggest
from duly.values.source import Span

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
        known = self._groups.get(name)
        if known is not None:
            return known
        self._groups[name] = frozenset()  # a group inside itself adds nothing
        if name not in self.terms.groups:
            self._fault(
                "group",
                f"unknown group `{name}`",
                span,
                (suggest(name, self.terms.groups) if len(self.faults) < 100 else "") or "declare it under `groups`",
            )
            return frozenset()
        found = self._select(self.terms.groups[name], span)
        if not found:
            self._fault("group", f"the group `{name}` has no member", span, "name a tool, or an effect that a tool has")
        self._groups[name] = found
        return found

    def _select(self, selection: Any, span: Span | None) -> frozenset[str]:
        if isinstance(selection, dict):
            effect = selection.get("effect")
            return frozenset(name for name, tool in self.tools.items() if tool.effect == effect)
        return frozenset().union(*(self.members(item, span) for item in selection))

    def _glob(self, pattern: str, span: Span | None) -> frozenset[str]:
        # a glob matches whole names, and `*` does not cross `/`
        import re

        expression = re.compile("[^/]*".join(re.escape(part) for part in pattern.split("*")))
        found = frozenset(name for name in (*self.tools, *self.messages) if expression.fullmatch(name))
        if not found:
            help = "globs expand where tools are declared" if self.tools else "declare the tools under `tools`"
            self._fault("glob", f"nothing is called `{pattern}`", span, help)
        return found

    def _fault(self, code: str, message: str, span: Span | None, help: str) -> None:
        self.faults.append(Diagnostic(code, message, span=span, help=help))
