"""Verdicts that were once wrong: true statements called violated, false ones true, and rows that said nothing."""

import math
import re
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from marginaudit.orders.ntp import CASES, Dataset, dataset_from_document, gram_deviation
from marginaudit.reports import LEDGER
from marginaudit.training.ntp.far.law import AsymptoticLaw
from tests.claims.ntp.samples import CYCLING, unbroken
from tests.measured import measured
from tests.solutions import known

LATE = dataset_from_document(
    {
        "vocabulary": ["t0", "t1", "t2", "t3"],
        "samples": [{"tokens": ["t2", "t1", "t3", "t1"], "next": "t3"}],
        "next_token": {"t0": "t2", "t1": "t1", "t2": "t3", "t3": "t0"},
    }
)
"""Without Assumption 3: its scores first go the wrong way."""


EXAMPLE_1 = CASES["example-1"]()

RUNS: dict[tuple[Any, ...], Run] = {}
"""Each dataset is trained once with the same settings."""


def run_of(data: Dataset, **settings: Any) -> Run:
    key = (id(data), *sorted(settings.items()))
    return RUNS.setdefault(key, Run(data, Config(**settings)))


def judged(claim: str, data: Dataset, **settings: Any) -> Finding:
    return LEDGER[claim].judge(run_of(data, **settings))


@pytest.mark.parametrize("claim", ["sharp.floor", "sharp.rate"])
def test_a_cycle_of_long_steps_refutes_the_rate_without_its_condition(claim: str) -> None:
    found = judged(f"{claim}.any-step", CYCLING, lr2=5.0, steps2=2000)
    assert (found.verdict, found.evidence) == (Verdict.VIOLATED, Evidence.CERTIFIED)
    assert "cycle: not met" in found.detail
    with_it = judged(claim, CYCLING, lr2=5.0, steps2=2000)
    assert with_it.verdict is Verdict.NOT_APPLICABLE
    assert "eta = 5 is longer" in with_it.detail


def test_what_fails_in_a_short_run_is_not_refuted_for_late_steps() -> None:
    claim = measured(LEDGER["ntp.theorem3.order"])
    short = claim.judge(Run(LATE, Config(steps2=150)))
    assert short.verdict is Verdict.INCONCLUSIVE
    assert "last decade: violated" in short.detail
    assert claim.judge(Run(LATE, Config(steps2=10**5))).verdict is Verdict.HOLDS
    assert judged("ntp.theorem3.order.any-t", LATE, steps2=150).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("claim", ["ntp.lemma4", "ntp.gradient.ov", "ntp.prop2.closed-form.any-data", "sharp.stage1"])
@pytest.mark.parametrize("size", [1 + 4.5e-13, 1 - 4.5e-13])
def test_an_identity_is_true_as_far_as_tokens_are_orthonormal(claim: str, size: float) -> None:
    data = replace(CYCLING, embedding=size * np.eye(3))
    assert 0 < gram_deviation(data) < 1e-12
    found = judged(claim, data, steps1=50, steps2=20)
    assert found.verdict is Verdict.HOLDS
    assert found.evidence is Evidence.FLOAT64
    assert re.search(r"nearest orthonormal embedding.* Gram .*9\.0e-13", found.detail)
    assert "Gram" not in judged(claim, CYCLING, steps1=50, steps2=20).detail
    assert "Gram" not in judged("ntp.gradient.kq", data, steps1=50, steps2=20).detail


STAGE1 = ["ntp.prop1.norm", "ntp.prop1.direction", "ntp.prop1.loss", "ntp.lemma2", "ntp.lemma3", "sharp.stage1"]


@pytest.mark.parametrize("lr1", [2.5, 50.0, 1e17])
def test_stage_1_is_decided_however_long_its_steps_are(lr1: float) -> None:
    for claim in STAGE1:
        assert judged(claim, EXAMPLE_1, lr1=lr1, steps2=5).verdict is Verdict.HOLDS, claim


LOST = [{"lr1": 1e17, "lr2": 1e17}, {"lr2": 216620801690068.2}]


@pytest.mark.parametrize("settings", LOST)
def test_no_row_breaks_and_none_is_judged_on_a_state_that_is_not_known(settings: dict[str, float]) -> None:
    on = Run(CYCLING, Config(steps1=900, steps2=4000, at=(3000, 4000), **settings))  # type: ignore[arg-type]
    assert not on.trained.stage2.known.any()
    false = {"ntp.corollary1.upper", "ntp.corollary1.upper.rederived", "ntp.theorem2.floor"}
    violated = {name for name, found in unbroken(on).items() if found.verdict is Verdict.VIOLATED}
    # limits for any step are judged on the first steps, which are enclosed
    assert {name for name in violated if not name.endswith(".any-step")} <= false


@pytest.mark.parametrize("settings", LOST)
def test_what_float64_loses_of_the_first_steps_is_enclosed(settings: dict[str, float]) -> None:
    on = Run(CYCLING, Config(steps1=900, steps2=299, **settings))  # type: ignore[arg-type]
    assert known(on.enclosure).step.tolist() == list(range(300))
    for name in ("ntp.theorem1.norm", "sharp.theorem1", "ntp.theorem1.direction.any-step"):
        found = measured(LEDGER[name]).judge(on)
        assert found.evidence is Evidence.CERTIFIED, name
        assert found.verdict is not Verdict.INCONCLUSIVE, name
        assert found.measured is not None, name
    for name, found in unbroken(on).items():
        assert found.verdict is not Verdict.VIOLATED or LEDGER[name].standing.status is Status.REFUTED, name


@pytest.mark.parametrize("claim", ["theorem1.direction", "theorem2.weight", "theorem2.loss.rederived"])
def test_a_statement_about_eta_of_order_one_says_nothing_of_longer_steps(claim: str) -> None:
    """||W*_kq||^2 is 13/6 in Example 1: the float64 numbers on both sides of its root over e."""
    with mp.workdps(50):
        most = mp.sqrt(mp.mpf(13) / 6) / mp.e
        below = float(most) if mp.mpf(float(most)) < most else math.nextafter(float(most), 0)
    for eta, speaks in ((below, True), (math.nextafter(below, 1), False)):
        found = judged(f"ntp.{claim}", EXAMPLE_1, lr2=eta, steps2=20)
        assert (found.verdict is not Verdict.NOT_APPLICABLE) == speaks
        assert speaks or "eta = 0.541504 is longer" in found.detail
        beside = judged(f"ntp.{claim}.any-step", EXAMPLE_1, lr2=eta, steps2=20)
        assert (beside.verdict is found.verdict) == speaks


@pytest.mark.parametrize("settings", [{"lr1": 5.0}, {"lr2": 5.0}, {"lr1": 1e17}])
def test_what_error_bars_hide_of_theorem_1_follows_from_its_sharper_form(settings: dict[str, float]) -> None:
    direction = "ntp.theorem1.direction.any-step"
    for claim in (direction, "ntp.theorem1.norm", "ntp.lemma6"):
        found = judged(claim, CYCLING, steps1=900, steps2=2000, **settings)
        assert found.verdict in {Verdict.HOLDS, Verdict.VACUOUS}, claim
        assert claim == direction or "it follows from " in found.detail


def test_a_bound_beyond_what_is_proved_stays_open() -> None:
    """For eta far above O(1) the printed bound lies below the sharper one; where digits are lost nothing decides."""
    lost = {"lr1": 1e17, "lr2": 1e17, "steps1": 900, "steps2": 3000, "at": (2000, 3000)}
    found = judged("ntp.theorem1.direction.any-step", CYCLING, **lost)
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("at", [(0, 1), (0,), (7,)])
def test_a_statement_about_every_step_needs_no_recorded_one_to_be_decided(at: tuple[int, ...]) -> None:
    on = Run(CASES["example-1"](), Config(steps1=9, steps2=9, at=at))
    assert LEDGER["sharp.stage1"].judge(on).verdict is Verdict.HOLDS


def test_the_closed_form_goes_on_beyond_stage_1() -> None:
    for steps1 in (0, 1):
        on = Run(CASES["example-1"](), Config(steps1=steps1, steps2=1))
        assert LEDGER["ntp.prop1.direction"].judge(on).verdict is Verdict.HOLDS
        sparse = Run(CASES["example-1"](), Config(steps1=steps1, steps2=1, at=(0, 1)))
        found = LEDGER["ntp.prop1.direction"].judge(sparse)
        assert (found.verdict, found.evidence, found.informative_from) == (Verdict.HOLDS, Evidence.PROVED, 5595)


def test_what_is_proved_holds_however_short_the_run_is() -> None:
    for steps2 in (0, 1):
        found = LEDGER["ntp.theorem1.direction"].judge(Run(CASES["example-1"](), Config(steps2=steps2)))
        assert (found.verdict, found.evidence, found.informative_from) == (Verdict.HOLDS, Evidence.PROVED, 1666472237)


@pytest.mark.parametrize("lr2", [0.05, 2.0, 5.0])
def test_rounding_off_the_ray_is_no_rate(lr2: float) -> None:
    """Two symmetric tokens keep W along W*: 1 - cos is 0, and what is recorded of it is rounding.

    Of short steps it is proved that t^2 (1 - cos) has a limit, which may be 0.
    """
    sample = {"tokens": ["a", "b", "o"], "next": "a"}
    data = dataset_from_document({"samples": [sample], "next_token": {"o": "a", "a": "b", "b": "o"}})
    for claim in ("sharp.rate", "sharp.rate.any-step"):
        found = judged(claim, data, lr2=lr2, steps2=2000)
        proved = (found.verdict, found.evidence) == (Verdict.HOLDS, Evidence.PROVED)
        assert proved is (lr2 < 0.1)
        assert proved or found.verdict in {Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE}, found


def test_a_law_of_0_predicts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AsymptoticLaw, "constant", 0.0)
    assert judged("sharp.rate.any-step", CASES["section-7"](), lr2=0.5, steps2=10**6).verdict is Verdict.INCONCLUSIVE


def test_lost_gradients_are_unknown_and_not_absent() -> None:
    on = Run(CASES["example-1"](), Config(steps1=1, steps2=3000, lr1=3.7e16, at=(2000, 3000)))
    assert on.trained.stage2.norm.all()
    assert measured(LEDGER["sharp.lemma7"]).judge(on).verdict is Verdict.INCONCLUSIVE
    assert measured(LEDGER["sharp.rate"]).judge(on).verdict is Verdict.INCONCLUSIVE


def test_recorded_steps_beyond_where_stage_2_can_be_followed_are_left_out() -> None:
    data = replace(CYCLING, embedding=np.array([[1.0, 0, 0], [0, 1, 0], [0.6, 0, 0.8]]))
    on = Run(data, Config(steps1=900, steps2=None, at=(1, 174_571)))
    assert on.trained.stage2.step.tolist() == [1]
    assert on.stopped is not None


ONE_RELATION = dataset_from_document(
    {
        "samples": [{"tokens": ["t2", "t2", "t0", "t2", "t0", "t0"], "next": "t1"}],
        "next_token": {"t0": "t0", "t1": "t2", "t2": "t1"},
    }
)


@pytest.mark.parametrize("claim", ["ntp.lemma6", "ntp.theorem1.norm", "sharp.lemma6"])
def test_one_relation_keeps_w_on_the_line_however_small_its_gradient_is(claim: str) -> None:
    """W is t eta What; the loss's gradient is about exp(-1e15)."""
    small = run_of(ONE_RELATION, steps1=900, lr1=2e12, steps2=7)
    np.testing.assert_allclose(small.training.stage2.norm, small.eta * np.arange(8), rtol=1e-14)
    assert LEDGER[claim].judge(small).verdict is Verdict.HOLDS
    for steps2 in (7, 10**18):
        found = judged(claim, ONE_RELATION, steps2=steps2)
        assert found.verdict is Verdict.HOLDS
        assert found.slack is not None
        assert claim != "sharp.lemma6" or found.slack == pytest.approx(1, rel=1e-12, abs=0)


@pytest.mark.parametrize("steps2", [1, 900, 2000, 10**18])
def test_one_relation_leaves_no_rate_however_long_the_run_is(steps2: int) -> None:
    for claim in ("sharp.rate", "sharp.rate.any-step"):
        assert judged(claim, ONE_RELATION, steps2=steps2).verdict is Verdict.NOT_APPLICABLE


def test_a_direction_that_rounds_to_that_of_the_solution_is_not_known_to_be_it() -> None:
    two = {
        "samples": [
            {"tokens": ["b", "a", "b", "a", "a", "a"], "next": "a", "count": 3},
            {"tokens": ["a", "b", "b", "b"], "next": "b"},
        ],
        "next_token": {"a": "a", "b": "b"},
    }
    settings = {"lr1": 318973853411.5564, "lr2": 306510381.49321944, "steps1": 151, "steps2": 2, "at": (0, 2)}
    assert judged("sharp.rate.any-step", dataset_from_document(two), **settings).verdict is Verdict.INCONCLUSIVE


ODD: dict[str, Any] = {
    "one token": {"sentences": [["a", "a"]]},
    "one token, long": {"sentences": [["a", "a", "a", "a"]]},
    "no relation": {"sentences": [["a", "b"], ["b", "a"]]},
    "no length-1 sample": {"samples": [{"tokens": ["a", "b"], "next": "b"}], "next_token": {"a": "b", "b": "a"}},
    "a cycle": {"sentences": [["a", "b", "b", "a"], ["b", "a"]]},
    "a 2-cycle": {"sentences": [["a", "b", "b", "a"], ["b", "a", "b", "a"]]},
    "a token its own next": {"sentences": [["a", "a", "b"], ["b", "b"]]},
    "every token optimal": {
        "samples": [{"tokens": ["a", "b", "c"], "next": "d"}],
        "next_token": dict.fromkeys("abcd", "d"),
    },
    "one sentence, two answers": {
        "samples": [{"tokens": ["a", "b"], "next": "b"}, {"tokens": ["a", "b"], "next": "a"}],
        "next_token": {"a": "b", "b": "a"},
    },
    "zero embedding": {"sentences": [["a", "b", "a"], ["b", "a"]], "embedding": [[0, 0], [0, 0]]},
    "dependent embedding": {"sentences": [["a", "b", "a"], ["b", "a"]], "embedding": [[1, 0], [1, 0]]},
    "tiny embedding": {"sentences": [["a", "b", "a"], ["b", "a"]], "embedding": [[1e-40, 0], [0, 1e-40]]},
    "one dimension": {"sentences": [["a", "b", "c", "a"], ["b", "a"], ["c", "b"]], "embedding": [[1], [2], [3]]},
    "wide embedding": {"sentences": [["a", "b", "b"], ["b", "a"]], "embedding": [[1, 0, 0, 0], [0, 0, 0, 1]]},
    "rotation": {"sentences": [["a", "b", "b"], ["b", "a"]], "embedding": [[0.6, 0.8], [-0.8, 0.6]]},
    "huge count": {
        "samples": [
            {"tokens": ["a"], "next": "b", "count": 2**53 - 2},
            {"tokens": ["b"], "next": "a"},
            {"tokens": ["a", "b"], "next": "b"},
        ]
    },
    "empty token": {"sentences": [["", "b", ""], ["b", ""]]},
    "n undefined": {"sentences": [["a", "b", "c"]]},
    "an unused token": {"vocabulary": list("abz"), "sentences": [list("abb"), list("ba")], "next_token": {"z": "z"}},
    "a long sentence": {"sentences": [["a", "b", *["b", "a"] * 15], ["b", "a"]]},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_datasets(name: str) -> None:
    unbroken(Run(dataset_from_document(ODD[name]), Config(30, 30)))


RARE = dataset_from_document(
    {
        "samples": [
            {"tokens": ["a", "b"], "next": "b", "count": 10**14},
            {"tokens": ["b", "c"], "next": "c", "count": 10**7},
            {"tokens": ["c", "a"], "next": "a"},
        ],
        "next_token": {"a": "b", "b": "c", "c": "a"},
    }
)


@pytest.mark.parametrize("at", [(3, 6, 12, 24, 39), (2, 39), None])
def test_no_statement_on_every_step_holds_where_a_step_was_not_recorded(at: tuple[int, ...] | None) -> None:
    """False at t = 2, as the run with every step shows."""
    found = judged("ntp.theorem1.direction.any-step", RARE, steps1=2, lr1=0.1, lr2=1e6, steps2=39, at=at)
    seen = at is None or 2 in at
    assert (found.verdict, found.evidence) == (Verdict.VIOLATED if seen else Verdict.INCONCLUSIVE, Evidence.CERTIFIED)
    if not seen:
        assert found.detail.startswith("Not decided: no step from t = 2 to 2 ")


@pytest.mark.parametrize("missing", [2, 12, 16, None])
def test_in_float64_no_early_step_speaks_for_another(missing: int | None) -> None:
    at = tuple(t for t in range(17) if t != missing)
    found = measured(LEDGER["ntp.theorem1.norm"]).judge(run_of(CYCLING, steps1=900, steps2=16, at=at))
    expected = Verdict.HOLDS if missing is None else Verdict.INCONCLUSIVE
    assert (found.verdict, found.evidence) == (expected, Evidence.FLOAT64)
    assert missing is None or f"no step from t = {missing} to {missing} was recorded" in found.detail
