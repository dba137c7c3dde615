"""What fails, on the page: the worst first, what is printed apart from what is reconstructed or mended."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from marginaudit import audit

CLAIMS = ("ntp.prop2.closed-form", "ntp.theorem3.prediction", "ntp.corollary1.upper", "ntp.corollary1.upper.rederived")


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Its text, tags left out."""
    known = files("marginaudit.reports.ntp") / "counterexamples" / "ntp.prop2.closed-form.json"
    folder = tmp_path_factory.mktemp("fails")
    audit(["example-1", str(known)], claims=CLAIMS, config={"steps2": 10}).save(folder)
    page = Path(folder / "report.html").read_text(encoding="utf-8")
    part = page[page.index('<section id="findings"') : page.index('<section id="verdicts"')]
    return " ".join(re.sub(r"<math.*?</math>|<[^>]+>", " ", part, flags=re.DOTALL).split())


def test_the_worst_comes_first_whatever_the_paper_s_order(section: str) -> None:
    assert (
        "arXiv 2409.17335: 2 of 2 printed statements fail here (everywhere it speaks: 1, on ordinary data: 1)"
        in section
    )
    assert max(section.index(name) for name in ("Corollary 1 ", "Theorem 3 ")) < section.index("Proposition 2 ")


def test_what_is_reconstructed_or_mended_is_not_called_printed(section: str) -> None:
    assert section.count("As printed printed text violated") == 2
    assert "Reconstructed printed text violated everywhere it speaks on" in section
    assert "Also false with the exponent mended our correction violated everywhere it speaks on" in section
    assert "Re-derived" not in section
