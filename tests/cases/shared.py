"""Where the shared cases lie: `DULY_SHARED`, else `../shared` beside the repository."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(os.environ.get("DULY_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "cases"


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file; none, so that the test is skipped with a reason, where the file is not there."""
    path = ROOT / name
    return json.loads(path.read_text())["cases"] if path.is_file() else []  # type: ignore[no-any-return]


def absent(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not (ROOT / name).is_file(), reason=f"{ROOT / name} is not there; set DULY_SHARED to the folder that holds it"
    )
