"""From text to the words of the session-type grammar: labels, brackets, clauses; every lexical fault is collected.

The brackets around decide what a bare word is: a branch's label right after `{` or `,`, a recursion variable
elsewhere. So the scanner makes whole steps, and the grammar stays small.
"""

import re
from typing import Any, Final

from duly.values.errors import Diagnostic
from duly.values.protocol import Loop, Step
from duly.values.source import Source, Span

from .clause import scan_clauses
from .word import SPACE, UNRECOGNIZED, Word, read_quoted, word_end

# The common case in one go: a bare label after which nothing can continue it, neither a mark nor an outcome.
_PLAIN: Final = re.compile(r"([!?])([\w\-:]++)(?=\s*+(?:[.,})(|]|\Z))")
_STRAY: Final = re.compile(r"[^\s\w.,{}()!?|#'\"@]++|.", re.DOTALL)
_HINTS: Final = {
    "|": "`||` runs two parts side by side",
    ";": "steps follow each other with `.`",
    "/": 'a label with a slash is quoted: `!"a/b"`',
    "*": 'a glob is written as a group: `!@"fs/*"`',
    "=": "an outcome stands right behind its label: `?verify=denied`",
    "→": "steps follow each other with `.`",
    "-": "steps follow each other with `.`",
}


class Scanner:
    """Reads one text; `words` and `found` (faults) are its results."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.at = 0
        self.words: list[Word] = []
        self.found: list[Diagnostic] = []
        self.open: list[str] = []  # per open bracket: the side of a choice ("" where mixed), or "("
        self.head = False  # is a branch's label next?

    def scan(self) -> list[Word]:
        text, space, plain, words = self.text, SPACE.match, _PLAIN.match, self.words
        if text.startswith("\ufeff"):
            self.at = 1
        length = len(text)
        while True:
            self.at = at = space(text, self.at).end()  # type: ignore[union-attr]
            if at >= length:
                return words
            if text[at] == ".":
                words.append(Word("_DOT", None, at, at + 1))
                self.at, self.head = at + 1, False
                continue
            found = plain(text, at)
            if found and not self.head and found[2] != UNRECOGNIZED:
                self.at = found.end()
                words.append(Word("STEP", Step(found[1], found[2]), at, self.at))
                continue
            self._next(text[at])

    def _next(self, character: str) -> None:
        head, self.head = self.head, False
        top = self.open[-1] if self.open else "("
        if character in "!?":
            self._sided(character, head, top)
        elif character in "{}(),":
            self._bracket(character, head, top)
        elif self.text.startswith("||", self.at):
            self._put("BAR", None, 2)
        elif character in "'\"@" or word_end(self.text, self.at) > self.at:
            if head or character in "'\"@":
                self._bare_label(head, top)
            else:
                self._process_word()
        else:
            stray = _STRAY.match(self.text, self.at)
            assert stray is not None
            self._fault(
                "character",
                f"`{stray[0]}` means nothing here",
                self.at,
                stray.end(),
                _HINTS.get(character, "remove it"),
            )
            self.at, self.head = stray.end(), head

    def _put(self, type: str, value: Any, length: int) -> None:
        self.words.append(Word(type, value, self.at, self.at + length))
        self.at += length

    def _fault(self, code: str, message: str, start: int, end: int, help: str = "") -> None:
        self.found.append(Diagnostic(code=code, message=message, span=Span(self.source, start, end), help=help))

    def _space(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at

    def _bracket(self, character: str, head: bool, top: str) -> None:
        if character == "{":
            self._put("OPEN_CHOICE", "", 1)
            self.open.append("")
            self.head = True
        elif character == "}":
            self._put("CLOSE_CHOICE", head, 1)
            if self.open and top != "(":
                self.open.pop()
        elif character == ",":
            self._put("COMMA", None, 1)
            self.head = top != "("
        elif character == "(" and self.words and self.words[-1].type == "STEP":
            self.at = scan_clauses(self.source, self.at, self.words, self.found)
        elif character == "(":
            self._put("OPEN_GROUP", None, 1)
            self.open.append("(")
        else:
            self._put("CLOSE_GROUP", None, 1)
            if self.open and top == "(":
                self.open.pop()

    def _sided(self, side: str, head: bool, top: str) -> None:
        start = self.at
        at = self._space(start + 1)
        if self.text[at : at + 1] == "{":
            if head:
                self._fault("branch", "a branch must begin with a label", start, at + 1, "name the step that picks it")
                self.words.append(Word("STEP", Step(side, "?"), start, start))
                self.words.append(Word("_DOT", None, start, start))
            self.words.append(Word("OPEN_CHOICE", side, start, at + 1))
            self.at, self.head = at + 1, True
            self.open.append(side)
            return
        if head and top:
            self._fault(
                "side",
                f"the branches of `{top}{{…}}` take their side from it",
                start,
                start + 1,
                f"write the label without `{side}`, or `{{!a, ?b}}` for a mixed choice",
            )
            side = top
        self.at = at
        self._label(side, start)

    def _bare_label(self, head: bool, top: str) -> None:
        if not head or not top:
            self._fault(
                "side",
                "a label needs its side",
                self.at,
                self.at + 1,
                "`!label` for an act, `?label` for what is learnt",
            )
        self._label(top if head and top else "!", self.at)

    def _process_word(self) -> None:
        end = word_end(self.text, self.at)
        word = self.text[self.at : end]
        if word == "end":
            self._put("STOP", None, 3)
        elif word == "rec":
            start = self._space(end)
            end = word_end(self.text, start)
            name = self.text[start:end]
            if not name or name in ("rec", "end"):
                self._fault(
                    "rec", "a name must follow `rec`", self.at, max(end, self.at + 3), "as in `rec Loop . !a . Loop`"
                )
            self.words.append(Word("LOOP", Loop(name or "?"), self.at, end))
            self.at = end
        else:
            self._put("JUMP", word, end - self.at)

    def _label(self, side: str, start: int) -> None:
        """`[@] name [= name]`, at the current place; puts a step there even if it is faulty."""
        group = self.text[self.at : self.at + 1] == "@"
        if group:
            self.at = self._space(self.at + 1)
        bare = self.text[self.at : self.at + 1] not in ("'", '"')
        label = self._name(side, start, group)
        outcome = None
        at = self._space(self.at)
        if self.text[at : at + 1] == "=" and self.text[at + 1 : at + 2] != "=":
            self.at = self._space(at + 1)
            outcome = self._name("=", at, False)
            if side == "!":
                self._fault(
                    "outcome",
                    "only what is learnt has an outcome",
                    at,
                    self.at,
                    "write `?label=outcome` behind the act",
                )
        if bare and label == UNRECOGNIZED and not group:
            if side == "!" or outcome is not None:
                self._fault(
                    "unrecognized",
                    "`Unrecognized` is the branch for a message that nobody could name",
                    start,
                    self.at,
                    f'a tool or message of that name is quoted: `{side}"Unrecognized"`',
                )
            label = None
        self.words.append(Word("STEP", Step(side, label, outcome, group), start, self.at))

    def _name(self, after: str, start: int, group: bool) -> str | None:
        text, at = self.text, self.at
        if text[at : at + 1] in ("'", '"') and at < len(text):
            said, self.at = read_quoted(self.source, at, self.found)
            if not said:
                self._fault("empty_label", "a label cannot be empty", at, self.at, "give it a name")
                return "?"
            return said
        end = word_end(text, at)
        while group and text[end : end + 1] == "*":
            end = word_end(text, end + 1)
        if end == at:
            self._fault(
                "label",
                f"a label must follow `{'@' if group else after}`",
                start,
                min(start + 1, len(text)),
                "a name, or any text in quotes",
            )
            return "?"
        self.at = end
        return text[at:end]
