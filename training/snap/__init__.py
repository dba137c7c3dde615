"""Training dynamics on sequence classes, arXiv 2305.16380 (Scan and Snap)."""
