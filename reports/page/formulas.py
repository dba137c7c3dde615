"""Formulas as MathML, which a browser shows without a script."""

import re
from functools import cache

SPACE = '<mspace width="0.167em"/>'
"""As wide as what TeX sets between a named function and what stands beside it."""

BAR = re.compile(r'<mo( stretchy="false")?>\|</mo>')

NAMED = "<mi>(?:exp|log|ln|cos|min|max)</mi>"
BEFORE = re.compile(rf"(</(?:mi|mn|msub|msup|msubsup|mfrac|msqrt)>)({NAMED})")
AFTER = re.compile(rf"((?<!<msup>)(?<!<msub>){NAMED})(<(?:mi|mn|msub|msup|msubsup|mfrac|msqrt)>)")


@cache  # a page writes the same symbols again and again
def mathml(formula: str, display: str = "block", in_words: str = "") -> str:
    r"""The formula as MathML, with what it says in words for who cannot see it.

    >>> mathml("x", "inline", "a < b").partition(" xmlns")[0]
    '<math alttext="a &lt; b"'
    >>> SPACE.join(["<mi>V</mi>", "<mi>log</mi>", "<mi>T</mi>"]) in mathml(r"V\log T")
    True
    >>> mathml(r"|S|\ge\lvert T\rvert").count('lspace="0" rspace="0">|<')
    4
    """
    from latex2mathml.converter import convert
    from markupsafe import escape

    text = re.sub(r"&#x([0-9A-F]{5});", lambda code: escape(chr(int(code[1], 16))), convert(formula, display=display))
    text = BAR.sub(r'<mo\1 lspace="0" rspace="0">|</mo>', text)
    text = AFTER.sub(rf"\1{SPACE}\2", BEFORE.sub(rf"\1{SPACE}\2", text))
    return text.replace("<math ", f'<math alttext="{escape(in_words)}" ', 1) if in_words else text
