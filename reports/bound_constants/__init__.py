"""Regression tests of bound constants: a pytest fixture that stores an audit's numbers and fails on worse ones.

Only ``plugin``, the fixture, needs pytest.
"""
