"""Appendix C of arXiv 2409.17335: convergence of W_kq (stage 2)."""
