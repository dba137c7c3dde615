"""Sampled verdicts: intervals cover as often as they say, and a row says how sure it is."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from marginaudit import Bounded, Claim, InExpectation, WithProbability, audit, instance
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.judgements import Parts
from marginaudit.claims.judgements.sampled.intervals import (
    Interval,
    chebyshev,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    of_quantile,
)
from marginaudit.claims.verdict import Evidence, Finding, Verdict

SIMULATIONS = 10_000

COVERING: dict[str, tuple[Callable[[Any], Any], Callable[[Any, float], Interval], float]] = {
    "Clopper-Pearson": (
        lambda rng: rng.binomial(40, 0.1),
        cache(lambda k, confidence: clopper_pearson(int(k), 40, confidence)),
        0.1,
    ),
    "Hoeffding": (lambda rng: rng.random(20), lambda x, confidence: hoeffding(x, 0, 1, confidence), 0.5),
    "empirical Bernstein": (
        lambda rng: rng.random(50) ** 8,
        lambda x, confidence: empirical_bernstein(x, 0, 1, confidence),
        1 / 9,
    ),
    "Chebyshev": (lambda rng: rng.exponential(size=20), lambda x, confidence: chebyshev(x, 1, confidence), 1.0),
    "order statistics": (
        lambda rng: rng.exponential(size=60),
        lambda x, confidence: of_quantile(x, 0.8, confidence),
        float(np.log(5)),
    ),
}


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("name", COVERING)
def test_an_interval_covers_at_its_stated_confidence(name: str, confidence: float) -> None:
    draw, interval, truth = COVERING[name]
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(SIMULATIONS):
        low, high = interval(draw(rng), confidence)
        covered += low <= truth <= high
    share = covered / SIMULATIONS
    assert share >= confidence - 3 * np.sqrt(confidence * (1 - confidence) / SIMULATIONS)
    if name in ("Clopper-Pearson", "order statistics"):  # exact: no wider than discreteness makes it
        assert share <= confidence + 0.1


def test_intervals_against_their_formulas() -> None:
    x = np.array([0.0, 1.0, 1.0, 1.0] * 100)
    low, high = hoeffding(x, 0, 1, 0.95)
    assert high - low == pytest.approx(2 * np.sqrt(np.log(40) / 800))
    off = np.sqrt(2 * x.var(ddof=1) * np.log(80) / 400) + 7 * np.log(80) / (3 * 399)
    assert empirical_bernstein(x, 0, 1, 0.95) == pytest.approx((0.75 - off, 0.75 + off))
    assert empirical_bernstein(x[:1], 0, 1, 0.95) == (0, 1)
    assert chebyshev(x, 0.25, 0.95) == pytest.approx((0.75 - np.sqrt(0.25 / 20), 0.75 + np.sqrt(0.25 / 20)))
    assert clopper_pearson(0, 10, 0.95) == pytest.approx((0, 1 - 0.025 ** (1 / 10)))
    assert of_quantile(np.arange(10.0), 0.99, 0.99)[1] == np.inf


def heads(_: Any, rng: np.random.Generator, n: int) -> Any:
    return rng.random(n) < 0.5


def claim(judgement: Any) -> Claim:
    return Claim(id="mine.sampled", source="a test", statement="P >= p", formula="P", judgement=judgement)


def test_a_row_says_how_sure_it_is() -> None:
    fair = WithProbability(heads, lambda x: x.p, n=2_000, confidence=0.95, seed=7)
    report = audit([instance("low", p=0.4), instance("high", p=0.6)], claims=claim(fair))
    frame = report.to_dataframe().set_index("dataset")
    assert dict(frame["verdict"]) == {"low": "holds", "high": "violated"}
    assert set(frame["evidence"]) == {"sampled"}
    assert {*zip(frame["confidence"], frame["samples"], frame["seed"], strict=True)} == {(0.95, 2000, 7)}
    assert set(frame["quantifier"]) == {"probability"}
    exact = audit(instance("low", p=0.4), claims=Claim(**_exact())).verdict("mine.exact")
    assert (exact.confidence, exact.samples, exact.seed) == (None, None, None)
    run = INSTANCES.run(instance("low", p=0.4))
    proved = claim(fair).row(run, verdict="holds", evidence="proved", confidence=0.95, samples=2_000, seed=7)
    assert (proved.confidence, proved.samples, proved.seed) == (None, None, None)  # of a sample that decided nothing


def _exact() -> dict[str, Any]:
    judgement = Bounded(lambda x: 1, upper=lambda x, _: 1)
    return {"id": "mine.exact", "source": "", "statement": "", "formula": "1", "judgement": judgement}


def test_the_same_seed_gives_the_same_row_and_another_one_another() -> None:
    rows = [WithProbability(heads, lambda _: 0.5, seed=seed).judge(None) for seed in (1, 1, 2)]
    assert rows[0] == rows[1] != rows[2]


def test_a_sample_outside_the_stated_range_is_no_sample() -> None:
    wide = InExpectation(lambda _, rng, n: 3 * rng.random(n), upper=lambda _, t: 2, within=lambda _: (0, 2))
    with pytest.raises(ValueError, match="expected 0 to 2"):
        wide.judge(None)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (lambda _, rng, n: rng.random(n - 1), "expected an array of 10000 samples"),
        (lambda _, rng, n: np.full(n, np.nan), "got nan"),
        (lambda _, rng, n: rng.random((n, 2, 2)), "got shape"),
    ],
)
def test_bad_samples_are_named(sample: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        WithProbability(sample, lambda _: 0.5, upper=lambda _, t: 1).judge(None)


def test_a_known_variance_is_enough_for_an_expectation() -> None:
    def exponential(_: Any, rng: np.random.Generator, n: int) -> Any:
        return rng.exponential(size=n)

    without = InExpectation(exponential, upper=lambda _, t: 1.2).judge(None)
    assert (without.verdict, "neither a range nor a variance is stated" in without.detail) == ("inconclusive", True)
    for bound, verdict in ((1.2, "holds"), (0.8, "violated")):
        found = InExpectation(exponential, upper=lambda x, t: x, variance=lambda _: 1).judge(bound)
        assert found.verdict == verdict


def test_all_steps_share_the_error_and_the_worst_is_named() -> None:
    def drift(_: Any, rng: np.random.Generator, n: int) -> Any:
        return np.minimum(rng.random((n, 4)) + np.array([0, 0, 0.2, 0]), 1)

    found = InExpectation(drift, upper=lambda _, t: 0.55, within=lambda _: (0, 1)).judge(None)
    assert (found.verdict, found.first_violation, found.worst_step) == ("violated", 3, 3)
    assert found.curve is not None
    low, high = empirical_bernstein(drift(None, np.random.default_rng(0), 10_000)[:, 2], 0, 1, 1 - 0.01 / 4)
    assert f"[{low:.6g}, {high:.6g}]" in found.detail
    assert (
        InExpectation(drift, upper=lambda _, t: 0.55, within=lambda _: (0, 1), last=True).judge(None).verdict == "holds"
    )


def test_sampled_evidence_is_the_weakest_and_needs_its_confidence() -> None:
    assert list(Evidence)[-1] is Evidence.SAMPLED
    with pytest.raises(ValueError, match="without its confidence"):
        Finding(Verdict.HOLDS, Evidence.SAMPLED)
    both = Parts({"one": WithProbability(heads, lambda _: 0.4), "two": WithProbability(heads, lambda _: 0.3)}).judge(
        None
    )
    assert (both.verdict, both.evidence, both.samples) == ("holds", "sampled", 10_000)
