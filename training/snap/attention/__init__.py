"""Self-attention under a decoder that has learned, arXiv 2305.16380, sections 5 and 6.

`Logits` is where z stands, `rates` is eq. 10 at such a place, `follow` integrates it, `turned` is the clock on which it
is autonomous, `follow_common` integrates eq. 13, and `descend_both` is the batch-1 SGD of both layers.
"""
