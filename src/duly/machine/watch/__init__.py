"""Rules that keep a book of their own: one small machine each, asked about the acts that its names touch."""
