"""One run of the parser over the words of a text, and how it goes on behind a fault.

A missing step or dot is supplied, a word out of place is left out, faulty clauses are forgotten; so reading goes on at
the next `.`, `,` or bracket and further faults are found.
"""

from typing import TYPE_CHECKING, Final

from duly.values.errors import Diagnostic
from duly.values.protocol import Step
from duly.values.source import Source, Span

from .word import Word

if TYPE_CHECKING:
    from .grammar import Parser

# What stands where a step is missing, so that reading can go on behind the fault.
_MISSING: Final = Step("!", "?")
_SAID: Final = {
    "_DOT": "`.`",
    "COMMA": "`,`",
    "CLOSE_CHOICE": "`}`",
    "CLOSE_GROUP": "`)`",
    "BAR": "`||`",
    "$END": "the end of the text",
    "OPEN": "`(`",
    "SHUT": "`)`",
    "_SQUARE": "`[`",
    "_SQUARED": "`]`",
}


class Reading:
    """One run of the parser over the words, and how it goes on behind a fault."""

    def __init__(self, parser: "Parser", found: list[Diagnostic], source: Source, words: list[Word]) -> None:
        self.found = found
        self.source = source
        self.words = words
        self.run = parser.begin()
        self.writer = parser.writer
        self.end = parser.end_word(len(source.text))

    def read(self) -> None:
        from lark.exceptions import UnexpectedToken

        words, at = self.words, 0
        feed = self.run.parser_state.feed_token
        state = self.run.parser_state
        nodes, starts, ends = self.writer.nodes, self.writer.starts, self.writer.ends
        opening: tuple[int, int] = (0, 0)
        count = len(words)
        while at < count:
            word = words[at]
            try:
                if word.type == "OPEN":
                    opening = (len(state.state_stack), len(state.value_stack))
                feed(word)  # type: ignore[arg-type]
                at += 1
            except UnexpectedToken as error:
                at = self._recover(at, set(error.expected), opening)
                continue
            if word.type == "_DOT":
                # Behind a dot, `step .` leads the parser back to where it is: a row of plain steps, which is most
                # of a long text, need not pass through its tables.
                while at + 1 < count and words[at + 1].type == "_DOT" and words[at].type == "STEP":
                    plain = words[at]
                    nodes.append(plain.value)
                    starts.append(plain.start)
                    ends.append(plain.end)
                    at += 2
        try:
            feed(self.end, is_end=True)  # type: ignore[arg-type]
        except UnexpectedToken as error:
            self._close(set(error.expected))

    def _recover(self, at: int, expected: set[str], opening: tuple[int, int]) -> int:
        """Report the word, and say with which word reading goes on."""
        words, word, state = self.words, self.words[at], self.run.parser_state
        shut = self._clause_end(at)
        if shut is not None:
            # Inside clauses: forget them and go on behind their closing bracket.
            self._report(word, self._clause_message(word, expected), "as in `(amount <= 100, id as order)`")
            depth, values = opening
            del state.state_stack[depth:]
            del state.value_stack[values:]
            return shut + 1
        before = words[at - 1] if at else None
        if "STEP" in expected and word.type in ("_DOT", "COMMA", "CLOSE_CHOICE", "CLOSE_GROUP", "BAR"):
            self._report(*self._missing(word, before))
            return at if self._supply(word, "STEP") else at + 1
        if word.type == "BAR" and "COMMA" in expected:
            self._report(word, "`||` inside a branch needs round brackets", "as in `!{a.(P || Q), b}`")
            self._supply(word, "_DOT")
            return at + 1
        if word.type in ("STEP", "LOOP", "STOP", "JUMP", "OPEN_CHOICE", "OPEN_GROUP") and "_DOT" in expected:
            self._report(word, f"`.` is missing before {self._say(word)}", "steps follow each other with `.`")
            return at if self._supply(word, "_DOT") else at + 1
        if "STEP" in expected and word.type in ("STOP", "JUMP", "LOOP", "OPEN_GROUP", "OPEN_CHOICE"):
            self._report(word, "a branch must begin with a label", "name the step that picks the branch")
            return at if self._supply(word, "STEP", "_DOT") else at + 1
        self._report(word, f"{self._say(word)} does not belong here", "remove it, or open its bracket before")
        return at + 1

    def _supply(self, word: Word, *types: str) -> bool:
        """Give the parser what is missing in front of a word; false where it does not take it."""
        from lark.exceptions import UnexpectedToken

        try:
            for type in types:
                supplied = Word(type, _MISSING if type == "STEP" else None, word.start, word.start)
                self.run.parser_state.feed_token(supplied)  # type: ignore[arg-type]
        except UnexpectedToken:
            return False
        return True

    def _missing(self, word: Word, before: Word | None) -> tuple[Word, str, str]:
        if before is not None and before.type == "OPEN_CHOICE" and word.type == "CLOSE_CHOICE":
            return word, "a choice needs a branch", "as in `!{a, b}`"
        if before is not None and before.type == "COMMA" and word.type == "CLOSE_CHOICE":
            return before, "no branch follows the last `,`", "remove the comma"
        return word, f"a step is missing before {self._say(word)}", "write `!label`, `?label` or `end` there"

    def _close(self, expected: set[str]) -> None:
        """The text ended too early: say which brackets are open, or that a step is missing."""
        stack: list[Word] = []
        for word in self.words:
            if word.type in ("OPEN_CHOICE", "OPEN_GROUP"):
                stack.append(word)
            elif word.type in ("CLOSE_CHOICE", "CLOSE_GROUP") and stack:
                stack.pop()
        if not self.words:
            self._report(self.end, "an empty protocol", "write at least one step, or `end`")
        elif "_DOT" not in expected:
            self._report(self.words[-1], "a step is missing at the end", "write `!label`, `?label` or `end` there")
        for word in stack:
            bracket = "{" if word.type == "OPEN_CHOICE" else "("
            closing = {"{": "}", "(": ")"}[bracket]
            self._report(word, f"`{bracket}` is never closed", f"close it with `{closing}`")

    def _clause_end(self, at: int) -> int | None:
        """The place of the bracket that ends the clauses this word stands in."""
        for place in range(at, -1, -1):
            if self.words[place].type == "OPEN":
                break
            if self.words[place].type in _OUTSIDE or (self.words[place].type == "SHUT" and place != at):
                return None
        else:
            return None
        return next(place for place in range(at, len(self.words)) if self.words[place].type == "SHUT")

    def _clause_message(self, word: Word, expected: set[str]) -> str:
        if word.type == "SHUT" and "ELSE" in expected and "NAME" in expected:
            return "the brackets hold no clause"
        if "OP" in expected:
            return f"a comparison or `as` must come before {self._say(word)}"
        return f"{self._say(word)} does not belong here"

    def _say(self, word: Word) -> str:
        return _SAID.get(word.type) or f"`{self.source.text[word.start : word.end]}`"

    def _report(self, word: Word, message: str, help: str) -> None:
        start, end = word.start, max(word.end, word.start + 1)
        self.found.append(Diagnostic(code="syntax", message=message, span=Span(self.source, start, end), help=help))


_OUTSIDE: Final = frozenset(
    ("STEP", "LOOP", "STOP", "JUMP", "BAR", "OPEN_GROUP", "CLOSE_GROUP", "OPEN_CHOICE", "CLOSE_CHOICE")
)
