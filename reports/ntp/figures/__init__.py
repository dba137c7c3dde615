"""Figures of arXiv 2409.17335, and of its statements on any dataset."""
