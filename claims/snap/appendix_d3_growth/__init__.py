"""Appendix D.3 of arXiv 2305.16380: the growth h* of a row of W, and its continuous counterpart h."""
