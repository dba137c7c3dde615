"""Reports on arXiv 2305.16380 (Scan and Snap): the `Paper`, its figures and hunts."""
