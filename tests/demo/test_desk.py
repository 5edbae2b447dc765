"""The box office's tools: what they answer, what they change, and what they cannot do."""

import pytest

from duly.demo.desk import CHANGES, READS, Desk, DeskError


def test_desk_has_five_reading_and_five_changing_tools() -> None:
    assert list(Desk().tools()) == [*READS, *CHANGES]
    assert len(READS) == len(CHANGES) == 5


def test_reading_tools_change_nothing() -> None:
    desk = Desk()
    before = desk.state()
    assert desk.find_bookings("kofi@post.example") == {"bookings": ["LT-211", "LT-212"]}
    assert desk.get_booking("LT-201")["seats"] == ["A1", "A2"]
    assert [row["id"] for row in desk.list_performances("Lamplighters")["performances"]] == ["lamp-sat", "lamp-sun"]
    assert "A1" not in desk.list_free_seats("gulls-fri")["seats"]
    assert desk.quote_refund("LT-201") == {"refundable": True, "refund": 44}
    assert desk.quote_refund("LT-208") == {"refundable": False, "refund": 0}
    assert desk.state() == before


def test_booking_takes_the_next_reference_and_the_seats() -> None:
    desk = Desk()
    assert desk.book_seats("new@post.example", "lamp-sun", ["C1", "C2"]) == {"reference": "LT-214", "paid": 36}
    assert desk.get_booking("LT-214")["seats"] == ["C1", "C2"]


def test_cancelling_pays_back_less_the_fee_and_frees_the_seats() -> None:
    desk = Desk()
    assert desk.cancel_booking("LT-202") == {"reference": "LT-202", "status": "cancelled", "refund": 22}
    assert "B1" in desk.list_free_seats("gulls-fri")["seats"]


def test_moving_takes_the_first_free_seats_of_the_other_performance() -> None:
    desk = Desk()
    moved = desk.move_booking("LT-204", "gulls-sun")
    assert moved == {"reference": "LT-204", "performance": "gulls-sun", "seats": ["A1", "A2"]}
    assert {"C1", "C2"} <= set(desk.list_free_seats("gulls-fri")["seats"])


def test_changing_seats_may_keep_one_of_those_held() -> None:
    desk = Desk()
    assert desk.change_seats("LT-205", ["C4", "B1"]) == {"reference": "LT-205", "seats": ["B1", "C4"]}


def test_voucher_is_sent_once_per_booking() -> None:
    desk = Desk()
    desk.send_voucher("LT-209", 10)
    with pytest.raises(DeskError, match="a voucher was already sent for LT-209"):
        desk.send_voucher("LT-209", 10)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("find_bookings", {"email": "nobody@post.example"}, "no booking under nobody@post.example"),
        ("get_booking", {"reference": "LT-999"}, "no booking LT-999"),
        ("list_performances", {"show": "Hamlet"}, "no show called Hamlet"),
        ("list_free_seats", {"performance": "gulls-mon"}, "no performance gulls-mon"),
        ("quote_refund", {"reference": "LT-999"}, "no booking LT-999"),
        ("book_seats", {"email": "a@b", "performance": "gulls-fri", "seats": ["A1"]}, "seat A1 is taken"),
        ("book_seats", {"email": "a@b", "performance": "gulls-fri", "seats": ["Z9"]}, "there is no seat Z9"),
        ("book_seats", {"email": "a@b", "performance": "gulls-fri", "seats": []}, "name each seat once, at least one"),
        ("cancel_booking", {"reference": "LT-208"}, "LT-208 is a saver booking and cannot be refunded"),
        ("cancel_booking", {"reference": "LT-999"}, "no booking LT-999"),
        ("move_booking", {"reference": "LT-204", "performance": "lamp-sat"}, "lamp-sat is another show than LT-204's"),
        ("change_seats", {"reference": "LT-204", "seats": ["A3"]}, "LT-204 is for 2 seats, not 1"),
        ("send_voucher", {"reference": "LT-209", "pounds": 21}, "a voucher is for 1 to 20 pounds"),
    ],
)  # fmt: skip
def test_tool_that_cannot_do_it_says_why_and_changes_nothing(
    tool: str, arguments: dict[str, object], message: str
) -> None:
    desk = Desk()
    before = desk.state()
    with pytest.raises(DeskError) as error:
        desk.tools()[tool](**arguments)
    assert str(error.value) == message
    assert desk.state() == before


def test_cancelled_booking_cannot_be_cancelled_again() -> None:
    desk = Desk()
    desk.cancel_booking("LT-202")
    with pytest.raises(DeskError, match="LT-202 is already cancelled"):
        desk.cancel_booking("LT-202")


def test_full_performance_takes_no_booking() -> None:
    desk = Desk()
    desk.book_seats("group@post.example", "gulls-sun", desk.list_free_seats("gulls-sun")["seats"])
    with pytest.raises(DeskError, match="gulls-sun has no 2 seats to move to"):
        desk.move_booking("LT-204", "gulls-sun")


def test_two_desks_share_nothing() -> None:
    first, second = Desk(), Desk()
    first.cancel_booking("LT-202")
    assert first.state() != second.state()
