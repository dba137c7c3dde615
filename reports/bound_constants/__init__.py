"""Regression tests of bound constants: a pytest fixture that keeps an audit's numbers and refuses worse ones.

The fixture is in ``plugin``, which alone needs pytest; what it keeps is read without it.
"""
