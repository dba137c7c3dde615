"""Runnable templates of `marginaudit new-paper` and `marginaudit new-claim`."""
