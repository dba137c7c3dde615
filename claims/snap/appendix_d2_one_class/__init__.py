"""Appendix D.2 of arXiv 2305.16380: the decoder, trained on one class."""
