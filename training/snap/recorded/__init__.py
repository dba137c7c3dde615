"""Trajectories of Y and Z that others recorded: the arrays of a file, and their comparison with SGD step by step."""
