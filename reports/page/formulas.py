"""Formulas as MathML, which a browser shows without a script."""

import re
from functools import cache


@cache  # a page writes the same symbols again and again
def mathml(formula: str, display: str = "block", in_words: str = "") -> str:
    """The formula as MathML, with what it says in words for who cannot see it.

    >>> mathml("x", "inline", "a < b").partition(" xmlns")[0]
    '<math alttext="a &lt; b"'
    """
    from latex2mathml.converter import convert
    from markupsafe import escape

    text = re.sub(r"&#x([0-9A-F]{5});", lambda code: escape(chr(int(code[1], 16))), convert(formula, display=display))
    return text.replace("<math ", f'<math alttext="{escape(in_words)}" ', 1) if in_words else text
