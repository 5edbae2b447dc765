"""Formulas from text: what they say, and what is said of faulty ones."""

import pickle

import pytest

from duly.machine.formula.node import Among, Atom, Binary, Count, Did, Formula, Truth, Unary
from duly.machine.formula.parse import LONGEST, parse
from duly.values.errors import DulyError
from duly.values.source import Source

A, B, C = Atom("!", "a"), Atom("?", "b"), Atom("!", "c")


def faults(text):
    """What is said of a faulty text: (place, message, help) of each fault."""
    with pytest.raises(DulyError) as caught:
        parse(text)
    return [(fault.span.start, fault.message, fault.help) for fault in caught.value.diagnostics]


def test_the_formula_of_the_design_is_read():
    nodes = parse("G(!cancel_reservation -> O ?get_reservation)").formula.nodes
    assert nodes == (
        Atom("!", "cancel_reservation"), Atom("?", "get_reservation"), Unary("O", 1), Binary("->", 0, 2), Unary("G", 3),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "atom"),
    [
        ("!refund", Atom("!", "refund")),
        ("?verify=denied", Atom("?", "verify", "denied")),
        ('?verify="not yet"', Atom("?", "verify", "not yet")),
        ('!"fs.read"', Atom("!", "fs.read")),
        ("!'say \\'so\\' \\u0041'", Atom("!", "say 'so' A")),
        ("!fs/*", Atom("!", "fs/*")),
        ("!@change", Atom("!", "@change")),
        ('?@"all of it"', Atom("?", "@all of it")),
        ("!x{args.n > 1}", Atom("!", "x", None, "args.n > 1")),
        ("?x=ok{ result.kind == '}' && args == {'a': 1} }", Atom("?", "x", "ok", "result.kind == '}' && args == {'a': 1}")),
        ("!x{args.a // it's }\n > 1}", Atom("!", "x", None, "args.a // it's }\n > 1")),
        ("!a-b", Atom("!", "a-b")),
    ],
)  # fmt: skip
def test_an_atom_is_read(text, atom):
    assert parse(text).formula == Formula((atom,))


@pytest.mark.parametrize(
    ("loose", "tight"),
    [
        ("!a and ?b or !c", "(!a and ?b) or !c"),
        ("!a or ?b and !c", "!a or (?b and !c)"),
        ("!a -> ?b -> !c", "!a -> (?b -> !c)"),
        ("!a <-> ?b -> !c", "!a <-> (?b -> !c)"),
        ("!a <-> ?b <-> !c", "(!a <-> ?b) <-> !c"),
        ("!a U ?b U !c", "!a U (?b U !c)"),
        ("!a and ?b S !c", "!a and (?b S !c)"),
        ("not !a U ?b", "(not !a) U ?b"),
        ("G !a -> ?b", "(G !a) -> ?b"),
        ("X WY not !a", "X (WY (not !a))"),
        ("!a->?b", "!a -> ?b"),
    ],
)
def test_operators_bind_as_the_docs_say(loose, tight):
    assert parse(loose).formula == parse(tight).formula


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("did(a)", Did(Atom("", "a"))),
        ("did(?a=denied)", Did(Atom("?", "a", "denied"))),
        ("count(G) >= 2", Count(Atom("", "G"), ">=", 2)),
        ("count(!a) != 0", Count(A, "!=", 0)),
        ("count('a b')==1", Count(Atom("", "a b"), "==", 1)),
        ("all(a, !b)", Among("all", 2, (Atom("", "a"), Atom("!", "b")))),
        ("any_of(a)", Among("any_of", 1, (Atom("", "a"),))),
        ("at_least(2, a, b, c)", Among("at_least", 2, (Atom("", "a"), Atom("", "b"), Atom("", "c")))),
        ("at_most(1, @g, fs/*)", Among("at_most", 1, (Atom("", "@g"), Atom("", "fs/*")))),
        ("true", Truth(True)),
        ("false", Truth(False)),
    ],
)
def test_a_term_is_read(text, node):
    assert parse(text).formula.nodes == (node,)


def test_terms_stand_where_formulas_stand():
    nodes = parse("not did(a) and (count(b) < 3 or all(c, d))").formula.nodes
    assert nodes == (
        Did(Atom("", "a")), Unary("not", 0), Count(Atom("", "b"), "<", 3),
        Among("all", 2, (Atom("", "c"), Atom("", "d"))), Binary("or", 2, 3), Binary("and", 1, 4),
    )  # fmt: skip


def test_spaces_and_comments_mean_nothing():
    assert parse("G ( !a # always\n ->   O ?b)").formula == parse("G(!a->O ?b)").formula


def test_atoms_are_told_once_in_their_order():
    assert parse("did(x) and (!a or ?b) and all(y, x) and not !a").formula.atoms() == [
        Atom("", "x"), A, B, Atom("", "y"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", [(0, "an empty formula", "as in `G(!refund -> O ?lookup)`")]),
        ("G(!a", [(1, "`(` is never closed", "close it with `)`")]),
        ("!a)", [(2, "`)` closes nothing", "remove it")]),
        ("!a ?b", [(3, "an operator is missing before `?b`", "join two formulas by `and`, `or`, `->` or `U`")]),
        ("!a and", [(3, "a formula is missing at the end", "write an atom such as `!refund`, or `(…)`")]),
        ("or !a", [(0, "a formula is missing before `or`", "write an atom such as `!refund`, or `(…)`")]),
        ("refund", [(0, "`refund` needs its side", "write `!refund` for the act, or `?refund` for what is learnt")]),
        ("nto !a", [(0, "`nto` needs its side", "did you mean `not`?")]),
        ("always !a", [(0, "unknown operator `always`", "did you mean `G`?")]),
        ("Did(a)", [(0, "unknown operator `Did`", "did you mean `did(…)`?")]),
        ("g !a", [(0, "unknown operator `g`", "did you mean `G`?")]),
        ("!a && ?b", [(3, "`&&` means nothing here", "write `and`")]),
        ("!a => ?b | !c", [
            (3, "`=>` means nothing here", "write `->`"), (9, "`|` means nothing here", "write `or`"),
        ]),
        ("!a=ok", [(0, "an act has no outcome", "a result has one: `?a=ok`")]),
        ("?a=", [(2, "an outcome is missing behind `=`", "as in `?verify=denied`")]),
        ("! a", [
            (0, "a name is missing behind `!`", "as in `!refund`"),
            (2, "`a` needs its side", "write `!a` for the act, or `?a` for what is learnt"),
        ]),
        ('!"a', [(1, "a quoted text that is never closed", 'close it with `"`')]),
        ('!""', [(1, "an empty name stands for nothing", "as in `!refund`")]),
        ('!"a\\q"', [(3, "unknown escape `\\q`", "known are \\\\ \\' \\\" \\/ \\n \\r \\t \\uXXXX")]),
        ('!"\\ud800"', [(1, "half of a surrogate pair cannot be written as UTF-8", "write the character itself")]),
        ("!a{args.n", [(2, "`{` is never closed", "close the condition with `}`")]),
        ("!a{ }", [(2, "the brackets hold no condition", "as in `!refund{args.amount > 5}`")]),
        ("count(a)", [(7, "a comparison is missing at the end", "a count is compared: `count(refund) >= 2`")]),
        ("count(a) >", [(9, "a number is missing at the end", "as in `count(refund) >= 2`")]),
        ("at_least(a)", [(9, "a number is missing before `a`", "as in `at_least(2, a, b)`")]),
        ("did()", [(4, "a name is missing before `)`", "as in `did(lookup)`")]),
        ("did(a, b)", [(5, "`)` is expected before `,`", "`did` and `count` take one name")]),
        ("all(a b)", [(6, "`,` is missing before `b`", "names are listed with commas, as in `all(a, b)`")]),
        ("!a >= 2", [(3, "`>=` compares nothing", "only a count is compared: `count(refund) >= 2`")]),
        ("count(a) > 9999999999", [
            (11, "`9999999999` is no number to count to", "write a smaller number"),
        ]),
    ],
)  # fmt: skip
def test_a_fault_says_where_it_is_what_was_expected_and_what_to_write(text, said):
    assert faults(text) == said


def test_a_fault_inside_a_document_is_pointed_at_there():
    source = Source("desk.yaml", "G(!a -> O)", line=7, column=14)
    with pytest.raises(DulyError) as caught:
        parse(source.text, source=source)
    assert caught.value.diagnostics[0].where() == "desk.yaml:7:23"


def test_what_is_no_text_is_refused():
    for wrong in (None, 3, b"!a", "!\ud800", "!a " * LONGEST):
        with pytest.raises(DulyError):
            parse(wrong)


def test_a_thousand_strange_characters_are_a_hundred_faults():
    assert len(faults(";" * 1000)) == 100


def test_depth_is_no_limit():
    deep = "(" * 20_000 + "!a" + ")" * 20_000
    assert parse(deep).formula == parse("!a").formula
    high = parse("not " * 20_000 + "!a").formula
    assert len(high.nodes) == 20_001
    assert hash(high) == hash(parse("not " * 20_000 + "!a").formula)
    assert pickle.loads(pickle.dumps(high)) == high


def test_each_node_knows_where_it_stands():
    written = parse("G (!a -> O ?b)")
    assert [written.span(at).text() for at in range(5)] == ["!a", "?b", "O ?b", "(!a -> O ?b)", "G (!a -> O ?b)"]
