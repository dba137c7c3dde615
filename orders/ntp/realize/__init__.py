"""Survey of Assumption 1 of arXiv 2409.17335 on ordinary text, and the largest part that meets it."""
