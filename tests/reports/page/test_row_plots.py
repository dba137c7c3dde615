"""Plots of rows that no picture of a paper shows: whose they are, where they stand, and under which names."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Claim, Verdict
from marginaudit.claims.judgements import Bounded, Limit
from marginaudit.claims.row import ReportRow
from marginaudit.claims.series import series
from marginaudit.claims.verdict import Curve
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.reports.audit.auditing import Audited
from marginaudit.reports.audit.sources import made_in_python
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.page.pictures import drawn
from marginaudit.reports.python import audit

STEP = np.arange(1, 31)


def claim(name: str, judgement: Any) -> Claim:
    return Claim(id=name, source="", statement="It is so.", formula="1", assumptions=(), judgement=judgement)


def measured(run: Any) -> Any:
    return series(1 / STEP - 0.1, radius=1e-9, step=STEP)


CLAIMS = (
    claim("y-z", Bounded(measured, upper=lambda run, t: 0.5 / t)),
    claim("z", Limit(measured, predicted=lambda run: -0.1, regime=lambda run: 1.0)),
    claim("Z", Bounded(lambda run: series([1.0], radius=0), upper=lambda run, t: [2.0])),
    claim("m" * 300, Bounded(measured, upper=lambda run, t: 2 + 0 * t)),
)


def test_every_row_of_ones_own_claims_along_steps_has_a_plot_beside_the_claim(tmp_path: Path) -> None:
    data = [replace(CASES["example-1"](), name=name) for name in ("x-y", "x")]
    page = audit(data, claims=CLAIMS, config={"steps1": 5, "steps2": 5}).save(tmp_path / "report").read_text()
    names = sorted(path.name for path in (tmp_path / "report/figures").iterdir())
    long = "m" * 80
    expected = ["x-y-y-z.svg", "x-y-z.svg", "x-y-z-2.svg", "x-z.svg", f"x-y-{long}.svg", f"x-{long}.svg"]
    assert names == sorted(expected)
    for one in CLAIMS:
        article = page[page.index(f'<article class="claim" id="{one.id}">') :].partition("</article>")[0]
        shown = re.findall(r"<svg.*?</svg>\s*<figcaption[^>]*>(.*?)</figcaption>", article, re.DOTALL)
        caption = "measured and predicted limit" if one.id == "z" else "measured against bound"
        plotted = [f"{name}: {caption}" for name in ("x-y", "x")]
        assert shown == ([] if one.id == "Z" else plotted)
        assert article.count(">first violated<") == (2 if one.id == "y-z" else 0)


@pytest.mark.parametrize(
    ("verdict", "few", "on_page"), [("violated", 1, ["once"]), ("holds", 1, []), ("holds", 3, ["shown"])]
)
def test_a_built_in_row_has_a_plot_where_it_fails_or_few_are_audited_unless_a_picture_shows_it(
    verdict: str, few: int, on_page: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marginaudit.reports.page.pictures.FEW_CLAIMS", few)
    run = PAPER.run(CASES["example-1"](), PAPER.config(steps1=5, steps2=5))
    curves = {
        "sharp.rate": (curve := Curve([1, 2], [1.0, 2.0], [2.0, 1.0])),
        "ntp.prop1.norm": curve,
        "ntp.lemma4": None,
    }
    findings = {
        name: ReportRow(claim=name, dataset="d", verdict=Verdict(verdict), curve=found)
        for name, found in curves.items()
    }
    source = made_in_python(run.dataset, PAPER)
    shown = drawn(Audited(source, run.config, findings, {}, run_here=run), ())
    assert [(one.claim, one.on_page) for one in shown.pictures] == [
        ("ntp.prop1.norm", "shown"),
        *(("sharp.rate", place) for place in on_page),
    ]


def test_the_page_shows_one_plot_of_a_built_in_claim_that_fails_and_links_to_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marginaudit.reports.page.pictures.FEW_CLAIMS", 0)
    found = audit(["snap-single", "snap-symmetric"], claims="snap.remark2")
    page = found.save(tmp_path / "report").read_text()
    assert re.findall(r"<figcaption[^>]*>(snap-[^<]*)", page) == ["snap-single: measured against bound"]
    [(plot, name)] = re.findall(r'<a href="(figures/[^"]*)">([^<]*)</a>', page)
    assert name == "snap-symmetric"
    assert (tmp_path / "report" / plot).read_text().rstrip().endswith("</svg>")
    assert "measured: One c " in page


def test_a_rows_plot_in_python() -> None:
    report = audit("example-1", claims=CLAIMS, config={"steps1": 5, "steps2": 5})
    [axis] = report.plot("y-z").axes
    assert axis.get_title("left") == "example-1, y-z"
    with pytest.raises(
        InputError, match=r"Z on example-1: got no values along steps, expected a bound or a limit along steps$"
    ):
        report.plot("Z")
    with pytest.raises(KeyError, match="expected one that was audited"):
        report.plot("y")
    with pytest.raises(KeyError, match="expected one of example-1"):
        report.plot("z", "x")
