"""Proposition 1, sharper: the steps from the ray, and every entry that is compared."""

import math
from dataclasses import replace

import numpy as np
import pytest

from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.series import FORMULA_ROUNDING
from marginaudit.orders.ntp import CASES
from tests.measured import judgement

STAGE1 = judgement("sharp.stage1")


@pytest.mark.parametrize(("T", "steps"), [(0, [0]), (1, [0]), (2, [0, 1]), (11, [0, 1, 10]), (101, [0, 1, 10, 100])])
def test_steps_from_the_ray_are_looked_at_at_powers_of_ten(T: int, steps: list[int]) -> None:
    labels = STAGE1.measure(Run(CASES["example-1"](), Config(steps1=T))).label
    assert [name for name in labels if "ray" in name] == [f"step from the ray at t = {t}" for t in steps]


def test_what_is_compared_of_stage_1() -> None:
    on = Run(CASES["example-1"](), Config(steps1=12, steps2=1))
    stage, found = on.training.stage1, STAGE1.measure(on)
    entries = dict(zip(found.label, zip(found.value.tolist(), found.radius.tolist(), strict=True), strict=True))
    assert len(entries) == len(found) == 4 + 12 + 12 + 3
    off = stage.distance_error
    for t in (1, 12):
        assert entries[f"direction at t = {t}"] == (stage.distance[t], off[t])
        assert entries[f"norm at t = {t}"] == (stage.norm[t] / (t * on.eta0) - 1, off[t] + FORMULA_ROUNDING)
    A = 12 * on.eta0 / math.sqrt(3)
    bar = on.training.margin_error / A + FORMULA_ROUNDING
    assert entries["common margin A"] == (
        pytest.approx(on.training.margin / A - 1, abs=1e-15),
        pytest.approx(bar, rel=1e-9, abs=0),
    )
    assert entries["spread of the margins"][0] == pytest.approx(on.training.margin_spread / A)
    assert entries["||W*_ov||^2"] == (0.0, FORMULA_ROUNDING)
    for t in (0, 1, 10, 11):
        value, radius = entries[f"step from the ray at t = {t}"]
        assert abs(value) <= radius < 1e-30
    wide = replace(stage, distance_error=np.where(stage.step >= 5, 6e-10, 4e-10))
    on.__dict__["trained"] = replace(on.training, stage1=wide)
    on.kept.clear()
    assert [name for name in STAGE1.measure(on).label if name.startswith("norm")] == [
        f"norm at t = {t}" for t in (1, 2, 3, 4)
    ]
    none = STAGE1.measure(Run(on.dataset, Config(steps1=0, steps2=0)))
    assert none.label == ("step from the ray at t = 0", "||W*_ov||^2")
