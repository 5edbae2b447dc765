"""Kits for third parties: what a store must do before duly may trust it. They need no test framework.

``check_journal(make)`` raises AssertionError with a sentence that says what the store did wrong.
"""

from .journal import check_journal

__all__ = ["check_journal"]
