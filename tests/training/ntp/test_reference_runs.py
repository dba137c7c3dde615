"""Stage 2 against runs of the textbook formula in high precision, to 100,000 steps."""

import json

import flint
import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq
from marginaudit.training.ntp import train
from marginaudit.training.ntp.steps.stepper import Stepper, descend
from tests.training.ntp import naive, reference_runs
from tests.training.ntp.problems import reduced

STORED = json.loads(reference_runs.FILE.read_text(encoding="utf-8"))


def relative(found: float, digits: str) -> float:
    """|found / true - 1|, true a decimal string."""
    with flint.ctx.workprec(200):
        return float(abs(flint.arb(found) / flint.arb(digits) - 1).mid())


@pytest.mark.parametrize("name", reference_runs.RUNS)
def test_every_recorded_step_to_the_end(name: str) -> None:
    case, stored = reference_runs.RUNS[name], STORED[name]["rows"]
    A = train(case.data, steps1=case.steps1, steps2=0).margin
    problem, start = reduced(case.data, A)
    at = [t for t in reference_runs.AT if t <= case.steps]
    rows = descend(Stepper(problem), start, case.steps, at, None, 0)
    for row, (t, gap, norm) in zip(rows, stored, strict=True):
        assert (row["step"], row["method"]) == (t, "steps")
        off = relative(row["one_minus_cos"], gap)
        assert off < 1e-12, t
        assert off <= row["error"] < 1e-7, t
        assert relative(row["norm"], norm) < 1e-14, t
        assert abs(row["distance"] - np.sqrt(2 * float(gap))) <= row["distance_error"], t


@pytest.mark.parametrize("name", ["example-1", "four tokens", "small margins of W_ov"])
def test_the_stored_numbers_come_out_again(name: str) -> None:
    case = reference_runs.RUNS[name]
    at = [t for t in reference_runs.AT if t <= 300]
    found = naive.descend(case.data, case.steps1, at, solve_kq(case.data).exact().weights_exact, 900)
    for t, gap, norm in STORED[name]["rows"][: len(at)]:
        with flint.ctx.workprec(200):
            for one, two in zip(found[t], (gap, norm), strict=True):
                assert float(abs(flint.arb(one) / flint.arb(two) - 1).mid()) < 1e-28
