"""Somebody else's recorded runs: how they are read, held to a contract after the fact, and reported.

Nothing here decides: ``run`` feeds the session's own fold and keeps what it says.
"""
