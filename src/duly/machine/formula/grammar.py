"""The grammar of formulas for lark, and what is done at each rule; imported at the first parse only.

Importing lark costs 46 ms, so nothing that `import duly` reaches may import this file.
"""

from collections.abc import Iterator
from typing import Any

from lark import Lark, Token
from lark.lexer import Lexer
from lark.parsers.lalr_interactive_parser import InteractiveParser

from .node import Among, Atom, Binary, Count, Did, Node, Unary

# From loosest to tightest; `->` and the operators between two formulas group to the right, the others to the left.
GRAMMAR = """
start: equals
?equals: implies | equals EQUALS implies -> binary
?implies: or | or IMPLIES implies -> binary
?or: and | or OR and -> binary
?and: between | and AND between -> binary
?between: before | before BINARY between -> binary
?before: one | UNARY before -> unary
?one: ATOM -> leaf | TRUTH -> leaf | OPEN equals SHUT -> group
    | DID OPEN_TERM ATOM SHUT -> did | COUNT OPEN_TERM ATOM SHUT COMPARE NUMBER -> count
    | ALL OPEN_TERM names SHUT -> among | ANY_OF OPEN_TERM names SHUT -> among
    | AT_LEAST OPEN_TERM NUMBER COMMA names SHUT -> among | AT_MOST OPEN_TERM NUMBER COMMA names SHUT -> among
names: ATOM -> first | names COMMA ATOM -> more
%declare EQUALS IMPLIES OR AND BINARY UNARY ATOM TRUTH OPEN SHUT OPEN_TERM COMMA COMPARE NUMBER
%declare DID COUNT ALL ANY_OF AT_LEAST AT_MOST
"""


class Writer:
    """Callbacks of the grammar, by rule: each appends its node to a flat list, and gives the node's place."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.nodes: list[Node] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def _put(self, node: Node, start: int, end: int) -> int:
        self.nodes.append(node)
        self.starts.append(start)
        self.ends.append(end)
        return len(self.nodes) - 1

    def start(self, children: Any) -> int:
        return children[0]  # type: ignore[no-any-return]

    def group(self, children: Any) -> int:
        place: int = children[1]
        self.starts[place], self.ends[place] = children[0].start, children[2].end
        return place

    def leaf(self, children: Any) -> int:
        return self._put(children[0].value, children[0].start, children[0].end)

    def unary(self, children: Any) -> int:
        op, of = children
        return self._put(Unary(op.value, of), op.start, self.ends[of])

    def binary(self, children: Any) -> int:
        left, op, right = children
        return self._put(Binary(op.value, left, right), self.starts[left], self.ends[right])

    def did(self, children: Any) -> int:
        return self._put(Did(children[2].value), children[0].start, children[3].end)

    def count(self, children: Any) -> int:
        return self._put(
            Count(children[2].value, children[4].value, children[5].value), children[0].start, children[5].end
        )

    def among(self, children: Any) -> int:
        kind, names = children[0].value, tuple(children[-2])
        n = children[2].value if len(children) == 6 else len(names) if kind == "all" else 1
        return self._put(Among(kind, n, names), children[0].start, children[-1].end)

    def first(self, children: Any) -> list[Atom]:
        return [children[0].value]

    def more(self, children: Any) -> list[Atom]:
        children[0].append(children[2].value)
        return children[0]  # type: ignore[no-any-return]


class _Fed(Lexer):
    """lark asks for a lexer; the words come from our scanner, one by one."""

    def __init__(self, conf: object) -> None:
        del conf

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        return iter(())


class Parser:
    """The LALR tables and the writer that its callbacks fill."""

    def __init__(self) -> None:
        self.writer = Writer()
        self._lark = Lark(GRAMMAR, parser="lalr", lexer=_Fed, transformer=self.writer)

    def begin(self) -> InteractiveParser:
        self.writer.clear()
        return self._lark.parse_interactive("")
