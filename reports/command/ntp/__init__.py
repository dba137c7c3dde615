"""The commands that only arXiv 2409.17335 has."""
