"""Which statement follows from which, and under what."""
