"""Studies: an audit of one or more datasets, or a sweep of runs over a grid, computed once and kept."""
