"""Lemmas 3 and 5: rows of W against plain dense SGD."""

import numpy as np

from marginaudit.claims.snap.appendix_d2_one_class.lemma3 import moves
from marginaudit.claims.snap.appendix_d2_one_class.lemma5 import one_class
from tests.claims.snap.samples import run
from tests.training.snap.dense import precise_sgd
from tests.training.snap.growth import precise_star


def test_columns_of_tokens_that_are_no_next_token_are_compared_too() -> None:
    labels = moves(run("snap-symmetric")).found.label
    assert {label.rsplit(" of ", 1)[1] for label in labels} > {"another token 1", "another token 2"}


def test_lemma_5_rows_are_those_of_plain_sgd_in_high_precision() -> None:
    at = run("snap-single")
    found, stated = one_class(at)
    F = at.dataset.overlap.F
    Y = precise_sgd(F, [0] * 24, 9, 0.5, True)
    w = [float(sum(Y[i][j] * F[i, 0] for i in range(len(F)))) for j in range(9)]
    last = [i for i, name in enumerate(found.label) if name.startswith("w of n0") and name.endswith("s = 24")]
    np.testing.assert_allclose(found.value[last], w, rtol=1e-12)
    h = float(precise_star(24, 9, 0.5)[24]) / 9
    np.testing.assert_allclose(stated.value[last], [8 * h] + [-h] * 8, rtol=1e-14)


def test_balls_stay_small_however_long_the_steps() -> None:
    """A first step of 300 leaves 1 - alpha of about exp(-300)."""
    for series in one_class(run("snap-symmetric", lr_y=300.0)):
        assert (series.radius <= 1e-15 * np.abs(series.value)).all()
