"""The two tables: each number a second way, and the same numbers in every format."""

import csv
import html
import io
import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from marginaudit.margins import SolverFailure
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, broken, dataset_from_document, dataset_to_document
from marginaudit.reports import Series
from marginaudit.reports.grid import Grid
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.algorithm1 import LISTED_STEPS, dense_steps
from marginaudit.reports.ntp.claims import theorem1
from marginaudit.reports.ntp.quantities import stage2_direction
from marginaudit.reports.ntp.tables import DIRECTION, PROPOSITION2
from marginaudit.reports.ntp.tables.direction import ratio
from marginaudit.reports.page.formats import markdown
from marginaudit.reports.page.latex import latex
from tests.command_line import NO_FUNCTION, SVOP, Command, dataset_file, strict_json
from tests.orders.ntp import restated
from tests.papers import audit_only
from tests.solutions import inexact
from tests.strategies import realizable_datasets

Floats = NDArray[np.float64]

ROOT = Path(__file__).parents[4]

COUNTED = {
    "name": "counted",
    "vocabulary": ["a", "b", "c", "d", "q"],
    "samples": [
        {"tokens": ["a", "b", "q"], "next": "a", "count": 3},
        {"tokens": ["a", "c"], "next": "a"},
        {"tokens": ["b", "d", "d"], "next": "d", "count": 2},
    ],
    "next_token": {x: x for x in "abcdq"},
}
"""k = 1, m = 2 under q; 1 and 1 under c and d. N = 3, L_max = 3, pi_min = 1/6, ||W*_kq||^2 = 2/3 + 1/2 + 1/2."""

NORM_OV, NORM_KQ = 2.0, math.sqrt(5 / 3)
LR1, LR2 = 0.07, 0.03
LENGTH = 120


@cache
def counted(steps2: int = LENGTH) -> Run:
    return Run(dataset_from_document(COUNTED), Config(steps1=LENGTH, steps2=steps2, lr1=LR1, lr2=LR2))


def rows_at(table: dict[str, Any], stage: str) -> dict[int, dict[str, Any]]:
    return {row["step"]: row for row in table[stage]}


# direction


def test_the_bounds_are_the_ledgers_formulas() -> None:
    """12 |W*_ov|^3 log(2V) log t/(t eta0), 54 N L^4 |W*_kq|^4 log^2 t/(t eta), and that of sharp.theorem1."""
    table = DIRECTION.of(counted(10**5))
    first, second = rows_at(table, "stage1"), rows_at(table, "stage2")
    assert list(first) == list(LISTED_STEPS)
    assert list(second) == [2, 10, 100, 900, 10**3, 10**4, 10**5]
    for t in (2, 900, 10**4, 10**18):
        assert first[t]["bound"] == pytest.approx(
            12 * NORM_OV**3 * math.log(10) * math.log(t) / (t * LR1), rel=1e-13, abs=0
        )
    for t in (2, 10, 10**5):
        log = math.log(t)
        theorem1 = 54 * 3 * 3**4 * (5 / 3) ** 2 * log**2 / (t * LR2)
        gap = 2 * NORM_KQ**3 * math.log(2 * 3**3 * 6) * (1 + log) + LR2 * NORM_KQ**2 * (1 + log)
        sharp = (gap + math.sqrt(2) * LR2 * NORM_KQ) / (t * LR2)
        assert second[t]["bound"] == pytest.approx(theorem1, rel=1e-13, abs=0)
        assert second[t]["sharp_bound"] == pytest.approx(sharp, rel=1e-13, abs=0)
        assert second[t]["slack"] == second[t]["bound"] / second[t]["measured"]


def softmax(z: Floats) -> Floats:
    e = np.exp(z - z.max())
    return np.asarray(e / e.sum())


@cache
def plain_descent() -> tuple[dict[int, Floats], dict[int, Floats]]:
    """Algorithm 1 in embedding space by eqs. 5 and 6, sample by sample: W_ov and W_kq by step."""
    words = COUNTED["vocabulary"]
    V, x = len(words), {word: np.eye(len(words))[i] for i, word in enumerate(words)}
    counts = restated.weighted_examples(COUNTED)
    W, first = np.zeros((V, V)), {}
    for t in range(1, LENGTH + 1):
        gradient = np.zeros((V, V))
        for word in words:
            gradient += np.outer(softmax(W @ x[word]) - x[word], x[word])  # n(x) = x
        W = W - LR1 * gradient / np.linalg.norm(gradient)
        first[t] = W
    W_ov, W, second = W, np.zeros((V, V)), {}
    for t in range(1, LENGTH + 1):
        gradient = np.zeros((V, V))
        for example, count in counts.items():
            X = np.array([x[word] for word in example.tokens]).T
            query = X[:, -1]
            phi = softmax(X.T @ W @ query)
            residual = softmax(W_ov @ X @ phi) - x[example.next]
            inner = X @ (np.diag(phi) - np.outer(phi, phi)) @ X.T @ W_ov.T @ residual
            gradient += count / sum(counts.values()) * np.outer(inner, query)
        W = W - LR2 * gradient / np.linalg.norm(gradient)
        second[t] = W
    return first, second


def w_star_kq() -> Floats:
    """By hand: 2/3 on the winner and -1/3 on two losers under q, 1/2 and -1/2 under c and d."""
    star = np.zeros((5, 5))
    for query, key, value in [
        *(("q", "a", 2 / 3), ("q", "b", -1 / 3), ("q", "q", -1 / 3)),
        *(("c", "a", 1 / 2), ("c", "c", -1 / 2), ("d", "d", 1 / 2), ("d", "b", -1 / 2)),
    ]:
        star["abcdq".index(key), "abcdq".index(query)] = value
    return star


def one_minus_cos(W: Floats, star: Floats) -> float:
    return float(np.sum((W / np.linalg.norm(W) - star / np.linalg.norm(star)) ** 2) / 2)


def test_what_is_measured_is_a_plain_descents() -> None:
    first, second = plain_descent()
    table = DIRECTION.of(counted())
    star_ov = np.eye(5) - 1 / 5
    for t, row in rows_at(table, "stage1").items():
        if t <= LENGTH:
            assert one_minus_cos(first[t], star_ov) < 1e-28
            assert row["measured"] < 1e-28
        else:
            assert (row["measured"], row["slack"], row["error"]) == (0.0, None, None)
    found = rows_at(table, "stage2")
    assert list(found) == [2, 10, 100]
    for t, row in found.items():
        assert row["measured"] == pytest.approx(one_minus_cos(second[t], w_star_kq()), rel=1e-9, abs=0)
        assert 0 < row["error"] < 1e-9


def test_the_error_is_the_error_bar_of_the_claim() -> None:
    run = counted()
    series = stage2_direction(run, first=2)
    assert series.step is not None
    radius = dict(zip(series.step.tolist(), series.radius.tolist(), strict=True))
    for t, row in rows_at(DIRECTION.of(run), "stage2").items():
        assert row["error"] == radius[t] / row["measured"]


@pytest.mark.parametrize("every", [100, 2000])
def test_the_listed_steps_are_recorded(every: int) -> None:
    for last in (1, 2, 899, 900, 10**4, 123_456, 10**18):
        assert {t for t in LISTED_STEPS if t <= last} <= set(dense_steps(last, every))
        assert max(dense_steps(last, every)) == last


def test_a_step_that_was_not_recorded_has_no_row() -> None:
    config = Config(steps1=500, steps2=2000, at=(1, 2, 50, 100, 900, 1001, 2000))
    table = DIRECTION.of(Run(dataset_from_document(COUNTED), config))
    assert [row["step"] for row in table["stage1"]] == [2, 100]
    assert [row["step"] for row in table["stage2"]] == [2, 100, 900]
    assert table["notes"] == {"stage1": [], "stage2": []}
    table = DIRECTION.of(Run(dataset_from_document(COUNTED), Config(steps1=500, steps2=2000, at=(1, 50))))
    assert table["stage2"] == []
    table = DIRECTION.of(Run(dataset_from_document(COUNTED), Config(steps1=1, steps2=1)))
    assert (table["stage2"], table["notes"]["stage2"]) == (
        [],
        ["Not compared: stage 2 has 1 step and the statement speaks from t = 2."],
    )


def test_beyond_T_stage_1_is_its_closed_form() -> None:
    table = DIRECTION.of(counted())
    assert table["notes"]["stage1"] == [f"Beyond T = {LENGTH} by the closed form of stage 1 (sharp.stage1)."]
    assert DIRECTION.of(Run(CASES["example-1"](), Config(steps1=900, steps2=5, at=(2,))))["notes"]["stage1"] == []


GENERAL: dict[str, Any] = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {x: x for x in "abq"},
    "embedding": [[1, 0.5, 0], [0, 1, 0], [0.25, 0, 1]],
}
"""Assumption 2 fails; both problems have solutions, found numerically."""

CYCLE = {"name": "cycle", "sentences": [["a", "b", "b", "a"], ["b", "a"]]}
PLAIN = {"name": "plain", "sentences": [["a", "b"], ["b", "a"]]}
MINORITY = COUNTED | {"samples": [*COUNTED["samples"], {"tokens": ["b", "b", "d"], "next": "d"}]}
CONFUSED = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}, {"tokens": ["b", "c", "q"], "next": "b"}],
    "next_token": {x: x for x in "abcq"},
}


def table_of(document: Any, **config: Any) -> dict[str, Any]:
    return DIRECTION.of(Run(dataset_from_document(document), Config(**{"steps1": 20, "steps2": 20} | config)))


def test_an_unmet_assumption_leaves_the_measured_and_no_bound() -> None:
    table = table_of(GENERAL)
    for stage, bounds in (("stage1", ["bound"]), ("stage2", ["bound", "sharp_bound"])):
        assert [row["step"] for row in table[stage]] == [2, 10]
        assert all(row["measured"] > 0 and row["error"] >= 0 for row in table[stage])
        assert all(row[name] is None for row in table[stage] for name in [*bounds, "slack"])
    assert table["notes"]["stage1"] == ["Assumption orthonormal fails, so ntp.prop1.direction says nothing here."]
    said = [
        f"Assumption orthonormal fails, so {i} says nothing here." for i in ("ntp.theorem1.direction", "sharp.theorem1")
    ]
    assert table["notes"]["stage2"] == said
    table = table_of(MINORITY)  # Assumption 3, which Proposition 1 does not make
    assert all(row["bound"] > 0 for row in table["stage1"])
    assert all(row["bound"] is row["sharp_bound"] is row["slack"] is None for row in table["stage2"])
    assert "Assumption optimal_majority fails" in table["notes"]["stage2"][0]


def nothing_known(rows: list[dict[str, Any]]) -> bool:
    return all(value is None for row in rows for name, value in row.items() if name != "step")


def test_without_a_direction_nothing_is_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    for document, said in (
        (CYCLE, "W*_kq does not exist"),
        (PLAIN, "No sample relates two tokens, so W*_kq = 0 has no direction."),
    ):
        table = table_of(document)
        assert [row["step"] for row in table["stage2"]] == [2, 10]
        assert nothing_known(table["stage2"])
        assert table["notes"]["stage2"][0].startswith(said)
    table = table_of(NO_FUNCTION)
    assert table["stage1"] == table["stage2"] == []
    assert table["notes"]["stage1"] == ["Nothing is trained: n is not a function on the whole vocabulary."]
    table = table_of({"sentences": [["a", "a"]]})
    assert nothing_known(table["stage1"])
    assert "The vocabulary has one token" in table["notes"]["stage1"][0]
    table = table_of(SVOP, optimizer="gd")
    assert table["stage1"] == table["stage2"] == []
    assert "Not compared: the statement is about normalised gradient descent" in table["notes"]["stage2"][0]

    def fails(data: Dataset) -> None:
        raise SolverFailure("no")

    monkeypatch.setattr("marginaudit.reports.ntp.run.solve_kq", fails)
    table = table_of(SVOP)
    assert nothing_known(table["stage2"])
    assert table["notes"]["stage2"] == ["The solver's answer proves nothing, so there is no direction to compare with."]
    assert not nothing_known(table["stage1"])


def test_what_has_no_error_bar_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def bars(run: Run) -> Series:
        series = stage2_direction(run, first=2)
        assert series.step is not None
        return replace(series, radius=np.where(series.step == 10, np.inf, series.radius))

    claim = theorem1.DIRECTION
    judgement = claim.judgement
    assert isinstance(judgement, Bounded)
    wide = replace(claim, judgement=replace(judgement, measure=bars))
    bounds = {"stage1": {"bound": claim}, "stage2": {"bound": wide}}
    monkeypatch.setattr("marginaudit.reports.ntp.tables.direction.BOUNDS", bounds)
    found = rows_at(DIRECTION.of(counted()), "stage2")
    assert found[2]["measured"] > 0
    assert found[10]["measured"] is found[10]["slack"] is found[10]["error"] is None
    assert found[10]["bound"] > 0


def row(**values: Any) -> dict[str, Any]:
    return {"step": 10, "measured": 0.5, "bound": 4.0, "slack": 8.0, "error": 1e-3} | values


def cells(**values: Any) -> tuple[str, ...]:
    table = {"stage1": [row(**values)], "stage2": [], "notes": {"stage1": [], "stage2": []}}
    return DIRECTION.grids("x", table)[0].rows[0]


def test_where_the_error_bar_reaches_0_the_most_is_shown() -> None:
    assert cells() == ("10", "0.5", "1.0e-03", "4", "8")
    assert cells(error=0.999) == ("10", "0.5", "1.0e+00", "4", "8")
    assert cells(error=1.0) == ("10", "≤ 1", "–", "4", "≥ 4")
    assert cells(error=7.0) == ("10", "≤ 2", "–", "4", "≥ 2")
    assert cells(error=1.0, bound=None, slack=None) == ("10", "≤ 1", "–", "–", "–")
    assert cells(measured=0.0, error=None, slack=None, step=10**12) == ("1e12", "0", "–", "4", "–")


def test_the_note_says_at_which_steps_the_bound_says_nothing() -> None:
    rows = [row(step=t, bound=b) for t, b in ((2, 1.9), (10, 2.0), (100, 2.5), (900, 1.99))]
    notes: dict[str, list[str]] = {"stage1": [], "stage2": ["why"]}
    first, second = DIRECTION.grids("x", {"stage1": rows, "stage2": rows[1:2], "notes": notes})
    assert first.notes == (
        "At t = 10 to 100 the bound of Proposition 1 is no less than 2, the most that 1 - cos can be.",
    )
    assert second.notes == ("At t = 10 the bound of Theorem 1 is no less than 2, the most that 1 - cos can be.", "why")
    assert DIRECTION.grids("x", {"stage1": rows[:1], "stage2": [], "notes": notes})[0].notes == ()


# proposition 2


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


def test_solved_is_what_solve_says(command: Command) -> None:
    answer = command.json("solve", "free-20", "--only", "kq")["kq"]
    table = PROPOSITION2.of(Run(CASES["free-20"](), Config(steps1=2, steps2=0)))
    assert {row["query"]: row["solved"] for row in table} == answer["weights_exact"]
    assert {row["query"]: {"holds": row["holds"], "witness": row["witness"]} for row in table} == answer["closed_form"]
    assert {row["holds"] for row in table} == {True, False}


def test_trained_is_the_last_W_scaled_to_the_norm_of_the_solution() -> None:
    W = plain_descent()[1][LENGTH]
    W = W * (NORM_KQ / np.linalg.norm(W))
    table = PROPOSITION2.of(counted())
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
    run = Run(dataset_from_document(COUNTED), Config(steps1=9, steps2=40))
    run.__dict__["trained"] = replace(run.trained, stopped="for a reason")
    run.__dict__["steps2"] = 1000
    assert PROPOSITION2.of(run)[0]["steps"] == 40


def test_untrained_weights_have_no_direction() -> None:
    table = PROPOSITION2.of(Run(dataset_from_document(COUNTED), Config(steps1=9, steps2=0)))
    assert all(row["trained"] is row["steps"] is None and row["solved"] for row in table)
    run = counted()
    other = Run(run.dataset, run.config)
    other.__dict__["trained"] = replace(run.trained, W_kq=np.full((5, 5), np.inf))
    assert PROPOSITION2.of(other)[0]["trained"] is None


def test_confused_tokens_are_left_out() -> None:
    """Under q: a > b > c and b > q and a > q; the formula has k = 1, m = 2 and says nothing of b."""
    [only] = PROPOSITION2.of(Run(dataset_from_document(CONFUSED), Config(steps1=2, steps2=9)))
    assert (only["optimal"], only["non_optimal"], only["confused"]) == (["a"], ["q", "c"], ["b"])
    assert only["predicted"] == {"optimal": "2/3", "non_optimal": "-1/3"}
    exact = solve_kq(dataset_from_document(CONFUSED)).exact().weights_exact
    assert only["solved"] == {x: str(exact["q"].get(x, 0)) for x in "abcq"}
    differences = [abs(exact["q"][x] - Fraction(2 if x == "a" else -1, 3)) for x in "acq"]
    assert only["largest_difference"] == float(max(differences))
    assert "Assumption no_confused_tokens fails, so Proposition 2 says nothing here." in only["note"]
    [grid] = PROPOSITION2.grids("x", [only])
    assert [line[1:4] for line in grid.rows if line[1] == "confused"] == [("confused", "b", "–")]


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
    ("radius", "holds"), [(1e-10, True), (1e-9, True), (math.nextafter(1e-9, 1), None), (1.1e-9, None), (0.1, None)]
)
def test_wide_error_bars_leave_it_open(radius: float, holds: bool | None) -> None:
    run = Run(dataset_from_document(COUNTED), Config(steps1=2, steps2=9))
    run.__dict__["kq"] = inexact(run.kq, weight_radius=radius)
    table = PROPOSITION2.of(run)
    assert {row["holds"] for row in table} == {holds}
    assert (table[0]["note"] == f"The solution is known within {radius:.1e} only.") == (holds is None)
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
    assert rows[0]["note"].startswith("W*_kq does not exist: no W_kq has all margins positive. Assumption well_defined")
    [loop] = table(dataset_from_document(CYCLE))
    assert loop["predicted"] == {"optimal": None, "non_optimal": None}
    assert loop["witness"] == ["a", "b"]
    partly = {"samples": [{"tokens": ["a"], "next": "a"}, {"tokens": ["a", "b"], "next": "a"}]}
    [half] = table(dataset_from_document(partly))
    assert half["note"].startswith("n is not a function on the whole vocabulary, so nothing can be solved or trained.")
    assert half["predicted"] == {"optimal": "1/2", "non_optimal": "-1/2"}
    assert table(dataset_from_document(PLAIN)) == []
    [grid] = PROPOSITION2.grids("plain", [])
    assert grid.notes == ("No sample relates two tokens, so no query has optimal tokens.",)

    def fails(data: Dataset) -> None:
        raise SolverFailure("no")

    monkeypatch.setattr("marginaudit.reports.ntp.run.solve_kq", fails)
    assert (
        table(dataset_from_document(COUNTED))[0]["note"] == "The solver's answer proves nothing, so W*_kq is not known."
    )


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
    [grid] = PROPOSITION2.grids("x", [found, found | {"holds": None, "query": "r"}])
    assert grid.rows[:3] == (
        ("q", "optimal", "a c", "2/5", "1/2", "0.49 to 0.51", "0.1", "no"),
        ("", "optimal", "b", "2/5", "1/3", "0.3333", "", ""),
        ("", "non-optimal", "d e", "-3/5", "-2/3", "-0.6666", "", ""),
    )
    assert grid.rows[3][0] == "r"
    assert grid.rows[3][-1] == "–"
    assert grid.notes == ("W_kq after 1000000 steps, scaled to the norm of W*_kq.",)


# the same numbers everywhere


HOSTILE = {
    "name": "a|b_{c}",
    "samples": [{"tokens": ["=1+1", "x&y", "\x1b\n", "[q]"], "next": "=1+1"}, {"tokens": ["*", "$|\\"], "next": "*"}],
    "next_token": {x: x for x in ("=1+1", "x&y", "[q]", "*", "$|\\", "\x1b\n")},
}
RUN = ("--steps1", "30", "--steps2", "120")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits draw nothing and judge two claims."""
    audit_only(monkeypatch, "ntp.prop2.c", "sharp.prop")


@pytest.mark.usefixtures("quick")
def test_json_csv_html_and_the_terminal_agree(command: Command, tmp_path: Path) -> None:
    paths = [dataset_file(tmp_path, document, f"{i}.json") for i, document in enumerate((COUNTED, HOSTILE, CYCLE))]
    paths.append(dataset_file(tmp_path, NO_FUNCTION, "3.json"))
    report = command.json("audit", *paths, *RUN, "--out", tmp_path / "report")
    written = strict_json((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert report["datasets"] == written["datasets"]
    assert page.index('id="direction"') < page.index('id="proposition2"') < page.index('id="data-ntp"')
    for name in ("direction", "proposition2"):
        answer = command.json("table", name, *paths, *RUN)
        assert answer == {"datasets": [{"name": data["name"], name: data[name]} for data in written["datasets"]]}
        file = (tmp_path / "report" / "tables" / f"{name}.csv").read_bytes().decode("utf-8")
        assert command("table", name, *paths, *RUN, "--format", "csv").out == file
        check_rows(name, list(csv.DictReader(io.StringIO(file, newline=""))), answer["datasets"])
        printed = command("table", name, *paths, *RUN)
        assert (printed.status, printed.err) == (0, "")
        assert max(map(len, printed.out.splitlines())) <= 80
        assert "\x1b" not in printed.out + page
        text = command("table", name, *paths, *RUN, "--format", "markdown").out
        shown = [[unescaped(cell) for cell in line] for line in table_lines(text)]
        for line in shown:
            assert "".join(f"<td>{cell}</td>" for cell in line) in bare(page)
        assert len(shown) == sum(len(re.findall("<tr><td", part)) for part in [section(page, name)])
        tex = command("table", name, *paths, *RUN, "--format", "latex").out
        assert tex.count(r"\begin{table}") == tex.count(r"\toprule") == tex.count(r"\bottomrule")
        assert tex.count(" \\\\\n") == len(shown) + tex.count(r"\toprule")


def check_rows(name: str, rows: list[dict[str, str]], datasets: list[dict[str, Any]]) -> None:
    expected = []
    for data in datasets:
        if name == "direction":
            for number in (1, 2):
                expected += [{"stage": number} | row for row in data[name][f"stage{number}"]]
            continue
        for row in data[name]:
            predicted = {f"predicted_{kind}": value for kind, value in row["predicted"].items()}
            expected.append({key: value for key, value in row.items() if key != "predicted"} | predicted)
    assert len(rows) == len(expected) > 0
    assert {row["dataset"] for row in rows} <= {data["name"] for data in datasets}
    for row, values in zip(rows, expected, strict=True):
        assert set(values) <= set(row)
        for column, value in values.items():
            cell = row[column]
            if value is None:
                assert cell == ""
            elif isinstance(value, list | dict | bool):
                assert json.loads(cell) == value
            elif isinstance(value, str):
                assert cell.removeprefix("'") == value
            else:
                assert type(value)(cell) == value


def section(page: str, name: str) -> str:
    return page[page.index(f'<section id="{name}">') :].split("</section>")[0]


def bare(page: str) -> str:
    """Cells without their classes, entities resolved."""
    return html.unescape(re.sub(r'<td class="\w+">', "<td>", page))


def table_lines(text: str) -> list[list[str]]:
    """The cells of the lines of Markdown tables, headers left out."""
    rows = [re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    rules = [i for i, line in enumerate(rows) if all(set(cell.strip()) <= set("-:") and "---" in cell for cell in line)]
    return [[cell.strip() for cell in line] for i, line in enumerate(rows) if i not in rules and i + 1 not in rules]


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def test_fractions_in_the_csv_are_no_formulas(command: Command) -> None:
    rows = list(csv.DictReader(io.StringIO(command("table", "proposition2", "example-1", *RUN, "--format", "csv").out)))
    assert [row["predicted_non_optimal"] for row in rows] == ["-1/2", "-1/2", "-1/3", "-1/2"]


def test_all_built_in_cases_by_default(command: Command) -> None:
    answer = command.json(
        "table", "direction", "--steps1", 3, "--steps2", 3, "--lr1", 0.5, "--lr2", 0.25, "--at", "2,3"
    )
    assert [data["name"] for data in answer["datasets"]] == list(CASES)
    first = answer["datasets"][0]["direction"]
    assert [row["step"] for row in first["stage1"]] == [row["step"] for row in first["stage2"]] == [2]
    assert first["stage1"][0]["bound"] == pytest.approx(12 * 3**1.5 * math.log(8) * math.log(2) / (2 * 0.5))
    assert (
        command.json("table", "proposition2", "example-1", "--steps2", 7)["datasets"][0]["proposition2"][0]["steps"]
        == 7
    )


def test_what_table_refuses(command: Command) -> None:
    line = command.refused("table", "direction", "example-1", "--json", "--format", "csv")
    assert line == "--format csv: got --json beside it, expected one of the two"
    assert command.refused("table", "nothing") == "NAME: got 'nothing', expected one of list, direction, proposition2"
    assert "no file of that name" in command.refused("table", "direction", "nothing")
    assert "a step beyond both stages" in command.refused(
        "table", "direction", "example-1", "--steps2", 9, "--at", 1000
    )


def test_no_slack_is_infinite() -> None:
    assert [ratio(*pair) for pair in ((3.0, 1.5), (1e200, 1e-200), (None, 1.0), (1.0, None), (1.0, 0.0))] == [
        *(2.0, None, None, None, None)
    ]


@pytest.mark.parametrize("width", [80, 60])
def test_long_names_are_broken_and_numbers_are_not(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr("marginaudit.reports.command.console.GRID_WIDTH", width)
    words = ["a" * 50, " ".join("b" * 30), "q" * 70]
    document = {"samples": [{"tokens": words, "next": words[0]}], "next_token": {x: x for x in words}}
    printed = command("table", "proposition2", dataset_file(tmp_path, document), *RUN).out
    assert max(map(len, printed.splitlines())) <= width
    assert re.search(r" 2/3 +2/3 +0\.6667 +0 +yes$", printed, flags=re.MULTILINE)
    assert re.search(r" -1/3 +-1/3 +-0\.3333 *$", printed, flags=re.MULTILINE)
    assert "non-optimal" in printed


@pytest.mark.usefixtures("quick")
def test_the_page_shows_the_first_lines(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginaudit.reports.page.html.MOST_LINES", 3)
    assert command("audit", "example-1", *RUN, "--at", "2,10,100", "--out", tmp_path / "report").status == 0
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert section(page, "proposition2").count("<tr><td") == 3
    assert "5 more lines are in tables/*.csv." in section(page, "proposition2")
    assert "more lines" not in section(page, "direction")


GRID = Grid("t_1 & [x]", ("q_", "n"), (("a|b\\*", "≤ 1.5e-07"), ("[c]", "-1/3")), ("a note.",), words=frozenset({0}))


def test_latex() -> None:
    assert latex([GRID]).splitlines() == [
        r"% Needs \usepackage{booktabs} and \usepackage{graphicx}.",
        r"\begin{table}",
        r"\centering\footnotesize",
        r"\caption{t\_1 \& {[}x]. a note.}",
        r"\label{tab:t-1-x}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"q\_ & n \\",
        r"\midrule",
        r"a\textbar{}b\textbackslash{}{*} & $\le$ $1.5 \times 10^{-7}$ \\",
        r"{[}c] & $-1/3$ \\",
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]
    assert latex([replace(GRID, rows=(("~^%#{}\x1b", "1e18"),))]).splitlines()[10] == (
        r"\textasciitilde{}\textasciicircum{}\%\#\{\}\textbackslash{}x1b & $10^{18}$ \\"
    )


def test_markdown() -> None:
    assert markdown([GRID, GRID]).splitlines()[:9] == [
        r"**t\_1 \& \[x\]**",
        "",
        r"| q\_ | n |",
        "| --- | ---: |",
        r"| a\|b\\\* | ≤ 1.5e-07 |",
        r"| \[c\] | -1/3 |",
        "",
        "a note.",
        "",
    ]


SHOWN = {
    "direction": ["section-7", "--steps2", "1e18", "--at", "2,10,100,900,1e6,1e12,1e18"],
    "proposition2": ["example-1", "--steps2", "1e6"],
}
"""What the page of the default audit shows."""


@pytest.mark.parametrize("name", SHOWN)
def test_the_readmes_tables_are_true(command: Command, name: str) -> None:
    text = (ROOT / "docs/default-audit.md").read_text(encoding="utf-8")
    line = f"marginaudit table {name} {' '.join(SHOWN[name])} --format markdown"
    assert f"`{line}`" in text
    printed = command(*line.split()[1:]).out.strip()
    printed = printed[max(printed.find("**section-7: stage 2"), 0) :]  # stage 1 is 0 to rounding
    assert but_error_bars(printed) in but_error_bars(text), f"expected in docs/default-audit.md:\n{printed}"


def but_error_bars(text: str) -> str:
    """Those of directions, as distances of two runs of a solver, depend on how the processor rounds."""
    return re.sub(r"^(\| \S+ \| \S+) \| \d\.\de-\d\d \|", r"\1 |", text, flags=re.MULTILINE)
