"""Theorem 3's gaps on small runs, from score matrices, and the proved fall of scores."""

import math
from dataclasses import replace
from functools import cache

import mpmath as mp
import numpy as np
import pytest

from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_d_orders import theorem3
from marginaudit.claims.ntp.appendix_d_orders.theorem3 import late_from, proved_fall
from marginaudit.claims.ntp.appendix_d_orders.theorem3_misled import rivals
from marginaudit.claims.ntp.error_bars import score_error
from marginaudit.claims.ntp.quantities import asymptotic_from
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from tests.measured import judgement

LATE = Dataset(
    "late", tuple("abcd"), (Sample(tuple("cbdb"), "d"),), (1,), next_token={"a": "c", "b": "b", "c": "d", "d": "a"}
)
"""Without Assumption 3."""


@cache
def run() -> Run:
    data = free_dataset(V=8, N=14, L=4, seed=45, optimal=(2, 3), non_optimal=(2, 3), max_count=9)
    assert any(min(len(o.optimal), len(o.non_optimal), len(o.non_comparable)) > 1 for o in data.orders.values())
    return Run(data, Config(steps1=40, steps2=12, lr2=0.2))


def test_the_gaps_are_the_smallest_over_all_pairs() -> None:
    on, data = run(), run().dataset
    for name, late in (("ntp.theorem3.order", True), ("ntp.theorem3.order.any-t", False)):
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
    data = LATE
    on = Run(data, Config(steps2=3000))
    W, stage = on.kq.optimal().scores, on.training.stage2
    least = min(abs(W[data.index[x], data.index["b"]]) for x in "cbd")
    unit = [stage.score_matrix(i, data.V) / stage.norm[i] for i in range(1, len(stage))]
    near = [bool(np.linalg.norm(U - W / on.norm_kq) * np.sqrt(8) <= least / on.norm_kq) for U in unit]
    begins = len(near) - near[::-1].index(False) + 1
    assert 1 < begins < 3000
    assert late_from(on) == max(begins, asymptotic_from(on))
    assert late_from(Run(data, Config(steps2=begins - 1))) == np.inf
    gaps = judgement("ntp.theorem3.order").measure(on)
    assert (gaps.value <= 0).any()
    assert (gaps.value[begins - 1 :] > 0).all()
    monkeypatch.setattr(theorem3, "asymptotic_from", lambda _: 0.0)
    assert late_from(on) == begins


OUTNUMBERED = Dataset("outnumbered", tuple("oxz"), (Sample(tuple("oxx"), "o"),), (1,), {x: x for x in "oxz"})
"""Without Assumption 3, one non-optimal token."""


TWO = replace(OUTNUMBERED, name="two", samples=(*OUTNUMBERED.samples, Sample(tuple("ooxx"), "o")), counts=(2, 5))


UNEQUAL = Dataset(
    "unequal",
    tuple("qoxyzpw"),
    (Sample(tuple("oq"), "o"), Sample(tuple("pyzq"), "p")),
    (1, 3),
    {x: x for x in "qoxyzpw"},
)
"""Under q the solution is -1/2 at q and -1/3 at y and z."""


def precise_fall(on: Run) -> tuple[mp.mpf, mp.mpf, mp.mpf, mp.mpf]:
    """C, t_1, P and Q of docs/proofs.md, section 15.3, in 50 digits."""
    data, L, N, eta = on.dataset, mp.mpf(on.dataset.L_max), on.dataset.N, mp.mpf(on.eta)
    exact = on.kq.exact()
    w = mp.sqrt(mp.mpf(exact.norm_squared_exact.numerator) / exact.norm_squared_exact.denominator)
    pi = mp.mpf(min(data.counts)) / sum(data.counts)
    weights = [exact.weights_exact[order.query][x] for order in rivals(on) for x in order.non_optimal]
    a = min(-mp.mpf(value.numerator) / value.denominator for value in weights) / w
    if on.assumption("optimal_majority").holds:
        rarity = mp.log(2 * L**3 / pi)
        return eta / (mp.sqrt(2) * w) * a / 2, mp.mpf(1), mp.sqrt(2) * w, 2 * w**3 * rarity / eta + w**2
    sizes = [len(order.non_optimal) for order in data.orders.values()]
    S = max(m * (m - 1) * (mp.log(L) / 2 + eta * mp.sqrt(m)) for m in sizes)
    t_0 = N * ((S + mp.log(L)) * 4 * mp.sqrt(2) * L**2 * mp.exp(2 * S) / (eta * pi) + 1)
    t_1 = mp.ceil(2 * (1 + mp.sqrt(2) * w) * t_0)
    Q = 8 * w**3 * mp.log(2 * L**5 / pi) / eta + 4 * w**2
    return eta / (2 * mp.sqrt(2) * w) * a / 2, t_1, 4 * mp.sqrt(2) * w * t_1, Q


FALLING = {
    "example-1": Run(CASES["example-1"](), Config(steps2=5)),
    "short": Run(CASES["example-1"](), Config(steps2=5, lr2=1e-3)),
    "long": Run(CASES["example-1"](), Config(steps2=5, lr2=50.0)),
    "section-7": Run(CASES["section-7"](), Config(steps2=5)),
    "free": Run(
        free_dataset(V=8, N=14, L=4, seed=45, optimal=(2, 3), non_optimal=(2, 3), max_count=9), Config(steps2=5)
    ),
    "late": Run(LATE, Config(steps2=5)),
    "outnumbered": Run(OUTNUMBERED, Config(steps2=5)),
    "two samples": Run(TWO, Config(steps2=5)),
    "unequal": Run(UNEQUAL, Config(steps2=5)),
}


@pytest.mark.parametrize("name", FALLING)
def test_the_proved_fall_is_that_of_the_page(name: str) -> None:
    on = FALLING[name]
    with mp.workdps(50):
        C, t_1, P, Q = precise_fall(on)
        a = C * 2 / (mp.mpf(on.eta) / ((1 if on.assumption("optimal_majority").holds else 2) * mp.sqrt(2) * on.norm_kq))

        def near(t: mp.mpf) -> bool:
            return bool((P + Q * (1 + mp.log(t))) / t <= a**2 / 8)

        found = proved_fall(on, rivals(on))
        assert found.pace == pytest.approx(float(C), rel=1e-12, abs=0)
        assert found.since >= t_1 * (1 - mp.mpf(10) ** -9)
        assert near(found.since * (1 + mp.mpf(10) ** -9))
        assert found.since <= t_1 * (1 + mp.mpf(10) ** -9) or not near(found.since * (1 - mp.mpf(10) ** -9))


def test_neither_number_depends_on_t() -> None:
    for steps1 in (1, 10**6):
        on = Run(LATE, Config(steps1=steps1, steps2=5))
        assert proved_fall(on, rivals(on)) == proved_fall(FALLING["late"], rivals(FALLING["late"]))


@pytest.mark.parametrize("data", [CASES["example-1"](), OUTNUMBERED], ids=lambda data: data.name)
@pytest.mark.parametrize("steps1", [3, 900])
def test_scores_fall_as_fast_as_is_proved(data: Dataset, steps1: int) -> None:
    on = Run(data, Config(steps1=steps1, steps2=10**9))
    found, stage = proved_fall(on, rivals(on)), on.training.stage2
    kept = stage.step >= found.since
    assert kept.sum() > 10
    scores = [
        stage.scores_under(data.index[order.query], [data.index[x] for x in order.non_optimal]) for order in rivals(on)
    ]
    least = -np.vstack(scores)[:, kept].max(axis=0) / stage.step[kept]
    assert (least >= found.pace).all()
    # in the end it is eta a
    factor = 2 if on.assumption("optimal_majority").holds else 4
    assert least[-1] == pytest.approx(factor * math.sqrt(2) * on.norm_kq * found.pace, rel=1e-6, abs=0)


def test_a_fall_that_float64_does_not_hold_is_infinite() -> None:
    many = tuple("oxyzuvwabcdefghijklmnpqrs")
    data = Dataset(
        "many", (*many, "Z"), (Sample((*many[1:], *many[1:], "o"), "o"),), (1,), {x: x for x in (*many, "Z")}
    )
    on = Run(data, Config(steps2=5))
    assert not on.assumption("optimal_majority").holds
    assert proved_fall(on, list(data.orders.values())).since == math.inf
