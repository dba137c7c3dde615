"""Formulas in plain symbols, as claims' texts and details have them, as LaTeX between dollar signs.

What is not understood whole stays as it is: words, ids, paths, and whatever stands in quotation marks.
"""

import re
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
    "Mh": "Mh",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "<=": r"\le ",
    ">=": r"\ge ",
    "!=": r"\ne ",
    "<<": r"\ll ",
    ">>": r"\gg ",
}

INDEX = r"_(?:\{[\w(),'*+=-]*\}|[A-Za-z0-9]+)'?"
POWER = r"\^(?:\{[\w()/.*+-]*\}|-?\([\w/.*+ -]*\)|-?[0-9]+(?:\.[0-9]+)?|-?[A-Za-z]+)"
NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
SIGN = re.compile(
    rf"{INDEX}|{POWER}|{NUMBER}|[A-Za-z]-bar|[A-Za-z]\*|[A-Za-z]+|<=|>=|!=|<<|>>|\|\||[-+/=<>()\[\]⟨⟩|,' ]"
)
EVIDENCE = re.compile(rf"\w\*?{INDEX}|[\w)|]{POWER}|\|\||<=|>=|!=|<<|>>|\b(?:{GREEK})[0-9]?\b")
ANGLES = re.compile(r"<(?=[^\s<=>-])|(?<=[^\s<=>-])>(?![>=])")
"""Of an inner product: beside what they enclose, where a relation has blanks on both sides."""

FORMULA = re.compile(r"(\$[^$]+\$)")
ENDS = tuple("+-/=<>,")
PUNCTUATION = ".,;:"


def typeset(text: str) -> str:
    r"""The text with its formulas between dollar signs; as it is where it has a dollar sign already.

    >>> typeset("For t >= 2: ||W*_ov||^3 log(2V) / eta0 > 1e+06 (docs/proofs.md, well_ordered).")
    'For $t \\ge  2$: $\\|W^*_{ov}\\|^{3} \\log (2V) / \\eta _{0} > 10^{6}$ (docs/proofs.md, well_ordered).'
    >>> typeset('a token "x_1" and a <b>')
    'a token "x_1" and a <b>'
    >>> typeset("So <W, grad L0> >= 0.")
    'So $\\langle W, \\nabla  L_{0}\\rangle  \\ge  0$.'
    """
    if "$" in text:
        return text
    words = ANGLES.sub(lambda angle: "⟨" if angle[0] == "<" else "⟩", text).split(" ")
    found: list[str] = []
    at = 0
    while at < len(words):
        end = _end(words, at)
        formula = None
        while end > at and formula is None:
            run = " ".join(words[at:end])
            formula, rest = _formula(run.rstrip(PUNCTUATION)), run[len(run.rstrip(PUNCTUATION)) :]
            end -= formula is None
        found.append(words[at] if formula is None else f"${formula}${rest}")
        at = max(end, at + 1)
    return "".join(
        part if i % 2 else part.replace("⟨", "<").replace("⟩", ">")
        for i, part in enumerate(FORMULA.split(" ".join(found)))
    )


def _end(words: list[str], at: int) -> int:
    """Where the words end that may belong to one formula."""
    end = at
    while end < len(words) and words[end] not in ("", "a", "I") and _signs(words[end].rstrip(PUNCTUATION)) is not None:
        end += 1
        run = " ".join(words[at:end])
        if words[end - 1][-1] in PUNCTUATION and not any(run.count(a) > run.count(b) for a, b in ("()", "[]", "⟨⟩")):
            break
    return end


def _formula(run: str) -> str | None:
    """LaTeX of a run of signs, or None where it is no formula, or one that is not understood."""
    signs = _signs(run)
    if signs is None or not EVIDENCE.search(run) or run.endswith(ENDS) or run.startswith(("/", "+", ",", "=")):
        return None
    depth = bars = angles = 0
    latex = ""
    for sign, before in zip(signs, ["", *signs], strict=False):
        depth += (sign in "([") - (sign in ")]")
        bars += sign == "||"
        angles += (sign == "⟨") - (sign == "⟩")
        if min(depth, angles) < 0 or (before.endswith("*") and sign.startswith("^")):
            return None
        latex += _latex(sign, before)
    if depth or angles or bars % 2 or run.count("|") % 2 or re.search(r"\^\*_(?:\{[^{}]*\}|\w)\^", latex):
        return None
    return latex


def _signs(text: str) -> list[str] | None:
    """The signs of a text, or None where it has something else, such as a word."""
    signs, at = [], 0
    while at < len(text):
        found = SIGN.match(text, at)
        if found is None or (re.fullmatch("[A-Za-z]{2,}", found[0]) and found[0] not in COMMANDS):
            return None
        signs.append(found[0])
        at = found.end()
    return signs or None


def _latex(sign: str, before: str) -> str:
    if sign in COMMANDS:
        return COMMANDS[sign]
    if sign == "||":
        return r"\|"
    if sign[0] == "_":
        name, prime = re.sub(r"[{}']", "", sign[1:]), "'" * sign.endswith("'")
        if name in ("max", "min"):
            return rf"_{{\{name}}}"
        inner = rf"\mathrm{{{name}}}" if re.fullmatch("[a-z]{3,}", name) else _inner(name)
        return f"_{{{inner}}}{prime}" if name.isdigit() else f"_{{{inner}{prime}}}"
    if sign[0] == "^":
        return r"^\top " if sign == "^T" else f"^{{{_inner(re.sub('[{}]', '', sign[1:]))}}}"
    if sign.endswith("-bar"):
        return rf"\bar {sign[0]}"
    if sign.endswith("*"):
        return f"{sign[0]}^*"
    if re.fullmatch(NUMBER, sign):
        if re.fullmatch(f"[A-Za-z]|{GREEK}", before):
            return f"_{{{sign}}}"
        mantissa, _, power = sign.partition("e")
        return (("" if mantissa == "1" else rf"{mantissa}\cdot ") + f"10^{{{int(power)}}}") if power else sign
    return sign


def _inner(text: str) -> str:
    """LaTeX of an index or a power, letter by letter where it is not understood."""
    signs = _signs(text)
    return text if signs is None else "".join(map(_latex, signs, ["", *signs]))


PART = re.compile(
    r"\\mathrm\{([a-z]+)\}|\\bar ([A-Za-z])|\^(\\top |\*)|\\(\||[A-Za-z]+) ?|([_^])\{|(\})|([A-Za-z]+'*)|(.)"
)
SYMBOLS = {"|": "‖", "le": " ≤ ", "ge": " ≥ ", "ne": " ≠ ", "ll": " ≪ ", "gg": " ≫ ", "nabla": "∇", "mathcal": ""}
SYMBOLS |= {"langle": "⟨", "rangle": "⟩", "surd": "√", "cdot": "·", "sum": "∑", "epsilon": "ε"}
SYMBOLS |= {name: f" {name} " for name in FUNCTIONS.removesuffix("|sum").split("|")}
SYMBOLS |= {name: unescape(f"&{name};") for name in GREEK.split("|") if name != "epsilon"}


def typeset_html(text: str) -> str:
    """The text as HTML, its formulas with italics, indices and powers, at a fifth of the length of MathML.

    >>> typeset_html("a <b> for eta_Y >= ||W*_kq||^2")
    'a &lt;b&gt; for η<sub>Y</sub> ≥ ‖<i>W</i><sup>*</sup><sub>kq</sub>‖<sup>2</sup>'
    >>> typeset_html("$5")
    '$5'
    """
    parts = FORMULA.split(typeset(text)) if "$" not in text else [text]
    return "".join(_html(part[1:-1]) if i % 2 else escape(printable(part), quote=False) for i, part in enumerate(parts))


def title_html(title: str) -> str:
    """A table's title: the dataset's name as it is, and what the table is of as `typeset_html` has it.

    >>> title_html("a_b: W_kq")
    'a_b: <i>W</i><sub>kq</sub>'
    """
    name, colon, what = title.partition(": ")
    return escape(printable(name), quote=False) + colon + typeset_html(what)


def _html(latex: str) -> str:
    written = ""
    closing: list[str] = []
    for roman, bar, raised, command, opens, closes, letters, other in PART.findall(latex):
        if opens:
            closing.append("sub" if opens == "_" else "sup")
            written += f"<{closing[-1]}>"
        elif closes:
            written += f"</{closing.pop()}>"
        elif raised:
            written += "<sup>*</sup>" if raised == "*" else "<sup>⊤</sup>"
        elif letters or bar:
            written += f"<i>{letters or bar + chr(0x304)}</i>"
        else:
            written += SYMBOLS[command] if command else roman or escape(other.replace("-", "−"), quote=False)
    written = re.sub(rf"({FUNCTIONS}) +(?=\(|</?su)", r"\1", written)
    written = re.sub(r"(?<=\() +|(?<=<sub>) +", "", written)
    return re.sub("<sub><i>(\\w+)</i></sub>", r"<sub>\1</sub>", re.sub(" +", " ", written).strip())
