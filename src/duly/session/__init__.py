"""Sessions: the one pure function that decides, and the object that carries a session's state."""
