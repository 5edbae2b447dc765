"""Nouns: source positions, diagnostics, values and their equality, events, verdicts, the flat protocol tree.

Nothing here decides anything, and nothing here touches the world.
"""
