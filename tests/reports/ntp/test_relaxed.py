"""Statements without orthonormal tokens: where they break, and what is said of each embedding."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.ntp.appendix_c_stage2 import theorem1
from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.ntp.theorems import CLAIMS
from marginaudit.claims.verdict import Finding, Verdict
from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.orders.ntp.embed import between, coherence, embedded, unit
from marginaudit.reports.ntp import relaxed
from marginaudit.reports.ntp.relaxed import HALVINGS, Arm, Seen, first_break, seen_on, statement
from marginaudit.training.ntp.certified import embedded as embedded_steps
from tests.solutions import known

SHORT = Config(steps1=20, steps2=20)


@dataclass(eq=False)
class Pretended(Arm):
    """Every statement is violated from a share on, and up to another."""

    since: float = 2.0
    until: float = 2.0

    def judged(self, claim: Any, share: float) -> Finding:
        return Finding(Verdict.VIOLATED if self.since <= share <= self.until else Verdict.HOLDS)


def pretended(since: float, until: float = 2.0) -> Pretended:
    return Pretended(CASES["example-1"](), "unit", 4, 0, unit(4, 4, 0), SHORT, since=since, until=until)


@pytest.mark.parametrize("since", [2e-3, 0.05, 0.1, 0.31, 0.99, 1.0])
def test_a_break_is_narrowed_to_the_places_next_to_it(since: float) -> None:
    holds, violated = known(first_break(pretended(since), CLAIMS["ntp.lemma3"]))
    assert holds < since <= violated
    assert violated / holds <= 10 ** (2**-HALVINGS) * 1.0001


def test_a_break_before_the_first_place_is_sought_a_power_of_ten_at_a_time() -> None:
    found = first_break(pretended(5e-8), CLAIMS["ntp.lemma3"])
    assert found == pytest.approx((1e-7 / 10**0.5, 1e-7), rel=1e-9, abs=0)
    assert known(first_break(pretended(1e-12), CLAIMS["ntp.lemma3"]))[0] == 0


def test_no_break_where_nothing_or_everything_is_violated() -> None:
    assert first_break(pretended(1.5), CLAIMS["ntp.lemma3"]) is None
    assert first_break(pretended(0.0), CLAIMS["ntp.lemma3"]) is None
    assert known(first_break(pretended(0.05, until=0.15), CLAIMS["ntp.lemma3"]))[1] < 0.051


def arm(dataset: Dataset | None = None, d: int = 3) -> Arm:
    data = dataset or CASES["example-1"]()
    return Arm(data, "unit", d, 7, unit(data.V, d, 7), SHORT)


def test_a_row_is_what_the_run_at_that_embedding_says() -> None:
    found = arm(d=6)
    data = CASES["example-1"]()
    for share in (0.0, 0.1, 1.0):
        E = between(unit(4, 6, 7), share)
        other = embedded(data, E)
        run, row = Run(other, SHORT), found.row(share)
        assert row["coherence"] == coherence(E)
        assert (row["shortest"], row["longest"]) == (np.linalg.norm(E, axis=1).min(), np.linalg.norm(E, axis=1).max())
        for which, solution in (("ov", solve_ov(other).optimal()), ("kq", solve_kq(other).optimal())):
            assert row[which] == "optimal"
            assert row[f"{which}_norm"] == pytest.approx(np.sqrt(solution.norm_squared), rel=1e-14, abs=0)
            assert row[f"{which}_radius"] == solution.direction_radius < 1e-12
        for stage in ("stage1", "stage2"):
            record = getattr(run.trained, stage)
            assert row[f"{stage}_error"] == pytest.approx(record.one_minus_cos[-1], rel=1e-9, abs=1e-30)
            assert row[f"{stage}_bar"] < 1e-9
        bound = 54 * data.N * data.L_max**4 * row["kq_norm"] ** 4 * np.log(20) ** 2 / (20 * 0.025)
        assert row["stage2_slack"] == pytest.approx(bound / row["stage2_error"], rel=1e-9, abs=0)


def test_no_direction_where_a_problem_is_infeasible() -> None:
    data = Dataset.from_sentences("x", ["ab", "ba", "ba", "abb"])
    found = Arm(data, "given", 1, None, np.array([[1.0], [1.0]]), SHORT).row(1.0)
    assert (found["ov"], found["ov_norm"], found["ov_radius"], found["stage1_error"]) == (
        "infeasible",
        None,
        None,
        None,
    )
    assert (found["seed"], found["dimension"], found["coherence"]) == (None, 1, 1.0)


@pytest.mark.parametrize("apart", [1e-9, 1e-15])
def test_no_direction_where_the_solver_proves_nothing(apart: float) -> None:
    """Two tokens so nearly alike that W* is of the size of 1/apart."""
    E = np.eye(4)
    E[1] = [1, apart, 0, 0]
    given = Arm(CASES["example-1"](), "given", 4, None, E, SHORT, certify=True)
    found = given.row(1.0)
    assert "not solved" in (found["ov"], found["kq"])
    for which, stage in (("ov", "stage1"), ("kq", "stage2")):
        if found[which] == "not solved":
            assert found[f"{which}_norm"] is found[f"{stage}_error"] is found[f"{stage}_slack"] is None
    assert not found["certified"]
    verdict = given.judged(theorem1.DIRECTION, 1.0).verdict
    assert verdict in (Verdict.INCONCLUSIVE, Verdict.HOLDS, Verdict.VACUOUS)


def test_no_direction_where_its_error_bar_is_unbounded_but_by_enclosure() -> None:
    plain = replace(arm(d=2), end=unit(4, 2, 0), config=Config(steps1=20, steps2=600))
    row, enclosed = plain.row(1.0), replace(plain, certify=True).row(1.0)
    assert [row[f"stage2_{name}"] for name in ("error", "bar", "slack")] == [None] * 3
    assert enclosed["certified"]
    assert 0 < enclosed["stage2_bar"] < 1e-15 < enclosed["stage2_error"] < 0.1
    assert enclosed["stage2_slack"] > 1


@pytest.mark.parametrize("steps", [0, 1])
def test_no_direction_where_stages_are_too_short(steps: int) -> None:
    short = replace(arm(), config=Config(steps1=steps, steps2=steps))
    assert [short.row(1.0)[name] for name in ("stage1_error", "stage2_bar", "stage2_slack")] == [None] * 3


def test_statements_are_judged_without_assumption_2_alone() -> None:
    whole = arm()
    assert whole.judged(CLAIMS["ntp.gradient.ov"], 1.0).verdict is Verdict.HOLDS
    assert whole.judged(CLAIMS["ntp.lemma3"], 0.0).verdict is Verdict.HOLDS
    seen = seen_on(whole, CLAIMS["ntp.lemma3"])
    assert (seen.one_hot, seen.end) == (Verdict.HOLDS, Verdict.VIOLATED)
    assert known(seen.share) < 1e-6
    assert seen.coherence == whole.coherence(known(seen.share))
    assert seen_on(whole, CLAIMS["ntp.gradient.ov"]).share is None
    broken = arm(Dataset.from_sentences("confused", ["abca", "bca", "cab", "acb"]))
    assert broken.judged(CLAIMS["ntp.lemma3"], 1.0).verdict is Verdict.NOT_APPLICABLE


def test_a_statement_over_several_arms() -> None:
    def seen(seed: int, end: Verdict, at: float | None) -> Seen:
        holds = None if at is None else at / 2
        return Seen("unit", 4, seed, Verdict.HOLDS, end, at, at, holds)

    arms = [seen(0, Verdict.VIOLATED, 0.5), seen(1, Verdict.VIOLATED, 0.2), seen(2, Verdict.HOLDS, None)]
    found = statement(CLAIMS["ntp.lemma3"], arms)
    assert (found["claim"], found["assumed"], found["one_hot"]) == ("ntp.lemma3", True, "holds")
    assert (found["coherence"], found["without_violation"], found["share"], found["seed"]) == (0.2, 0.1, 0.2, 1)
    assert (found["ends"], found["broken_on"]) == ({"violated": 2, "holds": 1}, 2)
    never = statement(CLAIMS["ntp.gradient.kq"], arms[2:])
    assert (never["assumed"], never["coherence"], never["kind"], never["broken_on"]) == (False, None, None, 0)


def test_an_enclosure_keeps_the_bound_where_float64_finds_no_error() -> None:
    one = Dataset("one", ("a", "b"), (Sample(("a", "b"), "b"),), (1,), next_token={"a": "a", "b": "b"})
    config = Config(steps1=50, steps2=50)
    plain, certified = (Arm(one, "unit", 2, 0, unit(2, 2, 0), config, certify=certify) for certify in (False, True))
    before, after = plain.row(0.1), certified.row(0.1)
    assert (before["stage2_error"], before["stage2_slack"], after["certified"]) == (0.0, None, True)
    assert after["stage2_slack"] > 1e30


def test_wide_error_bars_are_replaced_by_an_enclosure(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = arm(d=4)
    certified = replace(arm(d=4), certify=True)
    assert certified.row(1.0)["certified"] is False
    monkeypatch.setattr(relaxed, "WIDE", 0.0)
    before, after = plain.row(1.0), certified.row(1.0)
    assert (before["certified"], after["certified"]) == (False, True)
    for stage in ("stage1", "stage2"):
        error, bar = (after[f"{stage}_{name}"] for name in ("error", "bar"))
        assert abs(error - before[f"{stage}_error"]) <= bar + before[f"{stage}_bar"]
        assert 0 < bar < 1e-15
        assert after[f"{stage}_slack"] == pytest.approx(before[f"{stage}_slack"], rel=1e-6, abs=0)
    assert not relaxed.wide({"error": None, "bar": None})
    monkeypatch.setattr(embedded_steps, "LARGEST", 1)
    assert certified.row(1.0)["certified"] is False
