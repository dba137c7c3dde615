"""Appendix C of arXiv 2305.16380: gradient dynamics, and their limit for long sequences (with Lemma 18)."""
