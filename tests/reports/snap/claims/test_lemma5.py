"""Lemma 5: rows of W against plain dense SGD."""

from typing import Any

import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports.snap.claims.lemma5 import LEMMA5, alone, one_class
from marginaudit.reports.snap.claims.remark1 import REMARK1
from marginaudit.reports.verdict import Verdict
from tests.reports.snap.samples import on, run
from tests.training.snap import dense, growth

precise_sgd: Any = dense.precise_sgd


precise_star: Any = growth.precise_star


def test_lemma_5_rows_are_those_of_plain_sgd_in_high_precision() -> None:
    at = run("snap-single")
    found = one_class(at)
    F = at.dataset.overlap.F
    Y = precise_sgd(F, [0] * 24, 9, 0.5, True)
    w = [float(sum(Y[i][j] * F[i, 0] for i in range(len(F)))) for j in range(9)]
    last = [i for i, name in enumerate(found.found.label) if name.startswith("w of n0") and name.endswith("s = 24")]
    np.testing.assert_allclose(found.found.value[last], w, rtol=1e-12)
    h = float(precise_star(24, 9, 0.5)[24]) / 9
    np.testing.assert_allclose(found.stated.value[last], [8 * h] + [-h] * 8, rtol=1e-14)


def test_lemma_5_at_the_datasets_m() -> None:
    found, stated = alone(run("snap-medium"))
    star = precise_star(100, 79, 0.5)
    assert found.step is not None
    for s, value, printed in zip(found.step.tolist(), found.value, stated.value, strict=True):
        if s <= 100:
            truth = 78 * float(star[s]) / 79
            assert value == pytest.approx(truth, rel=1e-13, abs=0)
            assert printed == pytest.approx(truth, rel=1e-13, abs=0)
    assert found.step[-1] == 10_000


def test_what_has_no_growth_is_not_judged() -> None:
    only = on(SequenceClasses.from_weights("one", None, [("n", "n", {"n": 1})]))
    assert LEMMA5.judge(only).verdict is Verdict.NOT_APPLICABLE
    assert REMARK1.judge(only).verdict is Verdict.NOT_APPLICABLE
    assert LEMMA5.judge(on(CASES["snap-single"](), lr_y=1e3)).verdict is Verdict.INCONCLUSIVE
    for rate in (1e-100, 499.0):
        assert LEMMA5.judge(on(CASES["snap-single"](), lr_y=rate)).verdict in {Verdict.HOLDS, Verdict.INCONCLUSIVE}
