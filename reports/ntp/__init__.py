"""Report of arXiv 2409.17335: the paper as an audit sees it, its figures, tables and hunts."""
