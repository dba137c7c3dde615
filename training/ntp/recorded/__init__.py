"""Runs that others recorded, and whether they are Algorithm 1."""
