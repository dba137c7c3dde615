"""Search space of hunts: the smallest datasets, random datasets, and reductions."""
