"""Where the recorded runs are: a folder beside the repository, or the one that DULY_SHARED names."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("DULY_SHARED") or Path(__file__).resolve().parents[3] / "shared")
CORPORA = SHARED / "corpora"
AIRLINE = CORPORA / "tau-bench/sierra-research+tau-bench/historical_trajectories/gpt-4o-airline.json"
AIRLINE_TAU2 = CORPORA / "tau2/WhissleAI+tau2-bench-w/results/whissle/airline_run1.json"

needs_corpora = pytest.mark.skipif(
    not CORPORA.is_dir(), reason=f"recorded runs are not there: no folder {CORPORA} (set DULY_SHARED)"
)
