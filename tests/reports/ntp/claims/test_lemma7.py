"""Lemma 7, printed, re-derived and sharper: verdicts."""

import math
from dataclasses import replace
from typing import TypeAlias

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import lemma7
from marginaudit.reports.ntp.claims.lemma7 import lemma7_threshold
from marginaudit.reports.ntp.sharper import lemma7 as sharp_lemma7
from marginaudit.training.ntp import loss_gradient
from tests.measured import measured
from tests.reports.ntp.samples import judged, small, two_queries

Floats: TypeAlias = NDArray[np.float64]


def test_lemma_7_is_decided_by_formula_before_its_threshold_and_on_the_run_beyond() -> None:
    data = CASES["example-1"]()
    before, beyond = Run(data, Config(steps2=100)), Run(data, Config(steps2=3_000))
    assert lemma7_threshold(before) == pytest.approx(8 * 3 * (13 / 6) / 0.025)
    short = judged("ntp.lemma7", before)
    assert (short.verdict, short.measured, short.informative_from) == (Verdict.HOLDS, None, 2_080)
    assert "sharp.lemma7" in short.detail
    assert "Without the threshold: violated from t = 1" in short.detail
    long = judged("ntp.lemma7", beyond)
    assert long.worst_step is not None
    assert long.worst_step >= 2_080
    assert "Without the threshold t >= 2080: violated from t = 1" in long.detail


def naive_two_queries(log_ratio: float, steps: int) -> tuple[mp.mpf, ...] | None:
    """NGD on `two_queries` with frequencies 1 : exp(-log_ratio), eta = 1, A = 5, in 50 digits.

    Returns the first step beyond Lemma 7's threshold 8 L_max ||W*||^2/eta = 16 at which the printed inequality
    fails, with both sides, or None.
    """
    with mp.workdps(50):
        A, frequency = mp.mpf(5), [mp.mpf(1), mp.exp(-log_ratio)]
        margin = [mp.mpf(0), mp.mpf(0)]

        def flux(pi: mp.mpf, u: mp.mpf) -> mp.mpf:
            best = 1 / (1 + mp.exp(-u))
            other = mp.exp(-u) * best
            wrong = 1 / (1 + mp.exp(A * (best - other)))
            # with two labels: P_x + P_x (phi_o - phi_x) = 2 P_x phi_o
            return pi * A * other * 2 * wrong * best

        for t in range(steps):
            f = [flux(pi, u) for pi, u in zip(frequency, margin, strict=True)]
            if t >= 16:
                norm = mp.sqrt((margin[0] ** 2 + margin[1] ** 2) / 2)
                needed = (f[0] * margin[0] + f[1] * margin[1]) / (norm * (f[0] + f[1])) - 1
                printed = 4 * 2 * 4 / norm * (1 + mp.log(4 * norm))
                if needed > printed:
                    return mp.mpf(t), needed, printed
            length = mp.sqrt(2 * (f[0] ** 2 + f[1] ** 2))
            margin = [u + 2 * v / length for u, v in zip(margin, f, strict=True)]
        return None


def test_lemma_7_as_printed_is_false_where_frequencies_are_extremely_uneven() -> None:
    """N counts samples, however rare: with 1/pi_min in its place the statement follows from sharp.lemma7."""
    found = naive_two_queries(1_000, 800)
    assert found is not None
    step, needed, printed = found
    assert needed > 1.0001 * printed
    assert needed == pytest.approx(np.sqrt(2) - 1, rel=1e-3, abs=0)
    assert naive_two_queries(600, 800) is None
    on = Run(two_queries((1, 1)))
    assert on.norm_kq == pytest.approx(1)
    norm = np.array([float(step)])
    sharp = np.log(2 * 8) + 1_000
    assert sharp > lemma7._printed_allowed(on, norm)[0]
    uneven = Run(two_queries((2**53 - 1, 1)))
    assert sharp_lemma7.sharp_allowed(uneven, norm)[0] == pytest.approx(np.log(16) + 53 * np.log(2))
    rederived = lemma7._rederived_allowed(Run(two_queries((9, 1))), norm)
    assert rederived[0] == pytest.approx(5 * lemma7._printed_allowed(on, norm)[0])


@pytest.mark.parametrize("seed", range(3))
def test_sharp_lemma_7_survives_an_adversary(seed: int) -> None:
    """At any W with all margins >= 0 and Assumption 3, on the trajectory or not: climb towards a violation."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(6):
        data = free_dataset(V=5, N=5, L=int(rng.integers(2, 5)), seed=int(rng.integers(10**6)), max_count=1000)
        best = solve_kq(data).optimal().scores
        size = float(np.linalg.norm(best))
        n = data.collocation.require_function()
        A = float(10 ** rng.uniform(-1, 1))
        W_ov = np.zeros((5, 5))
        W_ov[[data.index[n[x]] for x in data.vocabulary], range(5)] = A
        allowed = size * np.log(2 * data.L_max**3 / data.frequencies.min())
        relations = data.relations

        def needed(W: Floats) -> float:
            """a ||W|| over what is allowed; -1 outside the lemma's domain."""
            u = W[relations.winner, relations.query] - W[relations.loser, relations.query]  # noqa: B023
            if u.min() < 0 or u.max() > 25:
                return -1.0
            d = -loss_gradient(data, W_ov, W)  # noqa: B023
            lead = np.vdot(d, W) / (np.vdot(d, best) / size) - np.linalg.norm(W)  # noqa: B023
            return float(lead / allowed)  # noqa: B023

        W = best * rng.uniform(0, 3)
        value, step = needed(W), 1.0
        for _ in range(120):
            tried = W + step * rng.standard_normal(W.shape) * (best != 0)
            found = needed(tried)
            if found > value:
                W, value, step = tried, found, step * 1.3
            else:
                step *= 0.95
        worst = max(worst, value)
    assert 0.01 < worst < 1


def test_a_gradient_that_rounding_hides_decides_nothing() -> None:
    on = small()
    stage = on.training.stage2
    lost = replace(stage, descent_reference=np.where(stage.step >= 4, np.nan, stage.descent_reference))
    other = Run(on.dataset, on.config)
    other.__dict__ |= {"trained": replace(on.training, stage2=lost), "kq": on.kq}
    found = {name: measured(LEDGER[name]).judge(other) for name in ("ntp.lemma7", "sharp.lemma7")}
    assert [one.verdict for one in found.values()] == [Verdict.INCONCLUSIVE, Verdict.VACUOUS]
    assert {one.detail.partition(".")[0] for one in found.values()} == {"From t = 4 on rounding hides the gradient"}


LEMMA_7 = ("sharp.lemma7", "ntp.lemma7", "ntp.lemma7.rederived")


@pytest.mark.parametrize(("step_size", "vacuous"), [(1e-3, LEMMA_7[:1]), (0.05, ()), (0.3, LEMMA_7[1:]), (3e9, ())])
def test_without_a_gradient_a_bound_is_vacuous_where_the_longest_w_and_the_least_cosine_say_so(
    step_size: float, vacuous: tuple[str, ...]
) -> None:
    """At t eta = 1, 50, 300 and 3e12; two of them begin at 8 L ||W*||^2 = 96."""
    on = Run(small().dataset, Config(steps1=30, steps2=1000, lr2=step_size, at=(0, 1, 999, 1000)))
    L, square, rarity = on.dataset.L_max, on.norm_kq**2, sum(on.dataset.counts) / min(on.dataset.counts)
    begins, reach = 8 * L * square / step_size, 1 - 1 / math.sqrt(2 * square)
    sharp = on.norm_kq * math.log(2 * L**3 * rarity)
    assert (begins > 1000) == (step_size < 0.3)
    assert (sharp / (1000 * step_size) / math.sqrt(2 * square) >= reach) == ("sharp.lemma7" in vacuous)
    stage = on.training.stage2
    on.__dict__["trained"] = replace(on.training, stage2=replace(stage, descent_reference=np.full(4, np.nan)))
    found = {name: measured(LEDGER[name]).judge(on) for name in LEMMA_7}
    assert tuple(name for name, one in found.items() if one.verdict is Verdict.VACUOUS) == vacuous
    for name, one in found.items():
        assert one.detail.startswith("From t = 1 on rounding hides the gradient.")
        assert one.verdict in (Verdict.VACUOUS, Verdict.INCONCLUSIVE)
        assert ("whatever it is" in one.detail) == (name in vacuous)


@pytest.mark.parametrize(("tokens", "relations"), [("oq", 1), ("oaq", 2)])
def test_every_bound_on_a_lead_is_vacuous_where_there_is_one_relation(tokens: str, relations: int) -> None:
    """With one relation W and W* lie on one ray, both cosines are the same, and any bound above 0 says nothing."""
    following = dict(zip("oaq", "aqo", strict=True))
    on = Run(
        Dataset("steps", tuple("oaq"), (Sample(tuple(tokens), "a"),), (1,), next_token=following),
        Config(steps1=7, lr1=20.0, steps2=150, lr2=3e14),
    )
    assert len(on.dataset.relations) == relations
    reach = 1 - 1 / math.sqrt(2 * float(on.kq.exact().norm_squared_exact))
    assert sharp_lemma7.largest_lead(on) == pytest.approx(reach, rel=1e-14, abs=1e-15)
    assert (sharp_lemma7.largest_lead(on) == 0) == (relations == 1)
    found = LEDGER["sharp.lemma7"].judge(on)
    assert found.informative_from == (None if relations == 1 else 1)
