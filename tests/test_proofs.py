"""Pages of proofs, and sections 1 to 5 of docs/proofs.md, on instances close to breaking them."""

import re
from itertools import combinations
from pathlib import Path

import latex2mathml.converter
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from marginaudit.margins.ntp import solve_ov
from marginaudit.orders.ntp import Dataset, Sample, check_assumption, free_dataset
from marginaudit.training.ntp import loss_gradient, stage1_loss_gradient
from tests.proof_instances import (
    SEEDS,
    Floats,
    attention,
    descent,
    fluxes,
    gradient,
    instances,
    margins,
    one_label_each,
    reference,
    sentences,
    separated_scores,
    state,
)

DOCS = Path(__file__).parents[1] / "docs"


# The page


def formulas(page: str) -> tuple[list[str], list[str]]:
    text = (DOCS / page).read_text(encoding="utf-8")
    pieces = re.split(r"```math\n(.*?)```", text, flags=re.DOTALL)
    return [found for piece in pieces[::2] for found in re.findall(r"\$([^$]+)\$", piece)], pieces[1::2]


@pytest.mark.parametrize(("page", "most"), [("proofs.md", 20), ("proofs-snap.md", 10)])
def test_the_formulas_render(page: str, most: int) -> None:
    inline, displayed = formulas(page)
    assert len(inline) > 100
    assert len(displayed) > most
    # Markdown takes these for its own inside $...$: emphasis, escapes, tags, and line breaks
    fragile = re.compile(r"\*|\\[^A-Za-z ]|<|(?<![A-Za-z0-9])_|\n")
    assert [formula for formula in inline if fragile.search(formula)] == []
    for formula in inline + displayed:
        assert formula.count("{") == formula.count("}")
        latex2mathml.converter.convert(formula)


def test_the_descent_of_these_tests_goes_down_the_gradient() -> None:
    data = free_dataset(V=5, N=6, L=4, seed=1)
    for _, S, d in descent(data, 3.0, 0.5, 20):
        G = loss_gradient(data, one_label_each(data, 3.0), S)
        np.testing.assert_allclose(d, -G / np.linalg.norm(G), atol=1e-9)


# 1. sharp.stage1


@pytest.mark.parametrize("V", [2, 3, 7])
def test_the_gradient_at_a_multiple_of_the_reference_is_a_multiple_of_it(V: int) -> None:
    names = tuple(f"x{i}" for i in range(V))
    data = Dataset("any", names, (Sample((names[0],), names[1]),), (1,), next_token=dict.fromkeys(names, names[1]))
    W = np.full((V, V), -1 / V)
    W[1] += 1
    np.testing.assert_allclose(solve_ov(data).optimal().scores, W, atol=1e-12)
    np.testing.assert_allclose(np.sum(W**2), V - 1, rtol=1e-12)
    for c in (0.0, 0.7, 5.0):
        np.testing.assert_allclose(
            stage1_loss_gradient(data, c * W), -V / (np.exp(c) + V - 1) * W, rtol=1e-9, atol=1e-15
        )


# 2. sharp.prop2


def neighbours(graph: NDArray[np.bool_], S: tuple[int, ...]) -> int:
    return int(graph[list(S)].any(axis=0).sum())


def covers(graph: NDArray[np.bool_]) -> bool:
    """|N(S)| k >= |S| m for every set S of rows."""
    k, m = graph.shape
    return all(neighbours(graph, S) * k >= size * m for size in range(1, k + 1) for S in combinations(range(k), size))


def test_multipliers_with_the_row_and_column_sums_exist_iff_every_set_beats_enough() -> None:
    rng, seen = np.random.default_rng(2), set()
    for _ in range(100):
        k, m = rng.integers(1, 5, size=2)
        graph = rng.random((k, m)) < 0.6
        graph[np.arange(k), rng.integers(m, size=k)] = True
        graph[rng.integers(k, size=m), np.arange(m)] = True
        row, column = np.nonzero(graph)
        sums = np.vstack([row == i for i in range(k)] + [column == j for j in range(m)]).astype(float)
        right = np.array([m] * k + [k] * m)
        found = linprog(np.zeros(len(row)), A_eq=sums, b_eq=right, bounds=(0, None))
        assert (found.status == 0) == covers(graph)
        seen.add(covers(graph))
    assert seen == {True, False}


def test_the_closed_form_is_the_solution_iff_every_set_beats_enough() -> None:
    rng, seen = np.random.default_rng(3), set()
    for _ in range(40):
        k, m = int(rng.integers(1, 4)), int(rng.integers(2, 6))
        graph = rng.random((k, m)) < 0.5
        graph[:, 0] = True  # the query itself
        graph[rng.integers(k, size=m), np.arange(m)] = True
        winners, losers = [f"o{i}" for i in range(k)], [f"x{j}" for j in range(m)]
        names = (*winners, *losers)
        n = dict(zip(names, (*names[1:], names[0]), strict=True))
        samples = tuple(Sample((winners[i], losers[j], "x0"), n[winners[i]]) for i, j in np.argwhere(graph))
        data = Dataset("bipartite", names, samples, (1,) * len(samples), next_token=n)
        closed = np.array([m / (k + m)] * k + [-k / (k + m)] * m)
        column = reference(data)[:, data.index["x0"]]
        assert np.allclose(column, closed, atol=1e-9) == covers(graph)
        seen.add(covers(graph))
    assert seen == {True, False}


# 3. sharp.single-optimum


def test_random_prefix_closed_data_without_confused_tokens_have_one_optimal_token_a_query() -> None:
    rng = np.random.default_rng(4)
    pairs = 0
    for _ in range(1500):
        V = int(rng.integers(2, 5))
        names = "abcd"[:V]
        n = dict(zip(names, rng.permutation(list(names)).tolist(), strict=True))
        chosen = []
        for _ in range(int(rng.integers(2, 4))):
            sentence = [names[rng.integers(V)]]
            for _ in range(int(rng.integers(2, 6))):
                sentence.append(n[sentence[rng.integers(len(sentence))]])
            chosen.append(sentence)
        data = Dataset.from_sentences("random", [*chosen, *([x, n[x]] for x in names)], vocabulary=names)
        for sample in data.samples:  # (i) the tokens of a sentence are an arc of a cycle of n
            arc, x = [], sample.tokens[0]
            while x in sample.tokens and x not in arc:
                arc.append(x)
                x = n[x]
            assert set(arc) == set(sample.tokens)
        if check_assumption(data, "no_confused_tokens").holds and check_assumption(data, "well_defined_orders").holds:
            for order in data.orders.values():
                assert len(order.optimal) == 1
            deciding = [s.query for s in data.samples if len(set(s.tokens)) > 1]
            pairs += len(deciding) - len(set(deciding))
    assert pairs > 100


# 4. Fluxes, and what every step keeps


@given(data=instances(), seed=SEEDS, A=st.floats(0.01, 20))
def test_lemma_4_1_is_the_gradient(data: Dataset, seed: int, A: float) -> None:
    S = np.random.default_rng(seed).normal(size=(data.V, data.V))
    textbook = loss_gradient(data, one_label_each(data, A), S)
    rounding = 1e-15  # of sums of probabilities, which may cancel to a gradient of 1e-10
    np.testing.assert_allclose(gradient(S, data, A), textbook, rtol=1e-9, atol=1e-9 * np.abs(textbook).max() + rounding)


@given(data=instances(), A=st.floats(0.01, 20), eta=st.sampled_from([1e-3, 0.3, 10.0, 300.0]))
def test_lemma_4_2_every_step_keeps_the_optimal_token_ahead(data: Dataset, A: float, eta: float) -> None:
    before: dict[int, Floats] = {}
    for t, S, _ in descent(data, A, eta, 3):
        for i, sentence in enumerate(sentences(data)):
            found = state(attention(S, sentence), sentence.optimal, A)
            assert found.phi[sentence.optimal] >= max(found.phi.max(), 1 / data.L_max) * (1 - 1e-12)
            assert (found.beta[sentence.others] > 0).all()
            if t:
                assert (margins(S, sentence) >= before[i] - 1e-12 * eta).all()
            before[i] = margins(S, sentence)


def test_lemma_4_2_needs_the_optimal_majority() -> None:
    n = {"o": "x", "x": "z", "z": "o"}
    data = Dataset("minority", ("o", "x", "z"), (Sample(tuple("ozzzx"), "x"),), (1,), next_token=n)
    (sentence,) = sentences(data)
    assert fluxes(np.zeros((3, 3)), sentence, 5.0)[0] < 0


# 5. sharp.lemma6


@given(data=instances(), seed=SEEDS, A=st.floats(0.01, 20), scale=st.sampled_from([0.0, 0.3, 3.0]))
def test_the_descent_along_the_reference_is_at_least_the_sum_of_fluxes(
    data: Dataset, seed: int, A: float, scale: float
) -> None:
    S = separated_scores(data, np.random.default_rng(seed), scale)
    total = sum(float(fluxes(S, sentence, A).sum()) for sentence in sentences(data))
    assume(total > 1e-200)
    G = gradient(S, data, A)
    assert -np.sum(G * reference(data)) >= total * (1 - 1e-9)
    assert np.linalg.norm(G) <= np.sqrt(2) * total * (1 + 1e-12)


def test_one_edge_attains_both() -> None:
    data = Dataset("pair", ("o", "x"), (Sample(("o", "x"), "x"),), (1,), next_token={"o": "x", "x": "o"})
    S = np.array([[0.0, 0.4], [0.0, -0.4]])
    (sentence,) = sentences(data)
    total, G = float(fluxes(S, sentence, 2.0).sum()), gradient(S, data, 2.0)
    np.testing.assert_allclose([-np.sum(G * reference(data)), np.linalg.norm(G)], [total, np.sqrt(2) * total])
