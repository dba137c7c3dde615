"""Recorded trajectories of Y and Z: reading of their files, and comparison with SGD step by step."""
