"""The kit itself: stores that are wrong in one way are told so in a sentence."""

import pytest
from msgspec import structs

from duly.journal.memory import MemoryJournal
from duly.testing import check_journal


class _Wrong(MemoryJournal):
    """A store that is right in all but one of its answers."""


class _Forgets(_Wrong):
    def append(self, session, records, *, expected, shares=()):
        super().append(session, records, expected=expected, shares=shares)
        for record in records:
            if record.index == 7:
                self._streams[session].records[7] = self._streams[session].records[6]


class _TakesAnyIndex(_Wrong):
    def append(self, session, records, *, expected, shares=()):
        super().append(session, records, expected=min(expected, self.length(session)), shares=shares)


class _TakesHalf(_Wrong):
    def append(self, session, records, *, expected, shares=()):
        for place, record in enumerate(records, expected):
            super().append(session, [record], expected=place, shares=shares)


class _PostsFirst(_Wrong):
    def append(self, session, records, *, expected, shares=()):
        super().append(session, [], expected=self.length(session), shares=shares)
        super().append(session, records, expected=expected)


class _PostsAnywhere(_Wrong):
    def append(self, session, records, *, expected, shares=()):
        there = [structs.replace(share, expected=self.posted(share.ledger)) for share in shares]
        super().append(session, records, expected=expected, shares=there)


class _LastMeta(_Wrong):
    def note(self, session, meta):
        super().note(session, meta)
        self._streams[session].meta = meta
        return meta


class _OldSnapshot(_Wrong):
    def save_snapshot(self, session, index, data):
        if self.snapshot(session) is None:
            super().save_snapshot(session, index, data)


class _FindsAnyCall(_Wrong):
    def find_key(self, session, key):
        found = super().find_key(session, key)
        return self.find_call(session, found.id) if found is not None else None


class _StaysOpen(_Wrong):
    def close(self):
        pass


@pytest.mark.parametrize(
    ("store", "said"),
    [
        (_Forgets, "records are read in the order of their indexes"),
        (_TakesAnyIndex, "appending at"),
        (_TakesHalf, "of records appended together all are kept or none"),
        (_PostsFirst, "an error where all is well (ledgers_are_all_or_nothing)"),
        (_PostsAnywhere, "posting where somebody was first"),
        (_LastMeta, "what was noted first stays"),
        (_OldSnapshot, "the latest snapshot is kept"),
        (_FindsAnyCall, "a key finds its own call, whoever has the number since"),
        (_StaysOpen, "what is closed is not used any more"),
    ],
)
def test_store_that_is_wrong_in_one_way_is_told_so(store, said):
    with pytest.raises(AssertionError) as caught:
        check_journal(lambda name: store())
    assert said in str(caught.value)
