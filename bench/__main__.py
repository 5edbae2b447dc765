"""Prints every figure with its bar; exits with 1 where one is passed."""

import sys

from . import protocol, session, start
from .measure import Figure


def line(figure: Figure) -> str:
    value = f"{figure.value:.3f}" if figure.value < 10 else f"{figure.value:.0f}"
    bar = f"at most {figure.bar:.3g}" if figure.bar is not None else ""
    mark = " " if figure.kept else "!"
    return f"{mark} {figure.name:<58} {value:>8} {figure.unit:<16} {bar:<14} {figure.note}"


def main() -> int:
    found: list[Figure] = []
    for room in (start, protocol, session):
        for figure in room.figures():
            found.append(figure)
            print(line(figure), flush=True)
    passed = [figure for figure in found if not figure.kept]
    print(f"{len(found) - len(passed)} of {len(found)} figures within their bar")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
