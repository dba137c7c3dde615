"""Recorded runs, compared with Algorithm 1."""
