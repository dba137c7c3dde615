"""Trajectories of Y and Z that others recorded: what a file holds, and how it compares with SGD step by step."""
