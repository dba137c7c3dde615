"""Figures 6, 11 and 12: every line from attention found another way, at the settings that the figure names."""

import re
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from marginaudit.claims import Finding, Verdict
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.section8 import fig6
from marginaudit.orders.snap import SequenceClasses, syn_medium
from marginaudit.reports.snap.figures import grid, of_section_8
from marginaudit.reports.snap.paper import PAPER
from marginaudit.training.snap.sgd import Recipe, train_sampled

HOLDS = {"snap.fig6.direction": Finding(Verdict.HOLDS)}


def shares(data: SequenceClasses, rates: tuple[float, float], seed: int) -> Any:
    """c_n of each class's ten distinct tokens, shape (classes, 10)."""
    Z = train_sampled(data, Recipe(), [rates], seed).Z[0, -1]
    found = []
    for n, c in enumerate(data.classes):
        row = Z[list(data.queries).index(c.query)]
        weights = {token: p * np.exp(row[data.contextual.index(token)]) for token, p in c.probabilities.items()}
        found.append([weights[f"d{n}.{i}"] / sum(weights.values()) for i in range(10)])
    return np.array(found)


def above(data: SequenceClasses, rates: tuple[float, float], seeds: int) -> Any:
    every = np.array([shares(data, rates, seed) for seed in range(seeds)])
    return [float((every >= threshold / data.M).mean()) for threshold in grid.THRESHOLDS]


def lines(axis: Axes) -> list[tuple[str, Any, Any]]:
    return [(str(line.get_label()), line.get_xdata(), line.get_ydata()) for line in axis.lines]


@pytest.mark.parametrize(
    ("name", "labels", "rates"),
    [
        ("snap-11", [f"η_Y/η_Z = {r}" for r in (1, 2, 5, 10)], [(r, 1.0) for r in (1.0, 2.0, 5.0, 10.0)]),
        ("snap-12", [f"η_Z = {z}" for z in (0.5, 1, 2, 3)], [(5 * z, z) for z in (0.5, 1.0, 2.0, 3.0)]),
    ],
)
def test_recall(name: str, labels: list[str], rates: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two sizes and two seeds in place of four and ten."""
    assert (fig6.NUM_LAST, fig6.SEEDS) == ((1, 3, 5, 10), 10)
    monkeypatch.setattr(grid, "NUM_LAST", (1, 2))
    monkeypatch.setattr(grid, "SEEDS", 2)
    figure = PAPER.figures_of("paper")[name].draws()
    for axis, num_last in zip(figure.axes, (1, 2), strict=True):
        data = syn_medium(num_last)
        assert axis.get_title(loc="left") == f"num_last = {num_last}, K = {data.K}, M = {data.M}"
        assert axis.get_xlabel() == "threshold times M"
        drawn = lines(axis)
        assert [label for label, _, _ in drawn] == labels
        for (_, x, y), at in zip(drawn, rates, strict=True):
            np.testing.assert_array_equal(x, grid.THRESHOLDS)
            np.testing.assert_allclose(y, above(data, at, 2), rtol=0, atol=1e-12)
    fixed = "η_Z = 1" if name == "snap-11" else "η_Y/η_Z = 5"
    assert f"100 updates, {fixed}, mean over 2 seeds" in figure.get_suptitle()


def test_a_tokens_attention_at_the_threshold_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of attention 12/16 to a and 8/16 to b, by M = 16."""
    monkeypatch.setattr(grid, "THRESHOLDS", np.array([1, 8, 8.1, 12, 12.1]))
    data = SequenceClasses.from_weights("two", 16, [("n0", "q", {"a": 3, "x": 1}), ("n1", "q", {"b": 1, "x": 1})])
    found = grid.recall(data, np.zeros((1, 1, 1, len(data.contextual))))
    assert found.tolist() == [[1, 1, 0.5, 0.5, 0]]


@pytest.fixture(scope="module")
def drawn() -> tuple[ClassRun, Figure]:
    run = ClassRun(syn_medium(1), ClassConfig(seeds=2))
    figure = of_section_8(run, HOLDS)
    assert figure is not None
    return run, figure


class TestOfARun:
    """The report's picture of a dataset."""

    def test_entropy(self, drawn: tuple[ClassRun, Figure]) -> None:
        run, figure = drawn
        axis = figure.axes[0]
        for container, lr_z in zip(axis.containers, fig6.LR_Z, strict=True):
            line, _, (bars,) = container.lines  # type: ignore[attr-defined]
            for ratio, mean, bar in zip(line.get_xdata(), line.get_ydata(), bars.get_segments(), strict=True):
                each = []
                for seed in range(2):
                    own = shares(run.dataset, (ratio * lr_z, lr_z), seed)
                    own = own / own.sum(axis=1, keepdims=True)
                    each.append(-(own * np.log(own)).sum(axis=1).mean())
                assert mean == pytest.approx(np.mean(each), rel=1e-10, abs=0)
                assert (bar[1, 1] - bar[0, 1]) / 2 == pytest.approx(np.std(each, ddof=1), rel=1e-8, abs=0)

    def test_recall(self, drawn: tuple[ClassRun, Figure]) -> None:
        run, figure = drawn
        for axis, rates in ((figure.axes[1], (10.0, 1.0)), (figure.axes[2], (15.0, 3.0))):
            _, _, y = lines(axis)[-1]
            np.testing.assert_allclose(y, above(run.dataset, rates, 2), rtol=0, atol=1e-12)
        assert re.findall(r"\d+", figure.get_suptitle()) == ["1", "100", "2", "1"]

    def test_no_spread_of_one_seed(self) -> None:
        figure = of_section_8(ClassRun(syn_medium(1), ClassConfig(seeds=1)), HOLDS)
        assert figure is not None
        assert np.isfinite(figure.axes[0].get_ylim()).all()

    def test_nothing_where_figure_6_does_not_speak(self) -> None:
        run = ClassRun(syn_medium(1))
        assert of_section_8(run, {}) is None
        for verdict in (Verdict.NOT_APPLICABLE, Verdict.BROKEN):
            assert of_section_8(run, {"snap.fig6.direction": Finding(verdict)}) is None
        assert of_section_8(ClassRun(syn_medium(11)), {"snap.fig6.direction": Finding(Verdict.INCONCLUSIVE)}) is None
