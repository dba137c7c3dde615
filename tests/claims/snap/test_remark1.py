"""Remark 1: rows of W against the flow, integrated."""

import flint
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from marginaudit.claims.snap.appendix_d2_one_class.remark1 import closed


@pytest.mark.parametrize(("M", "K", "rho"), [(12, 3, 0.3), (4, 4, 0.2), (200, 2, 0.05)])
def test_the_rederived_rows_are_where_an_integrator_takes_the_flow(M: int, K: int, rho: float) -> None:
    """dW/dt = (eta/K) (I+E) sum e_n (e_n - alpha_n)^T on whole rows, to t, against the closed form at its tau."""
    gram = (1 - rho) * np.eye(K) + rho

    def speed(
        _: float, flat: np.ndarray[tuple[int], np.dtype[np.float64]]
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        W = flat.reshape(K, M)
        P = np.exp(W)
        return np.asarray((gram @ (np.eye(K, M) - P / P.sum(axis=1, keepdims=True)) / K).ravel())

    def state(tau: float) -> tuple[float, float]:
        with flint.ctx.workprec(200):
            x, y = closed(flint.arb_series([tau, 1], 2), flint.arb(rho), K, M)
            return float(x[0]), float(y[0])

    end = 9.0 / M
    grid = np.linspace(0, end, 20_001)
    S = [np.exp(x) + (K - 1) * np.exp(y) + M - K for x, y in map(state, grid.tolist()[::100])]
    t = K * float(np.trapezoid(S, grid[::100]))
    went = solve_ivp(speed, (0, t), np.zeros(K * M), rtol=1e-10, atol=1e-12, method="DOP853").y[:, -1].reshape(K, M)
    x, y = state(end)
    assert went[0, 0] - went[0, 1] == pytest.approx(x - y, rel=1e-3, abs=0)
    if M > K:
        assert went[0, 1] - went[0, -1] == pytest.approx(y, rel=1e-3, abs=0)
        assert went[0, -1] == pytest.approx(-(x + (K - 1) * y) / M, rel=1e-3, abs=0)
