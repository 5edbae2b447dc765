"""Formulas: LTL over finite traces with past and future. Text to nodes, nodes to a machine of bounded size."""
