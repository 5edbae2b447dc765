"""One chat message as events, in the dialects that differ only in where a call and its result stand.

Texts are ``content`` (text, or a list of parts); calls are ``tool_calls``, ``function_call`` or parts ``tool_use``;
results are messages with the role ``tool`` or ``function`` or parts ``tool_result``.
"""

from collections.abc import Callable
from typing import Any, Final

from ..trajectory import Recorder

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def is_message(value: Any) -> bool:
    """Whether a value has the look of a chat message."""
    if type(value) is not dict or not ("content" in value or "tool_calls" in value or "function_call" in value):
        return False
    role = value.get("role")
    return type(role) is str and role in _ROLES


def hear(recorder: Recorder, message: Any, at: float | None = None) -> None:
    """Writes one message down; what it cannot read becomes a problem of the run."""
    if type(message) is not dict:
        recorder.problem("malformed", "a message that is not an object")
        return
    role = message.get("role")
    tell = _ROLES.get(role) if type(role) is str else None
    if tell is None:
        recorder.problem("malformed", f"a message with the unknown role `{str(role)[:40]}`")
        return
    tell(recorder, message, at)


def parts(content: Any) -> list[dict[str, Any]] | None:
    """The parts of a message's content; None where it has none that could be read."""
    if content is None:
        return []
    if type(content) is str:
        return [{"type": "text", "text": content}]
    if type(content) is list:
        found = [{"type": "text", "text": part} if type(part) is str else part for part in content]
        return found if all(type(part) is dict for part in found) else None
    return None


def text_of(content: Any) -> Any:
    """A result as recorded: text where it is text or parts of text only, else the value itself."""
    if type(content) is list and content:
        texts = [part.get("text") for part in content if type(part) is dict and part.get("type") in _TEXTS]
        if len(texts) == len(content) and all(type(text) is str for text in texts):
            return "\n".join(text for text in texts if text is not None)
    return content


def _instructs(recorder: Recorder, message: dict[str, Any], at: float | None) -> None:
    return


def _user(recorder: Recorder, message: dict[str, Any], at: float | None) -> None:
    found = parts(message.get("content"))
    if found is None:
        recorder.problem("malformed", "a user message whose content cannot be read")
        return
    texts: list[str] = []
    others = False
    for part in found:
        if _is_result(part):
            _result(recorder, part, at)
            others = True
        elif part.get("type") in _TEXTS and type(part.get("text")) is str:
            texts.append(part["text"])
    # a turn without a word is one that nobody can name; a message that only carries results is no turn
    if texts or not others:
        recorder.heard("\n".join(texts), at=at)


def _assistant(recorder: Recorder, message: dict[str, Any], at: float | None) -> None:
    found = parts(message.get("content"))
    if found is None:
        recorder.problem("malformed", "an assistant message whose content cannot be read")
        found = []
    texts = [part["text"] for part in found if part.get("type") in _TEXTS and type(part.get("text")) is str]
    if texts:
        recorder.said("\n".join(texts), at=at)
    calls: list[tuple[Any, Any, Any]] = [
        (part.get("name"), part.get("input"), part.get("id")) for part in found if part.get("type") in _CALLS
    ]
    listed = message.get("tool_calls")
    if type(listed) is list:
        calls += [_call(call) for call in listed]
    elif listed is not None:
        recorder.problem("malformed", "`tool_calls` that is not a list")
    legacy = message.get("function_call")
    if type(legacy) is dict:
        calls.append((legacy.get("name"), legacy.get("arguments"), None))
    batch = recorder.batch() if len(calls) > 1 else None
    for name, arguments, id in calls:
        if type(name) is str and name:
            recorder.called(name, arguments, id=_id(id), batch=batch, at=at)
        else:
            recorder.problem("malformed", "a call without the name of its tool")
    for part in found:
        if _is_result(part):
            _result(recorder, part, at)


def _tool(recorder: Recorder, message: dict[str, Any], at: float | None) -> None:
    name = message.get("name")
    id = _id(message.get("tool_call_id"))
    if id is None:
        # some recorders name the call by the message's own id, others number their messages
        own = _id(message.get("id"))
        id = own if own is not None and recorder.knows(own) else None
    recorder.returned(
        text_of(message.get("content")),
        id=id,
        name=name if type(name) is str and name else None,
        error=message.get("error") is True or message.get("is_error") is True or message.get("status") == "error",
        at=at,
    )


def _is_result(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    return type(kind) is str and kind.endswith("tool_result")


def _result(recorder: Recorder, part: dict[str, Any], at: float | None) -> None:
    recorder.returned(
        text_of(part.get("content", "")),
        id=_id(part.get("tool_use_id")),
        error=part.get("is_error") is True,
        at=at,
    )


def _call(call: Any) -> tuple[Any, Any, Any]:
    if type(call) is not dict:
        return None, None, None
    body = call.get("function")
    if type(body) is not dict:
        # the same fact without the wrapper, as benchmarks and some gateways write it
        body = call
    return body.get("name"), body.get("arguments", body.get("kwargs")), call.get("id")


def _id(value: Any) -> str | None:
    if type(value) is int:
        return str(value)
    return value if type(value) is str and value else None


_ROLES: Final[dict[str, Callable[[Recorder, dict[str, Any], float | None], None]]] = {
    "system": _instructs,
    "developer": _instructs,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
    "function": _tool,
}
