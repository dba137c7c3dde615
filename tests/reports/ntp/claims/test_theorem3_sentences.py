"""Theorem 3's sentences, and what error bars leave open of their answers; the oracle tries every short one."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from marginaudit.orders.ntp import CASES, Dataset, dataset_from_document, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.ntp.claims import theorem3_answers
from marginaudit.reports.ntp.claims.theorem3_answers import put_through, right_from, sentences
from marginaudit.reports.ntp.config import Config
from marginaudit.reports.ntp.run import Run
from tests.reports.ntp.claims.theorem3_dataset import SAVES_ONE, probabilities
from tests.strategies import datasets


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
    ("before", "error", "expected"),
    [
        (0.1, 0.05, 1),
        (0.1, 0.11, "3 or earlier"),
        (-0.1, 0.11, "3 or earlier"),
        (-0.1, 0.09, 3),
        (0.0, 0.0, 3),
    ],
)
def test_right_from_says_where_an_earlier_step_is_open(
    monkeypatch: pytest.MonkeyPatch, before: float, error: float, expected: int | str
) -> None:
    run = Run(CASES["example-1"](), Config(steps1=3, steps2=3, at=(1, 2, 3)))
    leads = np.array([before, before, 1.0]) + np.log([[3], [2]])
    monkeypatch.setattr(theorem3_answers, "least_leads", lambda run: leads)
    monkeypatch.setattr(theorem3_answers, "score_error", lambda run: np.full(3, error))
    assert right_from(run, 4) == expected


@pytest.mark.parametrize(
    ("last", "error", "expected"),
    [
        (0.1, 0.0, 3),
        (0.0, 0.0, "never"),  # a tie is not answered n(x_0)
        (0.1, 0.09, 3),
        (0.1, 0.11, "open"),
        (-0.1, 0.11, "open"),
        (-0.1, 0.09, "never"),
    ],
)
def test_right_from_says_what_the_error_bars_leave_open(
    monkeypatch: pytest.MonkeyPatch, last: float, error: float, expected: int | str
) -> None:
    """Up to 4 tokens hold 3 copies of the query, 2 of others."""
    run = Run(CASES["example-1"](), Config(steps1=3, steps2=3, at=(1, 2, 3)))
    leads = np.array([-1.0, -1.0, last]) + np.log([[3], [2]])
    monkeypatch.setattr(theorem3_answers, "least_leads", lambda run: leads)
    monkeypatch.setattr(theorem3_answers, "score_error", lambda run: np.array([0.0, 0.0, error]))
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
    assert finding.witness is not None
    assert [finding.witness[name] for name in ("query", "x_0", "x", "copies", "answer", "expected")] == [
        *("q", "c", "q", 2, "q", "c")
    ]
    P = probabilities(run, list(run.training.stage2.step).index(1), "q", ("c", "q", "q"))
    assert finding.measured == pytest.approx(P["c"], rel=1e-12, abs=0)


@given(datasets())
def test_a_query_is_related_under_itself(data: Dataset) -> None:
    """So that x_0 is never the query."""
    assert all(query in order.graph for query, order in data.orders.items())
