"""How much the laws try: little by default, much under ``DULY_SOAK=1``."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

SOAK = bool(os.environ.get("DULY_SOAK"))
F = TypeVar("F", bound=Callable[..., Any])


def tried(small: int, large: int) -> Callable[[F], F]:
    """A law is tried this often; without deadlines, since machines differ."""
    return settings(  # type: ignore[return-value]
        max_examples=large if SOAK else small, deadline=None, derandomize=not SOAK,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], print_blob=True,
    )  # fmt: skip
