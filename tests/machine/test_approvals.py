"""Approvals as a contract states them: what has no clear meaning is refused when it is built."""

from typing import Any

import pytest

from duly import Approval, Contract, DulyError, LabelRule, Stand, Tool, at_most


@pytest.mark.parametrize(
    ("approval", "said"),
    [
        (Approval("pay", need=0), "`need` is a whole number from 1"),
        (Approval("pay", by=("ana",), need=2), "2 people must say yes, and 1 may"),
        (Approval("pay", by=("ana", " ")), "a decider without a name"),
        (Approval("pay", by="ana"), "`by` is a list of names"),  # type: ignore[arg-type]
        (Approval("pay", expires=0.0), "`expires` is a positive time"),
        (Approval("pay", expires=float("nan")), "`expires` is a positive time"),
        (Approval("pay", stand=Stand(lasts=-1.0)), "`lasts` is a positive time"),
        (Approval("pay", stand="exat"), "unknown width `exat` of a standing yes"),  # type: ignore[arg-type]
        (Approval("pay", no="day"), "unknown reach `day` of a no"),  # type: ignore[arg-type]
        (Approval("Yes"), "`Yes` is a message; approvals are about calls"),
        (Approval("pay", when="args.amount >"), "is no condition"),
        (Approval("pay", when="result.ok"), "unknown name `result`"),
        (Approval("@many"), "unknown group `many`"),
    ],
)
def test_an_approval_without_a_clear_meaning_is_refused(approval: Any, said: str) -> None:
    with pytest.raises(DulyError) as caught:
        Contract(approval, tools=[Tool("pay")], labels=[LabelRule("Yes")])
    assert any(said in fault.message for fault in caught.value.diagnostics)


def test_two_of_one_name_are_refused() -> None:
    for other in (Approval("pay", id="x"), at_most("pay", 1, id="x")):
        with pytest.raises(DulyError, match="are called `x`"):
            Contract(Approval("pay", when="args.n > 1", id="x"), other, tools=[Tool("pay")])


def test_the_digest_holds_what_is_asked_and_not_the_words_in_which_people_are_asked() -> None:
    plain = Contract(Approval("pay"), tools=[Tool("pay")])
    assert plain.digest == Contract(Approval("pay", ask="Pay?"), tools=[Tool("pay")]).digest
    for other in (Approval("pay", by=("ana",)), Approval("pay", expires=5.0), Approval("pay", no="turn")):
        assert plain.digest != Contract(other, tools=[Tool("pay")]).digest
    assert Contract(tools=[Tool("pay")]).digest != plain.digest


def test_an_approval_is_named_by_its_canonical_text() -> None:
    contract = Contract(Approval("@all", when="args.n > 1", excepting=("look",)), tools=[Tool("pay"), Tool("look")],
                        groups={"all": ["pay", "look"]})  # fmt: skip
    assert list(contract.askers) == ["approval(@all, when=args.n > 1, except=look)"]
    assert contract.asks[0].names == {"pay"}
