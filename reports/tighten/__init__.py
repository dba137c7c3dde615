"""How loose a bound is, and in which of its factors: over datasets and settings that vary one at a time."""
