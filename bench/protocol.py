"""Protocols: reading and compiling long, deep and branching ones."""

import duly

from .measure import Figure, once, process


def figures() -> list[Figure]:
    choices = ".".join(f"?{{ok{number}, err{number}}}" for number in range(20)) + ".end"
    duly.protocol("!a.end")
    states = duly.protocol(choices).size
    short = once(lambda: duly.protocol(_actions(10_000)))
    long = once(lambda: duly.protocol(_actions(100_000)), rounds=3)
    nested = "!{a." * 5000 + "!b" + ", c}" * 5000
    bare = process("import duly")
    first = process("import duly\nduly.protocol('rec L.!a.?{b.L, c.end}')")
    return [
        Figure("first parse in a process", first - bare, "ms", 90.0),
        Figure(
            "20 sequential binary choices",
            once(lambda: duly.protocol(choices)),
            "ms",
            2.0,
            None,
            1.0,
            f"{states} states",
        ),
        Figure("states of 20 sequential binary choices", states, "states", 21),
        Figure("10,000 sequential actions", short, "ms", 300.0),
        Figure("5,000 nested choices", once(lambda: duly.protocol(nested)), "ms", 300.0),
        Figure("100,000 sequential actions", long / short, "of 10,000", 15.0, None, None, f"{long:.0f} ms"),
    ]


def _actions(count: int) -> str:
    return ".".join(f"!a{number % 7}" for number in range(count)) + ".end"
