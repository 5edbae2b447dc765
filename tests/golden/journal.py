"""Writes the golden journal of this release: `python -m golden.journal` in tests/, once, when a release is made.

A golden file is never written again: later releases must read it as it is.
"""

import sqlite3
import sys
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from duly.journal.journal import open_journal
from duly.session.snapshot import save
from duly.testing.material import CONTRACT, META, events, note, run
from duly.values.event import Called, Closed, Failed, Ordered, Returned

GOLDEN = Path(__file__).parent / "journal-0.1.sqlite.sql"
RUN = (
    Called("pay", {"n": 1}, id="x", key="k0"),
    Called("look", {"n": Decimal("0.10"), "text": "🧾"}, id="a", at=2.5, key="k1"),
    Returned("look", {"v": 10**30}, id="a"),
    Called("pay", None, id="b", raw='{"n": 2e999}'),
    Failed("b", "unknown", "cut"),
    Called("pay", {"n": Decimal("2E+999")}, id="c"),
    Ordered("settle", target="b", by="ana", payload={"as": "done", "result": {"ok": True}}),
    Closed(at=9.25),
)


def main() -> None:
    with TemporaryDirectory() as directory:
        path = str(Path(directory) / "j.sqlite")
        journal = open_journal(path)
        run(journal, "run", *RUN[:3])
        journal.save_snapshot("run", 3, save(CONTRACT, run(journal, "run")))
        run(journal, "run", *RUN[3:])
        journal.note("every event", META)
        # long texts say nothing more about a format than short ones
        kept = [event for event in events() if len(str(event)) < 5000]
        journal.append("every event", [note(index, event) for index, event in enumerate(kept)], expected=0)
        journal.close()
        with sqlite3.connect(path) as connection:
            pragmas = [f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};"
                       for name in ("application_id", "user_version")]  # fmt: skip
            GOLDEN.write_text("\n".join([*connection.iterdump(), *pragmas, ""]))


if __name__ == "__main__":
    if GOLDEN.exists():
        sys.exit(f"{GOLDEN.name} is there already, and is never written again")
    main()
