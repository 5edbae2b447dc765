"""Guards that contracts of the tests name."""

from typing import Any

ASKED: list[dict[str, Any]] = []


def small(args: dict[str, Any]) -> bool:
    ASKED.append(args)
    return bool(args.get("n", 0) < 10)


NUMBER = 3
