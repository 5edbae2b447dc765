"""What the gate makes of a server's result, and what it answers in a server's place."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from duly.values.plain import Malformed, plain, read_json, write_json
from duly.values.verdict import TEXT_LIMIT, Reason, Refusal, Verdict, one_line

META: Final = "duly/verdict"
"""Where in ``_meta`` a refusal says in data what its text says in words."""
LONGEST: Final = 4 * 1024 * 1024
"""Bytes of a text that are looked at as JSON."""


def payload(found: Mapping[str, Any]) -> Any:
    """The result as the contract sees it: the structured content, else the JSON of the text, else the text.

    Several blocks are a list, so that no condition sees the first row only.
    """
    structured = found.get("structuredContent")
    if structured is None:
        content = found.get("content")
        values = [_value(block) for block in (content if isinstance(content, list) else [])]
        structured = values[0] if len(values) == 1 else values
    try:
        return plain(structured)
    except Malformed as error:
        # the call has ended all the same; no condition can be worked out on this
        return {"unreadable": str(error)[:200]}


def _value(block: Any) -> Any:
    if not isinstance(block, Mapping) or block.get("type") != "text":
        return block
    text = block.get("text")
    if not isinstance(text, str) or len(text) > LONGEST or text[:1] not in ("{", "["):
        return text
    try:
        return read_json(text)
    except Malformed:
        return text


def sendable(value: Any) -> Any:
    """A plain value as the wire carries it: decimals become numbers."""
    kind = type(value)
    if kind is Decimal:
        return int(value) if value == value.to_integral_value() else float(value)
    if kind is dict:
        return {key: sendable(item) for key, item in value.items()}
    if kind is list:
        return [sendable(item) for item in value]
    return value


def recorded(result: Any) -> dict[str, Any]:
    """The result of a finished call, from the record; of one that a person settled as done, there may be none."""
    value = sendable(result)
    text = "done; no result is recorded" if value is None else value if type(value) is str else write_json(result)
    out = {"content": [{"type": "text", "text": text}], "_meta": {META: {"verdict": "allowed", "recorded": True}}}
    if type(value) is dict:
        out["structuredContent"] = value
    return out


def refusal(verdict: Verdict, *, structured: bool) -> dict[str, Any]:
    """A refused call as a tool error that a model can act on: in words, and in data of no more than as many bytes.

    ``structured`` says whether the tool leaves room for structured content of another kind than its own.
    """
    assert isinstance(verdict, Refusal)
    show = verdict.show
    facts: dict[str, Any] = {"verdict": verdict.word}
    if "reasons" in show:
        facts["reasons"] = [_reason(reason) for reason in verdict.reasons[:5]]
    repair = verdict.repair if "repair" in show else None
    if repair is not None:
        facts["repair"] = {"answer": repair.answer, "steps": [one_line(step, 160) for step in repair.steps[:12]]}
    if "legal" in show:
        facts["legal"] = [one_line(act.label, 100) for act in verdict.legal[:12]]
    if verdict.halted:
        facts["halted"] = True
    if verdict.ticket is not None:
        facts["ticket"] = verdict.ticket
    return _error(verdict.text(), _fitting(facts), structured=structured)


def _fitting(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a refusal, without as many acts, steps and further reasons as there is no room for."""
    facts = dict(facts)
    while len(write_json(facts).encode()) > TEXT_LIMIT:
        for name, least in (("legal", 0), ("reasons", 1)):
            if len(facts.get(name, ())) > least:
                facts[name] = facts[name][:-1]
                break
        else:
            repair = facts.get("repair")
            if repair is not None and repair["steps"]:
                facts["repair"] = {**repair, "steps": repair["steps"][:-1]}
                continue
            # names of nothing but quotation marks and the like
            facts["reasons"] = [
                {"rule": one_line(each["rule"], 60), "kind": each["kind"], "message": one_line(each["message"], 100)}
                for each in facts.get("reasons", ())
            ]
            break
    return facts


def trouble(kind: str, text: str, *, structured: bool = True) -> dict[str, Any]:
    """A tool error about the call's way rather than about the contract."""
    facts = {"verdict": "failed", "reasons": [{"rule": "gate", "kind": kind, "message": text}]}
    return _error(text, facts, structured=structured)


def _reason(reason: Reason) -> dict[str, Any]:
    out: dict[str, Any] = {
        "rule": one_line(reason.rule, 200), "kind": reason.kind, "message": one_line(reason.message, 400)
    }  # fmt: skip
    if reason.expected:
        out["expected"] = [one_line(each, 100) for each in reason.expected[:8]]
    if reason.help:
        out["help"] = one_line(reason.help, 400)
    return out


def _error(text: str, facts: dict[str, Any], *, structured: bool) -> dict[str, Any]:
    out = {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {META: facts}}
    if structured:
        out["structuredContent"] = facts
    return out
