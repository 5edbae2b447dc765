"""`duly replay --session`: a session of a journal, decided again and held against its record."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duly.journal.replay import Again
    from duly.machine.contract import Contract


def replay_session(contract: "Contract", store: str, session: str, at: int | None, *, json: bool) -> int:
    """Prints every event with its verdict; gives the exit code."""
    from duly.journal.replay import again
    from duly.values.plain import write_json

    from .log import stood
    from .output import worst, write
    from .replay import text_of
    from .store import opened, summary_of

    codes: set[int] = set()
    count = 0
    with opened(store, readonly=True, json=json) as journal:
        same = summary_of(journal, session).meta.digest == contract.digest
        state = contract.start
        for step in again(contract, journal.read(session, 0)):
            if at is not None and step.record.index > at:
                break
            state, count = step.state, count + 1
            line = _line(step, same)
            codes.add(line.pop("code"))
            if step.record.ledgers is not None:
                line["ledgers"] = step.record.ledgers
            told = [f"\n      ledger {said}" for said in stood(step.record.ledgers)]
            write(write_json(line) if json else text_of(line) + "".join(told) + _differs(line))
    if state.more.parked:
        codes.add(6)
    if not json:
        write(_summary(count, contract, same))
    return worst(codes)


def _line(step: "Again", same: bool) -> dict[str, Any]:
    from .replay import line_of

    record = step.record
    if step.verdict is not None:
        line = line_of(record.index, None, record.event, step.verdict)
        agrees = not same or step.agrees
    else:
        # said by the gate itself: nothing was decided, so that nothing can be decided again
        from duly.values.paper import object_of

        from .output import plain_reason

        line = {
            "index": record.index, "line": None, "event": object_of(record.event), "verdict": record.verdict,
            "reasons": [plain_reason(reason) for reason in record.reasons], "legal": [], "repair": None, "ticket": None,
            "recorded": None, "code": 4,
        }  # fmt: skip
        agrees = True
    return {**line, "agrees": agrees, "was": record.verdict, "code": line["code"] if agrees else 5}


def _differs(line: dict[str, Any]) -> str:
    return "" if line["agrees"] else f"\n      the record says {line['was']}"


def _summary(count: int, contract: "Contract", same: bool) -> str:
    from .output import number

    whose = "" if same else ", under another contract than it was held to"
    return f"{number(count, 'event')} decided again by {contract.name or 'the contract'}{whose}"
