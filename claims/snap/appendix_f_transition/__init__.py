"""Appendix F of arXiv 2305.16380: the phase transition of one common token."""
