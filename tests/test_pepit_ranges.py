"""Stated ranges of PEPit's examples: quoted from the docstrings, and the page's column is what the script finds."""

import importlib
import importlib.util
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from marginaudit import WorstCase
from tests.pages import ROOT, script

PAGE = ROOT / "docs" / "worst-cases-pepit.md"


@pytest.fixture
def ranges(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("pepit_ranges")


def column() -> dict[str, str]:
    """The page's cells on the range, by example."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if "|" in line]
    titles = next(row for row in rows if row[0] == "example")
    at = titles.index("inside / outside the stated range")
    return {row[0]: row[at].strip() for row in rows if "." in row[0] and len(row) > at}


@pytest.mark.filterwarnings("ignore:invalid escape sequence")  # of PEPit's docstrings
def test_the_page_has_what_the_script_finds(ranges: ModuleType) -> None:
    names = [name.removeprefix("PEPit.examples.") for name in ranges.examples()]
    found = column()
    assert list(found) == names
    assert found == {name: ranges.against_the_range(f"PEPit.examples.{name}") for name in names}
    assert {name for name, cell in found.items() if cell.startswith("outside")} == {
        "nonconvex_optimization.no_lips_2",
        "stochastic_and_randomized_convex_minimization.randomized_coordinate_descent_smooth_strongly_convex",
        "unconstrained_convex_minimization.gradient_descent_lc",
        "unconstrained_convex_minimization.inexact_accelerated_gradient",
    }
    text = PAGE.read_text(encoding="utf-8")
    assert sum(cell.startswith("inside") for cell in found.values()) == 25
    assert "`inside` it for 25 examples" in text


def test_a_range_is_quoted_from_the_docstring(ranges: ModuleType) -> None:
    for name, (_, words) in ranges.RANGES.items():
        spec = importlib.util.find_spec(f"PEPit.examples.{name}")
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin).read_text(encoding="utf-8")
        assert words in source.replace("\n    ", " "), name


def test_the_exact_values_of_the_two_slips() -> None:
    theorems = {theorem.name: theorem for theorem in script("theorems", "examples/first_order").THEOREMS}
    nonconvex = theorems["nonconvex-gradient-descent"]
    step = SimpleNamespace(L=Fraction(1), gamma=Fraction(1, 2), n=2)
    assert WorstCase(nonconvex.problem, nonconvex.bound).exact(step) == Fraction(8, 7)
    assert nonconvex.bound(step) == Fraction(2, 3)
    long = theorems["krasnoselskii-mann-long"]
    step = SimpleNamespace(gamma=Fraction(1), n=3)
    assert WorstCase(long.problem, long.bound).exact(step) == (2 * step.gamma - 1) ** 6 == 1
