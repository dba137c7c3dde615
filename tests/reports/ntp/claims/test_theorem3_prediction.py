"""Theorem 3's sentences, the shortest one answered wrongly, and what error bars leave open of the answers.

The oracle tries every short one.
"""

import math
from collections import Counter
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from marginaudit.orders.ntp import CASES, Dataset, dataset_from_document, free_dataset
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp.claims import theorem3_answers, theorem3_misled
from marginaudit.reports.ntp.claims.theorem3_answers import put_through, right_from, sentences
from marginaudit.reports.ntp.claims.theorem3_misled import Misled, shortest_misled
from marginaudit.reports.ntp.claims.theorem3_prediction import decide_prediction, paper_length
from marginaudit.reports.ntp.config import Config
from marginaudit.reports.ntp.run import Run
from tests.measured import measured
from tests.reports.ntp.samples import changed, retrained
from tests.solutions import known
from tests.strategies import datasets

SAVES_ONE = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {"a": "a", "b": "b", "c": "c", "q": "q"},
}


def probabilities(run: Run, record: int, query: str, bag: tuple[str, ...]) -> dict[str, float]:
    """Softmax over labels of A times the attention, position by position."""
    data, S = run.dataset, run.training.stage2.score_matrix(record, run.dataset.V)
    attention = [math.exp(S[data.index[x], data.index[query]]) for x in bag]
    logits = dict.fromkeys(data.vocabulary, 0.0)
    for x, weight in zip(bag, attention, strict=True):
        logits[data.collocation.function[x]] += run.training.margin * weight / sum(attention)
    total = sum(map(math.exp, logits.values()))
    return {label: math.exp(logit) / total for label, logit in logits.items()}


@pytest.mark.parametrize(("name", "step"), [("ntp.theorem3.prediction", 1), ("ntp.theorem3.prediction.rederived", 30)])
def test_the_prediction_is_judged_at_the_first_step_or_the_last(name: str, step: int) -> None:
    on = Run(CASES["section-7"](), Config(steps1=60, steps2=30))
    found = LEDGER[name].judge(on)
    assert (found.verdict, found.worst_step, found.first_violation) == (Verdict.VIOLATED, step, step)
    witness = known(found.witness)
    others = (witness["x"],) * (witness["copies"] - (witness["x"] == witness["query"]))
    P = probabilities(on, step, witness["query"], (witness["x_0"], *others, witness["query"]))
    assert witness["expected"] == on.dataset.collocation.function[witness["x_0"]]
    assert max(P, key=P.__getitem__) == witness["answer"]
    assert found.measured == pytest.approx(P[witness["expected"]], rel=1e-9, abs=0)
    assert f"at t = {step}, T = 60" in found.detail
    assert f"At t = {int(on.training.stage2.step[paper_length(on)])} all" in found.detail


def test_the_papers_length_is_the_last_record_to_900_or_the_first_trained_one() -> None:
    def at(*steps: int) -> int:
        on = Run(CASES["example-1"](), Config(steps1=5, steps2=1000, at=(0, *steps)))
        return int(on.training.stage2.step[paper_length(on)])

    assert [at(5, 899, 950), at(5, 900, 901), at(901, 1000), at(7, 1000)] == [899, 900, 901, 7]


def runs() -> list[Run]:
    config = Config(steps1=300, steps2=600, at=tuple(range(0, 601, 20)))
    return [
        Run(data, config)
        for data in (CASES["example-1"](), free_dataset(V=6, N=14, L=4, seed=5, optimal=(1, 2), non_optimal=(1, 3)))
    ]


def of_the_kind(run: Run, tokens: tuple[str, ...]) -> str | None:
    """x_0, if the string is a sentence of the theorem's kind."""
    order = run.dataset.orders.get(tokens[-1])
    if order is None:
        return None
    middle = [x for x in tokens if x in order.non_comparable]
    rest = [x for x in tokens if x not in order.non_comparable]
    if len(middle) != 1 or not rest or any(x not in order.non_optimal for x in rest):
        return None
    return middle[0]


def bags(run: Run, length: int) -> set[tuple[str, tuple[tuple[str, int], ...]]]:
    return {
        (tokens[-1], tuple(sorted(Counter(tokens).items())))
        for tokens in product(run.dataset.vocabulary, repeat=length)
        if of_the_kind(run, tokens) is not None
    }


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.dataset.name)
@pytest.mark.parametrize("length", [2, 3, 4])
def test_the_sentences_are_those_of_the_kind(run: Run, length: int) -> None:
    listed = [(tokens[-1], tuple(sorted(Counter(tokens).items()))) for tokens in sentences(run, length)]
    assert len(set(listed)) == len(listed)
    assert set(listed) == bags(run, length)


@pytest.mark.parametrize(
    ("before", "last", "errors", "expected"),
    [
        (0.1, 1.0, (0.05, 0.05), 1),
        (0.1, 1.0, (0.11, 0.11), "3 or earlier"),
        (-0.1, 1.0, (0.11, 0.11), "3 or earlier"),
        (-0.1, 1.0, (0.09, 0.09), 3),
        (0.0, 1.0, (0.0, 0.0), 3),
        (-1.0, 0.1, (0.0, 0.0), 3),
        (-1.0, 0.0, (0.0, 0.0), "never"),  # a tie is not answered n(x_0)
        (-1.0, 0.1, (0.0, 0.09), 3),
        (-1.0, 0.1, (0.0, 0.11), "open"),
        (-1.0, -0.1, (0.0, 0.11), "open"),
        (-1.0, -0.1, (0.0, 0.09), "never"),
    ],
)
def test_right_from_says_what_the_error_bars_leave_open(
    monkeypatch: pytest.MonkeyPatch, before: float, last: float, errors: tuple[float, float], expected: int | str
) -> None:
    """Up to 4 tokens hold 3 copies of the query, 2 of others."""
    run = Run(CASES["example-1"](), Config(steps1=3, steps2=3, at=(1, 2, 3)))
    leads = np.array([before, before, last]) + np.log([[3], [2]])
    monkeypatch.setattr(theorem3_answers, "least_leads", lambda run: leads)
    monkeypatch.setattr(theorem3_answers, "score_error", lambda run: np.array([errors[0], *errors]))
    assert right_from(run, 4) == expected


@pytest.mark.parametrize("error", [0.0, 0.3, 50.0])
def test_sentences_that_the_error_bars_leave_open_are_counted(monkeypatch: pytest.MonkeyPatch, error: float) -> None:
    run = runs()[0]
    record, data = 3, run.dataset
    S, leads = run.training.stage2.score_matrix(record, data.V), []
    for length in range(2, put_through(run, record).longest + 1):
        for query, bag in bags(run, length):
            attention = {x: copies * math.exp(S[data.index[x], data.index[query]]) for x, copies in bag}
            (middle,) = (x for x in attention if x in data.orders[query].non_comparable)
            leads.append(math.log(attention.pop(middle) / max(attention.values())))
    monkeypatch.setattr(theorem3_answers, "score_error", lambda run: np.full(len(run.training.stage2), error))
    tried = put_through(run, record)
    expected = sum(lead > error for lead in leads), sum(-error < lead <= error for lead in leads)
    assert (tried.right, tried.unsure) == expected
    assert (expected[1] > 0) == (error > 0)
    said = f"of {tried.unsure} more the error bars leave it open."
    assert (said in theorem3_answers.summary(run, record)) == (error > 0)


def test_a_query_that_is_itself_the_rival_saves_one() -> None:
    """Both rivals b and q have one score, so two copies of each outweigh c: [c, b, b, q] has 4 tokens, [c, q, q] 3."""
    run = Run(dataset_from_document(SAVES_ONE), Config(steps1=200, steps2=5))
    finding = LEDGER["ntp.theorem3.prediction"].judge(run)
    assert "has 3 tokens (put through the model, it is answered otherwise); all shorter ones" in finding.detail
    assert [known(finding.witness)[name] for name in ("query", "x_0", "x", "copies", "answer", "expected")] == [
        *("q", "c", "q", 2, "q", "c")
    ]
    P = probabilities(run, list(run.training.stage2.step).index(1), "q", ("c", "q", "q"))
    assert finding.measured == pytest.approx(P["c"], rel=1e-12, abs=0)


@given(datasets())
def test_a_query_is_related_under_itself(data: Dataset) -> None:
    """So that x_0 is never the query."""
    assert all(query in order.graph for query, order in data.orders.items())


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


def test_the_detail_says_what_the_error_bars_leave_open() -> None:
    run = Run(CASES["example-1"](), Config(steps1=200, steps2=100, at=(1, 50, 100)))
    claim = measured(LEDGER["ntp.theorem3.prediction.rederived"])
    assert "all shorter ones are answered n(x_0). Its length is finite" in claim.judge(run).detail
    stage = run.trained.stage2
    wide = changed(run, distance_error=np.full(3, 1.0 / (2 * 100 * run.eta)))  # leads within one
    found = shortest_misled(wide, -1)
    assert known(found.answered_below) < known(found.length)
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

    lost = claim.judge(changed(run, rest=np.full_like(stage.rest, np.nan)))
    assert lost.verdict is Verdict.INCONCLUSIVE
    assert lost.detail.startswith("The trained scores are no finite numbers at t = 100, T = 200.")


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
    witness = known(finding.witness)
    assert witness["x"] == witness["answer"] == "q"
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
        witness = known(finding.witness)
        assert (witness["copies"], witness["answer"]) == (1, "q")


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
    apart = retrained(far, common_margin=False)
    finding = measured(LEDGER["ntp.theorem3.prediction.rederived"]).judge(apart)
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
