"""The table of Proposition 2: predicted, solved and trained."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from marginaudit.claims.ntp import Config, Run
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, broken, dataset_from_document, dataset_to_document
from marginaudit.reports.ntp.tables import PROPOSITION2
from tests.claims.ntp.samples import COUNTED, CYCLE, GENERAL, LENGTH, PLAIN, counted, retrained, solver_fails
from tests.command_line import NO_FUNCTION
from tests.orders.ntp import restated
from tests.solutions import inexact
from tests.strategies import realizable_datasets

CONFUSED = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}, {"tokens": ["b", "c", "q"], "next": "b"}],
    "next_token": {x: x for x in "abcq"},
}


@given(realizable_datasets())
def test_predicted_and_solved_are_those_of_the_relations(data: Dataset) -> None:
    """k and m are counted from the relations of the document; every margin of W*_kq is at least 1, one of them 1."""
    document = dataset_to_document(data)
    related, classes = restated.relations(document), restated.classes(document)
    table = PROPOSITION2.of(Run(data, Config(steps1=2, steps2=0)))
    assert [row["query"] for row in table] == [x for x in data.vocabulary if x in classes]
    for row in table:
        optimal, others = classes[row["query"]]["optimal"], classes[row["query"]]["non_optimal"]
        assert (row["optimal"], row["non_optimal"], row["confused"]) == (optimal, others, [])
        k, m = len(optimal), len(others)
        predicted = dict.fromkeys(optimal, Fraction(m, k + m)) | dict.fromkeys(others, Fraction(-k, k + m))
        assert row["predicted"] == {"optimal": str(Fraction(m, k + m)), "non_optimal": str(Fraction(-k, k + m))}
        solved = {x: Fraction(value) for x, value in row["solved"].items()}
        assert set(solved) == set(predicted)
        assert min(solved[w] - solved[x] for q, w, x in related if q == row["query"]) == 1
        difference = max(abs(solved[x] - predicted[x]) for x in predicted)
        assert (row["largest_difference"], row["holds"]) == (float(difference), difference == 0)
        assert (row["witness"] is None) == row["holds"]
        assert (row["radius"], row["note"]) == (0.0, None)
        if row["witness"]:
            beaten = {x for q, w, x in related if q == row["query"] and w in row["witness"]}
            assert len(beaten) * k < len(row["witness"]) * m


def test_trained_is_the_last_W_scaled_to_the_norm_of_the_solution() -> None:
    run = counted()
    W = run.trained.W_kq * (math.sqrt(5 / 3) / np.linalg.norm(run.trained.W_kq))
    table = PROPOSITION2.of(run)
    assert [row["query"] for row in table] == ["c", "d", "q"]
    for row in table:
        assert row["steps"] == LENGTH
        assert set(row["trained"]) == set(row["solved"])
        for x, value in row["trained"].items():
            assert value == pytest.approx(W["abcdq".index(x), "abcdq".index(row["query"])], rel=1e-9, abs=0)
    last = PROPOSITION2.of(Run(dataset_from_document(COUNTED), Config(steps1=9, steps2=40, at=(1, 2))))
    whole = PROPOSITION2.of(Run(dataset_from_document(COUNTED), Config(steps1=9, steps2=40)))
    assert (last[0]["trained"], last[0]["steps"]) == (whole[0]["trained"], 40)


def test_where_training_stops_early_its_last_step_is_given() -> None:
    run = retrained(Run(dataset_from_document(COUNTED), Config(steps1=9, steps2=40)), stopped="for a reason")
    run.__dict__["steps2"] = 1000
    assert PROPOSITION2.of(run)[0]["steps"] == 40


def test_untrained_weights_have_no_direction() -> None:
    table = PROPOSITION2.of(Run(dataset_from_document(COUNTED), Config(steps1=9, steps2=0)))
    assert all(row["trained"] is row["steps"] is None and row["solved"] for row in table)
    assert PROPOSITION2.of(retrained(counted(), W_kq=np.full((5, 5), np.inf)))[0]["trained"] is None


def test_confused_tokens_are_left_out() -> None:
    """Under q: a > b > c and b > q and a > q; the formula has k = 1, m = 2 and says nothing of b."""
    [only] = PROPOSITION2.of(Run(dataset_from_document(CONFUSED), Config(steps1=2, steps2=9)))
    assert (only["optimal"], only["non_optimal"], only["confused"]) == (["a"], ["q", "c"], ["b"])
    assert only["predicted"] == {"optimal": "2/3", "non_optimal": "-1/3"}
    exact = solve_kq(dataset_from_document(CONFUSED)).exact().weights_exact
    assert only["solved"] == {x: str(exact["q"].get(x, 0)) for x in "abcq"}
    differences = [abs(exact["q"][x] - Fraction(2 if x == "a" else -1, 3)) for x in "acq"]
    assert only["largest_difference"] == float(max(differences))
    assert "Assumption no_confused_tokens fails" in only["note"]
    [shown] = PROPOSITION2.captioned("x", [only])
    assert [line[1:4] for line in shown.rows if line[1] == "confused"] == [("confused", "b", "–")]


def test_a_numerical_solution_comes_with_its_radius() -> None:
    run = Run(dataset_from_document(GENERAL), Config(steps1=2, steps2=9))
    [only] = PROPOSITION2.of(run)
    solution = run.kq.optimal()
    assert only["solved"] == {x: float(solution.scores[i, 2]) for i, x in enumerate("abq")}
    length = np.linalg.norm(GENERAL["embedding"], axis=1)
    assert only["radius"] == pytest.approx(solution.weight_radius * length.max() * length[2], rel=1e-14, abs=0)
    predicted = {"a": 2 / 3, "b": -1 / 3, "q": -1 / 3}
    assert only["largest_difference"] == pytest.approx(max(abs(only["solved"][x] - predicted[x]) for x in predicted))
    assert only["holds"] is False
    W = run.trained.W_kq * (run.norm_kq / np.linalg.norm(run.trained.W_kq))
    E = np.array(GENERAL["embedding"])
    assert only["trained"] == pytest.approx({x: E[i] @ W @ E[2] for i, x in enumerate("abq")}, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("radius", "within"),
    [(1e-10, ""), (1e-9, ""), (math.nextafter(1e-9, 1), "1.1e-09"), (1.1e-9, "1.1e-09"), (0.1, "1.0e-01")],
)
def test_wide_error_bars_leave_it_open(radius: float, within: str) -> None:
    holds = None if within else True
    run = Run(dataset_from_document(COUNTED), Config(steps1=2, steps2=9))
    run.__dict__["kq"] = inexact(run.kq, weight_radius=radius)
    table = PROPOSITION2.of(run)
    assert {row["holds"] for row in table} == {holds}
    note = table[0]["note"]
    assert f" {within} " in note if within else note is None
    forms = {q: replace(form, holds=False, witness=("a",)) for q, form in run.kq.closed_form.items()}
    run.__dict__["kq"] = replace(run.kq, closed_form=forms)
    assert {(row["holds"], *row["witness"]) for row in PROPOSITION2.of(run)} == {(False, "a")}


def test_a_token_outside_the_order_is_judged_too() -> None:
    """The formula says 0 of a non-comparable token; a general embedding's solution may say otherwise."""
    document = {
        "vocabulary": ["a", "b", "q", "z"],
        "samples": GENERAL["samples"],
        "next_token": {x: x for x in "abqz"},
        "embedding": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [3, 0, 0]],
    }
    [only] = PROPOSITION2.of(Run(dataset_from_document(document), Config(steps1=2, steps2=2)))
    assert only["solved"]["z"] == pytest.approx(3 * 2 / 3)
    assert only["largest_difference"] == pytest.approx(2)
    assert only["trained"]["z"] == pytest.approx(3 * only["trained"]["a"])


def test_without_a_solution_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def table(data: Dataset) -> list[dict[str, Any]]:
        return PROPOSITION2.of(Run(data, Config(steps1=2, steps2=2)))

    cyclic = broken(CASES["free-20"](), "well_defined_orders")
    rows = table(cyclic)
    heads = [row["query"] for row in rows if row["witness"]]
    assert heads
    for found in (*rows, *table(dataset_from_document(NO_FUNCTION | {"samples": [*CONFUSED["samples"]]}))):
        assert all(found[name] is None for name in ("solved", "radius", "trained", "largest_difference", "holds"))
    assert re.search("W.*_kq does not exist.* Assumption well_defined", rows[0]["note"])
    [loop] = table(dataset_from_document(CYCLE))
    assert loop["predicted"] == {"optimal": None, "non_optimal": None}
    assert loop["witness"] == ["a", "b"]
    partly = {"samples": [{"tokens": ["a"], "next": "a"}, {"tokens": ["a", "b"], "next": "a"}]}
    [half] = table(dataset_from_document(partly))
    assert half["note"].startswith("n is not a function")
    assert half["predicted"] == {"optimal": "1/2", "non_optimal": "-1/2"}
    assert table(dataset_from_document(PLAIN)) == []
    [shown] = PROPOSITION2.captioned("plain", [])
    assert len(shown.notes) == 1

    solver_fails(monkeypatch)
    assert "solver" in table(dataset_from_document(COUNTED))[0]["note"]


def test_a_line_for_the_tokens_of_one_class_and_solution() -> None:
    found = {
        "query": "q",
        "optimal": ["a", "b", "c"],
        "non_optimal": ["d", "e"],
        "confused": [],
        "predicted": {"optimal": "2/5", "non_optimal": "-3/5"},
        "solved": {"a": "1/2", "b": "1/3", "c": "1/2", "d": "-2/3", "e": "-2/3"},
        "trained": {"a": 0.51, "b": 0.3333, "c": 0.49, "d": -0.66661, "e": -0.66662},
        "steps": 10**6,
        "largest_difference": 0.1,
        "holds": False,
        "note": None,
    }
    [shown] = PROPOSITION2.captioned("x", [found, found | {"holds": None, "query": "r"}])
    assert shown.rows[:3] == [
        ("q", "optimal", "a c", "2/5", "1/2", "0.49 to 0.51", "0.1", "no"),
        ("", "optimal", "b", "2/5", "1/3", "0.3333", "", ""),
        ("", "non-optimal", "d e", "-3/5", "-2/3", "-0.6666", "", ""),
    ]
    assert shown.rows[3][0] == "r"
    assert shown.rows[3][-1] == "–"
    assert [re.findall(r"\d+", note) for note in shown.notes] == [["1000000"]]
