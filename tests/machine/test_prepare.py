"""Arguments before they are judged."""

from decimal import Decimal
from typing import Any

import pytest

from duly import Approval, Contract, DulyError, Gate, Ordered, Refused, Session, Tool
from duly.machine.prepare import Preparer


def prepared(args: dict[str, Any], **tool: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    return Preparer(Tool("t", **tool))(args)


@pytest.mark.parametrize(
    ("path", "base", "normal"),
    [
        ("/w/./a.txt", None, "/w/a.txt"),
        ("/w/../etc/passwd", None, "/etc/passwd"),
        ("//w///b", None, "/w/b"),
        ("/../../x", None, "/x"),
        ("/", None, "/"),
        ("a/../b", "/w", "/w/b"),
        ("../../etc", "/w", "/etc"),
        ("", "/w", "/w"),
        ("/w/a/", None, "/w/a"),
        ("/w/…/é", None, "/w/…/é"),
    ],
)
def test_paths_are_put_in_normal_form_without_touching_the_disk(path: str, base: str | None, normal: str) -> None:
    assert prepared({"p": path}, paths={"p": base}) == ({"p": normal}, [])


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("a.txt", "`p`: a relative path needs a base; give the whole path"),
        ("/w/\0", "`p`: a path holds no NUL"),
        (5, "`p`: a path is text"),
        (["/w"], "`p`: a path is text"),
        ("/a" * 300, "`p`: too many steps"),
    ],
)
def test_what_is_no_path_is_a_fault(path: Any, fault: str) -> None:
    assert prepared({"p": path}, paths={"p": None})[1] == [("path", fault)]


@pytest.mark.parametrize(
    ("value", "clamped"),
    [(100, 50), (-1, 0), (7, 7), (Decimal("50.01"), 50), (Decimal("1E+999999"), 50), (None, None)],
)
def test_numbers_are_clamped_and_nothing_is_left_alone(value: Any, clamped: Any) -> None:
    ready, faults = prepared({"n": value}, clamp={"n": {"min": 0, "max": 50}})
    assert (ready, faults) == ({"n": clamped}, [])


@pytest.mark.parametrize("value", ["100", True, [100], {"n": 100}])
def test_what_is_bounded_and_is_no_number_is_a_fault(value: Any) -> None:
    faults = [("clamp", "`n`: what is bounded is a number")]
    assert prepared({"n": value}, clamp={"n": {"max": 50}}) == ({"n": value}, faults)


def test_a_tool_that_changes_its_arguments_changes_neither_the_defaults_nor_what_was_agreed_to() -> None:
    tool = Tool("send", schema={"properties": {"to": {"default": ["ana"]}, "cc": {}}})
    session = Session(Contract(Approval("send", by=("bo",)), tools=[tool]))
    gate = Gate.of(session)
    for _ in range(2):
        with pytest.raises(Refused) as caught:
            gate.begin("send", {"cc": [1]}, id="c1")
        ticket = caught.value.verdict.ticket  # type: ignore[union-attr]
        assert gate.step(Ordered("stand", target=ticket, by="bo"))
        for id in ("c1", "c2"):
            passed = gate.begin("send", {"cc": [1]}, id=id)
            assert passed.payload == {"cc": [1], "to": ["ana"]}
            passed.payload["to"].append("eve")
            passed.payload["cc"].append(2)
            assert session.state.open[id].args == {"cc": [1], "to": ["ana"]}
            gate.settle(passed, {})
        with pytest.raises(Refused):
            gate.begin("send", {"cc": [1, 2], "to": ["ana", "eve"]})
        assert gate.step(Ordered("withdraw", target="send", by="bo"))


def test_defaults_are_filled_before_the_schema_is_asked_and_the_original_is_kept() -> None:
    schema = {"type": "object", "properties": {"n": {"default": 3, "type": "integer"}}, "required": ["n"]}
    given: dict[str, Any] = {}
    assert prepared(given, schema=schema) == ({"n": 3}, [])
    assert given == {}


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({"n": 100}, True),
        ({"n": Decimal("99.5")}, True),
        ({"n": 101}, False),
        ({"n": Decimal("100.00000000000000000001")}, False),
        ({"n": 100.00000000000001}, False),
        ({"n": Decimal("1E+999")}, False),
        ({"n": Decimal("1E+999999999")}, False),
        ({"n": Decimal("-1E+999999999")}, True),
        ({"n": 10**5000}, False),
        ({"n": "5"}, False),
        ({"n": True}, False),
        ({}, False),
    ],
)
def test_every_number_meets_the_schema_as_the_number_it_is(args: dict[str, Any], fits: bool) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number", "maximum": 100}}, "required": ["n"]}
    assert (prepared(args, schema=schema)[1] == []) is fits


def test_a_huge_number_fits_where_nothing_bounds_it() -> None:
    assert prepared({"n": Decimal("1E+999")}, schema={"properties": {"n": {"type": "number"}}})[1] == []


def test_faults_are_bounded_and_name_their_place() -> None:
    schema = {"properties": {"xs": {"items": {"type": "string"}}}}
    faults = prepared({"xs": list(range(100))}, schema=schema)[1]
    assert (len(faults), faults[0]) == (8, ("schema", '`xs.0`: 0 is not of type "string"'))


@pytest.mark.parametrize(
    "schema",
    [{"type": "nothing"}, {"$ref": "https://example.org/schema.json"}, {"pattern": "("}, {"$ref": "#/nowhere"}],
)
def test_what_is_no_schema_or_lies_outside_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(DulyError, match="the schema of `t` is no JSON Schema"):
        Preparer(Tool("t", schema=schema))


def test_patterns_run_in_linear_time() -> None:
    schema = {"properties": {"s": {"pattern": "^(a+)+$"}}}
    assert len(prepared({"s": "a" * 5000 + "!"}, schema=schema)[1]) == 1
