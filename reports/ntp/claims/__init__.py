"""One theorem a file: its statements as claims."""
