"""Answers about exact solutions come from what is not zero: no array of all pairs of tokens is made."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from marginaudit.claims.ntp.solving import solution_answer
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, free_dataset
from marginaudit.orders.ntp import kind as description
from marginaudit.reports.ntp.paper import PAPER

DATASETS = [
    *(CASES[name]() for name in ("example-1", "section-7")),
    free_dataset(V=12, N=60, L=6, seed=3),
    replace(CASES["example-1"](), name="skew", embedding=np.eye(4) + 0.1),
]


@pytest.mark.parametrize("data", DATASETS, ids=lambda data: data.name)
def test_weights_of_w_kq_are_those_of_its_array(data: Dataset) -> None:
    solution = solve_kq(data).optimal()
    answer = solution_answer("kq", data, solution)
    assert ("arrays" in vars(solution)) == (solution.method == "cvxpy")
    names, scores = data.vocabulary, solution.scores
    expected = [
        (q, [(names[x], scores[x, j]) for x in np.flatnonzero(scores[:, j])])
        for j, q in enumerate(names)
        if scores[:, j].any()
    ]
    assert [(q, list(column.items())) for q, column in answer["weights"].items()] == expected
    again = pickle.loads(pickle.dumps(solve_kq(data))).optimal()
    np.testing.assert_array_equal(again.scores, scores)
    np.testing.assert_array_equal(again.matrix, solution.matrix)


def test_tokens_that_are_not_listed_are_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    data = CASES["section-7"]()
    monkeypatch.setattr(description, "MOST_NAMES", 0)
    _, (_, header, rows) = PAPER.classified(data, description.describe(data))
    assert header[-1] == "non-comparable"
    assert {row[-1] for row in rows} == {"all others"}
