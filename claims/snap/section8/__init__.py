"""Section 8 of arXiv 2305.16380: experiments."""
