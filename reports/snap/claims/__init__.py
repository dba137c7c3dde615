"""One lemma or theorem a file: its statements as claims."""
