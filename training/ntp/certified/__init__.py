"""Rigorous enclosures of the first steps."""
