"""Appendix D of arXiv 2409.17335: the closed form of W*_kq from partial orders, and generalization."""
