"""Statements in expectation and with a probability, decided by a seeded sample and a confidence interval."""
