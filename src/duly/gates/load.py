"""`duly.load`: a contract from its document on disk."""

from pathlib import Path

from duly.machine.contract import Contract

from .files import load_terms


def load(path: str | Path) -> Contract:
    """The contract that a document (YAML, JSON or TOML) states; raises DulyError with every fault and its position."""
    return Contract.of(load_terms(path))
