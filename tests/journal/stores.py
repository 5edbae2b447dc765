"""Where tests keep journals."""

from pathlib import Path

from duly.journal.journal import Journal, open_journal


def in_memory(name: str) -> Journal:
    return open_journal("memory:")


def in_file(directory: Path, name: str) -> Journal:
    return open_journal(str(directory / f"{name}.sqlite"), wait=30)
