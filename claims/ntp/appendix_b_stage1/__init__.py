"""Appendix B of arXiv 2409.17335: convergence of W_ov (stage 1)."""
