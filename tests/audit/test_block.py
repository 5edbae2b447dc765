"""Many lines at once: what is read so is what the strict reading says, whatever the bytes are."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duly.audit.block import events_of
from duly.audit.document import Batch, open_document
from duly.audit.readers.native import Native
from duly.values.event import Called, Event, Returned
from duly.values.paper import event_of, write_event
from duly.values.plain import Malformed, plain, read_json

CALL = b'{"event": "called", "label": "pay", "payload": {"amount": 1.10, "to": "a: b"}, "id": "c1"}\n'


def strictly(block: bytes) -> list[Event]:
    """What each line says by itself; raises Malformed."""
    return [event_of(plain(read_json(line))) for line in BytesIO(block)]


def quirks(pieces: "st.SearchStrategy[str]") -> "st.SearchStrategy[bytes]":
    """Objects and lists of these, with spaces, keys and commas as no writer would put them."""
    space = st.sampled_from(["", "", "", "", "", "", "", " ", " ", "\t", "\r", "\n"])
    key = st.one_of(
        st.sampled_from(["payload", "id", "a", "b", "c", "d", "e", "f"]),
        st.sampled_from(["event", "label", "found", "status", "a:", "\\u0061", "f\\u006fund", "\\u003a", 'a\\"', "é"]),
    )

    def object_of(part: "st.SearchStrategy[str]") -> "st.SearchStrategy[str]":
        entry = st.tuples(key, space, space, part).map(lambda e: f'"{e[0]}"{e[1]}:{e[2]}{e[3]}')
        return st.lists(entry, max_size=4).map(lambda entries: "{" + ",".join(entries) + "}")

    def list_of(part: "st.SearchStrategy[str]") -> "st.SearchStrategy[str]":
        return st.lists(part, max_size=3).map(lambda parts: "[" + ", ".join(parts) + "]")

    value = st.recursive(pieces, lambda inner: st.one_of(object_of(inner), list_of(inner)), max_leaves=6)
    said = st.one_of(
        st.tuples(st.just("payload"), space, value),
        st.tuples(st.just("payload"), st.just(""), object_of(st.sampled_from(["1", '"x: y"', "2.50"]))),
        st.tuples(st.just("run"), space, st.sampled_from(['"r"', '"a: b"', '"\\u003a"'])),
        st.tuples(key, space, value),
    ).map(lambda e: f', "{e[0]}"{e[1]}:{e[2]}')
    kinds = [
        '"called", "label": "pay"',
        '"received", "label": null',
        '"failed","id":"c"',
        '"charged", "usage": {"usd": 1}',
    ]
    whole = st.tuples(st.sampled_from(kinds), st.lists(said, max_size=2).map("".join)).map(
        lambda parts: '{"event": ' + "".join(parts) + "}"
    )
    ends = st.sampled_from(["\n"] * 12 + ["\r\n", " \n", "\n\n", "", " "])
    line = st.tuples(st.one_of(whole, whole, whole, whole, value), ends)
    return st.lists(line.map("".join), min_size=1, max_size=4).map(
        lambda lines: "".join(lines).encode("utf-8", "surrogatepass")
    )


PIECES = st.one_of(
    st.sampled_from(["{}", '"c"', '"a: b"', "1.10", "[1, 2.5]", '{"a": {"b": "é"}}', '"\\u00e9"', "true", "-7"]),
    st.sampled_from(
        ["null", "true", "0", "-0", "-0.0", "1.10", "1e5", "1E400", "1e9999999999999999999", "NaN", "Infinity", "01",
         "18446744073709551616", "9" * 400, "9" * 401, "9" * 5000, '"a: b"', '":"', '"\\":"', '"\\u0022\\u003a"', '"\\u003A"',
         '"\\ud83d"', '"\\ud83d\\ude00"', '"\\u0000"', '"\x01"', '"\ud800"', '"{[\\n"', "{}", "[" * 63 + "]" * 63,
         "[" * 70 + "]" * 70, '{"found": {"status": "open", "label": "x"}}', '{"found":1}']
    ),
    st.text(max_size=5).map(json.dumps),
    st.integers().map(str),
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(quirks(PIECES))
def test_what_is_read_at_once_is_what_the_strict_reading_says(block: bytes) -> None:
    quick = events_of(block)
    if quick is not None:
        assert repr(quick) == repr(strictly(block))


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=3)), max_size=3))
def test_a_damaged_block_is_never_read_as_something_else(damages: list[tuple[int, bytes]]) -> None:
    block = CALL * 2
    for at, piece in damages:
        at %= len(block)
        block = block[:at] + piece + block[at + len(piece) :]
    quick = events_of(block)
    if quick is not None:
        assert repr(quick) == repr(strictly(block))


PAYLOADS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.decimals(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=5,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.builds(Called, st.text(), st.dictionaries(st.text(), PAYLOADS), st.text()), min_size=1, max_size=4))
def test_whatever_duly_writes_is_read_at_once_unless_a_text_hides_a_colon(events: list[Event]) -> None:
    block = "".join(write_event(event) + "\n" for event in events).encode()
    if b"\\u003" not in block and b'"found":{' not in block:
        quick = events_of(block)
        assert quick is not None
        assert repr(quick) == repr(strictly(block))


@pytest.mark.parametrize(
    "line",
    [
        b'{"event": "called", "label": "pay", "payload": {"amount": 1, "amount": 2}}\n',
        b'{"event": "called", "label": "pay", "payload": {"amount" : 1, "amount": 2}}\n',
        b'{"event": "called", "label": "pay", "payload": {"a": 1, "a": "\\u003a"}}\n',
        b'{"event": "called", "label": "pay", "payload": {"a": {"b": ":"}, "a": 2}}\n',
        b'{"event": "called", "label": "pay", "label": "pay"}\n',
        b'{"event": "called", "label": "pay", "labels": "pay"}\n',
        b'{"event": "called", "label": "pay", "found": {"status": "finished", "label": "pay"}}\n',
        b'{"event": "called", "label": "pay", "found": {"status": "open", "label": "x"}, "a": 1, "b": 1, "c": 1, "d": 1}\n',
        b'{"event": "called", "label": "pay", "f\\u006fund": {"status": "finished", "label": "pay"}}\n',
        b'{"event": "called", "label": "pay", "payload": {"a": ' + b"9" * 401 + b"}}\n",
        b'{"event": "called", "label": "pay", "payload": ' + b"[" * 65 + b"]" * 65 + b"}\n",
        b'{"event": "called", "label": "pay", "payload": {"a": NaN}}\n',
        b'{"event": "called", "label": "pay", "payload": {"a": "\\ud800"}}\n',
        b'{"event": "called", "label": "pay", "payload": {"a": "\xff"}}\n',
        b'{"event": "called", "label": "pay", "payload":\n{}}\n',
        b'{"event": "closed"} {"event": "closed"}\n',
        b'{"event": "closed"} {"event":\n"closed"}\n',
        b'{"event": "closed"}\n\n{"event": "closed"}\n',
        b'{"event": "closed"}\r\n',
        b'{"event": "closed"}',
        b"",
    ],
)  # fmt: skip
def test_what_may_be_read_in_two_ways_is_left_to_the_strict_reading(line: bytes) -> None:
    assert events_of(line) is None
    assert events_of(CALL + line) is None or line == b""


def test_exact_decimals_and_colons_in_texts_are_read_at_once() -> None:
    quick = events_of(CALL + b'{"event":"returned","label":"pay","payload":{"ok":true},"id":"c1"}\n')
    assert repr(quick) == repr(
        [Called("pay", {"amount": read_json("1.10"), "to": "a: b"}, "c1"), Returned("pay", {"ok": True}, "c1")]
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.just(CALL), quirks(PIECES)), min_size=2, max_size=8), st.integers(100, 400))
def test_a_file_read_in_blocks_is_the_file_read_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], size: int
) -> None:
    path = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    path.write_bytes(CALL + b"".join(parts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duly.audit.document.BLOCK", size)
        patch.setattr("duly.audit.document.SMALL", 100)
        (blocks,) = Native().read(open_document(path))
        patch.setattr("duly.audit.readers.native.events_of", lambda block: None)
        (lines,) = Native().read(open_document(path))
    assert repr(blocks) == repr(lines)


def test_one_odd_line_leaves_the_others_of_its_block_to_be_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(CALL * 300 + b'{"event": "closed"}\r\n' + CALL * 300)
    parts = list(open_document(path).batches(events_of))
    assert sum(len(part.values) for part in parts if isinstance(part, Batch)) > 580
    (run,) = Native().read(open_document(path))
    assert (len(list(run.events)), list(run.lines), run.ended) == (601, list(range(1, 602)), True)


def test_a_line_that_is_longer_than_a_block_is_read_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(
        CALL + b'{"event": "called", "label": "pay", "payload": {"a": "' + b"x" * 200_000 + b'"}}\n' + CALL
    )
    (run,) = Native().read(open_document(path))
    assert [len(event.payload) for event in run.events if isinstance(event, Called)] == [2, 1, 2]
    assert list(run.lines) == [1, 2, 3]


def test_strict_reading_of_the_oracle_is_strict() -> None:
    with pytest.raises(Malformed):
        strictly(CALL + CALL.replace(b'"to"', b'"amount"'))
