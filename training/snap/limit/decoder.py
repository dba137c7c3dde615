"""Y in closed form (Theorem 5)."""

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.limit.fluctuation import Fluctuation
from marginaudit.training.snap.limit.overlap import Overlap


def rows(at: Fluctuation) -> Floats:
    """(I+Theta) W-bar(N): the rows (1+theta_n) (M-1) h(N-bar) zeta_n, shape (.., classes, classes + 1).

    Column j < K is next token j's, the last one is that of each token that is no next token.

    >>> from marginaudit.training.snap.limit.fluctuation import fluctuation
    >>> rows(fluctuation([2, 1], M=4, eta_Y=0.5)).round(6).tolist()
    [[0.697669, -0.232556, -0.232556], [-0.125, 0.375, -0.125]]
    """
    K = at.theta.value.shape[-1]
    h = (1 + at.theta.value) * at.mean.h.value[..., np.newaxis]
    zeta = np.where(np.eye(K, K + 1, dtype=bool), at.mean.M - 1.0, -1.0)
    return np.asarray(h[..., np.newaxis] * zeta)


def decoder(overlap: Overlap, at: Fluctuation) -> Floats:
    """Y = F (I-E') (I+Theta) W-bar(N) (eq. 70), shape (.., tokens, classes + 1); see `rows` for the columns.

    With the `fluctuation` of the counts it is where SGD with the modified gradient of Lemma 3 stands from zero.
    """
    return np.asarray(overlap.dual @ rows(at))
