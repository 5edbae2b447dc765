"""Every recorded file of the shared sets is read or refused in words."""

import json
import random
from collections import Counter
from pathlib import Path

from duly.audit.detect import files, read
from duly.audit.report import audit_files
from duly.machine.contract import Contract
from duly.machine.rule import must_precede
from duly.values.errors import DulyError
from duly.values.event import Called, Received

from .corpora import AIRLINE, CORPORA, needs_corpora

pytestmark = needs_corpora

READABLE = {
    "coding-mini-swe-agent": {"openai-chat"},
    "langchain-booking": {"steps"},
    "mcp-livemcpbench": {"openai-chat"},
    "tau-bench": {"tau-bench", "tau-bench-few-shot"},
    "tau2": {"tau2"},
}


def test_sets_in_known_formats_are_read_and_all_others_are_called_unknown() -> None:
    formats: dict[str, set[str]] = {}
    refused: dict[str, set[str]] = {}
    for path in files([CORPORA]):
        name = path.relative_to(CORPORA).parts[0]
        try:
            runs = list(read(path))
        except DulyError as error:
            refused[name] = {diagnostic.code for diagnostic in error.diagnostics} | refused.get(name, set())
            continue
        formats.setdefault(name, set()).update(run.format for run in runs)
        for run in runs:
            assert list(run.events), path
    assert formats == READABLE
    assert not refused.keys() & formats.keys()
    assert all(codes == {"unknown_format"} for codes in refused.values())


def test_no_record_of_tau_bench_is_lost_and_every_result_has_its_call() -> None:
    raw = json.loads(AIRLINE.read_text(encoding="utf-8"))
    messages = Counter(message["role"] for run in raw for message in run["traj"])
    calls = sum(len(message.get("tool_calls") or ()) for run in raw for message in run["traj"])
    runs = list(read(AIRLINE))
    kinds = Counter(type(event).__name__ for run in runs for event in run.events)
    # 90 assistant messages hold text beside a call, 1,290 text alone
    assert kinds == {"Called": calls, "Returned": messages["tool"], "Received": messages["user"], "Sent": 1380}
    assert [run.problems for run in runs if run.problems] == []
    for run in runs:
        numbers = [event.id for event in run.events if type(event) is Called]
        assert len(numbers) == len(set(numbers))


def test_the_sent_texts_of_users_hold_no_stop_mark() -> None:
    texts = [event.payload["text"] for run in read(AIRLINE) for event in run.events if type(event) is Received]
    assert [text for text in texts if "###" in text or text != text.strip()] == []


def test_damaged_files_are_never_an_error_of_ours(tmp_path: Path) -> None:
    rng = random.Random(7)
    contract = Contract(must_precede("lookup", "refund"))
    small = [path for path in files([CORPORA]) if path.stat().st_size < 60_000]
    target = tmp_path / "damaged"
    for _ in range(150):
        data = bytearray(rng.choice(small).read_bytes())
        for _ in range(rng.randrange(1, 5)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        at = rng.randrange(len(data))
        data[at:at] = b"\0" * rng.choice((0, 0, 30))
        target.write_bytes(bytes(data[: rng.randrange(1, len(data))] if rng.random() < 0.5 else data))
        report = audit_files([target], contract)
        assert report.internal == [], bytes(data)
        assert report.runs or report.unreadable_files
