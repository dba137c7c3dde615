"""A law, steps or a scale that is not there is named, before numpy fails on it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.judgements import Bounded, Equal, HiddenConstant, Limit
from marginaudit.claims.judgements.bounded import Threshold
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_c_stage2 import theorem1_rate
from marginaudit.claims.ntp.rates import measured_constants
from marginaudit.claims.series import Series, by_formula, series
from marginaudit.orders.ntp import CASES
from tests.claims.ntp.samples import retrained
from tests.measured import judgement


def test_without_an_asymptotic_law() -> None:
    run = Run(CASES["example-1"](), Config(steps1=3, steps2=2))
    with pytest.raises(BeyondTheRun, match="asymptotic law"):
        judgement("sharp.rate").measure(retrained(run, asymptotics=None))


def stepless(_: object) -> Series:
    return by_formula([1.0, 2.0])


@pytest.mark.parametrize(
    ("judgement", "said"),
    [
        (Limit(measure=stepless, predicted=lambda _: 1.0, regime=lambda _: 1.0), "a limit is approached along steps"),
        (HiddenConstant(measure=stepless, shape=lambda _, t: t), "a hidden constant is fitted along steps"),
        (
            Bounded(measure=stepless, upper=lambda _, t: t, threshold=lambda _: Threshold(3.0)),
            "a statement with a threshold needs a series with steps",
        ),
        (
            Equal(measure=stepless, expected=lambda _: by_formula([1.0, 2.0], log=True)),
            "one side is given in logarithms and the other is not",
        ),
        (
            HiddenConstant(
                measure=lambda _: by_formula([1.0, 2.0], step=np.array([1, 2])), shape=lambda _, t: np.full(2, np.nan)
            ),
            "not a number on one side of a comparison",
        ),
    ],
)
def test_without_steps_a_number_or_a_common_scale(judgement: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        judgement.judge(None)


def test_the_rates_constant_is_from_the_enclosure_only_where_float64_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    run: Any = Run(CASES["example-1"](), Config(steps1=3, steps2=20))
    step, value, radius = measured_constants(run, degenerate=False)
    found = judgement("sharp.rate").measure(run)
    assert (found.step.tolist(), found.value.tolist()) == (step.tolist(), value.tolist())
    assert found.radius.tolist() == radius.tolist()
    late = series([0.5, 0.25], radius=[0.1, 0.2], step=np.array([3, 10]))
    bars: list[Any] = []

    def records(*of: Any) -> Any:
        bars.append(of[-1])
        return late

    monkeypatch.setattr(theorem1_rate, "late_records", records)
    by_balls: Any
    for error, degenerate, by_balls in (
        (np.inf, False, None),
        (np.inf, True, None),
        (0.1, False, None),
        (0.1, False, 1),
    ):
        enclosed = not degenerate and (error == np.inf or by_balls is not None)
        stage = replace(run.trained.stage2, error=np.full(21, error), distance_error=np.full(21, 0.25))
        asymptotics = replace(run.trained.asymptotics, degenerate=degenerate)
        again = retrained(run, stage2=stage, asymptotics=asymptotics, enclosed=by_balls)
        constant = judgement("sharp.rate").measure(again)
        assert (constant.value.tolist() == [0.5 * 9, 0.25 * 100]) is enclosed
        assert (constant.radius.tolist() == [0.1 * 9, 0.2 * 100]) is enclosed
    distance = run.trained.stage2.distance
    assert [bar[-1] for bar in bars] == [np.inf, pytest.approx(((distance[-1] + 0.25) ** 2 - distance[-1] ** 2) / 2)]


@pytest.mark.parametrize(
    ("distance", "error", "on_its_ray"),
    [
        ((0.0, 0.0), 1e-40, True),
        ((0.0, 0.0), 1e-30, False),  # above the square of a rounding
        ((0.5, 0.0), 1e-40, False),
        ((0.0, 0.5), 1e-40, False),
    ],
)
def test_a_rate_is_of_runs_that_miss_the_direction_at_some_step(
    distance: tuple[float, float], error: float, on_its_ray: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theorem1_rate, "no_direction_kq", lambda _: None)

    def of(distance: tuple[float, float], error: float) -> Any:
        apart = np.array([np.nan, *distance])
        stage = SimpleNamespace(
            step=np.array([0, 1, 2]),
            one_minus_cos=apart**2 / 2,
            distance=apart,
            distance_error=np.array([np.nan, error, error]),
        )
        return SimpleNamespace(training=SimpleNamespace(stage2=stage), dataset=SimpleNamespace(relations=(1, 2)))

    assert (theorem1_rate.RATE.absent(of(distance, error)) is not None) is on_its_ray
    with pytest.raises(BeyondTheRun, match="float64"):
        judgement("sharp.rate").measure(of(distance, max(*distance, error)))
    if any(distance):
        with pytest.raises(AttributeError, match="asymptotics"):
            judgement("sharp.rate").measure(of(distance, 0.499999))
