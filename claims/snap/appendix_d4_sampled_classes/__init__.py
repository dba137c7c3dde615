"""Appendix D.4 of arXiv 2305.16380: the decoder, trained on classes drawn uniformly."""
