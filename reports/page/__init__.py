"""The report: page, tables and files."""
