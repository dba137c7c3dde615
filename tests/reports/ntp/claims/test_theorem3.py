"""Theorem 3's gaps on small runs, from score matrices."""

from functools import cache

import numpy as np
import pytest

from marginaudit.orders.ntp import Dataset, Sample, free_dataset
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import theorem3
from marginaudit.reports.ntp.claims.theorem3 import late_from
from marginaudit.reports.ntp.error_bars import score_error
from marginaudit.reports.ntp.quantities import asymptotic_from
from tests.measured import judgement


@cache
def run() -> Run:
    data = free_dataset(V=8, N=14, L=4, seed=45, optimal=(2, 3), non_optimal=(2, 3), max_count=9)
    assert any(min(len(o.optimal), len(o.non_optimal), len(o.non_comparable)) > 1 for o in data.orders.values())
    return Run(data, Config(steps1=40, steps2=12, lr2=0.2))


def test_the_gaps_are_the_smallest_over_all_pairs() -> None:
    on, data = run(), run().dataset
    for name, late in (("ntp.theorem3.order", False), ("ntp.theorem3.order.rederived", True)):
        order = judgement(name)
        assert (order.side, order.late) == ("lower", late)
        assert order.shape(on, np.array([3.0, 7.0])) == pytest.approx([3.0, 7.0])
        found = order.measure(on)
        assert found.step.tolist() == list(range(1, 13))
        for record in range(1, 13):
            S = on.training.stage2.score_matrix(record, data.V)
            gaps = [
                S[data.index[above], data.index[order.query]] - S[data.index[below], data.index[order.query]]
                for order in data.orders.values()
                for x_0 in order.non_comparable
                for above, below in [(x, x_0) for x in order.optimal] + [(x_0, x) for x in order.non_optimal]
            ]
            assert found.value[record - 1] == pytest.approx(min(gaps), abs=1e-13)
        assert found.radius.tolist() == score_error(on)[1:].tolist()


def test_late_begins_where_the_direction_shows_the_order_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of a single sample without Assumption 3 first go the wrong way: late is after, and near W*_kq."""
    data = Dataset(
        "late",
        tuple("abcd"),
        (Sample(tuple("cbdb"), "d"),),
        (1,),
        next_token={"a": "c", "b": "b", "c": "d", "d": "a"},
    )
    on = Run(data, Config(steps2=3000))
    W, stage = on.kq.optimal().scores, on.training.stage2
    least = min(abs(W[data.index[x], data.index["b"]]) for x in "cbd")
    unit = [stage.score_matrix(i, data.V) / stage.norm[i] for i in range(1, len(stage))]
    near = [bool(np.linalg.norm(U - W / on.norm_kq) * np.sqrt(8) <= least / on.norm_kq) for U in unit]
    begins = len(near) - near[::-1].index(False) + 1
    assert 1 < begins < 3000
    assert late_from(on) == max(begins, asymptotic_from(on))
    assert late_from(Run(data, Config(steps2=begins - 1))) == np.inf
    gaps = judgement("ntp.theorem3.order.rederived").measure(on)
    assert (gaps.value <= 0).any()
    assert (gaps.value[begins - 1 :] > 0).all()
    monkeypatch.setattr(theorem3, "asymptotic_from", lambda _: 0.0)
    assert late_from(on) == begins
