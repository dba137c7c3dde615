"""Transformers as Support Vector Machines (arXiv 2308.16898): descent on W maximises the margin of attention."""

import numpy as np

from marginaudit import Claim, Limit, Series
from marginaudit.claims.ntp import Run, quantities


def margin(run: Run) -> Series:
    """Smallest (x_opt - x)^T W q / ||W||; |x_opt - x| = sqrt 2 carries the error of W/||W|| over, 1e-15 is rounding."""
    stage, rows = run.training.stage2, run.dataset.relations
    gaps = [stage.score(a, q) - stage.score(b, q) for a, b, q in zip(rows.winner, rows.loser, rows.query, strict=True)]
    return Series(np.min(gaps, axis=0)[1:] / stage.norm[1:], 1.5 * stage.distance_error[1:] + 1e-15, stage.step[1:])


CLAIM = Claim(
    id="att-svm.margin",
    source="arXiv 2308.16898, abstract (2) and problem (Att-SVM)",
    statement="min (x_opt - x)^T W_kq^(t) q / ||W_kq^(t)|| tends to 1/||W*_kq||, the largest that any W_kq has.",
    assumptions=("collocation", "well_defined_orders", "orthonormal"),
    judgement=Limit(margin, predicted=lambda run: 1 / run.norm_kq, regime=lambda run: 1e4 * run.norm_kq / run.eta),
    absent=quantities.no_direction_kq,
)

CLAIMS = (CLAIM,)
