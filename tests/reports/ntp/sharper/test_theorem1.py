"""The sharper Theorem 1 is the telescoped sum."""

import numpy as np

from marginaudit.reports import LEDGER
from marginaudit.reports.judgements import Bounded
from tests.reports.ntp.samples import run


def test_sharp_theorem_1_is_the_telescoped_sum() -> None:
    """With the steps' own sums instead of (1 + log t) the bound is tighter still, and the measured error below it."""
    on = run("example-1", steps2=900)
    stage, W = on.training.stage2, on.norm_kq
    K = W * np.log(2 * 27 * 9)
    judgement = LEDGER["sharp.theorem1"].judgement
    assert isinstance(judgement, Bounded)
    assert judgement.upper is not None
    t = stage.step[1:].astype(float)
    sums = np.concatenate([[0.0], np.cumsum(1 / stage.norm[1:-1])])
    telescoped = (on.eta + (on.eta * K + on.eta**2 / 2) * sums) / stage.norm[1:]
    stated = np.asarray(judgement.upper(on, t))
    assert (stage.one_minus_cos[1:] <= telescoped).all()
    assert (telescoped <= stated * (1 + 1e-12)).all()
    by_hand = (2 * W**2 * K + on.eta * W**2) * (1 + np.log(t)) + np.sqrt(2) * on.eta * W
    np.testing.assert_allclose(stated, by_hand / (t * on.eta), rtol=1e-12)
