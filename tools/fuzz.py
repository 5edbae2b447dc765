"""Fuzzes what comes from outside: events, documents and conditions, guided by coverage where atheris is installed.

    python tools/fuzz.py decide --seconds 180
    python tools/fuzz.py document --seconds 180
    python tools/fuzz.py condition --seconds 180

Held is that no input makes an error of duly's own into a yes, and that nothing but DulyError gets out. What breaks this
is written to `fuzz-TARGET.bin`, and the exit code is not 0. `--without` takes random bytes instead of atheris.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import monotonic
from typing import Any, Final

try:
    import atheris
except ImportError:
    atheris = None

with atheris.instrument_imports(include=["duly"]) if atheris is not None else nullcontext():
    from duly import Contract, DulyError, Session
    from duly.machine.condition import Condition
    from duly.notation.document import parse_terms
    from duly.values.paper import event_of
    from duly.values.plain import Malformed, read_json

HELD: Final = """\
duly: 1
contract: fuzz
tools:
  a: {effect: write, error: "has(result.error)", pin: true}
  b: {effect: none, schema: {type: object, properties: {n: {type: integer, default: 1}, s: {type: string}, cap: {}}}}
  c: {outcomes: {odd: "result.n == 2"}, uncertain: "result.n == 3", paths: {p: /srv}, clamp: {n: {max: 9}}}
labels: {Yes: {from: user}, No: {from: user}, Tell: {from: agent}}
facts: {cap: 3}
protocol: "rec L.{?Yes.!a(n as maybe r).?{a.L, a=denied.L}, ?No.end, !c.?{c.L, c=odd.L}, !Tell.L}"
outside: [b]
rules:
  - must_precede: [b, c]
  - at_most: {of: a, n: 2}
    scope: turn
  - at_most_total: {of: a, field: n, limit: cap}
    same: k
  - no_repeat: {of: [a, b], n: 1, among: 4}
  - must_follow: {of: a, by: b, within: {acts: 3}}
  - requires: {of: b, that: "args.n < 5 || args.s.matches('^x+$')"}
  - ensures: {of: c, that: "result.ok == true"}
  - learns: {of: b, fact: cap, value: result.cap}
budget: {calls: 50, usd: 2}
approvals:
  - {of: a, when: "args.n > 1", by: [ana, bo], need: 2, expires: 1m}
breaker: {refusals: 9, of: equal, per: turn}
"""
WORDS: Final = [
    *HELD.split(), '{"event": "called", "label": "a", "payload": {"n": 1}, "id": "1"}', '"batch": "x", ', '"at": 9, ',
    "args.n", "result.ok", "&&", "||", "==", "in", "[1, 2]", ".exists(x, x > 1)", ".matches('a+')", "has(args.n)",
]  # fmt: skip
CONTRACT: Final = Contract.of(parse_terms(HELD, name="fuzz.yaml"))
PLACES: Final[tuple[dict[str, Any], ...]] = (
    {"args": {"n": 1, "s": "x", "list": [1, "a"]}, "result": {"ok": True}, "facts": {"cap": 2}, "registers": {}},
    {"args": {}, "result": "text", "facts": {}, "registers": {"r": 10**400}},
)
VERDICTS: Final = frozenset({"allowed", "needs_approval", "violation", "unrecognized", "blocked"})


def decide(data: bytes) -> None:
    """Lines of events, some of which happen whatever is said of them."""
    session = Session(CONTRACT)
    for number, line in enumerate(data.split(b"\n")[:40]):
        try:
            event = event_of(read_json(line.decode("utf-8", "surrogatepass")))
        except (Malformed, DulyError, UnicodeDecodeError):
            continue
        peeked = session.peek(event)
        verdict = session.observe(event) if number % 7 == 6 else session.step(event)
        assert verdict.word in VERDICTS
        assert number % 7 == 6 or peeked.word == verdict.word
        for reason in (*verdict.reasons, *verdict.noted):
            assert reason.kind != "internal", reason.message
        assert len(verdict.text().encode()) <= 2000
    again = Session.from_dict(CONTRACT, json.loads(json.dumps(session.to_dict())))
    assert again.to_dict() == Session.from_dict(CONTRACT, again.to_dict()).to_dict()


def document(data: bytes) -> None:
    """A contract document in one of its formats."""
    names = ("fuzz.yaml", "fuzz.json", "fuzz.toml")
    try:
        text = data[1:].decode("utf-8", "surrogatepass")
        contract = Contract.of(parse_terms(text, name=names[data[0] % 3] if data else names[0]))
    except UnicodeDecodeError:
        return
    except DulyError:
        return
    assert Session(contract).legal() is not None


def condition(data: bytes) -> None:
    """A condition: refused with a reason, or one that is true only where it says so."""
    try:
        held = Condition(data.decode("utf-8", "surrogatepass"), names=("args", "result", "facts", "registers"))
    except (DulyError, UnicodeDecodeError):
        return
    for values in PLACES:
        assert held(values) in (True, False, None)


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {"decide": decide, "document": document, "condition": condition}
SEEDS: Final[dict[str, tuple[bytes, ...]]] = {
    "decide": (
        b'{"event": "called", "label": "b", "payload": {"n": 1}, "id": "1"}\n'
        b'{"event": "returned", "label": "b", "payload": {"cap": 2}, "id": "1"}\n'
        b'{"event": "received", "label": "Yes"}\n'
        b'{"event": "called", "label": "a", "payload": {"n": 2, "k": 1}, "id": "2", "at": 1.5, "batch": "x"}\n'
        b'{"event": "decided", "for": "2", "decision": "approve", "by": "ana"}\n'
        b'{"event": "ordered", "order": "mode", "by": "bo", "scope": "shadow"}\n'
        b'{"event": "charged", "usage": {"usd": 1}}\n{"event": "failed", "id": "2", "effect": "unknown"}\n'
        b'{"event": "listed", "server": "", "tools": {"a": "sha256:' + b"1" * 64 + b'"}}\n{"event": "closed"}',
    ),
    "document": (
        b"\0" + HELD.encode(), b"\2duly = 1\n",
        b'\1{"duly": 1, "tools": {"a": {}}, "rules": [{"forbid": {"of": "a"}}]}',
    ),
    "condition": (b"args.n > 1 && facts.cap in [1, 2]", b"has(args.s) && args.s.matches('^x+$') || result.ok == true"),
}  # fmt: skip


def mutated(rng: random.Random, known: list[bytes]) -> bytes:
    """Some input that was tried, changed a little: words put in, bytes changed, stretches cut, doubled or joined."""
    data = bytearray(rng.choice(known))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(data) + 1)
        to = min(len(data), at + rng.choice((1, 2, 8, 40)))
        match rng.randrange(5):
            case 0:
                data[at:at] = rng.choice(WORDS).encode()
            case 1:
                data[at:to] = bytes(rng.randrange(256) for _ in range(rng.randrange(4)))
            case 2:
                del data[at:to]
            case 3:
                data[at:at] = data[at:to] * rng.choice((1, 1, 2, 60))
            case _:
                other = rng.choice(known)
                cut = rng.randrange(len(other) + 1)
                data[at:to] = other[cut : cut + 60]
    return bytes(data[:4000])


def tried(target: str, seconds: float, seed: int) -> int:
    """How many inputs were tried within the time; raises what the target raises, once the input is kept."""
    rng, known, until, count = random.Random(seed), list(SEEDS[target]), monotonic() + seconds, 0
    while monotonic() < until:
        data = mutated(rng, known)
        try:
            TARGETS[target](data)
        except BaseException:
            Path(f"fuzz-{target}.bin").write_bytes(data)
            raise
        count += 1
        if rng.random() < 0.02:
            known = [*SEEDS[target], *known[-200:], data]
    return count


def guided(target: str, seconds: float, seed: int) -> None:
    """The same led by coverage; ends the process."""
    corpus = Path(f".fuzz/{target}")
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(SEEDS[target]):
        (corpus / f"seed-{number}").write_bytes(data)
    limits = ["-max_len=4000", "-timeout=20", "-rss_limit_mb=2048", f"-artifact_prefix=fuzz-{target}-"]
    asked = ["fuzz", f"-max_total_time={seconds:.0f}", f"-seed={seed + 1}", *limits, str(corpus)]
    atheris.Setup(asked, TARGETS[target])
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", action="store_true", help="random bytes, though atheris is installed")
    asked = parser.parse_args()
    if atheris is not None and not asked.without:
        guided(asked.target, asked.seconds, asked.seed)
    elif not asked.without:
        print("atheris is not installed here, so that nothing leads the bytes; they are random", file=sys.stderr)
    print(f"{asked.target}: {tried(asked.target, asked.seconds, asked.seed)} inputs, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
