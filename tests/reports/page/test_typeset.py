"""Formulas in plain symbols, set: in all texts of the ledger that are formulas, and in nothing else."""

import re

import pytest

from marginaudit.reports import LEDGER
from marginaudit.reports.page.latex import latex_prose
from marginaudit.reports.page.typeset import typeset, typeset_html


def test_all_formulas_of_the_ledger_are_understood() -> None:
    plain = r"\|\||&[lg]t;=|(?<![\w-])[A-Za-z]\*?[_^]\w"
    left = [name for name, claim in LEDGER.items() if re.search(plain, typeset_html(" ".join(claim.statement.split())))]
    assert not left


@pytest.mark.parametrize(
    "text",
    [
        "optimal_majority of docs/proofs.md#5-sharplemma6 at ntp.theorem2.weight, lr_y and my_data",
        'Assumption injective fails: {"key": "x_1", "next": ["a^2"]}.',
        "an unbalanced ||W| and ||W_x, <W_x or W_x>, a lone _ or ^ and 5 <",
        "<script>alert(1)</script> & a -> b",
        "it costs $x_1 and $y_2",
        "",
    ],
)
def test_words_paths_and_what_is_quoted_stay(text: str) -> None:
    assert typeset(text) == text
    assert re.sub("&lt;", "<", re.sub("&gt;", ">", typeset_html(text))).replace("&amp;", "&") == text


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("e^(-x) <= 2", r"$e^{(-x)} \le  2$"),
        ("from 1e5, within 1.5e-13 of 8.8e+00", r"from $10^{5}$, within $1.5\cdot 10^{-13}$ of $8.8$"),
        ("the most that 1 - cos can be", r"the most that $1 - \cos $ can be"),
        ("1 - exp(-2)", r"$1 - \exp (-2)$"),
        ("L_max^4 log^2 t/(t eta)", r"$L_{\max}^{4} \log ^{2} t/(t \eta )$"),
        ("(x_i - x_j)^T W*_kq q, C0 T", r"$(x_{i} - x_{j})^\top  W^*_{kq} q$, C0 T"),
        ("T >= 1.159e+06.", r"$T \ge  1.159\cdot 10^{6}$."),
        ("|N_n - N-bar| > f_n'", r"$|N_{n} - \bar N| > f_{n'}$"),
        ("P(l|n) <= 1", r"$P(l|n) \le  1$"),
        ("sum_{l opt} phi_l", r"$\sum _{l \mathrm{opt}} \phi _{l}$"),
    ],
)
def test_what_is_set_in_latex(text: str, latex: str) -> None:
    assert latex_prose(text) == latex
