"""Appendix E of arXiv 2305.16380: the dynamics of self-attention."""
