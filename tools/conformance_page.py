"""Writes docs/conformance.md from a run of the shared cases: which verdicts duly gives, event by event.

Reads `DULY_SHARED`, else `../shared` beside the repository, as the tests in tests/cases do.
"""

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from cases import test_contract_cases as contracts  # noqa: E402
from cases import test_field_cases as field  # noqa: E402
from cases import test_labelled_traces as traces  # noqa: E402
from cases import test_rule_cases as rules  # noqa: E402
from cases import test_store_cases as stores  # noqa: E402
from cases.shared import cases  # noqa: E402

PAGE = ROOT / "docs" / "conformance.md"
WHOLE = {
    "F23": stores.test_of_two_workers_that_wake_one_approved_run_one_runs_it,
    "F26": stores.test_a_store_that_cannot_be_asked_refuses_and_says_so,
    "F33": contracts.test_an_outside_guard_that_gives_no_plain_yes_refuses,
    "F55": contracts.test_a_hand_off_lends_what_is_left_and_no_more,
    **{id: (lambda id=id: contracts.test_a_contract_is_judged_as_the_case_says(id)) for id in contracts.LOADS},
}
"""Cases that a test of their own runs from beginning to end."""
ELSEWHERE = {
    "F69": "held by the tests of the MCP gate (tests/adapters/mcp/test_rude.py)",
    "F70": "held by the tests of the audit's readers (tests/audit/test_document.py)",
    "F71": "held by the tests of the audit's readers (tests/audit/test_document.py)",
    "F72": "held by the tests of the audit's readers (tests/audit/test_document.py)",
}
"""Cases about bytes and lines, which no list of events can show."""
LATER = {
    "F04": "needs checks that are open while calls are asked",
    "F16": "needs a migration between versions of a contract",
    "F48": "needs user checks and actions on transitions (`checks`, `actions`)",
    "F73": "needs a reader of spans",
    "F74": "a run of a million calls; a bench, not a test",
    "F75": "needs readers of five formats in one run",
    "F84": "needs redaction",
    "F85": "needs evidence with seals",
    "F87": "needs evidence with seals",
}
HEAD = """\
# Conformance

Written by `make docs` (tools/conformance_page.py) from a run of the cases: every event of a case gets a verdict, and
"right" counts those that are the one the case asks for. The same cases are tests (tests/cases).
"""


def rights(case: dict[str, Any], run: Any, meant: dict[str, tuple[str, ...]], later: dict[int, str]) -> int:
    """How many events of a case get their verdict."""
    right = 0
    for number, (told, expected) in enumerate(zip(case["events"], case["expected"], strict=True), 1):
        if number in later:
            continue
        got = run.step(told)
        good = got in meant[expected["verdict"]]
        if expected["verdict"] == "release":
            good = good and run.resumed(told["for"], told.get("at")) == "allowed"
        right += good
    return right


def row(case: dict[str, Any]) -> str:
    id, count = case["id"], len(case["events"])
    later: dict[int, str] = {}
    if id in field.CONTRACTS:
        later = field.LATER.get(id, {})
        right = rights(case, field.Run(field.CONTRACTS[id]()), field.MEANT, later)
    elif id in rules.CONTRACTS:
        right = rights(case, rules.PeopleRun(rules.CONTRACTS[id]()), rules.WORDS, later)
    elif id in WHOLE:
        WHOLE[id]()
        right = count
    else:
        why = ELSEWHERE.get(id) or LATER[id]
        return f"| {id} | {case['title']} | {why} |"
    waits = "; ".join(f"event {number} needs {what}" for number, what in later.items())
    return f"| {id} | {case['title']} | {right} of {count}" + (f"; {waits}" if waits else "") + " |"


def page() -> str:
    """The page; fails where a case that is claimed is not met."""
    found, labelled = cases("field_cases.json"), cases("labelled_traces.json")
    rows = [row(case) for case in found]
    whole = [f"| {len(case['events'])} of {len(case['events'])} |" for case in found]
    met = sum(all_right in line for all_right, line in zip(whole, rows, strict=True))
    good = 0
    for case in labelled:
        expected = sorted((f"r{each['rule']}", str(each["call"])) for each in case["expect"]["first_breaches"])
        good += sorted((rule, str(index)) for rule, index in traces.breaches(case)) == expected
    lines = [
        HEAD, "## Labelled traces", "",
        f"{good} of {len(labelled)}: the recorded reading finds the first breach of each rule where the label says.",
        "",
        "## Field cases", "", f"{met} of {len(found)} are met in every event.", "",
        "| case | title | verdicts right |", "|---|---|---|", *rows, "",
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    os.chdir(ROOT)
    PAGE.write_text(page(), encoding="utf-8")
