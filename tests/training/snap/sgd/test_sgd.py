"""SGD of both layers: gradients, updates, starts."""

from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.sgd import Recipe, train_sampled
from marginaudit.training.snap.sgd.kernel import gradients
from marginaudit.training.snap.sgd.samples import ClassSamples, classes_of, drawn

SMALL = SequenceClasses.from_weights(
    "small",
    9,
    [
        ("n0", "q", {"a": 5, "b": 2, "the": 3}),
        ("n1", "q", {"a": 0, "c": 1, "the": 4}),
        ("the", "p", {"a": 1, "d": 2, "the": 1, "q": 1}),
    ],
)
"""A next token that is also contextual, a query that is, a token of probability 0, and tokens that nothing names."""

NUMBER = {token: i for i, token in enumerate(SMALL.tokens)}
ROWS, ASKED = ([NUMBER[token] for token in tokens] for tokens in (SMALL.contextual, SMALL.queries))


def whole(Y: Any, Z: Any) -> tuple[Any, Any]:
    """Y and Z as M x M lists of lists."""
    wide_Y, wide_Z = np.zeros((2, SMALL.M, SMALL.M))
    wide_Y[ROWS] = Y
    wide_Z[np.ix_(ASKED, ROWS)] = Z
    return [[[mpmath.mpf(x) for x in row] for row in matrix.tolist()] for matrix in (wide_Y, wide_Z)]  # type: ignore[return-value]


def mean_loss(sequences: list[tuple[int, list[str]]], Y: Any, Z: Any) -> Any:
    """Cross-entropy of f = LN(X^T b), b the softmax of the query's row of Z over the positions before the query."""
    losses = []
    for n, sequence in sequences:
        c = SMALL.classes[n]
        X = [NUMBER[token] for token in sequence]
        powers = [mpmath.exp(Z[NUMBER[c.query]][x]) for x in X]
        b = [power / mpmath.fsum(powers) for power in powers]
        u = [mpmath.fsum(b[i] for i in range(len(X)) if X[i] == l) for l in range(SMALL.M)]  # noqa: E741
        norm = mpmath.sqrt(mpmath.fsum(x * x for x in u))
        logits = [mpmath.fsum(u[l] / norm * Y[l][v] for l in range(SMALL.M)) for v in range(SMALL.M)]  # noqa: E741
        total = mpmath.fsum(mpmath.exp(x) for x in logits)
        losses.append(mpmath.log(total) - logits[NUMBER[c.next]])
    return mpmath.fsum(losses) / len(losses)


def of_sequences(sequences: list[tuple[int, list[str]]]) -> ClassSamples:
    widest = max(len(c.support) for c in SMALL.classes)
    counts = np.zeros((len(sequences), widest), dtype=np.int64)
    for s, (n, sequence) in enumerate(sequences):
        for i, token in enumerate(SMALL.classes[n].support):
            counts[s, i] = sequence.count(token)
    return ClassSamples(np.array([n for n, _ in sequences]), counts)


SEQUENCES = [
    (0, ["a", "the", "a", "b", "a"]),
    (1, ["the", "the", "the", "the", "the"]),
    (2, ["q", "a", "the", "d", "d"]),
    (0, ["b", "b", "a", "the", "the"]),
]


@pytest.mark.parametrize("scale", [0.3, 4.0])
def test_gradients_are_derivatives_of_the_loss_as_written(scale: float) -> None:
    """Central differences of step 1e-15 in 60 digits leave an error of 1e-30."""
    rng = np.random.default_rng(0)
    R, Q = len(SMALL.contextual), len(SMALL.queries)
    Y, Z = scale * rng.normal(size=(R, SMALL.M)), scale * rng.normal(size=(Q, R))
    of_Y, of_Z = np.full_like(Y, np.nan), np.full_like(Z, np.nan)
    samples = of_sequences(SEQUENCES)
    found = gradients(classes_of(SMALL), samples, 1, 4, Y, Z, of_Y, of_Z)
    with mpmath.workdps(60):
        wide_Y, wide_Z = whole(Y, Z)
        assert found == pytest.approx(float(mean_loss(SEQUENCES[1:], wide_Y, wide_Z)), rel=1e-14, abs=0)
        step = mpmath.mpf("1e-15")

        def slope(matrix: Any, i: int, j: int) -> float:
            at = matrix[i][j]
            sides = []
            for sign in (1, -1):
                matrix[i][j] = at + sign * step
                sides.append(mean_loss(SEQUENCES[1:], wide_Y, wide_Z))
            matrix[i][j] = at
            return float((sides[0] - sides[1]) / (2 * step))

        for i, row in enumerate(ROWS):
            for v in range(SMALL.M):
                assert of_Y[i, v] == pytest.approx(slope(wide_Y, row, v), rel=0, abs=2e-15 * scale + 1e-15)
            for q, query in enumerate(ASKED):
                assert of_Z[q, i] == pytest.approx(slope(wide_Z, query, row), rel=0, abs=2e-14 * scale)
    assert np.abs(of_Z).max() > 1e-3 * scale


def by_hand(recipe: Recipe, lr_y: float, lr_z: float, seed: int) -> tuple[Any, Any, Any]:
    """All updates in NumPy, the optimizers as PyTorch documents them, gradients of the compiled function."""
    rng = np.random.default_rng(seed)
    bound = 1 / np.sqrt(SMALL.M) if recipe.start == "uniform" else 0.0
    Y = rng.uniform(-bound, bound, (len(SMALL.contextual), SMALL.M))
    Z = rng.uniform(-bound, bound, (len(SMALL.queries), len(SMALL.contextual)))
    classes = classes_of(SMALL)
    samples = drawn(classes, SMALL.frequencies, recipe.updates * recipe.batch, recipe.length, rng)
    state: dict[str, Any] = {"Y": (0 * Y, 0 * Y), "Z": (0 * Z, 0 * Z)}
    path, losses = [Z.copy()], []
    for t in range(recipe.updates):
        of: dict[str, Any] = {"Y": np.empty_like(Y), "Z": np.empty_like(Z)}
        losses.append(gradients(classes, samples, t * recipe.batch, (t + 1) * recipe.batch, Y, Z, of["Y"], of["Z"]))
        for name, weights, lr in (("Y", Y, lr_y), ("Z", Z, lr_z)):
            first, second = state[name]
            if recipe.optimizer == "adam":
                first, second = 0.9 * first + 0.1 * of[name], 0.999 * second + 0.001 * of[name] ** 2
                mean, size = first / (1 - 0.9 ** (t + 1)), second / (1 - 0.999 ** (t + 1))
                weights -= lr * mean / (np.sqrt(size) + 1e-8)
            else:
                first = recipe.momentum * first + of[name]
                weights -= lr * first
            state[name] = first, second
        path.append(Z.copy())
    return np.array(losses), np.array(path), Y


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(updates=30),
        Recipe(updates=20, momentum=0.0, batch=5, length=9),
        Recipe(updates=20, optimizer="adam", start="zero", batch=16),
        Recipe(updates=0),
    ],
    ids=["momentum", "plain", "adam", "none"],
)
def test_updates_one_after_another(recipe: Recipe) -> None:
    rates = [(1.0, 0.5), (0.2, 2.0)]
    found = train_sampled(SMALL, recipe, rates, seed=3)
    for run, (lr_y, lr_z) in enumerate(rates):
        loss, path, Y = by_hand(recipe, lr_y, lr_z, seed=3)
        np.testing.assert_allclose(found.loss[run], loss, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found.Z[run], path, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.Y[run], Y, rtol=0, atol=1e-10)
