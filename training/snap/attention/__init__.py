"""Self-attention under a decoder that has learned, arXiv 2305.16380, sections 5 and 6.

`Logits` is the state z, `rates` is eq. 10 at a state, `follow` integrates eq. 10, `turned` is the clock on which eq. 10
is autonomous, `follow_common` integrates eq. 13, and `descend_both` is the batch-1 SGD of both layers.
"""
