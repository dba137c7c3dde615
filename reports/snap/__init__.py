"""Report of arXiv 2305.16380 (Scan and Snap): the paper as an audit sees it, its figures and hunts."""
