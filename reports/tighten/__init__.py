"""Looseness of a bound in each of its factors, over datasets and settings that vary one at a time."""
