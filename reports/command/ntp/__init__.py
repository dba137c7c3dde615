"""Commands for arXiv 2409.17335 only."""
