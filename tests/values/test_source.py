"""Where something stands in a text, and how it is shown."""

from duly.values.source import Source, Span


def test_positions_are_counted_from_one_and_lines_end_at_newlines() -> None:
    source = Source("p", "ab\r\ncd\n\ne")
    assert [source.position(at) for at in (0, 1, 4, 5, 7, 8)] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (4, 1)]
    assert [source.line_of(at) for at in (0, 5, 7, 8)] == [("ab", 0), ("cd", 1), ("", 0), ("e", 0)]


def test_a_text_inside_a_document_is_pointed_at_in_the_document() -> None:
    source = Source("c.yaml", "!a .\n!b", line=7, column=13, indent=4)
    assert Span(source, 0, 2).where() == "c.yaml:7:13"
    assert Span(source, 5, 7).where() == "c.yaml:8:5"


def test_a_span_is_shown_with_carets() -> None:
    span = Span(Source("p", "first\n!a . !b\nlast"), 11, 13)
    assert (span.text(), span.where()) == ("!b", "p:2:6")
    assert span.picture() == "   2 | !a . !b\n     |      ^^"


def test_a_long_line_is_cut_to_a_window_around_the_span() -> None:
    text = "x" * 500 + "HERE" + "y" * 500
    picture = Span(Source("p", text), 500, 504).picture(width=40)
    line, carets = picture.split("\n")
    assert len(line) == len("   1 | ") + 40
    assert line[carets.index("^") : carets.index("^") + 4] == "HERE"
    assert carets.count("^") == 4


def test_a_span_at_the_end_of_a_text_has_one_caret() -> None:
    assert Span(Source("p", "ab"), 2, 2).picture() == "   1 | ab\n     |   ^"


def test_tabs_take_one_column() -> None:
    assert Span(Source("p", "\t!a"), 1, 3).picture() == "   1 |  !a\n     |  ^^"


def test_two_sources_with_equal_texts_keep_their_own_positions() -> None:
    first, second = Source("a", "x\ny"), Source("b", "x\ny", line=10)
    assert (first.position(2), second.position(2)) == ((2, 1), (11, 1))
