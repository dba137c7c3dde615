"""Where hunts look for counterexamples: the smallest sequence classes, random ones, and smaller ones."""
