"""What `marginaudit new-paper` and `marginaudit new-claim` write: starts that run as they are."""
