"""The transformer of eqs. 1 and 2: its loss written out token by token, its gradients by differences, its training."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from marginaudit.training.snap.text import Parameters, TextRecipe, attention, gradients, initial, train_on_text
from marginaudit.training.snap.text.train import entropy_of, halves, windows_of

RNG = np.random.default_rng(0)
M, d = 7, 3
AT = Parameters(*(2 * part for part in initial(M, d, RNG)))
WINDOWS = np.array([[0, 1, 1, 2], [3, 3, 3, 4], [5, 0, 6, 5]])
FOLLOWING = np.array([2, 6, 0])


def weights(at: Parameters, window: list[int]) -> list[float]:
    """b_tT of eq. 1, one token after another."""
    *context, query = window
    powers = [np.exp(at.U[query] @ at.W_Q @ at.W_K.T @ at.U[token] / np.sqrt(d)) for token in context]
    return [float(power / sum(powers)) for power in powers]


def loss(at: Parameters) -> float:
    """Eq. 2, the output of attention normalized."""
    found = []
    for window, following in zip(WINDOWS.tolist(), FOLLOWING.tolist(), strict=True):
        u = sum(b * at.U[token] for b, token in zip(weights(at, window), window[:-1], strict=True))
        logits = at.U @ at.W_V @ (u / np.linalg.norm(u))
        found.append(np.log(np.exp(logits).sum()) - logits[following])
    return float(np.mean(found))


def test_attention_and_loss() -> None:
    np.testing.assert_allclose(attention(AT, WINDOWS), [weights(AT, w) for w in WINDOWS.tolist()], rtol=1e-13)
    assert gradients(AT, WINDOWS, FOLLOWING)[0] == pytest.approx(loss(AT), rel=1e-13, abs=0)


@pytest.mark.parametrize("name", Parameters._fields)
def test_gradients_are_derivatives(name: str) -> None:
    """Central differences of step 1e-5 are right to 1e-9 here."""
    found = getattr(gradients(AT, WINDOWS, FOLLOWING)[1], name)
    whole = getattr(AT, name)
    assert found.shape == whole.shape
    for i, j in np.ndindex(whole.shape):
        sides = []
        for sign in (1, -1):
            moved = whole.copy()
            moved[i, j] += sign * 1e-5
            sides.append(loss(AT._replace(**{name: moved})))
        assert found[i, j] == pytest.approx((sides[0] - sides[1]) / 2e-5, rel=0, abs=1e-9)
    assert np.abs(found).max() > 1e-3


def test_the_start_is_about_orthonormal() -> None:
    at = initial(50, 400, np.random.default_rng(0))
    np.testing.assert_allclose(at.U @ at.U.T, np.eye(50), atol=0.3)
    assert [part.std() for part in at] == pytest.approx([0.05] * 4, rel=0.03, abs=0)


def test_windows_and_halves() -> None:
    windows, following = windows_of(np.arange(6), 3)
    assert windows.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert following.tolist() == [3, 4, 5]
    known, held_out = halves(np.arange(11), TextRecipe(held_out=0.2))
    assert (known.tolist(), held_out.tolist()) == (list(range(9)), [9, 10])


@pytest.mark.parametrize("held_out", [0.1, 0.2, 0.5, 0.8])
def test_the_least_text_has_a_window_in_both_parts(held_out: float) -> None:
    recipe = TextRecipe(T=5, held_out=held_out)
    for part in halves(np.arange(recipe.least), recipe):
        assert len(windows_of(part, recipe.T)[0]) >= 1


def test_entropy() -> None:
    assert entropy_of(np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])) == pytest.approx(np.log(2) / 2, rel=1e-15, abs=0)


def text(size: int = 80) -> Any:
    return np.random.default_rng(1).integers(0, 6, size=size)


def test_updates_one_after_another() -> None:
    recipe, eta = TextRecipe(d=4, T=5, batch=3, updates=7, longest=0.4), 3.0
    told: list[int] = []
    found = train_on_text(text(), 6, recipe, eta, 5, (0, 2, 7), lambda: told.append(1))
    rng = np.random.default_rng(5)
    at = initial(6, 4, rng)
    known, held_out = halves(text(), recipe)
    windows, following = windows_of(known, 5)
    cut = 0
    for update in range(8):
        if update in (0, 2, 7):
            i = (0, 2, 7).index(update)
            for part, expected in zip(found.parameters[i], at, strict=True):
                np.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-14)
            shown, after = windows_of(held_out, 5)
            assert found.loss[i] == pytest.approx(gradients(at, shown, after)[0], rel=1e-12, abs=0)
            assert found.entropy[i] == pytest.approx(entropy_of(attention(at, shown)), rel=1e-12, abs=0)
        chosen = rng.integers(len(windows), size=3)
        slope = gradients(at, windows[chosen], following[chosen])[1]
        norm = float(np.linalg.norm(np.concatenate([part.ravel() for part in slope])))
        cut += norm > 0.4
        at = Parameters(*(p - eta * g * min(1, 0.4 / norm) for p, g in zip(at, slope, strict=True)))
    assert cut > 0
    assert found.update.tolist() == [0, 2, 7]
    assert len(told) == 7


def test_short_gradients_are_not_cut() -> None:
    recipe = TextRecipe(d=4, T=5, batch=3, updates=2)
    one, other = (train_on_text(text(), 6, replace(recipe, longest=x), 0.1, 0, (2,)) for x in (1e6, 1e9))
    np.testing.assert_array_equal(one.parameters[0].U, other.parameters[0].U)


def test_one_word_teaches_nothing() -> None:
    found = train_on_text(np.zeros(80, dtype=np.int64), 1, TextRecipe(updates=2), 1.0, 0, (0, 2))
    assert found.loss.tolist() == [0, 0]
    np.testing.assert_array_equal(found.parameters[0].W_K, found.parameters[1].W_K)
