"""Hypothesis: the same examples on every run of the tests, many and other ones for `make fuzz`; no clock."""

from hypothesis import settings

settings.register_profile("marginaudit", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("fuzz", deadline=None, max_examples=1000, database=None)
settings.load_profile("marginaudit")
