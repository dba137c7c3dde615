"""Looseness of a bound in each factor, over datasets and settings varied one at a time."""
