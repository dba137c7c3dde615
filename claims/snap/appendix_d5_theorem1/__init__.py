"""Appendix D.5 of arXiv 2305.16380: overlaps of classes, and the gradient passed to self-attention."""
