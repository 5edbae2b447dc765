"""Parts of a budget for children: what was there before is there after, whoever spends it and when."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duly import Called, Charged, DulyError, Refused, Returned, Session, Tool
from duly.machine.terms import Budget
from duly.session.split import left, rejoin, split
from steps import held, words


def parent(**limits: object) -> Session:
    return held(tools=[Tool("a")], budget=(Budget(limits),))


def spend(session: Session, calls: int, usd: str) -> int:
    """As many calls as the session lets by; charges what it says."""
    done = 0
    for number in range(calls):
        if session.step(Called("a", {}, id=f"{id(session)}-{number}")):
            session.step(Returned("a", {}, id=f"{id(session)}-{number}"))
            done += 1
    session.step(Charged({"usd": usd}))
    return done


def test_a_child_cannot_use_more_than_it_was_lent_and_what_it_leaves_returns() -> None:
    session = parent(calls=5, usd=1)
    child = split(session, "kid", {"calls": 3, "usd": "0.5"})
    assert left(session) == {"calls": Decimal(2), "usd": Decimal("0.5")}
    assert spend(child, 9, "0.2") == 3
    assert words(child, Called("a", {}, id="more")) == ["violation"]
    assert rejoin(session, "kid", child)
    assert left(session) == {"calls": Decimal(2), "usd": Decimal("0.8")}


def test_a_split_that_asks_for_more_than_is_left_is_refused_and_takes_nothing() -> None:
    session = parent(calls=5, usd=1)
    with pytest.raises(Refused, match="asks for 6 calls, and 5 are left"):
        split(session, "kid", {"calls": 6, "usd": 0})
    with pytest.raises(DulyError, match="nothing is said of `calls`"):
        split(session, "kid", {"usd": 0})
    with pytest.raises(DulyError, match="no amount from 0"):
        split(session, "kid", {"calls": 1, "usd": -1})
    assert left(session) == {"calls": Decimal(5), "usd": Decimal(1)}


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(0, 60), st.integers(0, 8), st.integers(0, 70)), min_size=1, max_size=6
    )
)
def test_before_is_after_and_the_children_in_any_order(parts: list[tuple[int, int, int, int]]) -> None:
    session = parent(calls=12, usd=1)
    children: list[tuple[str, Session, int, str]] = []
    for number, (calls, cents, does, pays) in enumerate(parts):
        before = left(session)
        asked = {"calls": calls, "usd": Decimal(cents) / 100}
        try:
            child = split(session, str(number), asked)
        except Refused:
            assert left(session) == before
            continue
        assert {unit: left(session)[unit] + left(child)[unit] for unit in before} == before
        children.append((str(number), child, does, str(Decimal(pays) / 100)))
    with ThreadPoolExecutor(4) as pool:
        spent = list(pool.map(lambda each: spend(each[1], each[2], each[3]), children))
    total = {"calls": Decimal(12), "usd": Decimal(1)}
    for (name, child, _, pays), done in zip(children, spent, strict=True):
        rejoin(session, name, child)
        total = {"calls": total["calls"] - done, "usd": total["usd"] - Decimal(pays)}
    assert left(session) == total


def test_threads_that_split_one_parent_share_no_more_than_there_is() -> None:
    session = parent(calls=20, usd=1)

    def work(number: int) -> int:
        try:
            child = split(session, str(number), {"calls": 3, "usd": "0.01"})
        except Refused:
            return 0
        done = sum(bool(child.step(Called("a", {}, id=f"c{n}"))) for n in range(5))
        for n in range(done):
            child.step(Returned("a", {}, id=f"c{n}"))
        assert rejoin(session, str(number), child)
        return done

    with ThreadPoolExecutor(16) as pool:
        done = sum(pool.map(work, range(64)))
    assert done == 18
    assert left(session)["calls"] == Decimal(2)
