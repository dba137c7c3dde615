"""Text in figures: names letter by letter, and no character that only the fonts of mathematics know."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from marginaudit.orders import printable
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.ntp.figures.orders import orders_figure
from marginaudit.reports.ntp.figures.realizable import realizable_figure
from marginaudit.reports.ntp.figures.relaxed import relaxed_figure
from marginaudit.reports.paper import Paper
from marginaudit.reports.plots.measured import curve_title, measured_figure, rendered, six_panels
from marginaudit.reports.statements import statements_figure
from marginaudit.reports.verdict import Curve

NAME = "$a$ \\$\\frac$ \x1b"
"""Of a dataset; as mathematics it is an error."""

NTP, SNAP = PAPERS

SHORT: dict[str, Any] = {"ntp": {"steps1": 9, "steps2": 9}, "snap": {"steps": 100}}

PRIVATE = re.compile("[\ue000-\uf8ff]")


def words(figure: Figure) -> list[str]:
    """The texts of the figure's file, in which no character is of private use."""
    file = rendered(figure, ".svg").decode()
    assert not PRIVATE.search(file)
    return [in_order(text) for text in ElementTree.fromstring(file).iter("{http://www.w3.org/2000/svg}text")]


def in_order(text: ElementTree.Element) -> str:
    """The letters from left to right, which beside a formula stand in the file by their looks."""
    parts = sorted(text, key=lambda part: float(part.get("x", 0)))
    return "".join(part.text or "" for part in parts or [text]).replace("\xa0", " ")


def pictures(paper: Paper, case: str, name: str) -> list[Figure]:
    run = paper.run(replace(paper.kind.cases[case](), name=name), paper.config(**SHORT[paper.name]))
    drawn = paper.figures_of("run").values()
    claims = {one.beside for one in drawn}
    findings = {claim.id: claim.judge(run) for claim in paper.claims if claim.id in claims}
    found = [one.draws(run, findings) for one in drawn]
    return [figure for figure in found if figure is not None]


def test_a_datasets_name_is_no_formula_in_its_pictures() -> None:
    found = pictures(NTP, "example-1", NAME)
    assert len(found) == len(NTP.figures_of("run"))
    for figure in found:
        assert any(text.startswith(printable(NAME)) for text in words(figure))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: orders_figure(replace(NTP.kind.cases["example-1"](), name=NAME)),
        lambda: realizable_figure(NAME, []),
        lambda: relaxed_figure(NAME, []),
        lambda: six_panels(NAME)[0],
        lambda: measured_figure(curve_title(NAME, "mine"), Curve([1, 2], [1.0, 2.0], clock=NAME), None),
    ],
)
def test_names_are_shown_letter_by_letter(draw: Callable[[], Figure]) -> None:
    assert any(printable(NAME) in text for text in words(draw()))


@pytest.mark.parametrize("name", ["snap-3", "statements"])
def test_figures_have_no_character_of_private_use(name: str) -> None:
    assert words(statements_figure(PAPERS) if name == "statements" else SNAP.figures_of("paper", "text")[name].draws())
