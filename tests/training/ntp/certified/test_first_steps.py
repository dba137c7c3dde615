"""Stage 2 at margins of W_ov that float64 cannot follow, against Algorithm 1 in thousands of bits."""

from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import Dataset, broken, free_dataset
from marginaudit.training.ntp import Training, train
from marginaudit.training.ntp.certified.first_steps import enclosed_row
from tests.training.ntp.naive import exact_states, other_weight

BITS = 3000
LAST = 23
AT = (1, 2, 7, LAST)

SMALL = [
    free_dataset(V=V, N=N, L=4, seed=seed, max_count=997)
    for seed, (V, N) in enumerate([(4, 4), (4, 6), (5, 9), (6, 12)])
]
SMALL += [broken(data, "optimal_majority") for data in SMALL[2:]]


def trained(data: Dataset, margin: float, eta: float) -> Training:
    return train(data, steps1=1, lr1=margin, steps2=LAST, lr2=eta, at=AT, kq_reference=solve_kq(data))


@pytest.mark.parametrize(("margin", "eta"), [(1e10, 5.0), (1e15, 60.0), (1e17, 0.01), (1e300, 0.3), (1e300, 60.0)])
@pytest.mark.parametrize("number", range(len(SMALL)))
def test_records_are_right_within_their_error_bars(number: int, margin: float, eta: float) -> None:
    data = SMALL[number]
    found = trained(data, margin, eta)
    with flint.ctx.workprec(BITS):
        A = flint.arb(margin) / flint.arb(data.V - 1).sqrt()
        p, states = exact_states(data, A, eta, LAST)
        stage = found.stage2
        # each time that labels tie, enclosures lose the digits of A: of 1e300 some take more than are affordable
        known = AT if margin < 1e100 else AT[: np.flatnonzero(stage.known)[-1] + 1]
        assert len(known) >= 3
        assert (stage.distance_error[: len(known)] < 1e-14).all()
        for i, t in enumerate(known):
            assert stage.norm[i] == pytest.approx(float(states[t].norm), rel=1e-14, abs=0)
            off = [
                (float(states[t].scores[key][query] - flint.arb(score))) ** 2
                for key, query, score in zip(stage.key, stage.query, stage.scores[i], strict=True)
            ]
            assert np.sqrt(sum(off)) <= (stage.distance_error[i] + 4e-16) * stage.norm[i]
            assert stage.log_loss[i] == pytest.approx(float(states[t].log_loss), rel=1e-14, abs=0)
            other = float(other_weight(p, states[t]).log())
            assert stage.log_other_weight[i] == pytest.approx(other, rel=1e-13, abs=1e-15)
        assert found.enclosed is not None
        assert found.lost == (len(known) < len(AT))


@pytest.mark.parametrize("value", [1e-50, -1e-50])
def test_a_direction_within_its_bar_has_no_known_error(value: float) -> None:
    columns = dict.fromkeys(("norm", "log_loss", "log_gradient_norm", "log_other_weight"), ([1.0], [0.0]))
    columns["one_minus_cos"] = ([value], [1e-40])
    found: Any = SimpleNamespace(columns=columns, step=[3], rest=[np.zeros((2, 2))], radius=[1e-30])
    row = enclosed_row(found, 0, 0.5)
    assert (row["one_minus_cos"], row["distance"], row["error"]) == (0.0, 0.0, np.inf)
