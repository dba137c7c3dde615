"""What becomes of a figure's file on the page."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from marginaudit.reports.page.svg import inline, rounded
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.plots.plotting import styled
from marginaudit.reports.plots.style import MEASURED


@styled
def drawn(title: str) -> Figure:
    figure = Figure(figsize=(4, 3))
    axis = figure.subplots()
    axis.set_title(title)
    axis.plot([0.123456, 2], [3, 4.56789], color=MEASURED)
    axis.text(0.5, 3.5, "0.123456 #ffffff")
    return figure


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def coordinates(root: ElementTree.Element) -> list[float]:
    paths = root.iter("{http://www.w3.org/2000/svg}path")
    return [float(x) for path in paths for x in re.findall(r"-?[0-9.]+", path.get("d", ""))]


def test_a_picture_is_smaller_and_has_the_same_shapes_and_words() -> None:
    file = rendered(drawn("a <b> & 'c'"), ".svg")
    text = inline(file)
    assert len(text) < 0.6 * len(file)
    before, after = ElementTree.fromstring(file), parsed(text)
    for tag in ("path", "use", "text"):
        name = f"{{http://www.w3.org/2000/svg}}{tag}"
        assert len(list(after.iter(name))) == len(list(before.iter(name))) > 0
    words = [element.text for element in after.iter("{http://www.w3.org/2000/svg}text")]
    assert words == [element.text for element in before.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a <b> & 'c'", "0.123456 #ffffff"} <= set(words)
    assert after.get("viewBox") == before.get("viewBox") == "0 0 288 216"
    assert after.get("style") == "width:384px"  # 4 inches


def test_coordinates_are_off_by_less_than_a_hundredth_of_a_point() -> None:
    file = rendered(drawn("a"), ".svg")
    before, after = (coordinates(root) for root in (ElementTree.fromstring(file), parsed(inline(file))))
    assert before != after
    assert after == pytest.approx(before, rel=0, abs=0.0051)
    assert [rounded(x) for x in (1234.56789, 0.00123456, -3.14159, 100.0)] == ["1234.6", "0.0012", "-3.14", "100"]


def test_colours_follow_the_page() -> None:
    text = inline(rendered(drawn("a"), ".svg"))
    assert {"var(--measured)", "var(--ground)", "var(--ink)", "var(--line)"} <= set(re.findall(r"var\([a-z-]+\)", text))
    assert "#000000" not in text
    assert text.count("#ffffff") == 1  # in words


def test_no_two_pictures_share_an_id() -> None:
    found = []
    for title in "ab":
        text = inline(rendered(drawn(title), ".svg"))
        ids = re.findall(r'\bid="([^"]*)"', text)
        assert len(ids) == len(set(ids)) > 0
        assert set(re.findall(r'(?:url\(|href=")#([^")]*)', text)) <= set(ids)
        found.append(set(ids))
    assert not found[0] & found[1]
