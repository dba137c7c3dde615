"""One lemma or theorem a file, named as the source names it: all that is said of its statements."""
