"""Days of a calendar, held against the arithmetic of the standard library and against known changes of clocks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.machine.watch.calendar import after_day, dated, day_of, zone_of
from duly.values.errors import DulyError

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "America/Havana", "Pacific/Apia", "Asia/Beirut")


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("UTC", "2026-03-29", 24), ("Europe/Berlin", "2026-03-29", 23), ("Europe/Berlin", "2026-10-25", 25),
        ("America/New_York", "2026-03-08", 23), ("America/New_York", "2026-11-01", 25),
        # the clock goes from midnight to one: the day begins with the change
        ("Asia/Beirut", "2022-03-27", 23), ("America/Havana", "2022-11-06", 25),
    ],
)
def test_a_day_is_as_long_as_clocks_make_it(zone: str, day: str, hours: int) -> None:
    known = zone_of(zone)
    eve = (datetime.fromisoformat(day) - timedelta(days=1)).date().isoformat()
    begins, ends = after_day(eve, known), after_day(day, known)
    assert ends - begins == hours * 3600
    assert (day_of(begins - 1, known), day_of(begins, known), day_of(ends - 1, known)) == (eve, day, day)
    assert day_of(ends, known) > day


def test_a_day_that_a_zone_left_out_is_no_day() -> None:
    apia = zone_of("Pacific/Apia")
    assert day_of(instant("2011-12-30T09:59:59+00:00"), apia) == "2011-12-29"
    assert day_of(instant("2011-12-30T10:00:00+00:00"), apia) == "2011-12-31"


@given(st.floats(0, 4e9), st.sampled_from(ZONES))
def test_every_instant_lies_in_its_day_and_days_are_half_open(wall: float, name: str) -> None:
    zone = zone_of(name)
    day = day_of(wall, zone)
    assert day == datetime.fromtimestamp(wall, ZoneInfo(name)).date().isoformat()
    end = after_day(day, zone)
    assert wall < end
    assert day_of(end, zone) > day


@given(st.floats(0, 4e9), st.floats(0, 4e9), st.sampled_from(ZONES))
def test_later_instants_never_lie_on_earlier_days(one: float, other: float, name: str) -> None:
    zone = zone_of(name)
    assert day_of(min(one, other), zone) <= day_of(max(one, other), zone)


def test_only_instants_of_the_calendar_are_dated() -> None:
    assert [dated(wall) for wall in (0.0, -1e9, 1e15, -1e12, float("nan"), float("inf"))] == [
        True, True, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["Europe/Berlim", "", "../etc/passwd", "/etc/passwd", "\0", "Mars/North"])
def test_an_unknown_zone_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(DulyError) as caught:
        zone_of(name)
    assert caught.value.diagnostics[0].message == f"unknown zone `{name}`"


def test_the_days_of_utc_need_no_database() -> None:
    assert zone_of("UTC") is UTC
