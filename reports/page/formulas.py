"""Formulas as MathML, rendered by browsers without a script."""

import re
from collections.abc import Iterable
from functools import cache
from xml.etree import ElementTree

from markupsafe import escape

PAIRS = ((r"{", r"}"), (r"\left", r"\right"), (r"\{", r"\}"), (r"\begin", r"\end"))

SPACE = '<mspace width="0.167em"/>'
"""Width of TeX's space beside a named function."""

NAMED = "<mi>(?:exp|log|ln|cos|min|max)</mi>"
POWER = rf"<msup>{NAMED}<mn>\d+</mn></msup>"
BEFORE = re.compile(rf"(</(?:mi|mn|msub|msup|msubsup|mfrac|msqrt)>)({NAMED}|{POWER})")
AFTER = re.compile(rf"({POWER}|(?<!<msup>)(?<!<msub>){NAMED})(<(?:mi|mn|msub|msup|msubsup|mfrac|msqrt)>)")


LONG = 60
"""Characters of a statement in LaTeX, beyond which a line can break before its relations."""

RELATION = re.compile(r"(?=(?:\\(?:le|ge|to|sim)(?![a-zA-Z])|[=<>]))")


def displayed(formula: str, in_words: str) -> str:
    r"""Formula as one MathML element per statement; a long statement is split at its relations.

    Lines can break between the elements.

    >>> displayed(r"a=1,\quad b=2,\qquad \{c,\quad d\}", "words").count("<math")
    3
    >>> displayed(r"\sum_{a=1}^bc\le d" + "+d" * 40, "words").count("<math")
    2
    >>> displayed(r"a\le\begin{cases}b&c\le d\\e&c>d\end{cases}" + "+d" * 20, "words").count("<math")
    2
    """
    statements = _whole(re.split(r"(?<=[,;])(?=\\q?quad\b)", formula))
    parts = [_whole(RELATION.split(one)) if len(one) > LONG else [one] for one in statements]
    shown = [
        [mathml(side, in_words=in_words if i == j == 0 else "") for j, side in enumerate(sides)]
        for i, sides in enumerate(parts)
    ]
    return " ".join(f"<span>{' '.join(sides)}</span>" for sides in shown)


def _whole(parts: Iterable[str]) -> list[str]:
    """Parts, rejoined if a brace would stay open."""
    found = [""]
    for part in parts:
        if all(found[-1].count(begin) == found[-1].count(end) for begin, end in PAIRS) and found[-1]:
            found.append("")
        found[-1] += part
    return [re.sub(r"^\\q?quad\b", "", one) for one in found]


@cache  # symbols recur on a page
def mathml(formula: str, display: str = "block", in_words: str = "") -> str:
    r"""Formula as MathML, with a text alternative for screen readers; LaTeX that cannot be parsed stays as it is.

    >>> mathml("x", "inline", "a < b")
    '<math alttext="a &lt; b" display="inline"><mi>x</mi></math>'
    >>> SPACE.join(["<mi>V</mi>", "<mi>log</mi>", "<mi>T</mi>"]) in mathml(r"V\log T")
    True
    >>> mathml(r"L^4\log^2t").count(SPACE)
    2
    >>> "a &lt; b" in mathml(r"\text{a < b}").replace("\xa0", " ")
    True
    >>> [sign in mathml(r"\underbrace{a}_n\xrightarrow{f}b") for sign in "⏟→&"]
    [True, True, False]
    >>> mathml("|S|").count('lspace="0" rspace="0">|<')
    2
    >>> mathml(r"\lvert S\rvert") == mathml("|S|"), mathml(r"\lVert W\rVert^2") == mathml(r"\|W\|^2")
    (True, True)
    >>> mathml(r"\begin{cases}a<b")
    '<code>\\begin{cases}a&lt;b</code>'
    """
    from latex2mathml.converter import convert_to_element

    # the converter stretches and spaces the bars of \lvert
    bars = re.sub(r"\\[lr]Vert(?![a-zA-Z])", r"\\|", re.sub(r"\\[lr]vert(?![a-zA-Z])", "|", formula))
    # the converter's `convert` leaves < and & of a \text unescaped; symbols are such codes in its tree
    try:
        tree = ElementTree.tostring(convert_to_element(bars, display=display), encoding="unicode")
    except Exception:  # the converter's errors have no common class
        return f"<code>{escape(formula)}</code>"
    text = re.sub(r"&amp;#x([0-9A-F]{4,6});", lambda code: escape(chr(int(code[1], 16))), tree)
    text = text.replace('<mo stretchy="false">|</mo>', '<mo stretchy="false" lspace="0" rspace="0">|</mo>')
    text = re.sub(r"<mrow>(<m[ion][^<>]*>[^<>]*</m[ion]>)</mrow>", r"\1", text.replace(' fence="false"', ""))
    text = text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")  # redundant in HTML
    text = AFTER.sub(rf"\1{SPACE}\2", BEFORE.sub(rf"\1{SPACE}\2", text))
    return text.replace("<math ", f'<math alttext="{escape(in_words)}" ', 1) if in_words else text
