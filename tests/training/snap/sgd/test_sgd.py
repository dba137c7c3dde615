"""Training on samples against the model as written: whole sequences, an M x M matrix Z, 40 digits."""

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders.snap import CASES, SequenceClasses, syn_medium, syn_small
from marginaudit.training.snap.sgd import Recipe, attention, entropy_of_distinct, train_sampled
from marginaudit.training.snap.sgd.kernel import adapt, descend, gradients
from marginaudit.training.snap.sgd.samples import BITS, PER_BINOMIAL, Samples, classes_of, drawn, tally, urns

SMALL = SequenceClasses.from_weights(
    "small",
    9,
    [
        ("n0", "q", {"a": 5, "b": 2, "the": 3}),
        ("n1", "q", {"c": 1, "the": 4}),
        ("the", "p", {"a": 1, "d": 2, "the": 1, "q": 1}),
    ],
)
"""A next token that is also contextual, a query that is also contextual, and tokens that nothing names."""


def mean_loss(data: SequenceClasses, sequences: list[tuple[int, list[str]]], Y: Any, Z: Any) -> Any:
    """Cross-entropy of f = LN(X^T b), b the softmax of the query's row of Z over the positions before the query."""
    number = {token: i for i, token in enumerate(data.tokens)}
    losses = []
    for n, sequence in sequences:
        c = data.classes[n]
        X = [number[token] for token in sequence]
        powers = [mpmath.exp(Z[number[c.query]][x]) for x in X]
        b = [power / mpmath.fsum(powers) for power in powers]
        u = [mpmath.fsum(b[i] for i in range(len(X)) if X[i] == l) for l in range(data.M)]  # noqa: E741
        norm = mpmath.sqrt(mpmath.fsum(x * x for x in u))
        logits = [mpmath.fsum(u[l] / norm * Y[l][v] for l in range(data.M)) for v in range(data.M)]  # noqa: E741
        total = mpmath.fsum(mpmath.exp(x) for x in logits)
        losses.append(mpmath.log(total) - logits[number[c.next]])
    return mpmath.fsum(losses) / len(losses)


def whole(data: SequenceClasses, Y: Any, Z: Any) -> tuple[Any, Any]:
    """Y and Z as M x M lists of lists."""
    number = {token: i for i, token in enumerate(data.tokens)}
    wide_Y, wide_Z = np.zeros((data.M, data.M)), np.zeros((data.M, data.M))
    rows = [number[token] for token in data.contextual]
    wide_Y[rows] = Y
    for i, query in enumerate(data.queries):
        wide_Z[number[query], rows] = Z[i]
    return [[[mpmath.mpf(x) for x in row] for row in matrix.tolist()] for matrix in (wide_Y, wide_Z)]  # type: ignore[return-value]


def of_sequences(data: SequenceClasses, sequences: list[tuple[int, list[str]]]) -> Samples:
    widest = max(len(c.support) for c in data.classes)
    counts = np.zeros((len(sequences), widest), dtype=np.int64)
    for s, (n, sequence) in enumerate(sequences):
        for i, token in enumerate(data.classes[n].support):
            counts[s, i] = sequence.count(token)
    return Samples(np.array([n for n, _ in sequences]), counts)


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
    samples = of_sequences(SMALL, SEQUENCES)
    found = gradients(classes_of(SMALL), samples, 1, 4, Y, Z, of_Y, of_Z)
    number = {token: i for i, token in enumerate(SMALL.tokens)}
    rows = [number[token] for token in SMALL.contextual]
    asked = [number[query] for query in SMALL.queries]
    with mpmath.workdps(60):
        wide_Y, wide_Z = whole(SMALL, Y, Z)
        assert found == pytest.approx(float(mean_loss(SMALL, SEQUENCES[1:], wide_Y, wide_Z)), rel=1e-14, abs=0)
        step = mpmath.mpf("1e-15")

        def slope(matrix: Any, i: int, j: int) -> float:
            at = matrix[i][j]
            sides = []
            for sign in (1, -1):
                matrix[i][j] = at + sign * step
                sides.append(mean_loss(SMALL, SEQUENCES[1:], wide_Y, wide_Z))
            matrix[i][j] = at
            return float((sides[0] - sides[1]) / (2 * step))

        for i, row in enumerate(rows):
            for v in range(SMALL.M):
                assert of_Y[i, v] == pytest.approx(slope(wide_Y, row, v), rel=0, abs=2e-15 * scale + 1e-15)
            for q, query in enumerate(asked):
                assert of_Z[q, i] == pytest.approx(slope(wide_Z, query, row), rel=0, abs=2e-14 * scale)
    assert np.abs(of_Z).max() > 1e-3 * scale


def test_mean_of_the_batch_and_of_no_other_sample() -> None:
    rng = np.random.default_rng(1)
    Y, Z = rng.normal(size=(len(SMALL.contextual), SMALL.M)), rng.normal(size=(2, len(SMALL.contextual)))
    samples = of_sequences(SMALL, SEQUENCES)
    classes = classes_of(SMALL)
    each = []
    for s in (1, 2):
        of_Y, of_Z = np.empty_like(Y), np.empty_like(Z)
        each.append((gradients(classes, samples, s, s + 1, Y, Z, of_Y, of_Z), of_Y, of_Z))
    of_Y, of_Z = np.empty_like(Y), np.empty_like(Z)
    loss = gradients(classes, samples, 1, 3, Y, Z, of_Y, of_Z)
    assert loss == pytest.approx((each[0][0] + each[1][0]) / 2, rel=1e-15, abs=0)
    np.testing.assert_allclose(of_Y, (each[0][1] + each[1][1]) / 2, rtol=0, atol=1e-16)
    np.testing.assert_allclose(of_Z, (each[0][2] + each[1][2]) / 2, rtol=0, atol=1e-16)


def test_a_token_that_a_sample_lacks_may_have_any_score() -> None:
    """The scores of tokens that occur are shifted by the largest of them, not by that of one that does not."""
    Y, Z = np.ones((len(SMALL.contextual), SMALL.M)), np.zeros((2, len(SMALL.contextual)))
    row = SMALL.contextual.index("c")
    Z[:, row] = 1e4
    of_Y, of_Z = np.empty_like(Y), np.empty_like(Z)
    loss = gradients(classes_of(SMALL), of_sequences(SMALL, SEQUENCES[1:2]), 0, 1, Y, Z, of_Y, of_Z)
    assert loss == pytest.approx(np.log(9), rel=1e-15, abs=0)
    assert np.isfinite(of_Z).all()
    assert of_Z[0, row] == 0


def by_hand(recipe: Recipe, data: SequenceClasses, lr_y: float, lr_z: float, seed: int) -> tuple[Any, Any, Any]:
    """All updates in NumPy, the optimizers as PyTorch documents them, gradients of the compiled function."""
    rng = np.random.default_rng(seed)
    bound = 1 / np.sqrt(data.M) if recipe.start == "uniform" else 0.0
    Y = rng.uniform(-bound, bound, (len(data.contextual), data.M))
    Z = rng.uniform(-bound, bound, (len(data.queries), len(data.contextual)))
    classes = classes_of(data)
    samples = drawn(classes, data.frequencies, recipe.updates * recipe.batch, recipe.length, rng)
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
        loss, path, Y = by_hand(recipe, SMALL, lr_y, lr_z, seed=3)
        np.testing.assert_allclose(found.loss[run], loss, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found.Z[run], path, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.Y[run], Y, rtol=0, atol=1e-10)


def test_an_update_is_that_of_its_optimizer() -> None:
    weights, first, second = np.array([1.0, -2.0]), np.array([0.1, 0.2]), np.array([0.3, 0.4])
    descend(weights, np.array([1.0, 2.0]), first, 0.5, 0.9)
    np.testing.assert_allclose(first, [1.09, 2.18], rtol=1e-15)
    np.testing.assert_allclose(weights, [1 - 0.545, -2 - 1.09], rtol=1e-15)
    adapt(weights, np.array([1.0, 2.0]), first, second, 0.5, 2)
    np.testing.assert_allclose(first, [1.081, 2.162], rtol=1e-15)
    np.testing.assert_allclose(second, [0.2997 + 0.001, 0.3996 + 0.004], rtol=1e-14)
    step = 0.5 * np.array([1.081, 2.162]) / 0.19 / (np.sqrt(np.array([0.3007, 0.4036]) / 0.001999) + 1e-8)
    np.testing.assert_allclose(weights, np.array([0.455, -3.09]) - step, rtol=1e-12)


def test_the_same_samples_for_all_rates_and_other_ones_for_other_seeds() -> None:
    both = train_sampled(SMALL, Recipe(updates=5), [(1.0, 1.0), (0.5, 2.0)], seed=0)
    alone = train_sampled(SMALL, Recipe(updates=5), [(0.5, 2.0)], seed=0)
    other = train_sampled(SMALL, Recipe(updates=5), [(0.5, 2.0)], seed=1)
    assert (both.Z[1] == alone.Z[0]).all()
    assert (both.Y[1] == alone.Y[0]).all()
    assert (other.Z[0, 0] != alone.Z[0, 0]).any()
    assert np.abs(other.loss - alone.loss).max() > 1e-3


def test_starts() -> None:
    data = syn_small()
    zero = train_sampled(data, Recipe(updates=1, start="zero"), [(1.0, 1.0)], seed=0)
    assert zero.loss[0, 0] == pytest.approx(np.log(data.M), rel=1e-14, abs=0)
    assert not zero.Z[0, 0].any()
    uniform = train_sampled(data, Recipe(updates=0), [(1.0, 1.0)], seed=0)
    for start in (uniform.Z[0, 0], uniform.Y[0]):
        assert np.abs(start).max() <= data.M**-0.5
        assert start.max() > 0.8 * data.M**-0.5
        assert start.min() < -0.8 * data.M**-0.5


@pytest.mark.parametrize("length", [7, 127])
def test_samples_follow_their_law(length: int) -> None:
    """Within five standard deviations, for every class, token and pair of tokens; drawn in both ways."""
    data = CASES["snap-single"]()
    classes = classes_of(data)
    size = 40_000
    frequency = np.array([0.8, 0.2])
    assert (length > PER_BINOMIAL * 3) == (length == 127)
    samples = drawn(classes, frequency, size, length, np.random.default_rng(0))
    assert (samples.counts.sum(axis=1) == length).all()
    for n, share in enumerate(frequency.tolist()):
        of_class = samples.counts[samples.number == n].astype(float)
        assert len(of_class) == pytest.approx(size * share, rel=0, abs=5 * np.sqrt(size * share * (1 - share)))
        P = np.array([data.classes[n].probabilities[token] for token in data.classes[n].support])
        expected = length * (np.diag(P) - np.outer(P, P))
        np.testing.assert_allclose(of_class.mean(axis=0), length * P, atol=5 * np.sqrt(length / 4 / len(of_class)))
        np.testing.assert_allclose(np.cov(of_class.T), expected, atol=20 * length / np.sqrt(len(of_class)))
        np.testing.assert_allclose(np.cov(of_class.T), expected, rtol=0, atol=0.1 * np.abs(expected).max())


def test_random_numbers_are_drawn_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pieces of a class are its samples in their order, so that their size changes nothing."""
    classes, frequency = classes_of(SMALL), np.array([0.2, 0.3, 0.5])
    whole = drawn(classes, frequency, 200, 10, np.random.default_rng(0))
    monkeypatch.setattr("marginaudit.training.snap.sgd.samples.DRAWN_AT_ONCE", 37)
    pieces = drawn(classes, frequency, 200, 10, np.random.default_rng(0))
    np.testing.assert_array_equal(pieces.counts, whole.counts)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=30))
def test_urns_have_the_probabilities(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    own, tokens = urns(p)
    assert (own >= 0).all()
    assert (own <= 1).all()
    drawn_by = np.zeros(len(p))
    for (other, token), share in zip(tokens.tolist(), own.tolist(), strict=True):
        drawn_by[token] += share / len(p)
        drawn_by[other] += (1 - share) / len(p)
    np.testing.assert_allclose(drawn_by, p, rtol=0, atol=1e-15)


def test_a_half_word_chooses_an_urn_and_a_token_in_it() -> None:
    """The lower half first; the last upper half of an odd length is not used."""
    shares, tokens = np.array([2**32, 3 * 2**30, 2**30], dtype=np.uint64), np.array([[2, 0], [0, 1], [1, 2]])
    places = np.array([[0.0, 0.333, 0.34], [0.6, 0.7, 0.9999], [0.584, 0.582, 0.2]])
    halves = [[int(place * 2**32) for place in row] + [2**32 - 1] for row in places]
    words = np.array([[row[0] + (row[1] << 32), row[2] + (row[3] << 32)] for row in halves], dtype=np.uint64)
    count = np.zeros((3, 3), dtype=np.int64)
    tally(words, 3, shares, tokens, count, np.array([2, 0, 1]))
    assert count.tolist() == [[1, 1, 1], [2, 1, 0], [2, 1, 0]]


def test_half_words_at_equal_distances_choose_by_the_law() -> None:
    """Two intervals of an urn make at most two numbers too many or too few."""
    p, many = np.array([0.5, 0.3, 0.15, 0.05]), 2**16
    own, tokens = urns(p)
    halves = np.arange(many, dtype=np.uint64) * np.uint64(2**BITS // many)
    words = halves[None, ::2] + (halves[None, 1::2] << np.uint64(BITS))
    count = np.zeros((1, len(p)), dtype=np.int64)
    tally(words, many, np.rint(own * 2.0**BITS).astype(np.uint64), tokens, count, np.array([0]))
    np.testing.assert_allclose(count[0], many * p, rtol=0, atol=2 * len(p))


def test_tokens_and_queries_are_found_by_name() -> None:
    classes = classes_of(SMALL)
    assert SMALL.tokens == ("a", "b", "the", "c", "d", "q", "p", "n0", "n1")
    assert SMALL.contextual == ("a", "b", "the", "c", "d", "q")
    assert classes.label.tolist() == [7, 8, 2]
    assert classes.query.tolist() == [0, 0, 1]
    assert classes.first.tolist() == [0, 3, 5, 9]
    assert classes.token.tolist() == [0, 1, 2, 3, 2, 0, 4, 2, 5]
    np.testing.assert_allclose(classes.probability, [0.5, 0.2, 0.3, 0.2, 0.8, 0.2, 0.4, 0.2, 0.2], rtol=1e-15)


def test_attention_and_entropy_by_hand() -> None:
    Z = np.zeros((2, 3, len(SMALL.contextual)))[:, :2]
    Z[1, 0, SMALL.contextual.index("b")] = np.log(5)
    c = attention(SMALL, Z)
    assert c.shape == (2, 3, 6)
    np.testing.assert_allclose(c[0], SMALL.P, rtol=1e-15)
    np.testing.assert_allclose(c[1, 0, :3], np.array([5, 10, 3]) / 18, rtol=1e-14)
    np.testing.assert_allclose(c[1, 1:], SMALL.P[1:], rtol=1e-15)
    # distinct: b of n0; c of n1; d and q of the third class
    third = -(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3))
    np.testing.assert_allclose(entropy_of_distinct(SMALL, Z), third / 3, rtol=1e-14)
    far = Z.copy()
    far[:, 1, SMALL.contextual.index("d")] = 5000.0
    np.testing.assert_allclose(entropy_of_distinct(SMALL, far), 0, atol=1e-300)
    none = SequenceClasses.from_weights("none", 9, [("x", "q", {"a": 1}), ("y", "q", {"a": 1})])
    with pytest.raises(ValueError, match="none: got no class with a distinct token, expected one"):
        entropy_of_distinct(none, np.zeros((1, 1)))


def test_entropy_is_that_of_equal_attention_at_most_and_the_datas_where_nothing_is_learned() -> None:
    data = syn_medium(2)
    weights = np.linspace(0.1, 1, 10) / 5.5
    start = entropy_of_distinct(data, np.zeros((2, len(data.contextual))))
    assert float(start) == pytest.approx(-float(weights @ np.log(weights)), rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"updates": -1}, "updates: got -1, expected at least 0"),
        ({"batch": 0}, "batch: got 0, expected at least 1"),
        ({"length": 0}, "length: got 0, expected at least 1"),
        ({"momentum": 1.0}, "momentum: got 1.0, expected at least 0 and below 1"),
        ({"momentum": float("nan")}, "momentum: got nan, expected at least 0 and below 1"),
        ({"momentum": -0.1}, "momentum: got -0.1, expected at least 0 and below 1"),
        ({"optimizer": "sgd"}, "optimizer: got 'sgd', expected momentum or adam"),
        ({"start": "one"}, "start: got 'one', expected uniform or zero"),
    ],
)
def test_recipes_out_of_range(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Recipe(**wrong)


@pytest.mark.parametrize("rate", [-1.0, float("inf"), float("nan")])
def test_rates_out_of_range(rate: float) -> None:
    for rates in ([(rate, 1.0)], [(1.0, 1.0), (1.0, rate)]):
        with pytest.raises(ValueError, match=f"rates: got {rate}, expected finite numbers of at least 0"):
            train_sampled(SMALL, Recipe(updates=1), rates, seed=0)
