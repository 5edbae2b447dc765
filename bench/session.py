"""Sessions: events, calls, refusals, memory, restoring. The peer is llmsessioncontract."""

import gc
import tracemalloc
from collections import deque
from threading import Lock

import llmcontract

import duly
from duly.session.session import Entry

from .measure import Figure, interleaved, once

LOOP = "rec L.!a.?b.!c.?d.L"
GUARDED = "rec L.?read(path as p).!write(path == p).L"
WIDE = "rec L.!{" + ", ".join(f"x{number}.L" for number in range(1000)) + "}"
ROUND = 400


def their_send() -> float:
    """Microseconds that llmcontract's send takes on this machine: the yardstick for bars in ms and µs."""

    def loop() -> int:
        monitor = llmcontract.Monitor(LOOP)
        for _ in range(ROUND):
            monitor.send("a")
            monitor.receive("b")
            monitor.send("c")
            monitor.receive("d")
        return 4 * ROUND

    return interleaved({"theirs": loop})["theirs"]


def figures() -> list[Figure]:
    return [*_events(), *_refusals(), *_memory(), _restore()]


def _events() -> list[Figure]:
    plain, guarded = duly.Contract(duly.protocol(LOOP)), duly.Contract(duly.protocol(GUARDED))
    reserving = duly.Contract(
        duly.protocol("rec L.!a.?a.L"), duly.at_most("a", 10**9), duly.must_precede("before", "after")
    )
    payload = {"path": "/etc/hosts"}

    def loop(held: duly.Session | llmcontract.Monitor) -> int:
        send, receive = held.send, held.receive
        for _ in range(ROUND):
            send("a")
            receive("b")
            send("c")
            receive("d")
        return 4 * ROUND

    def guards(held: duly.Session | llmcontract.Monitor) -> int:
        send, receive = held.send, held.receive
        for _ in range(ROUND):
            receive("read", payload)
            send("write", payload)
        return 2 * ROUND

    def pairs() -> int:
        step = duly.Session(reserving).step
        for _ in range(ROUND):
            step(duly.Called("a", {"amount": 1}, id="c1"))
            step(duly.Returned("a", {"ok": True}, id="c1"))
        return ROUND

    found = interleaved(
        {
            "send": lambda: loop(duly.Session(plain)),
            "their send": lambda: loop(llmcontract.Monitor(LOOP)),
            "guard": lambda: guards(duly.Session(guarded)),
            "their guard": lambda: guards(llmcontract.Monitor(GUARDED)),
            "pair": pairs,
        }
    )
    return [
        Figure("send, 4-state loop, lock and journal included", found["send"] / found["their send"], "of llmcontract",
               1.2, 1.0, 0.8, f"{found['send']:.2f} against {found['their send']:.2f} µs"),
        Figure("send and receive with one bind and one guard", found["guard"] / found["their guard"], "of llmcontract",
               1.2, 1.0, None, f"{found['guard']:.2f} against {found['their guard']:.2f} µs"),
        Figure("called and returned, with a reservation", found["pair"], "µs a pair", 5.0, None, 3.0,
               f"{found['pair'] / found['their send']:.1f} of one send of llmcontract"),
    ]  # fmt: skip


def _refusals() -> list[Figure]:
    contract = duly.Contract(duly.protocol(WIDE))
    session, monitor = duly.Session(contract), llmcontract.Monitor(WIDE)

    def ours() -> int:
        for _ in range(100):
            session.peek_send("nothing")
        return 100

    def theirs() -> int:
        for _ in range(100):
            monitor.peek_send("nothing")
        return 100

    def first() -> object:
        # a contract of its own has nothing remembered
        return duly.Session(cold.pop()).peek_send("nothing")

    def read() -> object:
        # what a model would be told: reasons, legal acts, repair
        return duly.Session(cold.pop()).peek_send("nothing").text()

    cold = [duly.Contract(duly.protocol(WIDE)) for _ in range(10)]
    found = interleaved({"ours": ours, "theirs": theirs})
    return [
        Figure("refusal in a 1,000-way choice, warm", found["ours"] / found["theirs"], "of llmcontract", 1 / 50, 1.0,
               None, f"{found['ours']:.2f} against {found['theirs']:.1f} µs"),
        Figure("the first refusal in a state", once(first), "ms", 2.0),
        Figure("the same, with its text read", once(read), "ms"),
    ]  # fmt: skip


def _memory() -> list[Figure]:
    contract = duly.Contract(duly.protocol("rec L.!{a.?a.L, b.?b.L}"), duly.at_most("a", 10**9))
    many = 5000

    def held(make: object) -> float:
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        kept = [make() for _ in range(many)]  # type: ignore[operator]
        size = (tracemalloc.get_traced_memory()[0] - before) / len(kept)
        tracemalloc.stop()
        return float(size)

    def bare() -> tuple[deque[Entry], Lock]:
        arguments: dict[str, object] = {}
        called = Entry(duly.Called("b", arguments, id="c"), duly.Allowed(arguments, id="c"))
        return deque([called, Entry(duly.Returned("b", None, id="c"), None)], maxlen=10_000), Lock()

    def moved() -> duly.Session:
        session = duly.Session(contract)
        session.step(duly.Called("b", {}, id="c"))
        session.step(duly.Returned("b", None, id="c"))
        return session

    beside = held(moved) - held(bare)
    loose = duly.Contract(duly.at_most("a", 10**9))
    ids = [f"call-{number}" for number in range(1000)]
    payloads = [{"amount": number} for number in range(1000)]
    session = duly.Session(loose, keep=0)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for identity, payload in zip(ids, payloads, strict=True):
        session.step(duly.Called("a", payload, id=identity))
    per_call = (tracemalloc.get_traced_memory()[0] - before) / len(ids)
    copies = [dict(payload) for payload in payloads]
    per_payload = (tracemalloc.get_traced_memory()[0] - before) / len(ids) - per_call
    tracemalloc.stop()
    del copies
    return [
        Figure("a session on a shared contract, beside its lock and journal", beside, "bytes", 300),
        Figure("each open call more, beyond payload and id", per_call - per_payload, "bytes", 500),
    ]


def _restore() -> Figure:
    contract = duly.Contract(duly.protocol(LOOP), duly.at_most("a", 10**9))
    snapshots = {}
    for events in (100, 1_000_000):
        session = duly.Session(contract, keep=1000)
        for _ in range(events // 4):
            session.send("a")
            session.receive("b")
            session.send("c")
            session.receive("d")
        snapshots[events] = session.to_dict()

    def restore(snapshot: dict[str, object]) -> int:
        for _ in range(50):
            duly.Session.from_dict(contract, snapshot)
        return 50

    # both snapshots are copied afresh, so that neither arm has the younger memory
    young, old = dict(snapshots[100]), dict(snapshots[1_000_000])
    found = interleaved({"young": lambda: restore(young), "old": lambda: restore(old)})
    note = f"{found['old']:.1f} against {found['young']:.1f} µs"
    return Figure("restore after 10^6 events", found["old"] / found["young"], "of after 10^2", 1.1, 1.0, None, note)
