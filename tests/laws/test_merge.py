"""The law of merging: it refuses what one of the contracts refuses, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from duly import Called, Contract, Sent, decide, merge
from duly.values.event import Event
from duly.values.verdict import Verdict

from .given import CONTRACTS, RUNS
from .settings import tried

PAIRS = [
    (first, second, merge([first, second]))
    for first in CONTRACTS
    for second in CONTRACTS
    if first is not second and not (first.terms.breaker or second.terms.breaker)
    # beside declared tools, names that only the rules of another contract know are unknown
    and (first.terms.tools is None) == (second.terms.tools is None)
    and "halt" not in (first.terms.on_violation, second.terms.on_violation)
]  # fmt: skip


def refuses(contract: Contract, other: Contract, event: Called | Sent, verdict: Verdict) -> bool:
    """Whether a contract refuses an act; one that only the other has in its alphabet is not its concern."""
    return not verdict and not (event.label in other.acts and event.label not in contract.acts)


@tried(300, 6000)
@given(st.sampled_from(PAIRS), RUNS)
def test_merged_contracts_refuse_exactly_what_one_of_them_refuses(
    pair: tuple[Contract, Contract, Contract], run: list[Event]
) -> None:
    first, second, merged = pair
    a, b, both = first.start, second.start, merged.start
    for number, event in enumerate(run):
        if isinstance(event, Called):
            event = structs.replace(event, id=f"n{number}", key=None, parent=None)
        one, after_a = decide(first, a, event)
        two, after_b = decide(second, b, event)
        joint, after = decide(merged, both, event)
        if isinstance(event, Called | Sent):
            refused = refuses(first, second, event, one) or refuses(second, first, event, two)
            assert bool(joint) is not refused, (event, one, two, joint)
            if refused:
                both = after
                continue
        if bool(one) or not isinstance(event, Called | Sent):
            a = after_a
        if bool(two) or not isinstance(event, Called | Sent):
            b = after_b
        both = after
