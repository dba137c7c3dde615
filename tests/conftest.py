"""One hypothesis profile for all tests: the same examples on every run, and no clock."""

from hypothesis import settings

settings.register_profile("marginaudit", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("marginaudit")
