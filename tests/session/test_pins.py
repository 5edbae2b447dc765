"""Pinned tools: acts of one whose definition has changed wait for people until the new one is accepted."""

from typing import Any

import pytest

from duly import Approval, Contract, Decided, DulyError, Listed, Ordered, Session, Tool, merge
from duly.values.definition import UNREADABLE
from steps import back, call, held, why, words

ONE, TWO, THREE = (f"sha256:{digit * 64}" for digit in "123")
STRICT = {"type": "object", "properties": {"q": {"default": "x"}}, "additionalProperties": False}


def desk(*parts: Any, pin: Any = True, **terms: Any) -> Session:
    tools = [Tool("fs/search", pin=pin, schema=STRICT), Tool("fs/other"), Tool("web/get")]
    return held(*parts, tools=tools, **terms)


def listed(**tools: str) -> Listed:
    return Listed("fs", tools)


def said(verdict: Any) -> list[tuple[str, str]]:
    return [(reason.rule, reason.kind) for reason in verdict.noted]


def test_the_first_listing_is_accepted_and_the_same_one_again_changes_nothing() -> None:
    session = desk()
    assert words(session, listed(search=ONE, other=ONE), call("fs/search", "1"), listed(search=ONE), call("fs/search", "2")) == [
        "allowed"
    ] * 4
    assert session.state.more.pins == {"fs/search": (ONE, ONE)}


def test_a_changed_definition_is_noted_and_its_calls_wait_for_a_person() -> None:
    session = desk()
    session.step(listed(search=ONE))
    verdict = session.step(listed(search=TWO, other=TWO))
    assert (verdict.word, said(verdict)) == ("allowed", [("pin(fs/search)", "pin")])
    assert [act.text() for act in session.legal()] == ["fs/other", "fs/search (needs approval)", "web/get"]
    assert session.repair("fs/search").steps == ("approval by a person",)  # type: ignore[union-attr]
    asked = session.step(call("fs/search", "1"))
    assert (asked.word, why(asked)) == ("needs_approval", [("pin(fs/search)", "approval")])
    assert words(session, call("fs/other", "2"), Decided("approve", "1", by="ana"), call("fs/search", "1")) == ["allowed"] * 3
    # the yes was for one call
    assert words(session, call("fs/search", "3")) == ["needs_approval"]
    assert said(session.step(listed(search=TWO))) == []


def test_an_accepted_definition_is_the_one_that_counts_from_now_on() -> None:
    session = desk()
    words(session, listed(search=ONE), listed(search=TWO), call("fs/search", "1"))
    assert words(session, Ordered("accept", "fs/search", "ana"), call("fs/search", "1"), back("fs/search", "1")) == ["allowed"] * 3
    assert words(session, listed(search=ONE), call("fs/search", "2")) == ["allowed", "needs_approval"]
    assert words(session, listed(search=TWO), call("fs/search", "3")) == ["allowed", "allowed"]


def test_what_waited_for_the_acceptance_alone_waits_no_longer() -> None:
    session = desk(Approval("fs/search", by=("ana",)))
    words(session, listed(search=ONE), listed(search=TWO), call("fs/search", "1"))
    assert session.state.more.parked["1"].asks == ("approval(fs/search)", "pin(fs/search)")
    words(session, Ordered("accept", "fs/search", "ana"))
    assert session.state.more.parked["1"].asks == ("approval(fs/search)",)
    other = desk()
    words(other, listed(search=ONE), listed(search=TWO), call("fs/search", "1"), Ordered("accept", "fs/search", "ana"))
    assert other.state.more.parked == {}
    late = other.step(Decided("approve", "1", by="ana"))
    assert late.text() == "finding: `1` waits no longer: the tool's new definition was accepted (ask for the call again)"


def test_arguments_are_not_judged_against_the_schema_of_another_definition() -> None:
    session = desk()
    odd = {"q": "a", "callback_url": "http://x"}
    assert words(session, call("fs/search", "1", odd), listed(search=ONE), listed(search=TWO)) == [
        "violation", "allowed", "allowed",
    ]  # fmt: skip
    assert words(session, call("fs/search", "2", odd), Decided("edit", "2", by="ana", payload={"z": 1})) == [
        "needs_approval", "allowed",
    ]  # fmt: skip
    verdict = session.step(call("fs/search", "2", odd))
    # neither its faults nor its defaults
    assert (verdict.word, verdict.payload) == ("allowed", {"z": 1})  # type: ignore[union-attr]
    assert words(session, Ordered("accept", "fs/search", "ana"), call("fs/search", "3", odd)) == ["allowed", "violation"]


def test_a_yes_is_about_the_definition_that_was_listed_when_it_was_given() -> None:
    session = desk()
    words(session, listed(search=ONE), listed(search=TWO), call("fs/search", "1"), Decided("approve", "1", by="ana"))
    session.step(listed(search=THREE))
    assert words(session, call("fs/search", "1")) == ["needs_approval"]
    assert session.state.more.parked["1"].granted is False


def test_there_is_no_standing_yes_to_a_definition_that_is_not_accepted() -> None:
    session = desk()
    words(session, listed(search=ONE), listed(search=TWO), call("fs/search", "1"))
    assert why(session.step(Ordered("stand", "1", "ana"))) == [("people", "void")]


def test_a_digest_in_the_contract_is_the_accepted_definition() -> None:
    session = desk(pin=ONE)
    assert words(session, call("fs/search", "0"), listed(search=TWO), call("fs/search", "1")) == [
        "allowed", "allowed", "needs_approval",
    ]  # fmt: skip
    assert words(session, listed(search=ONE), call("fs/search", "2")) == ["allowed", "allowed"]


def test_a_definition_that_cannot_be_read_is_never_accepted() -> None:
    session = desk()
    assert words(session, listed(search=UNREADABLE), call("fs/search", "1"), Ordered("accept", "fs/search", "ana")) == [
        "allowed", "needs_approval", "violation",
    ]  # fmt: skip


def test_an_order_may_name_the_digest_that_was_looked_at() -> None:
    session = desk()
    words(session, listed(search=ONE), listed(search=TWO), listed(search=THREE))
    assert words(
        session, Ordered("accept", "fs/search", "ana", scope=TWO), call("fs/search", "1"),
        Ordered("accept", "fs/search", "ana", scope=THREE), call("fs/search", "2"),
    ) == ["violation", "needs_approval", "allowed", "allowed"]  # fmt: skip


@pytest.mark.parametrize("target", ["fs/search", "fs/other", "nobody", None])
def test_nothing_is_accepted_where_nothing_has_changed(target: Any) -> None:
    session = desk()
    words(session, listed(search=ONE, other=ONE))
    assert why(session.step(Ordered("accept", target, "ana"))) == [("people", "void")]


def test_only_who_may_decide_accepts_and_says_yes() -> None:
    session = desk(Approval("web/get", by=("ana", "bo")))
    words(session, listed(search=ONE), listed(search=TWO), call("fs/search", "1"))
    assert words(session, Ordered("accept", "fs/search", "eve"), Decided("approve", "1", by="eve")) == ["violation"] * 2
    assert words(session, Decided("approve", "1", by="bo"), call("fs/search", "1")) == ["allowed"] * 2


@pytest.mark.parametrize("tools", [{"search": "x"}, {"search": 7}, {"search": "sha256:"}, {7: ONE}])
def test_a_listing_without_digests_is_malformed(tools: Any) -> None:
    session = desk()
    assert [session.step(Listed("fs", tools)).word, session.state.more.pins] == ["unrecognized", {}]


def test_pins_outlive_a_snapshot() -> None:
    session = desk()
    words(session, listed(search=ONE), listed(search=TWO))
    again = Session.from_dict(session.contract, session.to_dict())
    assert words(again, call("fs/search", "1"), Ordered("accept", "fs/search", "ana"), call("fs/search", "2")) == [
        "needs_approval", "allowed", "allowed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pin", "labels"), [(("fs",), {"fs/search", "fs/other"}), (("web",), {"web/get"}), (("*",), {"fs/search", "fs/other", "web/get"})]
)
def test_all_tools_of_a_server_may_be_pinned(pin: Any, labels: set[str]) -> None:
    assert desk(pin=False).contract.pins == {}
    tools = [Tool(name) for name in ("fs/search", "fs/other", "web/get")]
    assert set(Contract(tools=tools, pin=pin).pins) == labels
    assert Contract(tools=tools, pin=pin).digest != Contract(tools=tools).digest
    assert set(merge([Contract(tools=tools, pin=pin), Contract(tools=tools)]).pins) == labels


def test_a_pin_that_means_nothing_is_an_error_at_load() -> None:
    tools = [Tool("fs/search", pin="sha256:1"), Tool("b", pin=True)]
    with pytest.raises(DulyError) as caught:
        Contract(tools=tools, pin=("fs2", "fs/", "other"))
    assert [(each.message, each.help) for each in caught.value.diagnostics] == [
        ("no declared tool of the server `fs2`", "did you mean `fs`?"),
        ("no declared tool of the server `fs/`", "did you mean `fs`?"),
        ("no declared tool of the server `other`", "the tools of a server are declared as `other/…`"),
        ("the pin of `fs/search` is no digest", "write `true`, or the digest that a listing shows, `sha256:` and 64 digits"),
    ]
