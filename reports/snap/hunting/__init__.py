"""Search space of hunts: the smallest sequence classes, random ones, and reductions."""
