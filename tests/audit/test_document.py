"""Files as records: what is damaged is named by its line, what is sound is read."""

from pathlib import Path

import pytest

from duly.audit.document import Document, open_document
from duly.values.errors import DulyError

CALL = '{"event": "called", "label": "search", "id": "1"}'
RESULT = '{"event": "returned", "label": "search", "id": "1"}'


def written(folder: Path, data: bytes | str, name: str = "run.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def shape(document: Document) -> tuple[str, list[tuple[int, str | None]]]:
    """The form, and for each record its line and what is wrong with it."""
    return document.form, [(r.line, r.problem and r.problem.message) for r in document.records()]


def refusal(path: Path) -> str:
    with pytest.raises(DulyError) as caught:
        open_document(path)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.path == str(path)
    return diagnostic.message


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_byte_order_marks_line_ends_and_a_missing_last_newline_are_harmless(
    tmp_path: Path, mark: bytes, end: str, last: str
) -> None:
    text = end.join([CALL, RESULT, CALL]) + (end if last else "")
    document = open_document(written(tmp_path, mark + text.encode()))
    assert shape(document) == ("lines", [(1, None), (2, None), (3, None)])


def test_only_the_newline_byte_ends_a_line(tmp_path: Path) -> None:
    first = '{"event": "received", "label": null, "payload": {"text": "a\u2028b\u2029c\x85d"}}'
    document = open_document(written(tmp_path, f"{first}\n{CALL}\n"))
    assert shape(document) == ("lines", [(1, None), (2, None)])
    assert document.head[0]["payload"]["text"] == "a\u2028b\u2029c\x85d"


def test_empty_lines_are_ignored_and_torn_and_zero_filled_ones_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, f'{CALL}\n\n\0\0\0\n{RESULT}\n{{"event": "cal'.encode())
    assert shape(open_document(path)) == (
        "lines",
        [(1, None), (3, "nothing but zero bytes"), (4, None), (5, "the file ends inside this record")],
    )


def test_a_record_beside_zero_bytes_is_read_and_the_bytes_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, b"\0\0\0" + f"{CALL}\n{RESULT}\n".encode())
    assert shape(open_document(path)) == ("lines", [(1, "zero bytes before or after the record"), (1, None), (2, None)])


def test_a_broken_first_line_does_not_hide_the_lines_after_it(tmp_path: Path) -> None:
    path = written(tmp_path, f'{{"a": 1, "a": 2}}\n{CALL}\n{RESULT}\n')
    assert shape(open_document(path)) == ("lines", [(1, "the key `a` is repeated"), (2, None), (3, None)])


def test_a_line_that_is_not_utf8_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, CALL.encode() + b'\n{"a": "\xff"}\n' + RESULT.encode() + b"\n")
    assert shape(open_document(path)) == ("lines", [(1, None), (2, "not UTF-8 at byte 7"), (3, None)])


def test_elements_of_an_array_are_records_with_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, '[\n  {"a": 1},\n\n  {"a": 2}\n]\n')
    assert shape(open_document(path)) == ("array", [(2, None), (4, None)])


def test_a_torn_array_keeps_what_was_written_whole(tmp_path: Path) -> None:
    path = written(tmp_path, '[\n{"a": 1},\n{"a": 2},\n{"a": "x')
    torn = (4, "the file ends inside this record")
    assert shape(open_document(path)) == ("array", [(2, None), (3, None), torn])


def test_an_array_cut_between_records_is_torn_too(tmp_path: Path) -> None:
    path = written(tmp_path, '[\n{"a": 1},\n{"a": 2},\n')
    assert shape(open_document(path))[1][-1] == (4, "the file ends inside the array")


def test_an_element_with_a_repeated_key_is_lost_alone(tmp_path: Path) -> None:
    path = written(tmp_path, '[\n{"a": 1},\n{"a": 2, "a": 3},\n{"a": 4}\n]')
    assert shape(open_document(path)) == ("array", [(2, None), (3, "the key `a` is repeated"), (4, None)])


def test_an_element_that_is_not_utf8_is_lost_alone(tmp_path: Path) -> None:
    path = written(tmp_path, b'[\n{"a": 1},\n{"a": "\xff"},\n{"a": 4}\n]')
    form, records = shape(open_document(path))
    assert (form, [line for line, problem in records if problem is None]) == ("array", [2, 4])


def test_zero_bytes_after_an_array_or_an_object_are_named(tmp_path: Path) -> None:
    array = written(tmp_path, b'[\n{"a": 1}\n]\n\0\0\0', "array.json")
    single = written(tmp_path, b'{\n"a": 1\n}\n\0\0\0', "object.json")
    assert shape(open_document(array)) == ("array", [(2, None), (4, "zero bytes after the last record")])
    assert shape(open_document(single)) == ("object", [(1, None), (4, "zero bytes after the last record")])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b" \r\n\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\0" * 5000, "holds nothing but zero bytes"),
        ("{}".encode("utf-16"), "is not UTF-8: it looks like UTF-16 or UTF-32"),
        (CALL.encode("utf-16-le"), "is not UTF-8: it looks like UTF-16 or UTF-32"),
        (b"hello: world\n", "is neither JSON nor JSON Lines"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(1, 200)), "is neither JSON nor JSON Lines"),
        (b'{"a": 1', "cannot be read: not JSON: expecting ',' delimiter at character 7"),
        (b'{\n"a": 1,\n"a": 2\n}', "cannot be read: the key `a` is repeated"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, message: str
) -> None:
    assert refusal(written(tmp_path, data)) == message


def test_missing_files_and_folders_are_refused_with_the_reason(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.json") == "cannot be read: no such file or directory"
    assert refusal(tmp_path) == "is not a regular file"


def test_a_line_beyond_the_limit_is_named_and_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duly.audit.document.LINE_LIMIT", 100)
    path = written(tmp_path, f'{CALL}\n{{"a": "{"x" * 300}"}}\n{RESULT}\n')
    assert [(r.line, r.problem and r.problem.kind) for r in open_document(path).records()] == [
        (1, None),
        (2, "large"),
        (3, None),
    ]


def test_one_value_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duly.audit.document.LIMIT", 10)
    assert refusal(written(tmp_path, '{\n"a": [1, 2, 3]\n}')) == "is larger than 0 MB and not one record a line"
