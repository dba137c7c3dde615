"""Regression on bound constants: a pytest fixture that keeps what an audit measured and refuses what is worse.

The fixture is in ``plugin``, which alone needs pytest; what it keeps is read without it.
"""
