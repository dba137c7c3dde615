"""The shortest sentence that Theorem 3 gets wrong, within error bars."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, dataset_from_document
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp.claims import theorem3_answers, theorem3_misled
from marginaudit.reports.ntp.claims.theorem3_answers import put_through
from marginaudit.reports.ntp.claims.theorem3_misled import Misled, shortest_misled
from marginaudit.reports.ntp.claims.theorem3_prediction import decide_prediction
from marginaudit.reports.ntp.config import Config
from marginaudit.reports.ntp.run import Run
from tests.measured import measured
from tests.reports.ntp.claims.theorem3_dataset import SAVES_ONE, probabilities


def scored(
    monkeypatch: pytest.MonkeyPatch, radius: float, document: dict[str, Any] = SAVES_ONE, **scores: float
) -> Misled:
    """The shortest with x^T W q as given; a, b and q are related under q in the dataset, other tokens are not."""
    run = Run(dataset_from_document(document))
    S = np.zeros((run.dataset.V, run.dataset.V))
    for x, score in scores.items():
        S[run.dataset.index[x], run.dataset.index["q"]] = score
    record = SimpleNamespace(score_matrix=lambda record, size: S)
    monkeypatch.setattr(Run, "training", SimpleNamespace(stage2=record))
    monkeypatch.setattr(theorem3_misled, "score_error", lambda run: np.array([radius]))
    return shortest_misled(run, 0)


@pytest.mark.parametrize(
    ("b", "q", "radius", "expected"),
    [
        (0.0, 0.1, 1e-9, ("q", 1, 2)),  # the query alone outweighs x_0
        (0.0, 0.0, 0.0, ("q", 1, 2)),  # a tie is not answered n(x_0)
        (0.0, -1e-300, 0.0, ("b", 1, 3)),
        (-1e-300, -1e-300, 0.0, ("q", 2, 3)),
        (-math.log(4.5), -math.log(5.5), 1e-9, ("b", 5, 7)),  # 5 + 2 tokens, as many as 6 + 1
        (-math.log(4.5), -math.log(4.6), 1e-9, ("q", 5, 6)),
        (-math.log(4.5), -math.log(1.5), 1e-9, ("q", 2, 3)),
        (-math.log(4), -9.0, 0.0, ("b", 4, 6)),
        (-math.log(4), -9.0, 1e-9, ("b", 5, 6)),  # 4 copies tie to rounding
        (-math.log(4.5), -9.0, 0.5, ("b", 8, 5)),
        (0.2, -1.4, 1.5, ("b", 4, 2)),  # with either sign of the errors
        (-9.0, 0.9, 1.0, ("q", 2, 2)),
        (-math.log(999_999.5), -20.0, 1e-9, ("b", 1_000_000, 1_000_002)),
        (-math.log(1_000_000.5), -20.0, 1e-9, ("b", None, None)),
        (-math.log(2), -1e16, 13.2, ("b", None, None)),
        (5.0, -9.0, 14.0, ("b", None, None)),
        (-math.log(4), -math.log(4.5), 1e-9, ("q", 5, 6)),
    ],
)
def test_copies_within_the_error_bars(
    monkeypatch: pytest.MonkeyPatch, b: float, q: float, radius: float, expected: tuple[str, int | None, int | None]
) -> None:
    found = scored(monkeypatch, radius, a=3.0, b=b, q=q)
    assert (found.rival.other, found.copies, found.answered_below) == expected


def changed(run: Run, **columns: Any) -> Run:
    """The run with other columns of stage 2."""
    other = Run(run.dataset, run.config)
    other.__dict__["trained"] = replace(run.trained, stage2=replace(run.trained.stage2, **columns))
    return other


def test_the_detail_says_what_the_error_bars_leave_open() -> None:
    run = Run(CASES["example-1"](), Config(steps1=200, steps2=100, at=(1, 50, 100)))
    claim = measured(LEDGER["ntp.theorem3.prediction.rederived"])
    assert "all shorter ones are answered n(x_0). Its length is finite" in claim.judge(run).detail
    stage = run.trained.stage2
    wide = changed(run, distance_error=np.full(3, 1.0 / (2 * 100 * run.eta)))  # leads within one
    found = shortest_misled(wide, -1)
    assert found.length is not None
    assert found.answered_below is not None
    assert found.answered_below < found.length
    said = f"A sentence of the kind of {found.length} tokens is not answered n(x_0) at t = 100, T = 200"
    finding = claim.judge(wide)
    assert finding.verdict is Verdict.VIOLATED
    assert said in finding.detail
    assert f"all of fewer than {found.answered_below} are, and of those between" in finding.detail

    far = changed(run, rest=1e6 * stage.rest, along=1e6 * stage.along)
    lead = shortest_misled(far, -1).rival.lead
    assert f"has exp({lead:.6g}) tokens (too long to be put through the model). Its length" in claim.judge(far).detail
    far = changed(far, distance_error=np.full(3, 1 / (100 * run.eta)))
    assert f"has exp({lead - 2:.6g} to {lead + 2:.6g}) tokens" in claim.judge(far).detail

    assert claim.judge(changed(run, rest=np.full_like(stage.rest, np.nan))).verdict is Verdict.INCONCLUSIVE


MERGED: dict[str, Any] = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {"a": "a", "b": "c", "c": "c", "q": "q"},
}


def test_without_an_injective_n_no_sentence_is_called_the_shortest() -> None:
    """b and c have one next token, so copies of b do not outweigh c, and no count of tokens tells the answer."""
    claim = replace(LEDGER["ntp.theorem3.prediction"], assumptions=())
    run = Run(dataset_from_document(MERGED), Config(steps1=200, steps2=5))
    finding = claim.judge(run)
    assert finding.verdict is Verdict.VIOLATED
    assert finding.witness is not None
    assert finding.witness["x"] == finding.witness["answer"] == "q"
    assert "A sentence of the kind of 3 tokens is not answered n(x_0) at t = 1, T = 200 (put" in finding.detail
    assert "shorter" not in finding.detail
    wide = changed(run, distance_error=np.full(len(run.trained.stage2), 0.5 / run.eta))
    assert (shortest_misled(wide, 1).length, shortest_misled(wide, 1).answered_below) != (3, 3)
    assert "all of fewer" not in claim.judge(wide).detail
    assert "All sentences" not in finding.detail
    assert probabilities(run, 1, "q", ("c", "q", "q"))["c"] < 0.5
    one_answer = MERGED | {"next_token": {"a": "a", "b": "c", "c": "c", "q": "c"}}
    assert claim.judge(Run(dataset_from_document(one_answer), Config(steps1=200, steps2=5))).verdict is (
        Verdict.NOT_APPLICABLE
    )


def test_tokens_of_equal_scores_are_alike_unless_one_has_the_next_token_of_a_rival(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """b's next token is c's own, so b misleads d alone."""
    document = MERGED | {"vocabulary": list("abcdq"), "next_token": {**MERGED["next_token"], "d": "d"}}
    found = scored(monkeypatch, 0.0, document, a=3.0, b=0.5, q=-9.0)
    assert (found.rival.middle, found.rival.other, found.copies) == ("d", "b", 1)


def test_a_tie_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Untrained, all attentions are equal, and n(x_0) is not preferred, whichever label comes first."""
    for module in (theorem3_answers, theorem3_misled):
        monkeypatch.setattr(module, "score_error", lambda run: np.zeros(6))
    for vocabulary in ("abcq", "qcba"):
        run = Run(dataset_from_document(SAVES_ONE | {"vocabulary": list(vocabulary)}), Config(steps1=200, steps2=5))
        finding = decide_prediction(run, 0)
        assert finding.verdict is Verdict.VIOLATED
        assert finding.witness is not None
        assert (finding.witness["copies"], finding.witness["answer"]) == (1, "q")


def test_a_model_that_does_not_answer_by_attention_leaves_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(CASES["example-1"](), Config(steps1=200, steps2=100, at=(1, 50, 100)))
    record = len(run.training.stage2) - 1
    assert shortest_misled(run, record).copies is not None
    expected = np.log([float(x == run.dataset.collocation.function[x]) + 1e-9 for x in run.dataset.vocabulary])
    [middle] = {shortest_misled(run, record).rival.middle}
    expected[run.dataset.index[run.dataset.collocation.function[middle]]] = 9.0
    monkeypatch.setattr("marginaudit.reports.ntp.claims.theorem3_prediction.predict", lambda *arguments: expected)
    assert measured(LEDGER["ntp.theorem3.prediction.rederived"]).judge(run).verdict is Verdict.INCONCLUSIVE
    monkeypatch.undo()
    far = changed(run, rest=1e6 * run.trained.stage2.rest, along=1e6 * run.trained.stage2.along)
    assert measured(LEDGER["ntp.theorem3.prediction.rederived"]).judge(far).verdict is Verdict.VIOLATED
    far.__dict__["trained"] = replace(far.trained, common_margin=False)
    finding = measured(LEDGER["ntp.theorem3.prediction.rederived"]).judge(far)
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "copies is answered n(x_0)" in finding.detail


def test_answers_that_probabilities_do_not_show_are_left_open() -> None:
    """After steps of 1e-18 the attentions differ by 1e-18."""
    data = dataset_from_document(SAVES_ONE)
    tiny, small = (put_through(Run(data, Config(steps1=200, steps2=5, lr2=lr2)), -1) for lr2 in (1e-18, 1e-3))
    assert tiny.count == small.count
    assert 0 == tiny.right < small.right <= tiny.unsure < tiny.count
    assert small.unsure == 0
    untrained = put_through(Run(data, Config(steps1=200, steps2=5)), 0)
    assert (untrained.count, untrained.right) == (small.count, 0)  # ties
    said = theorem3_answers.summary(Run(data, Config(steps1=200, steps2=5)), 0)
    assert "put through the model: 0 are answered n(x_0)" in said
    assert "with probability" not in said
