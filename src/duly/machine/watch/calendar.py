"""Days of a calendar: which day an instant falls on in a zone, and when the next one begins.

Days are half open. The rules of zones come from the system's tz database (IANA), read when a contract is loaded.
"""

from datetime import UTC, date, datetime, timedelta, tzinfo

from duly.values.errors import Diagnostic, DulyError

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -60_000_000_000.0, 250_000_000_000.0
"""Seconds within which calendars have days in every zone: the years 69 to 9892."""


def zone_of(name: str) -> tzinfo:
    """The zone of this name (`UTC`, `Europe/Berlin`); raises DulyError where the system knows none."""
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        wrong = Diagnostic("rule", f"unknown zone `{name[:60]}`", help="write `UTC` or `Europe/Berlin`")
        raise DulyError([wrong]) from None


def dated(wall: float) -> bool:
    """Whether an instant (seconds since 1970) lies on a day of the calendar."""
    return _FIRST < wall < _LAST


def day_of(wall: float, zone: tzinfo) -> str:
    """The day on which an instant falls: `2026-12-01`; later days are greater texts."""
    moment = (_BEGINNING + timedelta(seconds=wall)).astimezone(zone)
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}"


def after_day(day: str, zone: tzinfo) -> float:
    """The instant at which a day is over, in seconds since 1970.

    Where clocks are set at midnight: a midnight that is left out is the moment of the change, and of one that comes
    twice it is the first.
    """
    following = date.fromisoformat(day) + timedelta(days=1)
    midnight = datetime(following.year, following.month, following.day, tzinfo=zone)
    return (midnight - _BEGINNING).total_seconds()
