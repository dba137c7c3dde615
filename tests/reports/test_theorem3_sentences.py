"""Theorem 3's sentences against plain enumeration of all token strings, and a softmax written out."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from marginaudit.orders import CASES, free_dataset
from marginaudit.reports.claims.ntp_theorem3_sentences import put_through, right_from, sentences
from marginaudit.reports.run import Config, Run


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
    listed = [(s.query, tuple(sorted(Counter(s.tokens).items()))) for s in sentences(run, length)]
    assert len(set(listed)) == len(listed)
    assert set(listed) == bags(run, length)


def answered(run: Run, record: int, query: str, bag: tuple[tuple[str, int], ...]) -> tuple[bool, float]:
    data = run.dataset
    S = run.training.stage2.score_matrix(record, data.V)[:, data.index[query]]
    weight = {x: c * np.exp(S[data.index[x]]) for x, c in bag}
    total = sum(weight.values())
    logits = np.zeros(data.V)
    for x, w in weight.items():
        logits[data.index[data.collocation.function[x]]] += run.training.margin * w / total
    order = data.orders[query]
    [middle] = [x for x, _ in bag if x in order.non_comparable]
    right = data.index[data.collocation.function[middle]]
    best = np.delete(logits, right).max()
    return bool(logits[right] > best), float(np.exp(logits[right]) / np.exp(logits).sum())


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.dataset.name)
@pytest.mark.parametrize("length", [2, 3, 4])
def test_right_from_is_the_first_step_with_all_answers_right(run: Run, length: int) -> None:
    records = range(len(run.training.stage2))
    all_right = [
        all(answered(run, record, *entry)[0] for size in range(2, length + 1) for entry in bags(run, size))
        for record in records
    ]
    wrong = [record for record in records if not all_right[record]]
    first = wrong[-1] + 1 if wrong else 0
    expected = int(run.training.stage2.step[first]) if first < len(records) else None
    assert right_from(run, length) == expected


@pytest.mark.parametrize("run", runs(), ids=lambda run: run.dataset.name)
def test_sentences_put_through_the_model_are_counted_right(run: Run) -> None:
    tried = put_through(run, 3)
    found = [answered(run, 3, *entry) for size in range(2, tried.longest + 1) for entry in bags(run, size)]
    assert tried.longest >= 3
    assert (tried.count, tried.right) == (len(found), sum(right for right, _ in found))
    assert tried.least == pytest.approx(min(probability for _, probability in found), rel=1e-9)
