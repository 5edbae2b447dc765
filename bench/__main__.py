"""Prints every figure with its bar; exits with 1 where one is passed, the machine taken into account."""

import sys

from . import protocol, rules, session, start
from .measure import Figure

QUICK = 0.845
"""Microseconds of llmcontract's send on the machine for which the bars in ms and µs were set."""


def line(figure: Figure, slower: float) -> str:
    value = f"{figure.value:.3f}" if figure.value < 10 else f"{figure.value:.0f}"
    bar = f"at most {figure.bar:.3g}" if figure.bar is not None else ""
    timed = figure.unit.split()[0] in ("ms", "µs")
    mark = " " if figure.kept else "~" if timed and figure.value / slower <= (figure.bar or 0) else "!"
    return f"{mark} {figure.name:<58} {value:>8} {figure.unit:<16} {bar:<14} {figure.note}"


def main() -> int:
    slower = session.their_send() / QUICK
    print(f"llmcontract's send takes {slower:.1f} times as long here as where the bars in ms and µs were set;")
    print("`~` marks a figure that is within its bar once that is taken into account, `!` one that is not\n")
    marks = []
    for room in (start, protocol, session, rules):
        for figure in room.figures():
            text = line(figure, slower)
            marks.append(text[0])
            print(text, flush=True)
    print(
        f"{len(marks) - marks.count('!') - marks.count('~')} of {len(marks)} within, {marks.count('~')} within by scale"
    )
    return 1 if "!" in marks else 0


if __name__ == "__main__":
    sys.exit(main())
