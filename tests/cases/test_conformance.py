"""The page on conformance says what the cases give."""

import sys

from cases.shared import absent
from test_docs import ROOT


@absent("field_cases.json")
def test_the_page_is_what_a_run_of_the_cases_gives() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import conformance_page  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    assert (ROOT / "docs" / "conformance.md").read_text() == conformance_page.page()
