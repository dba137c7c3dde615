"""Comparison of two audits: changes beyond error bars."""
