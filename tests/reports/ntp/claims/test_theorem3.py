"""Theorem 3's gaps and predictions on small runs, from score matrices and a softmax written out."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import theorem3
from marginaudit.reports.ntp.claims.theorem3 import late_from
from marginaudit.reports.ntp.claims.theorem3_prediction import decide_prediction, paper_length
from marginaudit.reports.ntp.error_bars import score_error
from marginaudit.reports.ntp.quantities import asymptotic_from
from tests.measured import judgement
from tests.solutions import known


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


@pytest.mark.parametrize(("name", "step"), [("ntp.theorem3.prediction", 1), ("ntp.theorem3.prediction.rederived", 30)])
def test_the_prediction_is_judged_at_the_first_step_or_the_last(name: str, step: int) -> None:
    on = Run(CASES["section-7"](), Config(steps1=60, steps2=30))
    data, n = on.dataset, on.dataset.collocation.require_function()
    found = LEDGER[name].judge(on)
    assert (found.verdict, found.worst_step, found.first_violation) == (Verdict.VIOLATED, step, step)
    witness = known(found.witness)
    S = on.training.stage2.score_matrix(step, data.V)[:, data.index[witness["query"]]]
    bag = np.zeros(data.V)
    copies = witness["copies"] - (witness["x"] == witness["query"])
    for token, times in ((witness["x_0"], 1), (witness["x"], copies), (witness["query"], 1)):
        bag[data.index[token]] += times
    phi = bag * np.exp(S)
    P = np.exp(on.training.B @ (phi / phi.sum()))
    P /= P.sum()
    assert witness["expected"] == n[witness["x_0"]]
    assert data.vocabulary[int(np.argmax(P))] == witness["answer"]
    assert found.measured == pytest.approx(P[data.index[witness["expected"]]], rel=1e-9, abs=0)
    assert f"at t = {step}, T = 60" in found.detail
    assert f"At t = {int(on.training.stage2.step[paper_length(on)])} all" in found.detail


def test_the_papers_length_is_the_last_record_to_900_or_the_first_trained_one() -> None:
    def at(*steps: int) -> int:
        on = Run(CASES["example-1"](), Config(steps1=5, steps2=1000, at=(0, *steps)))
        return int(on.training.stage2.step[paper_length(on)])

    assert [at(5, 899, 950), at(5, 900, 901), at(901, 1000), at(7, 1000)] == [899, 900, 901, 7]


def test_scores_that_float64_cannot_hold_predict_nothing() -> None:
    scores = np.array([[0.0, np.inf], [1.0, 2.0]])
    stage = SimpleNamespace(step=np.array([0, 7]), score_matrix=lambda record, V: scores)
    on: Any = SimpleNamespace(
        training=SimpleNamespace(stage2=stage), config=Config(steps1=5), dataset=SimpleNamespace(V=2)
    )
    found = decide_prediction(on, 1)
    assert (found.verdict, found.detail) == (
        Verdict.INCONCLUSIVE,
        "The trained scores are no finite numbers at t = 7, T = 5.",
    )
