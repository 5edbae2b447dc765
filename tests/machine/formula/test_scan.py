"""The words of formulas."""

from duly.machine.formula.node import Atom, Truth
from duly.machine.formula.scan import Scanner, bare
from duly.values.source import Source


def words(text):
    scanner = Scanner(Source("t", text))
    return [(word.type, word.value, text[word.start : word.end]) for word in scanner.scan()]


def test_each_word_has_its_type_its_value_and_its_place():
    assert words("G (!a -> count(b) >= 2) and true") == [
        ("UNARY", "G", "G"), ("OPEN", "(", "("), ("ATOM", Atom("!", "a"), "!a"), ("IMPLIES", "->", "->"),
        ("COUNT", "count", "count"), ("OPEN_TERM", "(", "("), ("ATOM", Atom("", "b"), "b"), ("SHUT", ")", ")"),
        ("COMPARE", ">=", ">="), ("NUMBER", 2, "2"), ("SHUT", ")", ")"), ("AND", "and", "and"),
        ("TRUTH", Truth(True), "true"),
    ]  # fmt: skip


def test_inside_a_term_operators_and_terms_are_names():
    assert [word[1] for word in words("all(G, not, did, count)")][2:-1:2] == [
        Atom("", "G"), Atom("", "not"), Atom("", "did"), Atom("", "count"),
    ]  # fmt: skip


def test_names_that_need_no_quotes_are_known():
    said = {name: bare(name) for name in ("a", "a-b", "a.b/c:*", "é", "", "2a", "a b", "a->", "-a", "@a")}
    assert [name for name, answer in said.items() if answer] == ["a", "a-b", "a.b/c:*", "é"]
