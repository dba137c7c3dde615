"""Appendix A of arXiv 2409.17335: expressions of both gradients."""
