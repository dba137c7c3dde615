"""Studies: audits of datasets and sweeps of runs over a grid, computed once and cached."""
