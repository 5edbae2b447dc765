"""Formulas that say too much or nothing: what no run can meet, and what every run does."""

from duly.machine.contract import Contract
from duly.machine.templates import Ask
from duly.machine.watch.formula import Progressed
from duly.values.errors import Diagnostic


def hopeless(contract: Contract, asks: dict[str, tuple[Ask, ...]]) -> list[Diagnostic]:
    """Errors for formulas that no run satisfies, warnings for those that every run does."""
    found: list[Diagnostic] = []
    for rule in contract.rules.values():
        for ask in asks[rule.id]:
            if not isinstance(ask, Progressed):
                continue
            # a run has at least one event
            after = {*ask.machine.moves[0]}
            if after <= ask.machine.dead:
                message = f"no run satisfies the formula of `{rule.id}`, so it refuses every act"
                help = "find what contradicts what, by taking one part out at a time"
                found.append(Diagnostic("formula", message, span=rule.span, path="rules", help=help))
            elif after <= ask.machine.sure:
                message = f"every run satisfies the formula of `{rule.id}`, so it refuses nothing"
                help = "a premise that never holds may be the reason"
                found.append(Diagnostic("formula", message, "warning", rule.span, "rules", help))
    return found
