"""Logbook of a reproduction: a claim per page, with a verdict and its reason."""
