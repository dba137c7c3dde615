"""What becomes of a figure's file on the page."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from marginaudit.reports.page import svg
from marginaudit.reports.page.svg import inline
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.plots.style import MEASURED, PAGE, styled


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


def test_a_style_that_comes_often_is_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    file = rendered(drawn("a"), ".svg")
    short = inline(file)
    monkeypatch.setattr(svg, "OFTEN", 10**6)
    long = inline(file)
    assert (len(short) < len(long), "<style>" in long) == (True, False)
    rules = dict(re.findall(r"\.(\w+){([^}]*)}", short))
    assert len(rules) > 2
    named = re.sub(r"<style>.*?</style>", "", short)
    assert re.sub(r'class="(\w+)"', lambda name: f'style="{rules[name[1]]}"', named) == long
    other = inline(rendered(drawn("b"), ".svg"))
    assert not rules.keys() & dict(re.findall(r"\.(\w+){([^}]*)}", other)).keys()


def test_letters_of_a_formula_that_look_alike_are_in_one_element_each_at_its_place() -> None:
    file = rendered(drawn(r"a & b: $W_{ov}^{(t)} < 1$"), ".svg")
    before, after = (places(root) for root in (ElementTree.fromstring(file), parsed(inline(file))))
    assert [letter for letter, _ in after] == [letter for letter, _ in before if letter.strip()]
    assert {"&", "<", "W"} <= {letter for letter, _ in after}
    known = [place for letter, place in before if letter.strip()]
    assert [place for _, place in after] == pytest.approx(known, rel=0, abs=0.051)
    assert inline(file).count("<tspan") == 7


def places(root: ElementTree.Element) -> list[tuple[str, float]]:
    """The letters of formulas, and how far to the right each stands."""
    parts = root.iter("{http://www.w3.org/2000/svg}tspan")
    pairs = [zip(part.text or "", (part.get("x") or "").split(), strict=True) for part in parts]
    return [(letter, float(x)) for pair in pairs for letter, x in pair]


def test_coordinates_are_off_by_less_than_a_twentieth_of_a_point() -> None:
    file = rendered(drawn("a"), ".svg")
    before, after = (coordinates(root) for root in (ElementTree.fromstring(file), parsed(inline(file))))
    assert before != after
    assert after == pytest.approx(before, rel=0, abs=0.051)


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


def contrast(one: str, other: str) -> float:
    """WCAG 2: of two colours' relative luminances."""
    levels = []
    for colour in (one, other):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        levels.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(levels) / min(levels)


def test_every_colour_of_text_is_read_on_its_ground_in_the_light_and_in_the_dark() -> None:
    text = PAGE.keys() - {"ground", "panel", "line", "hatch"}
    for theme in (0, 1):
        assert {name: c for name in text if (c := contrast(PAGE[name][theme], PAGE["ground"][theme])) < 4.5} == {}
        assert all(contrast(PAGE[name][theme], PAGE["panel"][theme]) >= 4.5 for name in ("ink", "soft"))
