"""The report of both papers, opened in chromium: it runs without a fault, asks for nothing, filters, and prints."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from marginaudit.reports.command.cli import main
from tests.reports.page.screenshots import missing, opened, printed, seen_at

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.skipif(bool(missing()), reason=missing())]

MOST_BYTES, MOST_PAGES = 1_500_000, 25

SHOWN = "return [...document.querySelectorAll('table.matrix tbody tr')].filter((row) => !row.hidden).map({})"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("default") / "report"
    with pytest.raises(SystemExit) as ended:
        main(["audit", "--out", str(folder)])
    assert ended.value.code == 0
    return folder


@pytest.fixture(scope="module")
def driver(report: Path) -> "Iterator[Chrome]":
    with opened(report / "report.html") as found:
        yield found


@pytest.fixture(scope="module")
def verdicts(report: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((report / "report.json").read_text(encoding="utf-8"))["verdicts"]
    return found


def choose(driver: "Chrome", **wanted: str) -> list[str]:
    """The statements that are shown with these filters."""
    driver.execute_script("document.getElementById('filters').reset()")
    for name, value in wanted.items():
        driver.execute_script(
            "const select = document.querySelector(`#filters [name=${arguments[0]}]`);"
            "select.value = arguments[1];"
            "select.dispatchEvent(new Event('input', {bubbles: true}));",
            name,
            value,
        )
    found: list[str] = driver.execute_script(SHOWN.format("(row) => row.querySelector('th a').textContent"))
    return found


def test_it_is_small(report: Path) -> None:
    assert (report / "report.html").stat().st_size <= MOST_BYTES


def test_it_says_nothing_on_the_console_and_asks_nobody(driver: "Chrome") -> None:
    assert driver.get_log("browser") == []  # type: ignore[no-untyped-call]
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]  # type: ignore[no-untyped-call]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert {url.split(":")[0] for url in asked} <= {"file", "data"}
    assert sum(url.startswith("file:") for url in asked) == 1


def test_no_formula_shows_raw_latex(driver: "Chrome") -> None:
    texts = driver.execute_script("return [...document.querySelectorAll('math')].map((math) => math.textContent)")
    assert len(texts) > 100
    assert [text for text in texts if "\\" in text or not text.strip()] == []


@pytest.mark.parametrize(
    "wanted",
    [
        {"verdict": "violated"},
        {"evidence": "float64"},
        {"dataset": "section-7"},
        {"verdict": "not-applicable", "dataset": "snap-single"},
        {"verdict": "holds", "evidence": "exact", "dataset": "free-20"},
        {"dataset": "example-1", "verdict": "inconclusive"},
    ],
)
def test_filters_show_what_they_name(driver: "Chrome", verdicts: list[dict[str, Any]], wanted: dict[str, str]) -> None:
    shown = choose(driver, **wanted)
    assert set(shown) == {row["claim"] for row in verdicts if all(row[key] == value for key, value in wanted.items())}
    assert len(shown) == len(set(shown))
    told = driver.execute_script("return document.querySelector('#filters output').textContent")
    assert told == (f"{len(shown)} shown" if shown else "no match")


def test_a_theorem_can_be_chosen(driver: "Chrome") -> None:
    assert set(choose(driver, theorem="snap:lemma-10")) == {"snap.lemma10", "snap.lemma10.rederived"}


def test_statements_can_be_ordered_and_come_back(driver: "Chrome", verdicts: list[dict[str, Any]]) -> None:
    ledger = choose(driver, sort="order")
    worst = choose(driver, sort="rank")
    assert sorted(worst) == sorted(ledger)
    assert worst != ledger
    violated = {row["claim"] for row in verdicts if row["verdict"] == "violated"}
    first = [claim for claim in worst if claim.startswith("snap.")]
    assert set(first[: len(violated & set(first))]) == violated & set(first)
    assert choose(driver, sort="order") == ledger


def test_nothing_is_wider_than_a_phone(driver: "Chrome") -> None:
    for width in (390, 768, 1280):
        seen_at(driver, width)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_graph_of_statements_fits_a_laptop(driver: "Chrome") -> None:
    seen_at(driver, 1280)
    fits = (
        "return [...document.querySelectorAll('figure.graph')].map((graph) => graph.scrollWidth <= graph.clientWidth)"
    )
    assert driver.execute_script(fits) == [True, True]


WIDEST_DRAWING = """
return Math.max(...[...document.querySelectorAll('figure svg')]
  .filter((svg) => svg.checkVisibility()).map((svg) => svg.getBoundingClientRect().right))
"""


def test_figures_fit_a_phone_until_they_are_enlarged(driver: "Chrome") -> None:
    """Without the script too: enlarging is a button's, which larger windows and paper do not have."""
    driver.execute_script("document.querySelectorAll('details.theorem').forEach((theorem) => { theorem.open = true; })")
    seen_at(driver, 390)
    assert 200 < driver.execute_script(WIDEST_DRAWING) <= 390
    buttons = driver.find_elements("css selector", "button.enlarge")
    assert len(buttons) == len(driver.find_elements("css selector", "figure.wide, figure.graph")) > 5
    assert all(button.is_displayed() for button in buttons)
    for said in ("fit", "enlarge"):
        driver.execute_script("arguments[0].click()", buttons[-1])
        assert buttons[-1].text == said
        assert (driver.execute_script(WIDEST_DRAWING) > 700) == (said == "fit")
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    seen_at(driver, 1280)
    assert not any(button.is_displayed() for button in buttons)


def test_proofs_fit_a_phone_and_their_links_are_seen_in_the_dark(report: Path) -> None:
    for page in sorted((report / "proofs").glob("*.html")):
        with opened(page) as driver:
            seen_at(driver, 390, dark=True)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
            links = "return [...document.links].map((link) => getComputedStyle(link).color)"
            assert "rgb(0, 0, 238)" not in driver.execute_script(links)


def test_no_formula_is_cut_on_paper_and_evidence_stays_folded(driver: "Chrome") -> None:
    """A page of A4 less the margins has 725 pixels."""
    seen_at(driver, 718)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        wide = (
            "return [...document.querySelectorAll('.formula')].filter((box) => box.scrollWidth > box.clientWidth + 1)"
        )
        assert driver.execute_script(wide) == []
        folded = "return [...document.querySelectorAll('.findings details')].map((one) => one.offsetHeight)"
        assert set(driver.execute_script(folded)) == {0}
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_it_prints_on_few_pages(driver: "Chrome", report: Path) -> None:
    seen_at(driver, 1280)
    pages = re.findall(rb"/Type\s*/Page\b", printed(driver))
    assert 5 < len(pages) <= MOST_PAGES
