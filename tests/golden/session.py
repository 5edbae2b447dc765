"""Writes `session-0.1.json`: a contract, a run on paper, its verdicts, the digest, and the snapshot in the middle.

Run it once per release, under that release: `python tests/golden/session.py`. A file that is written is never changed.
"""

import json
from pathlib import Path
from typing import Any

import duly
from duly.values.event import Event
from duly.values.paper import read_event, write_event

FILE = Path(__file__).with_name("session-0.1.json")
PROTOCOL = "rec Desk.{?Ask.Desk, !find.?find(id as maybe found).Desk, ?Yes.!refund(id == found).?refund.Desk, ?Bye.end}"
RUN: list[Event] = [
    duly.Called("find", {"number": "A7"}, id="c1", at=1.0, batch="b1"),
    duly.Called("refund", {"id": "A7", "amount": 12.5}, id="c2", at=1.5),
    duly.Returned("find", {"id": "A7", "total": 240}, id="c1", at=2.0),
    duly.Received("Yes", {"text": "yes"}, at=3.0),
    duly.Called("refund", {"id": "A7", "amount": 12.5}, id="c3", at=4.0),
    duly.Failed("c3", "unknown", "timeout", at=34.0),
    duly.Called("refund", {"id": "A7", "amount": 12.5}, id="c4", at=35.0),
    duly.Ordered("freeze", by="ana", at=36.0),
    duly.Received(None, {"text": "¿qué?"}, at=37.0),
    duly.Ordered("settle", target="c3", by="ana", payload={"as": "done"}, at=38.0),
    duly.Ordered("unfreeze", by="ana", at=39.0),
    duly.Received("Bye", at=40.0),
    duly.Closed(at=41.0),
]
CUT = 8


def contract() -> duly.Contract:
    return duly.Contract(
        duly.protocol(PROTOCOL),
        duly.must_precede("find", "refund"),
        duly.at_most("refund", 1, scope="turn"),
        name="refunds",
        version="1.0",
        tools=[duly.Tool("find", effect="none"), duly.Tool("refund", effect="write")],
    )


def replayed(lines: list[str], session: duly.Session) -> list[str]:
    return [session.step(read_event(line)).word for line in lines]


def written() -> dict[str, Any]:
    lines = [write_event(event) for event in RUN]
    session = duly.Session(contract())
    words = replayed(lines[:CUT], session)
    snapshot = session.to_dict()
    return {
        "digest": contract().digest,
        "events": lines,
        "verdicts": words + replayed(lines[CUT:], session),
        "cut": CUT,
        "snapshot": snapshot,
        "end": session.to_dict(),
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(written(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
