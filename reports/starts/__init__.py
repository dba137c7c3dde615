"""Templates of `marginaudit new-paper` and `marginaudit new-claim`, which run as they are."""
