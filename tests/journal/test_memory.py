from duly.journal.journal import open_journal
from duly.testing import check_journal
from duly.testing.material import META, note
from duly.values.event import Sent
from journal.stores import in_memory


def test_journal_in_memory_passes_the_kit():
    check_journal(in_memory)


def test_payload_changed_after_the_append_is_not_changed_in_the_journal():
    journal = open_journal("memory:")
    journal.note("s", META)
    payload = {"text": "before"}
    journal.append("s", [note(0, Sent("Hello", payload))], expected=0)
    payload["text"] = "after"
    (record,) = journal.read("s")
    assert record.event == Sent("Hello", {"text": "before"})


def test_reading_shows_the_records_of_the_moment_at_which_it_began():
    journal = open_journal("memory:")
    journal.note("s", META)
    journal.append("s", [note(0)], expected=0)
    reading = journal.read("s")
    journal.append("s", [note(1)], expected=1)
    assert [record.index for record in reading] == [0]
