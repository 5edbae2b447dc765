"""Figures of duly beside its peers: `python -m bench`. Ratios of medians of CPU time, interleaved in one run."""
