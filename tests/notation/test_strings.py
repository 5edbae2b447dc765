"""Session-type strings: what they say, and what is said of faulty ones."""

import gc
import pickle
import re
import sys

import pytest

from duly.notation.strings import parse
from duly.values.errors import DulyError
from duly.values.expr import Bind, Guard, Literal, Register
from duly.values.protocol import Jump, Mark, Step
from duly.values.source import Source


def faults(text):
    with pytest.raises(DulyError) as caught:
        parse(text)
    return [(fault.code, fault.span.start, fault.message) for fault in caught.value.diagnostics]


def said_of(text):
    """The faults of a text that may have some; anything but a DulyError goes through."""
    try:
        parse(text)
    except DulyError as error:
        return error.diagnostics
    return ()


def test_every_form_of_the_notation_is_read():
    nodes = parse(
        '!a . ?b(x as r, y as maybe s) . !{x.P, "fs.read"(a.b[0] == r, \'q q\' in [1, "a", null]).Q} '
        '# a comment } ) " \n . {!@change.end, ?v=denied, ?Unrecognized(else)} . (!c || ?d)'
    ).protocol.nodes
    assert nodes == (
        Step("!", "a"),
        Step("?", "b", binds=(Bind(("x",), "r"), Bind(("y",), "s", True))),
        Mark.CHOICE, Step("!", "x"), Jump("P"), Mark.NEXT,
        Step("!", "fs.read", guards=(
            Guard(("a", "b", 0), "==", Register("r")), Guard(("q q",), "in", Literal((1, "a", None))),
        )),
        Jump("Q"), Mark.CLOSE,
        Mark.CHOICE, Step("!", "change", group=True), Mark.END, Mark.NEXT, Step("?", "v", "denied"), Mark.NEXT,
        Step("?", None, otherwise=True), Mark.CLOSE,
        Mark.SIDES, Step("!", "c"), Mark.NEXT, Step("?", "d"), Mark.CLOSE,
    )  # fmt: skip


def test_keywords_are_names_where_a_name_stands():
    assert parse("!end.?rec.!{end.end, rec}").protocol.nodes[:2] == (Step("!", "end"), Step("?", "rec"))
    step = parse("!a(else == 1, in in ['x'], true == true, as as maybe maybe)").protocol.nodes[0]
    assert [guard.path for guard in step.guards] == [("else",), ("in",), ("true",)]
    assert step.binds == (Bind(("as",), "maybe", True),)


def test_every_operator_and_literal_is_read():
    text = "!a(a == true, b != false, c < 5, d <= 1e5, e > -2.5, f >= 'x\\n\\u{1F600}', g == null, h in [])"
    values = [guard.operand.value for guard in parse(text).protocol.nodes[0].guards]
    assert repr(values) == "[True, False, 5, Decimal('1E+5'), Decimal('-2.5'), 'x\\n😀', None, ()]"


def test_dotted_and_other_tool_names_are_quoted():
    assert parse('!{"fs.read", "a/b", "x y", "@"}.?"ü \\"q\\""').protocol.nodes[1].label == "fs.read"


def test_names_of_every_script_are_read():
    for label in ("e\u0301", "हिन्दी", "²", "日本", "a-b:c_d"):
        assert parse(f"!{label}\u00a0.\u00a0?{label}").protocol.nodes == (Step("!", label), Step("?", label))


def test_unrecognized_is_a_branch_unless_quoted():
    assert parse('?{Unrecognized, "Unrecognized"}').protocol.nodes[1:4] == (
        Step("?", None),
        Mark.NEXT,
        Step("?", "Unrecognized"),
    )
    assert faults("!Unrecognized") == [
        ("unrecognized", 0, "`Unrecognized` is the branch for a message that nobody could name")
    ]


def test_globs_are_groups_and_quoted_labels_are_literal():
    nodes = parse('!@"fs/*" . !"fs/*" . !@mcp:*').protocol.nodes
    assert nodes == (Step("!", "fs/*", group=True), Step("!", "fs/*"), Step("!", "mcp:*", group=True))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [("syntax", 0, "an empty protocol")]),
        ("# nothing", [("syntax", 9, "an empty protocol")]),
        ("!a !b..!c.}", [
            ("syntax", 3, "`.` is missing before `!b`"),
            ("syntax", 6, "a step is missing before `.`"),
            ("syntax", 10, "a step is missing before `}`"),
            ("syntax", 10, "`}` does not belong here"),
        ]),
        ("!a.?{ok,}.!{}.!b.", [
            ("syntax", 7, "no branch follows the last `,`"),
            ("syntax", 12, "a choice needs a branch"),
            ("syntax", 16, "a step is missing at the end"),
        ]),
        ("!a.(!b.{!c", [("syntax", 3, "`(` is never closed"), ("syntax", 7, "`{` is never closed")]),
        ("!a(x = 1, y as).!b(", [
            ("character", 5, "`=` compares nothing"),
            ("syntax", 14, "`)` does not belong here"),
            ("bracket", 18, "`(` is never closed"),
            ("syntax", 19, "the brackets hold no clause"),
        ]),
        ("!a().?b", [("syntax", 3, "the brackets hold no clause")]),
        ("!{!a, b}.{a}", [
            ("side", 2, "the branches of `!{…}` take their side from it"), ("side", 10, "a label needs its side"),
        ]),
        ("!{a.b || c}", [("syntax", 6, "`||` inside a branch needs round brackets")]),
        ("!{end.rec X, (a)}", [
            ("syntax", 6, "nothing follows `rec X`"), ("syntax", 13, "a branch must begin with a label"),
        ]),
        ("rec X", [("syntax", 0, "nothing follows `rec X`")]),
        ("rec .!a", [("rec", 0, "a name must follow `rec`")]),
        ("!.?", [("label", 0, "a label must follow `!`"), ("label", 2, "a label must follow `?`")]),
        ('!"".?\'\'', [("empty_label", 1, "a label cannot be empty"), ("empty_label", 5, "a label cannot be empty")]),
        ('!"abc', [("quote", 1, "a quoted text that is never closed")]),
        ('!"a\\q\\ud800"', [
            ("escape", 1, "unknown escape `\\q`; half of a surrogate pair cannot be written as UTF-8"),
        ]),
        ("!a=no", [("outcome", 2, "only what is learnt has an outcome")]),
        ("!a | ?b ; !c", [
            ("character", 3, "`|` means nothing here"), ("syntax", 5, "`.` is missing before `?b`"),
            ("character", 8, "`;` means nothing here"), ("syntax", 10, "`.` is missing before `!c`"),
        ]),
        ("!a(x == 1.2.3)", [("syntax", 11, "`.` does not belong here")]),
        ("!a(x == " + "9" * 5000 + ", y == 1e99999)", [
            ("number", 8, "a number out of bounds"), ("number", 5015, "a number out of bounds"),
        ]),
        ("!a\ud800", [("utf8", 2, "half of a surrogate pair cannot be written as UTF-8")]),
    ],
)  # fmt: skip
def test_all_faults_are_reported_with_their_places(text, found):
    assert faults(text) == found


def test_faults_are_shown_with_line_picture_and_help():
    with pytest.raises(DulyError) as caught:
        parse("!a.\n  ?b !c", source=Source("desk.yaml", "!a.\n  ?b !c", line=7, column=5, indent=4))
    assert str(caught.value) == (
        "desk.yaml:8:10: error: `.` is missing before `!c`\n   8 |   ?b !c\n     |      ^^\n"
        "  help: steps follow each other with `.`"
    )


def test_text_that_is_no_text_is_a_fault_not_a_crash():
    with pytest.raises(DulyError):
        parse(None)


def test_errors_travel_between_processes():
    with pytest.raises(DulyError) as caught:
        parse("!a..")
    assert pickle.loads(pickle.dumps(caught.value)).diagnostics == caught.value.diagnostics


def test_nesting_is_no_limit_at_the_default_recursion_limit():
    depth = 20_000
    assert depth > sys.getrecursionlimit()
    assert len(parse("!{a." * depth + "!b" + "}" * depth).protocol.nodes) == 3 * depth + 1
    assert len(parse("rec X." * depth + "!b").protocol.nodes) == depth + 1
    assert len(parse("(" * depth + "!b" + ")" * depth).protocol.nodes) == 1


def test_hostile_texts_are_refused_in_linear_time():
    for text in ("'" * 40_001, '"' + "\\" * 40_001, "!a(" * 2_000, "{" * 5_000, "!a(x in [" * 2_000, "# " * 50_000):
        with pytest.raises(DulyError):
            parse(text)


def test_random_rubbish_is_never_anything_but_a_diagnostic():
    pieces = re.findall(
        r"\S+", "! ? { } ( ) . , || a rec X end @ = == \" ' # [ ] as in else maybe 1 1e5 \\ | ; Unrecognized é"
    )
    seed = 1
    for _ in range(1500):
        text = ""
        for _ in range(12):
            seed = seed * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            text += pieces[(seed >> 33) % len(pieces)] + (" " if seed >> 40 & 1 else "")
        found = said_of(text)
        assert all(fault.help and fault.span for fault in found), text


def test_garbage_collection_is_as_it_was_after_a_parse_and_after_a_fault():
    assert gc.isenabled()
    parse("!a")
    with pytest.raises(DulyError):
        parse("!a..")
    assert gc.isenabled()
