"""One lemma or theorem a file: its statements as claims.

What the source says word for word, and how it was read, is in `words.py`; how each stands, in `standings.py`.
"""
