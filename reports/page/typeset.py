"""Conversion of plain-symbol formulas in claims' texts and details to LaTeX between dollar signs.

Anything that does not parse as a whole is left unchanged: words, ids, paths, and text in quotation marks.
"""

import re
from functools import lru_cache
from html import escape, unescape

from marginaudit.orders import printable

GREEK = "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|lambda|mu|nu|xi|pi|rho|sigma|phi|chi|psi|omega"
GREEK += "|tau|Gamma|Delta|Theta|Xi|Omega"
FUNCTIONS = "log|ln|exp|cos|sin|min|max|inf|sum"
COMMANDS = {name: rf"\{name} " for name in f"{GREEK}|{FUNCTIONS}".split("|")} | {
    "eps": r"\epsilon ",
    "grad": r"\nabla ",
    "Loss": r"\mathcal L ",
    "diag": r"\mathrm{diag}",
    "ceil": r"\mathrm{ceil}",
    "sqrt": r"\surd ",
    "lnln": r"\ln \ln ",
    "Ttheta": r"T\theta ",
    **{name: rf"\mathrm{{{name}}}" for name in ("LN", "softmax", "lag")},
    **{name: name for name in ("Mh", "KM", "TC", "NP")},
    "°": r"^\circ ",
    "..": r"\ldots ",
    ".": r"\cdot ",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "<=": r"\le ",
    ">=": r"\ge ",
    "!=": r"\ne ",
    "<<": r"\ll ",
    ">>": r"\gg ",
}

GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
INDEX = rf"_(?:{GROUP}|\([^()]*\)|\*|[A-Za-z0-9]+(?:\*(?=\^))?)'?"
POWER = rf"\^(?:{GROUP}|-?\([\w/.,*+ ^-]*\)|-?[0-9]+(?:\.[0-9]+)?|-?[A-Za-z]+)"
NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:e[+-]?[0-9]+)?"
ACCENTS = {"bar": 0x304, "dot": 0x307}
ACCENTED = r"[A-Za-z]-(?:bar|dot|perp)"
STARRED = rf"(?:[A-Za-z]|(?:{GREEK}))\*"
SIGN = re.compile(
    rf"{INDEX}|{POWER}|{NUMBER}|{ACCENTED}|{STARRED}|[A-Za-z]+|<=|>=|!=|<<|>>|\|\||\.\.|(?<=\()\.(?=\))"
    r"|[-+/=<>()\[\]⟨⟩|,'° ]"
)
EVIDENCE = re.compile(
    rf"\w\*?{INDEX}|[\w)|'°\]]{POWER}|\|\||<=|>=|!=|<<|>>|\(\.\)|°|{ACCENTED}\b|\b(?:{GREEK}|sqrt)[0-9]?\b"
    r"|\b[0-9.]+e[+-]?[0-9]+\b|\b(?:exp|ln|cos)\(|\b1 - cos\b"
)
RAISED = re.compile(rf"[_^]{GROUP}|[_^]-?\([^()]*\)")
"""An index or a power that may hold blanks."""

POSSESSIVE = re.compile(r"\w's(?!\w)")

BLANK = "\0"
CONDITIONAL = re.compile(r"(?<=\w)\|(?=\w)")
ANGLES = re.compile(r"<(?=[^\s<=>-])|(?<=[^\s<=>-])>(?![>=])")
"""Angle brackets of an inner product touch what they enclose; a relation has blanks on both sides."""

FORMULA = re.compile(r"(\$[^$]+\$)")
ENDS = tuple("+-/=<>,")
PUNCTUATION = ".,;:"


def typeset(text: str) -> str:
    r"""Text with its formulas between dollar signs; unchanged if it has a dollar sign already.

    >>> typeset("For t >= 2: ||W*_ov||^3 log(2V) / eta0 > 1e+06 (docs/proofs.md, well_ordered).")
    'For $t \\ge  2$: $\\|W^*_{ov}\\|^{3} \\log (2V) / \\eta _{0} > 10^{6}$ (docs/proofs.md, well_ordered).'
    >>> typeset('a token "x_1" and a <b>')
    'a token "x_1" and a <b>'
    >>> typeset("Lemma 7's a_t")
    "Lemma 7's $a_{t}$"
    >>> typeset("So <W, grad L0> >= 0.")
    'So $\\langle W, \\nabla  L_{0}\\rangle  \\ge  0$.'
    """
    if "$" in text:
        return text
    angles = ANGLES.sub(lambda angle: "⟨" if angle[0] == "<" else "⟩", text)
    words = RAISED.sub(lambda raised: raised[0].replace(" ", BLANK), angles).split(" ")
    found: list[str] = []
    at = 0
    while at < len(words):
        end = _end(words, at)
        formula = None
        while end > at and formula is None:
            run = " ".join(words[at:end])
            opening, core, rest = _parts(run)
            formula = _formula(core)
            end -= formula is None
        found.append(words[at].replace(BLANK, " ") if formula is None else f"{opening}${formula}${rest}")
        at = max(end, at + 1)
    return "".join(
        part if i % 2 else part.replace("⟨", "<").replace("⟩", ">")
        for i, part in enumerate(FORMULA.split(" ".join(found)))
    )


def _parts(run: str) -> tuple[str, str, str]:
    """Split a run into an unmatched "(" or "[", the signs, and the end: punctuation or unmatched closing bracket."""
    core = run.rstrip(f"{PUNCTUATION} ")
    opening = core[:1] if core[:1] in ("(", "[") and _unclosed(core) else ""
    core = core[len(opening) :]
    if any(core.endswith(b) and core.count(b) > core.count(a) for a, b in ("()", "[]")):
        core = core[:-1]
    return opening, core, run[len(opening) + len(core) :]


def _end(words: list[str], at: int) -> int:
    """End index of the words that may belong to one formula."""
    end = at
    while end < len(words) and words[end] not in ("", "a") and _signs(words[end].rstrip(PUNCTUATION) or words[end]):
        if words[end] == "I" and words[end + 1 : end + 2] not in (["-"], ["="]):
            break
        end += 1
        run = " ".join(words[at:end])
        if words[end - 1][-1] in PUNCTUATION and not _unclosed(run):
            break
    return end


def _unclosed(run: str) -> bool:
    return any(run.count(a) > run.count(b) for a, b in ("()", "[]", "⟨⟩"))


def _formula(run: str) -> str | None:
    """LaTeX of a run of signs; None if it does not parse as a formula."""
    signs = _signs(run)
    if (
        signs is None
        or POSSESSIVE.search(run)
        or not EVIDENCE.search(run)
        or run.endswith(ENDS)
        or run.startswith(("/", "+", ",", "=", ".."))
    ):
        return None
    depth = bars = angles = 0
    latex = ""
    for sign, before in zip(signs, ["", *signs], strict=False):
        depth += (sign in "([") - (sign in ")]")
        bars += sign == "||"
        angles += (sign == "⟨") - (sign == "⟩")
        if min(depth, angles) < 0 or (before[:1] != "_" and before.endswith("*") and sign.startswith("^")):
            return None
        latex += _latex(sign, before)
    single = signs.count("|")
    if (
        depth
        or angles
        or bars % 2
        or (single % 2 and (single - len(CONDITIONAL.findall(run))) % 2)
        or re.search(r"\^\*_(?:\{[^{}]*\}|\w)\^", latex)
    ):
        return None
    return latex


@lru_cache(maxsize=2**14)
def _signs(text: str, raised: bool = False) -> tuple[str, ...] | None:
    """Tokenize a text into signs; None on anything else, such as a word. In an index, words are signs."""
    text = text.replace(BLANK, " ")
    signs, at = [], 0
    while at < len(text):
        found = SIGN.match(text, at)
        if found is None or (not raised and re.fullmatch("[A-Za-z]{2,}", found[0]) and found[0] not in COMMANDS):
            return None
        if RAISED.fullmatch(found[0].rstrip("'")) and _signs(_content(found[0]), raised=True) is None:
            return None
        signs.append(found[0])
        at = found.end()
    return tuple(signs) or None


def _latex(sign: str, before: str) -> str:
    if sign in COMMANDS:
        return COMMANDS[sign]
    if sign == "||":
        return r"\|"
    if sign[0] == "_":
        name, prime = _content(sign), "'" * sign.endswith("'")
        if name in ("max", "min"):
            return rf"_{{\{name}}}"
        return f"_{{{_inner(name)}}}{prime}" if name.isdigit() else f"_{{{_inner(name)}{prime}}}"
    if sign[0] == "^":
        return r"^\top " if sign == "^T" else f"^{{{_inner(_content(sign))}}}"
    if re.fullmatch(ACCENTED, sign):
        return rf"{sign[0]}^\perp " if sign.endswith("perp") else rf"\{sign[2:]} {sign[0]}"
    if sign.endswith("*"):
        return f"{COMMANDS.get(sign[:-1], sign[:-1]).rstrip()}^*"
    if re.fullmatch(NUMBER, sign):
        if re.fullmatch(f"[A-Za-z]|{GREEK}", before):
            return f"_{{{sign}}}"
        mantissa, _, power = sign.partition("e")
        if power and int(power) == 0:
            return mantissa
        return (("" if mantissa == "1" else rf"{mantissa}\cdot ") + f"10^{{{int(power)}}}") if power else sign
    return sign


def _content(raised: str) -> str:
    """Content of an index or a power without braces; the parentheses of a power stay."""
    content = raised[1:].removesuffix("'")
    return content[1:-1] if content[0] == "{" or raised.startswith("_(") else content


def _inner(text: str) -> str:
    """LaTeX of an index or a power: words of three or more letters upright, two letters as two names."""
    signs = _signs(text, raised=True)
    return text if signs is None else "".join(map(_raised, signs, ["", *signs]))


def _raised(sign: str, before: str) -> str:
    if sign == "in":
        return r"\in "
    return rf"\mathrm{{{sign}}}" if sign not in COMMANDS and re.fullmatch("[a-z]{3,}", sign) else _latex(sign, before)


PART = re.compile(
    r"\\mathrm\{([A-Za-z]+)\}|\\(bar|dot) ([A-Za-z])|\^(\\top |\\circ |\\perp |\*)|\\(\||[A-Za-z]+) ?"
    r"|([_^])\{|(\})|([A-Za-z]+'*)|(.)"
)
RAISED_SIGNS = {"*": "*", "\\top ": "⊤", "\\circ ": "°", "\\perp ": "⊥"}
SYMBOLS = {"|": "‖", "le": " ≤ ", "ge": " ≥ ", "ne": " ≠ ", "ll": " ≪ ", "gg": " ≫ ", "nabla": "∇", "mathcal": ""}
SYMBOLS |= {"langle": "⟨", "rangle": "⟩", "surd": "√", "cdot": "·", "ldots": "…", "in": " ∈ "}
SYMBOLS |= {"sum": "∑", "epsilon": "ε"}
SYMBOLS |= {name: f" {name} " for name in FUNCTIONS.removesuffix("|sum").split("|")}
SYMBOLS |= {name: unescape(f"&{name};") for name in GREEK.split("|") if name != "epsilon"}


def typeset_html(text: str) -> str:
    """Text as HTML, formulas with italics, indices and powers, at a fifth of MathML's length.

    >>> typeset_html("a <b> for eta_Y >= ||W*_kq||^2")
    'a &lt;b&gt; for η<sub>Y</sub> ≥ ‖<i>W</i><sup>*</sup><sub>kq</sub>‖<sup>2</sup>'
    >>> typeset_html("$5")
    '$5'
    """
    parts = FORMULA.split(typeset(text)) if "$" not in text else [text]
    return "".join(_html(part[1:-1]) if i % 2 else escape(printable(part), quote=False) for i, part in enumerate(parts))


def title_html(title: str) -> str:
    """Title of a table as HTML; only the part after the dataset's name is typeset.

    >>> title_html("a_b: W_kq")
    'a_b: <i>W</i><sub>kq</sub>'
    """
    name, colon, what = title.partition(": ")
    return escape(printable(name), quote=False) + colon + typeset_html(what)


def _html(latex: str) -> str:
    written = ""
    closing: list[str] = []
    for roman, accent, accented, raised, command, opens, closes, letters, other in PART.findall(latex):
        if opens:
            closing.append("sub" if opens == "_" else "sup")
            written += f"<{closing[-1]}>"
        elif closes:
            written += f"</{closing.pop()}>"
        elif raised:
            written += f"<sup>{RAISED_SIGNS[raised]}</sup>"
        elif letters or accent:
            written += f"<i>{letters or accented + chr(ACCENTS[accent])}</i>"
        else:
            written += SYMBOLS[command] if command else roman or escape(other.replace("-", "−"), quote=False)
    written = re.sub(rf"({FUNCTIONS}) +(?=\(|</?su)", r"\1", written)
    written = re.sub(r"(?<=\() +|(?<=<sub>) +", "", written)
    return re.sub("<sub><i>(\\w+)</i></sub>", r"<sub>\1</sub>", re.sub(" +", " ", written).strip())
