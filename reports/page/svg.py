"""Inlining of matplotlib's SVG files into the page: compressed, with colours that follow light or dark mode."""

import hashlib
import re
from collections import Counter

from marginaudit.claims.verdict import Verdict
from marginaudit.reports.plots.style import BOUND, HATCH, LAW, MEASURED, REFERENCE, SHARPER, VERDICTS
from marginaudit.reports.statements import FILLED

THEMED = {
    "#ffffff": "var(--ground)",
    "#000000": "var(--ink)",
    "#e5e7eb": "var(--line)",
    MEASURED: "var(--measured)",
    BOUND: "var(--bound)",
    SHARPER: "var(--sharper)",
    LAW: "var(--ink)",
    REFERENCE: "var(--soft)",
    HATCH: "var(--hatch)",
    **{VERDICTS[verdict]: f"var(--{verdict})" for verdict in Verdict},
    **dict.fromkeys(FILLED.values(), "var(--ground)"),
}
"""Colours of figures, and the CSS variables that replace them."""

NOT_NEEDED = "|".join(
    (
        r'(?<= )(?:version|width|height)="[0-9.]+(?:pt)?"(?=[^<>]* viewBox| xmlns| version)',
        r' id="[a-z0-9.]+_[0-9]+"',
        r' transform="rotate\(-?0 [^)]*\)"',
        r"font-family: [^;\"]*;? ?",
        r"; stroke-line(?:join|cap): [a-z]+",
        r"; text-anchor: start|stroke-dashoffset: 0; ",
        r"font-size: 9px; (?=font-family|text-anchor)",
    )
)
"""Attributes that the page's CSS sets or a browser does not need."""


OFTEN = 3
"""Uses of a style from which on a class for it is shorter."""

LEAF = r"<(?:path|use|text)[^<>]*/>|<text[^<>]*>[^<>]*</text>"

LOOK = r'y="[^"]*" style="[^"]*"'
LETTER = r'<tspan x="([-0-9.]+)" ({look})>([^<&]|&\w+;)</tspan>'
RUN = re.compile(LETTER.format(look=LOOK) + "(?:" + LETTER.format(look=r"\2") + ")+")
"""Letters of a formula, of one look and on one line, each with its place."""


def inline(picture: bytes) -> str:
    """SVG element of a file; ids are prefixed by the file's digest, to be unique on the page."""
    salt = f"s{hashlib.sha256(picture).hexdigest()[:6]}"
    text = picture.decode("utf-8")
    text = text[text.index("<svg") :]
    wide = re.search(r'width="([0-9.]+)pt"', text)
    for left_out in (r"(?s)<metadata>.*?</metadata>", r"(?s)<!--.*?-->", r"<style[^>]*>[^<]*</style>"):
        text = re.sub(left_out, "", text)
    text = text.replace("xlink:href=", "href=").replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    text = re.sub(r"<[^/<>][^<>]*>", lambda tag: _tag(tag.group(), salt), text)
    text = RUN.sub(_run, re.sub(r"<tspan[^<>]*></tspan>", "", re.sub(r">\s+<", "><", text)))
    for _ in range(3):  # groups are nested
        text = re.sub(rf"<g>((?:{LEAF})*)</g>|<defs></defs>", r"\1", text)
    width = "" if wide is None else f' style="width:{round(float(wide[1]) * 4 / 3)}px"'
    text, rules = _with_classes(text, salt)
    return re.sub("<svg ([^>]*)>", rf"<svg{width} \1>{rules}", text, count=1)


def width(text: str) -> int:
    """Width of an inlined SVG in pixels; 0 if missing.

    >>> width('<svg style="width:403px" viewBox="0 0 302.4 208.8">')
    403
    """
    found = re.match(r'<svg style="width:([0-9]+)px"', text)
    return int(found[1]) if found else 0


def _with_classes(text: str, salt: str) -> tuple[str, str]:
    """Picture with CSS classes for frequent styles, and the rules of the classes."""
    counts = Counter(re.findall(r' style="([^"]*)"', text))
    names = {style: f"{salt}{i}" for i, (style, count) in enumerate(counts.items()) if count >= OFTEN}
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())

    def named(style: re.Match[str]) -> str:
        return f' class="{names[style[1]]}"' if style[1] in names else style[0]

    return re.sub(r' style="([^"]*)"', named, text), f"<style>{rules}</style>" if rules else ""


def _run(letters: re.Match[str]) -> str:
    """Letters as one text element with a list of positions."""
    places, _, texts = zip(*re.findall(LETTER.format(look=LOOK), letters.group()), strict=True)
    return f'<tspan x="{" ".join(places)}" {letters[2]}>{"".join(texts)}</tspan>'


def _tag(tag: str, salt: str) -> str:
    if tag.startswith("<a "):  # link to an anchor of the page
        return tag.replace(' target="_blank"', "")
    tag = re.sub(NOT_NEEDED, "", re.sub(r"\s+", " ", tag))
    if tag.startswith("<use "):  # the referenced element has the stroke
        tag = re.sub(r"stroke(-[a-z]+)?: [^;\"]*;? ?", "", tag).replace(' style=""', "")
    tag = re.sub(r"(?<![#\w.])-?[0-9]+\.[0-9]+", lambda number: rounded(float(number.group())), tag)
    tag = re.sub(r'(?<= d=")[^"]*', lambda path: re.sub(" ?([A-Za-z]) ?", r"\1", path.group()), tag)
    tag = re.sub(r"(#|id=\")([a-z][0-9a-f]{4})[0-9a-f]{6}\b", r"\1\2", tag)
    tag = re.sub(r"#[0-9a-f]{6}\b", lambda colour: THEMED.get(colour.group(), colour.group()), tag)
    if "var(--line)" in tag:  # grid lines end at the axes
        tag = re.sub(r' clip-path="[^"]*"', "", tag)
    tag = re.sub(r'(?<= style=")[^"]*', lambda style: re.sub(r"(?<=[:;]) ", "", style.group()), tag)
    return re.sub(r'( id="|href="#|url\(#)', lambda found: found.group() + salt, tag)


def rounded(value: float) -> str:
    """Coordinate in points, rounded.

    >>> rounded(53.90734), rounded(-0.00001), rounded(0.123456), rounded(7.0)
    ('53.9', '0', '0.1235', '7')
    """
    return f"{round(value, 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 4) + 0:g}"
