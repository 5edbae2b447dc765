"""The digest of a tool's definition, by which a changed one is known again."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from .expr import normal
from .plain import plain, write_sorted

UNSTABLE = "_meta"
"""What a server may say anew each time without having changed the tool."""
UNREADABLE = f"sha256:{'0' * 64}"
"""What stands for a definition that is no plain object; it is never the accepted one."""


def definition_digest(definition: Mapping[str, Any]) -> str:
    """``sha256:…`` over a tool's definition as its server lists it: name, descriptions, schemas, annotations.

    The order of keys and the spelling of numbers make no difference, ``_meta`` is left out, and everything else counts,
    for a model reads all of it. Raises Malformed where the definition is no plain object.
    """
    told = plain({name: value for name, value in definition.items() if name != UNSTABLE})
    return "sha256:" + sha256(write_sorted(normal(told))).hexdigest()


def is_digest(text: object) -> bool:
    """Whether a value is written as a digest."""
    if type(text) is not str or not text.startswith("sha256:") or len(text) != 71:
        return False
    return not text[7:].strip("0123456789abcdef")
