"""Where hunts look for counterexamples: the smallest datasets, random ones, and smaller ones."""
