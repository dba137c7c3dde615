"""How far the forms of a step on the reduced model reach."""

ONE_HOT = 2.0**-56
"""Attention on other tokens below this, also A times it, changes no gradient in float64."""

LEAST_MARGIN = -3.0
"""Where a token leads the optimal one by more, h_j cancels, and `CommonMargin` takes over."""

FAR_BEHIND = 2.0**-40
"""Attention below this part of the largest may have a relative rounding error as many times larger."""

LOST = 1e-3
"""Where the rounding of attention, times A, may be off by more of each term, nothing is known of the next step."""
