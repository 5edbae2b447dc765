"""The arguments of a call as they came: undecoded text is read here, and nowhere else."""

from typing import Any

from duly.machine.ir import Plan
from duly.values.event import Called
from duly.values.plain import Malformed, read_json


def arguments(event: Called, plan: Plan | None) -> Any:
    """What was asked with; empty text is no arguments, where none are required. Raises Malformed."""
    raw = event.raw
    if raw is None:
        return {}
    if not raw.strip():
        if plan is not None and plan.tool is not None and (plan.tool.schema or {}).get("required"):
            raise Malformed(f"`{event.label}` was called without arguments and requires some")
        return {}
    return read_json(raw)
