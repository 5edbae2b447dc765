"""Actions of users: called after an event was recorded. Their errors are recorded, and undo and repeat nothing."""

from collections.abc import Callable, Iterable

from msgspec import structs

from duly.session.session import Session
from duly.values.event import Event
from duly.values.plain import own
from duly.values.verdict import Reason, Verdict, Violation

from .stored import Taken

Action = Callable[[Event, Verdict], object]


def act(actions: Iterable[Action], session: Session, taken: Taken) -> None:
    """Calls the actions with an event and its verdict; what they raise is noted in the session's record."""
    for action in actions:
        try:
            action(_shown(taken.event), taken.verdict)
        except Exception as error:
            name = str(getattr(action, "__name__", "action"))
            message = f"the action `{name}` failed: {type(error).__name__}: {str(error)[:200]}"
            reason = Reason("action", "action", message, help="what was decided stands")
            session.note(taken.event, Violation((reason,), finding=True))


def _shown(event: Event) -> Event:
    """The event with a payload of its own, for those who may change what they are shown."""
    payload = getattr(event, "payload", None)
    return event if payload is None else structs.replace(event, payload=own(payload))
