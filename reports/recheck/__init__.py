"""Recomputation of the numbers of a report, by other ways where there are some."""
