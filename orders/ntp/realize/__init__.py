"""How far ordinary text is from Assumption 1 of arXiv 2409.17335, and the largest part of it that meets it."""
