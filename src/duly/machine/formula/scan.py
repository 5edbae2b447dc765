"""From text to the words of the grammar of formulas: atoms are one word each; every lexical fault is collected.

No pattern here can backtrack: every repetition is possessive, since the text may come from anyone.
"""

import re
from typing import Any, Final

from msgspec import Struct

from duly.values.errors import Diagnostic, suggest
from duly.values.source import Source, Span

from .node import BINARY, TERMS, UNARY, Atom, Truth

_SPACE: Final = re.compile(r"(?:\s++|#[^\n]*+)*+")
_BARE: Final = re.compile(r"[^\W\d](?:[\w.:/*]|-(?!>))*+")
_SIGN: Final = re.compile(r"<->|->|==|!=(?=\s*+-?\d)|<=|>=|[<>(),]")
_NUMBER: Final = re.compile(r"\d++")
_QUOTED: Final = re.compile(r""""((?:[^"\\]++|\\.)*+)"|'((?:[^'\\]++|\\.)*+)'""", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "/": "/", "'": "'", '"': '"'}
_OUTCOME: Final = re.compile(r"[\w\-:]++")
_INSIDE: Final = re.compile(r"""\"(?:[^"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|//[^\n]*+|[{}]|[^{}"'/]++|.""", re.DOTALL)
_STRAY: Final = re.compile(r"&&?|\|\|?|=>|\[\]|[^\s\w()!?,'\"{}]|.", re.DOTALL)
_TYPES: Final = {"(": "OPEN", ")": "SHUT", ",": "COMMA", "->": "IMPLIES", "<->": "EQUALS"}
_WORDS: Final = {
    **dict.fromkeys(UNARY, "UNARY"), **dict.fromkeys(BINARY, "BINARY"), "and": "AND", "or": "OR",
    "true": "TRUTH", "false": "TRUTH",
}  # fmt: skip
_HINTS: Final = {
    "&&": "write `and`", "&": "write `and`", "||": "write `or`", "|": "write `or`", "=>": "write `->`",
    "=": "an outcome stands right behind its label: `?verify=denied`", "~": "write `not`", "[]": "write `G`",
    "¬": "write `not`", "∧": "write `and`", "∨": "write `or`", "→": "write `->`", "↔": "write `<->`",
    "□": "write `G`", "◇": "write `F`", "○": "write `X`", "{": "a condition stands right behind its label",
    "@": "a group has its side: `!@change`", "*": "a glob has its side: `!fs/*`",
}  # fmt: skip
_MEANT: Final = {
    "always": "G", "globally": "G", "eventually": "F", "finally": "F", "next": "X", "until": "U", "release": "R",
    "since": "S", "once": "O", "historically": "H", "yesterday": "Y", "previous": "Y", "implies": "->", "iff": "<->",
}  # fmt: skip
MOST_DIGITS: Final = 9
_MOST_FAULTS: Final = 100


class Word(Struct, gc=False):
    """One token: its type in the grammar, what it says, and where it stands."""

    type: str
    value: Any
    start: int
    end: int


class Scanner:
    """Reads one text; ``words`` and ``found`` (faults) are its results."""

    def __init__(self, source: Source) -> None:
        self.source, self.text = source, source.text
        self.at = 0
        self.words: list[Word] = []
        self.found: list[Diagnostic] = []
        self.inside = False  # between the brackets of a history term, where names need no side

    def scan(self) -> list[Word]:
        text, space = self.text, _SPACE.match
        while len(self.found) < _MOST_FAULTS:
            self.at = at = space(text, self.at).end()  # type: ignore[union-attr]
            if at >= len(text):
                break
            sign, number = _SIGN.match(text, at), _NUMBER.match(text, at)
            if sign is not None:
                self._sign(sign[0])
            elif text[at] in "!?":
                self._atom(text[at], at + 1)
            elif self.inside and text[at] in "\"'@":
                self._atom("", at)
            elif number is not None:
                self._number(number[0])
            elif bare := _BARE.match(text, at):
                self._word(bare[0])
            else:
                self._stray()
        return self.words

    def _sign(self, sign: str) -> None:
        if sign == ")":
            self.inside = False
        self._put(_TYPES.get(sign, "COMPARE"), sign, self.at + len(sign))

    def _put(self, type: str, value: Any, end: int) -> None:
        self.words.append(Word(type, value, self.at, end))
        self.at = end

    def fault(self, code: str, message: str, start: int, end: int, help: str) -> None:
        self.found.append(Diagnostic(code, message, span=Span(self.source, start, end), help=help))

    def _number(self, digits: str) -> None:
        end = self.at + len(digits)
        if len(digits) > MOST_DIGITS or not digits.isascii():
            self.fault("number", f"`{digits[:20]}` is no number to count to", self.at, end, "write a smaller number")
            digits = "0"
        self._put("NUMBER", int(digits), end)

    def _word(self, word: str) -> None:
        end = self.at + len(word)
        if self.inside:
            self._atom("", self.at)
            return
        behind = _SPACE.match(self.text, end)
        if word in TERMS and behind is not None and self.text[behind.end() : behind.end() + 1] == "(":
            self._put(word.upper(), word, end)
            self._put("OPEN_TERM", "(", behind.end() + 1)
            self.words[-1].start = behind.end()
            self.inside = True
            return
        type = _WORDS.get(word)
        if type is None:
            self.fault("side", *self._sideless(word, end))
            # what looks like a history term holds names without sides
            self.inside = word.casefold() in TERMS
            type = "ATOM"
        value: Any = Truth(word == "true") if type == "TRUTH" else word
        self._put(type, Atom("!", "?") if type == "ATOM" else value, end)

    def _sideless(self, word: str, end: int) -> tuple[str, int, int, str]:
        meant = _MEANT.get(word.casefold())
        near = meant or next((each for each in (*_WORDS, *TERMS) if each.casefold() == word.casefold()), None)
        if near is not None:
            more = "(…)" if near in TERMS else ""
            return f"unknown operator `{word[:80]}`", self.at, end, f"did you mean `{near}{more}`?"
        shown = word if len(word) <= 80 else word[:80] + "…"
        help = f"write `!{shown}` for the act, or `?{shown}` for what is learnt"
        if len(word) > 2:
            help = suggest(word, ("not", "and", "true", "false", *TERMS)) or help
        return f"`{shown}` needs its side", self.at, end, help

    def _atom(self, side: str, at: int) -> None:
        """atom = side [ "@" ] ( name | quoted ) [ "=" outcome ] [ "{" condition "}" ]"""
        text, start = self.text, self.at
        group = text[at : at + 1] == "@"
        at += group
        name, at = self._name(at)
        if name == "":
            end = max(at, start + 1)
            self.fault("name", f"a name is missing behind `{text[start:at]}`", start, end, "as in `!refund`")
            self._put("ATOM", Atom("!", "?"), end)
            return
        outcome = None
        if text[at : at + 1] == "=" and text[at : at + 2] not in ("==", "=>"):
            found = _OUTCOME.match(text, at + 1)
            outcome, end = (found[0], found.end()) if found is not None else self._name(at + 1)
            if not outcome:
                self.fault("outcome", "an outcome is missing behind `=`", at, at + 1, "as in `?verify=denied`")
            elif side == "!":
                help = f"a result has one: `?{text[start + 1 : end]}`"
                self.fault("outcome", "an act has no outcome", start, end, help)
            at = max(end, at + 1)
        where = None
        if text[at : at + 1] == "{":
            where, at = self._condition(at)
        self._put("ATOM", Atom(side, f"@{name}" if group else name, outcome, where), at)  # type: ignore[arg-type]

    def _name(self, at: int) -> tuple[str, int]:
        text = self.text
        if text[at : at + 1] not in ('"', "'") or at >= len(text):
            bare = _BARE.match(text, at)
            return (bare[0], bare.end()) if bare is not None else ("", at)
        quoted = _QUOTED.match(text, at)
        if quoted is None:
            line = text.find("\n", at)
            end = len(text) if line < 0 else line
            self.fault("quote", "a quoted text that is never closed", at, end, f"close it with `{text[at]}`")
            return text[at + 1 : end] or "?", end
        body = quoted[1] if quoted[1] is not None else quoted[2]
        for escape in _ESCAPE.finditer(body):
            if escape[1] not in _ESCAPES and len(escape[1]) == 1:
                place = at + 1 + escape.start()
                help = r"known are \\ \' \" \/ \n \r \t \uXXXX"
                self.fault("escape", f"unknown escape `{escape[0]}`", place, place + 2, help)
        if body == "":
            self.fault("name", "an empty name stands for nothing", at, quoted.end(), "as in `!refund`")
            return "?", quoted.end()
        name = _ESCAPE.sub(_unescaped, body)
        if any("\ud800" <= character <= "\udfff" for character in name):
            help = "write the character itself"
            self.fault("utf8", "half of a surrogate pair cannot be written as UTF-8", at, quoted.end(), help)
            return "?", quoted.end()
        return name, quoted.end()

    def _condition(self, at: int) -> tuple[str, int]:
        """The CEL between two braces: braces inside of texts and of CEL's own maps are its own."""
        depth, start = 0, at
        for piece in _INSIDE.finditer(self.text, at):
            at = piece.end()
            depth += (piece[0] == "{") - (piece[0] == "}")
            if depth == 0:
                break
        if depth:
            self.fault("condition", "`{` is never closed", start, start + 1, "close the condition with `}`")
            return "true", at
        inner = self.text[start + 1 : at - 1].strip()
        if not inner:
            self.fault("condition", "the brackets hold no condition", start, at, "as in `!refund{args.amount > 5}`")
        return inner, at

    def _stray(self) -> None:
        stray = _STRAY.match(self.text, self.at)
        assert stray is not None
        said = stray[0]
        help = _HINTS.get(said, "a name has its side, as in `!refund`" if said in "\"'" else "remove it")
        self.fault("character", f"`{said}` means nothing here", self.at, stray.end(), help)
        self.at = stray.end()


def _unescaped(escape: "re.Match[str]") -> str:
    said = escape[1]
    return chr(int(said[1:], 16)) if len(said) > 1 else _ESCAPES.get(said, said)


def bare(name: str) -> bool:
    """Whether a name needs no quotes in a formula."""
    return _BARE.fullmatch(name) is not None
