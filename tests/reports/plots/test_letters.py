"""Text in figures: names letter by letter, all of it inside, and no character that only fonts of mathematics know."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.image import imread

from marginaudit.claims.paper import Paper, RunRecords
from marginaudit.claims.verdict import Curve
from marginaudit.orders import printable
from marginaudit.orders.ntp import dataset_from_document
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.ntp.figures.direction import runs_figure
from marginaudit.reports.ntp.figures.orders import orders_figure
from marginaudit.reports.ntp.figures.realizable import realizable_figure
from marginaudit.reports.ntp.figures.relaxed import relaxed_figure
from marginaudit.reports.page.files import csv_text
from marginaudit.reports.plots.measured import curve_title, measured_figure, rendered, six_panels
from marginaudit.reports.plots.style import as_text
from marginaudit.reports.statements import statements_figure

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


def edges(figure: Figure) -> np.ndarray[Any, Any]:
    """Two pixels at the left and at the right of the figure's picture."""
    return np.delete(imread(io.BytesIO(rendered(figure, ".png", lambda _: None))), np.s_[2:-2], axis=1)


LONG = "a name that is longer than all pictures are wide, " * 6


@pytest.mark.parametrize("name", ["one", LONG, "$x$ " * 60, "字" * 90], ids=["one", "long", "dollars", "wide"])
def test_titles_and_legends_stay_inside(name: str) -> None:
    sample = {"tokens": ["a", "c", "q"], "next": "b"}
    one_query = dataset_from_document({"name": name, "samples": [sample], "next_token": {"a": "b"}})
    for figure in (
        orders_figure(one_query),
        six_panels(name)[0],
        realizable_figure(name, []),
        measured_figure(f"{as_text(name)}, stage 1", Curve([1, 2], [1.0, 2.0]), None),
        named_run(name),
    ):
        assert (edges(figure) == 1).all()


def named_run(name: str) -> Figure:
    """A run, in a title and in a legend beside the panel."""
    run = NTP.run(NTP.kind.cases["example-1"](), NTP.config(**SHORT["ntp"]))
    document = {table.name: table.of(run) for table in NTP.tables}
    records = {of: csv_text(*rows) for of, rows in NTP.records(run).items()}
    return runs_figure([RunRecords(name, document, records)])


def test_letters_that_the_font_lacks_are_drawn_in_another_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ⓐ is in the fonts of mathematics that come with matplotlib, 字 in none of them, and both in no DejaVu Sans."""
    monkeypatch.setattr("matplotlib.font_manager.findSystemFonts", list)
    own = [font for font in fontManager.ttflist if mpl.get_data_path() in font.fname]
    monkeypatch.setattr(fontManager, "ttflist", own)
    told: list[str] = []
    circled, same = Figure((1, 1)), Figure((1, 1))
    circled.text(0.5, 0.5, "Ⓐ")
    same.text(0.5, 0.5, "Ⓐ", fontfamily="STIXGeneral")
    for ending in (".png", ".pdf"):
        assert rendered(circled, ending, told.append) == rendered(same, ending, told.append) or ending == ".pdf"
    assert told == []
    lost = Figure((1, 1))
    lost.text(0.5, 0.5, "字x典")
    for ending in (".png", ".pdf", ".svg"):
        rendered(lost, ending, told.append)
    assert told == ["no installed font has 2 letters of the figure, drawn as boxes: 典 字"] * 2
