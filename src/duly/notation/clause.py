"""The words of clauses, `(amount <= 100, order.items[0] as first, else)`.

What a word means depends on where it stands: `in` is a field in front of a comparison and an operator behind one,
`true` a field on the left and a value on the right. So no name is reserved.
"""

import re
from typing import Final

from duly.values.errors import Diagnostic
from duly.values.source import Source, Span

from .word import MOST_DIGITS, MOST_EXPONENT, NUMBER, SPACE, Word, number, read_quoted, word_end

_OPERATOR: Final = re.compile(r"==|!=|<=|>=|<|>")
_INDEX: Final = re.compile(r"\[\s*+([0-9]{1,9})\s*+\]")
_VALUES: Final = {"true": True, "false": False, "null": None}
_HINTS: Final = {
    "&": "clauses are separated by `,`",
    "|": "write one branch per alternative, or `in [...]`",
    "(": "clauses do not nest; separate them with `,`",
}


def scan_clauses(source: Source, at: int, words: list[Word], found: list[Diagnostic]) -> int:
    """Append the words from the opening bracket at `at` to its closing one; returns the place behind it."""
    text, opened, operand, listed = source.text, at, False, False
    words.append(Word("OPEN", None, at, at + 1))
    at += 1
    while True:
        space = SPACE.match(text, at)
        at = space.end() if space else at
        character = text[at : at + 1]
        before = words[-1].type
        if character and character in "),":
            _settle(words)
        if character == ")":
            words.append(Word("SHUT", None, at, at + 1))
            return at + 1
        if not character or character in "{}?" or (character == "!" and text[at + 1 : at + 2] != "="):
            found.append(
                _fault("bracket", "`(` is never closed", source, opened, opened + 1, "close the clauses with `)`")
            )
            words.append(Word("SHUT", None, at, at))
            return at
        operator = _OPERATOR.match(text, at)
        index = _INDEX.match(text, at) if before in ("NAME", "INDEX") and not operand else None
        if operator or character == "=":
            end = operator.end() if operator else at + 1
            if not operator:
                found.append(_fault("character", "`=` compares nothing", source, at, end, "did you mean `==`?"))
            words.append(Word("OP", operator[0] if operator else "==", at, end))
            operand = True
        elif index:
            end = index.end()
            words.append(Word("INDEX", int(index[1]), at, end))
        elif character in "'\"":
            said, end = read_quoted(source, at, found)
            words.append(Word("LITERAL" if operand else "NAME", said, at, end))
        elif character in ".,[]":
            end = at + 1
            words.append(Word({".": "_DOT", ",": "COMMA", "[": "_SQUARE", "]": "_SQUARED"}[character], None, at, end))
            listed = operand and (character == "[" or (listed and character != "]"))
            # a comma inside a list of values does not end the comparison
            operand = operand and (character != "," or listed)
        else:
            end = word_end(text, at)
            figure = NUMBER.match(text, at)
            if figure and figure.end() >= end and (operand or before in ("OPEN", "COMMA", "_DOT")):
                end = figure.end()
                words.append(_number(figure[0], source, at, found, operand=operand))
            elif end > at:
                operand = _word(text[at:end], at, end, words, operand=operand) or operand
            else:
                end = at + 1
                message = f"`{character}` means nothing here"
                found.append(_fault("character", message, source, at, end, _HINTS.get(character, "remove it")))
        at = end


def _word(word: str, at: int, end: int, words: list[Word], *, operand: bool) -> bool:
    """Append a bare word as what it means in this place; true if an operand follows."""
    before = words[-1].type
    if operand:
        words.append(Word("LITERAL", _VALUES[word], at, end) if word in _VALUES else Word("NAME", word, at, end))
    elif before in ("NAME", "INDEX") and words[-2].type not in ("AS", "MAYBE") and word in ("as", "in"):
        words.append(Word("AS", None, at, end) if word == "as" else Word("OP", "in", at, end))
        return word == "in"
    elif before == "AS" and word == "maybe":
        words.append(Word("MAYBE", None, at, end))
    else:
        words.append(Word("NAME", word, at, end))
    return False


def _settle(words: list[Word]) -> None:
    """Give the last clause's keywords their plain meaning where nothing follows that would make them keywords."""
    last = words[-1]
    if last.type == "MAYBE":
        last.type, last.value = "NAME", "maybe"
    elif last.type == "NAME" and last.value == "else" and words[-2].type in ("OPEN", "COMMA"):
        last.type = "ELSE"


def _number(text: str, source: Source, at: int, found: list[Diagnostic], *, operand: bool) -> Word:
    if not operand:
        return Word("NAME", text, at, at + len(text))
    value = number(text)
    if value is None:
        help = f"{MOST_DIGITS} digits and exponents to {MOST_EXPONENT} are read"
        found.append(_fault("number", "a number out of bounds", source, at, at + len(text), help))
    return Word("LITERAL", value, at, at + len(text))


def _fault(code: str, message: str, source: Source, start: int, end: int, help: str) -> Diagnostic:
    return Diagnostic(code=code, message=message, span=Span(source, start, end), help=help)
