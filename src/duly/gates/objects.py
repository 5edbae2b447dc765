"""Python objects as payloads: what a tool takes and returns, as plain values that rules can read."""

from decimal import Decimal
from typing import Any

import msgspec

from duly.values.plain import Malformed, plain


def arguments_of(value: Any) -> Any:
    """The same for what is to be judged: raises Malformed for what is no plain value, such as NaN."""
    try:
        return plain(value)
    except Malformed:
        try:
            built = msgspec.to_builtins(value, str_keys=True, builtin_types=(Decimal,), enc_hook=_unknown)
        except Exception as error:
            raise Malformed(f"the arguments are no plain values: {str(error)[:120]}") from None
        return plain(built)


def payload_of(value: Any) -> Any:
    """A plain value for a Python object: JSON values as they are, dataclasses, Structs, dates, enums and paths in the
    form that msgspec gives them, anything else as ``{"type": …}``, which no rule can mistake for data.
    """
    try:
        return arguments_of(value)
    except Malformed:
        return {"type": type(value).__qualname__}


def _unknown(value: Any) -> Any:
    if hasattr(value, "__fspath__"):
        return str(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    return {"type": type(value).__qualname__}
