"""Small texts."""

from hypothesis import strategies as st

LINES = st.lists(st.text("abcd", min_size=2, max_size=5), min_size=1, max_size=3)


SMALL = ["ab", "ab", "ba", "ba", "abb", "baa", "bab", "aba", "ca", "cb"]
