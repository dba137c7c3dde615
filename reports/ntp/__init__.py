"""Reports on arXiv 2409.17335: the `Paper`, its figures, tables and hunts."""
