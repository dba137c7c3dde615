"""The report: HTML page, tables and files."""
