"""The grammar of session-type strings for lark, and what is done at each rule; imported at the first parse only.

Importing lark costs 46 ms, so nothing that `import duly` reaches may import this file.
"""

from collections.abc import Iterator
from typing import Any

from lark import Lark, Token
from lark.lexer import Lexer
from lark.parsers.lalr_interactive_parser import InteractiveParser
from msgspec.structs import replace

from duly.values.expr import Bind, Guard, Literal, Register
from duly.values.protocol import Jump, Mark, Node

from .word import Word

# STEP is a whole `!label` or `?label=outcome` or the label of a branch, LOOP a whole `rec X`: the scanner makes
# them, because only the brackets around say whether a bare word is a branch's label or a recursion variable.
GRAMMAR = """
start: sides
sides: row | sides bar row
row: item | row _DOT item
item: step | choice | group | LOOP -> loop | STOP -> stop | JUMP -> jump
group: open_group sides close_group
choice: open_choice branches close_choice
branches: branch | branches comma branch
branch: step | step _DOT row
step: STEP -> plain | STEP OPEN clauses SHUT -> claused
bar: BAR
comma: COMMA
open_group: OPEN_GROUP
close_group: CLOSE_GROUP
open_choice: OPEN_CHOICE
close_choice: CLOSE_CHOICE

clauses: clause -> first | clauses COMMA clause -> more
clause: path AS NAME -> bind | path AS MAYBE NAME -> bind_maybe | path OP operand -> guard | ELSE -> otherwise
path: NAME -> first_value | path _DOT NAME -> more_value | path INDEX -> more_value
operand: NAME -> register | LITERAL -> literal | _SQUARE _SQUARED -> list | _SQUARE literals _SQUARED -> list
literals: LITERAL -> first_value | literals COMMA LITERAL -> more_value
%declare STEP LOOP STOP JUMP BAR COMMA OPEN_GROUP CLOSE_GROUP OPEN_CHOICE CLOSE_CHOICE
%declare OPEN SHUT NAME INDEX LITERAL OP AS MAYBE ELSE _DOT _SQUARE _SQUARED
"""


class Writer:
    """Callbacks of the grammar, by rule. They run while the parser goes over the text and append to flat lists in the
    order of the text, so that no tree is ever built."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.nodes: list[Node] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.groups: list[int] = []  # places of the groups that are open: the first `||` makes sides of one

    def _put(self, node: Node, start: int, end: int) -> None:
        self.nodes.append(node)
        self.starts.append(start)
        self.ends.append(end)

    def _nothing(self, children: Any) -> None:
        """The rule has done its work in its parts."""

    start = sides = row = item = group = choice = branches = branch = _nothing

    def plain(self, children: Any) -> None:
        word = children[0]
        self.nodes.append(word.value)
        self.starts.append(word.start)
        self.ends.append(word.end)

    def claused(self, children: Any) -> None:
        word, _, clauses, shut = children
        guards = tuple(clause for clause in clauses if type(clause) is Guard)
        binds = tuple(clause for clause in clauses if type(clause) is Bind)
        otherwise = any(clause is None for clause in clauses)
        self._put(replace(word.value, guards=guards, binds=binds, otherwise=otherwise), word.start, shut.end)

    def loop(self, children: Any) -> None:
        self._put(children[0].value, children[0].start, children[0].end)

    def jump(self, children: Any) -> None:
        self._put(Jump(children[0].value), children[0].start, children[0].end)

    def stop(self, children: Any) -> None:
        self._put(Mark.END, children[0].start, children[0].end)

    def bar(self, children: Any) -> None:
        self.nodes[self.groups[-1]] = Mark.SIDES
        self._put(Mark.NEXT, children[0].start, children[0].end)

    def comma(self, children: Any) -> None:
        self._put(Mark.NEXT, children[0].start, children[0].end)

    def open_group(self, children: Any) -> None:
        self.groups.append(len(self.nodes))
        self._put(Mark.GROUP, children[0].start, children[0].end)

    def close_group(self, children: Any) -> None:
        self.groups.pop()
        self._put(Mark.CLOSE, children[0].start, children[0].end)

    def open_choice(self, children: Any) -> None:
        self._put(Mark.CHOICE, children[0].start, children[0].end)

    def close_choice(self, children: Any) -> None:
        self._put(Mark.CLOSE, children[0].start, children[0].end)

    def first(self, children: Any) -> list[Any]:
        return [children[0]]

    def more(self, children: Any) -> list[Any]:
        children[0].append(children[-1])
        return children[0]  # type: ignore[no-any-return]

    def first_value(self, children: Any) -> list[Any]:
        return [children[0].value]

    def more_value(self, children: Any) -> list[Any]:
        children[0].append(children[-1].value)
        return children[0]  # type: ignore[no-any-return]

    def bind(self, children: Any) -> Bind:
        return Bind(tuple(children[0]), children[2].value)

    def bind_maybe(self, children: Any) -> Bind:
        return Bind(tuple(children[0]), children[3].value, maybe=True)

    def guard(self, children: Any) -> Guard:
        return Guard(tuple(children[0]), children[1].value, children[2])

    def otherwise(self, children: Any) -> None:
        """`else`, told from a clause by being nothing."""

    def register(self, children: Any) -> Register:
        return Register(children[0].value)

    def literal(self, children: Any) -> Literal:
        return Literal(children[0].value)

    def list(self, children: Any) -> Literal:
        return Literal(tuple(children[0]) if children else ())


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
        self.writer.nodes.append(Mark.GROUP)
        self.writer.starts.append(0)
        self.writer.ends.append(0)
        self.writer.groups.append(0)
        return self._lark.parse_interactive("")

    def end_word(self, at: int) -> Word:
        return Word("$END", None, at, at)
