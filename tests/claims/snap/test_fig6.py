"""What figure 6 shows of step sizes: its verdict where every cell is known, the two looks, and the runs behind them."""

import re
from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.snap import ClassRun
from marginaudit.claims.snap.section8 import fig6
from marginaudit.claims.snap.section8.fig6 import DIRECTION, DOUBT, entropies, of_median
from marginaudit.orders.snap import SequenceClasses, syn_medium
from marginaudit.training.snap.sgd import Recipe, entropy_of_distinct, train_sampled
from tests.claims.snap.samples import on, run
from tests.twins import parts

RISES = "With eta_Y/eta_Z from 2 on"


@pytest.mark.parametrize("seeds", [1, 11, 12, 13, 60, 100])
def test_the_median_lies_between_two_order_statistics(seeds: int) -> None:
    """By how often fair coins show at most so many heads, counted."""
    values = np.random.default_rng(seeds).permutation(seeds).astype(float)[:, np.newaxis]
    low, high = of_median(values)
    kept = [x for x in range(seeds) if Fraction(sum(comb(seeds, i) for i in range(x + 1)), 2**seeds) <= Fraction(DOUBT)]
    expected = (max(kept), seeds - 1 - max(kept)) if kept else (-np.inf, np.inf)
    assert (low[0], high[0]) == expected


def made_up(monkeypatch: pytest.MonkeyPatch, of: Any, seen: list[Any] | None = None) -> None:
    """Entropies by a function of eta_Z, eta_Y/eta_Z and the seed."""

    def found(at: ClassRun, cells: Any, first: int, stop: int) -> Any:
        if seen is not None:
            seen.append((cells, first, stop))
        return np.array([[of(*cell, seed) for cell in cells] for seed in range(first, stop)])

    monkeypatch.setattr(fig6, "entropies", found)


def as_printed(lr_z: float, ratio: float, seed: int) -> float:
    return 2 - 0.1 * lr_z + 0.01 * abs(ratio - 2) + 0.001 * seed


@pytest.mark.parametrize(
    ("sign_z", "sign_ratio", "violated"),
    [(1, 1, ()), (-1, 1, ("With eta_Z",)), (1, -1, (RISES,)), (-1, -1, ("With eta_Z", RISES))],
)
def test_each_direction_is_judged(
    monkeypatch: pytest.MonkeyPatch, sign_z: int, sign_ratio: int, violated: tuple[str, ...]
) -> None:
    made_up(monkeypatch, lambda lr_z, ratio, seed: 2 - 0.1 * sign_z * lr_z + 0.01 * sign_ratio * ratio)
    at = on(syn_medium(1))
    for name, part in parts(DIRECTION).items():
        assert part.judge(at).verdict is (Verdict.VIOLATED if name in violated else Verdict.HOLDS)


@pytest.mark.parametrize("cell", [(2.0, 5.0), (3.0, 10.0), (0.5, 5.0)])
def test_one_cell_that_goes_the_other_way_violates_it(
    monkeypatch: pytest.MonkeyPatch, cell: tuple[float, float]
) -> None:
    made_up(monkeypatch, lambda *at: as_printed(*at) + 0.5 * (at[:2] == cell))
    found = DIRECTION.judge(on(syn_medium(1)))
    assert found.verdict is Verdict.VIOLATED
    assert f"{cell[0]:g}" in found.detail


def test_what_is_below_the_threshold_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, lambda lr_z, ratio, seed: 2 - 0.1 * lr_z + 0.01 * ratio)
    found = DIRECTION.judge(on(syn_medium(1)))
    assert found.verdict is Verdict.HOLDS
    assert found.detail.endswith("falls in 0 of 4 cells and rises in 4.")


def noisy(share: float) -> Any:
    """From 5 to 10 at eta_Z = 3 so many seeds of a hundred rise, the others fall."""

    def of(lr_z: float, ratio: float, seed: int) -> float:
        other = (lr_z, ratio) == (3, 10) and (seed * 37) % 100 >= 100 * share
        return as_printed(lr_z, ratio, seed) - 0.2 * other

    return of


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.8, Verdict.HOLDS), (0.5, Verdict.INCONCLUSIVE), (0.2, Verdict.VIOLATED)]
)
def test_more_seeds_decide_what_few_do_not(monkeypatch: pytest.MonkeyPatch, share: float, verdict: Verdict) -> None:
    seen: list[Any] = []
    made_up(monkeypatch, noisy(share), seen)
    found = DIRECTION.judge(on(syn_medium(1)))
    assert found.verdict is verdict
    assert set(seen) == {(fig6.CELLS, 0, 12), (((3.0, 5.0), (3.0, 10.0)), 12, 100)}
    assert "12 seeds, 100 for eta_Y/eta_Z 5 to 10 at eta_Z = 3" in found.detail


def test_too_few_seeds_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, as_printed)
    found = DIRECTION.judge(on(syn_medium(1), seeds=11))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert re.search(r"11 seeds\..* from 1 to 2, .* 0 of 4", found.detail)


def test_differences_within_rounding_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up(monkeypatch, lambda lr_z, ratio, seed: 2 - 1e-10 * lr_z + 1e-10 * ratio)
    assert DIRECTION.judge(on(syn_medium(1))).verdict is Verdict.INCONCLUSIVE


def test_rounding_moves_entropies_less() -> None:
    data, rates = syn_medium(1), [(30.0, 3.0), (30.0 * (1 + 1e-10), 3.0 * (1 - 1e-10))]
    for seed in range(3):
        one, moved = entropy_of_distinct(data, train_sampled(data, Recipe(), rates, seed).Z[:, -1])
        assert 0 < abs(one - moved) < fig6.ROUNDING


def test_entropies_are_those_of_section_8() -> None:
    at = on(syn_medium(1), seed=4)
    found = entropies(at, ((2.0, 5.0), (0.5, 1.0)), 1, 3)
    assert found.shape == (2, 2)
    for row, seed in zip(found, (5, 6), strict=True):
        for value, rates in zip(row, ((10.0, 2.0), (0.5, 0.5)), strict=True):
            Z = train_sampled(at.dataset, Recipe(100, 128, 127, "momentum", 0.9, "uniform"), [rates], seed).Z[0, -1]
            c = np.where(at.dataset.P > 0, at.dataset.P * np.exp(Z[[0, 0]]), 0)
            assert at.dataset.contextual[10:] == tuple(f"d{n}.{i}" for n in range(2) for i in range(10))
            own = [c[n, 10 + 10 * n : 20 + 10 * n] / c[n, 10 + 10 * n : 20 + 10 * n].sum() for n in range(2)]
            assert value == pytest.approx(-np.mean([p @ np.log(p) for p in own]), rel=1e-12, abs=0)


class TestWhere:
    """Syn-Medium, by whatever way it came, and nothing else."""

    def test_other_classes(self) -> None:
        for name in ("snap-single", "snap-symmetric"):
            found = DIRECTION.judge(run(name))
            assert found.verdict is Verdict.NOT_APPLICABLE
            assert found.detail == "The figure is about Syn-Medium, and these are other classes."

    def test_nearly(self) -> None:
        data = syn_medium(2)
        assert fig6.is_syn_medium(replace(data, weights=(2.0,) * 4))
        weights = dict(data.classes[0].probabilities)
        moved = weights | {"s0": weights["s0"] + 1e-9, "s1": weights["s1"] - 1e-9}
        for other in (
            replace(data, M=data.M + 1),
            replace(data, weights=(1.0, 1.0, 1.0, 2.0)),
            replace(data, classes=(*data.classes[1:], data.classes[0])),
            replace(data, classes=(replace(data.classes[0], probabilities=moved), *data.classes[1:])),
            SequenceClasses.from_weights("one", None, [("n", "q", {"a": 1.0})]),
        ):
            assert not fig6.is_syn_medium(other)

    def test_more_queries_than_the_figure_has(self) -> None:
        with pytest.raises(BeyondTheRun, match="at most 10 queries"):
            fig6.not_its_grid(on(syn_medium(11)))
        assert DIRECTION.judge(on(syn_medium(11))).verdict is Verdict.INCONCLUSIVE
        assert fig6.not_its_grid(on(syn_medium(10))) is None
