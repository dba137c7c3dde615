"""The gradients beside their definition in 60 digits; the bound on rounding beside what a stranger's program loses."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.training.ntp.recorded.gradients import EXP, Stage1Loss, Stage2Loss, TextbookGradient
from marginaudit.training.ntp.recorded.rules import by_column, momentum, normalised, unit
from tests.training.ntp.recorded.program import Mistake, stage1_gradient, stage2_gradient

ONE_HOT = CASES["example-1"]()
COUNTED = replace(ONE_HOT, counts=tuple(range(1, ONE_HOT.N + 1)))
EMBEDDED = replace(COUNTED, embedding=np.random.default_rng(3).normal(size=(4, 3)))
REPEATED = Dataset(
    "repeated",
    ("a", "b"),
    (Sample(("b",) * 5, "a"), Sample(("a", "b", "b"), "a")),
    (10**6, 1),
    next_token={"a": "b", "b": "a"},
)
DATA = {
    "one-hot": ONE_HOT,
    "counted": COUNTED,
    "embedded": EMBEDDED,
    "section-7": CASES["section-7"](),
    "repeated": REPEATED,
}


def weights(data: Dataset, size: float, dtype: Any) -> tuple[Any, Any]:
    random = np.random.default_rng(5)
    V, d = data.embeddings.shape
    return (random.normal(size=shape).astype(dtype) * dtype(size) for shape in ((V, d), (d, d)))  # type: ignore[return-value]


def exact_loss(data: Dataset, W_ov: Any, W: Any) -> Any:
    """Eq. 1 in mpmath."""
    E = data.embeddings.tolist()
    total, found = sum(data.counts), mpmath.mpf(0)
    for sample, count in zip(data.samples, data.counts, strict=True):
        X = [[mpmath.mpf(a) for a in E[data.index[x]]] for x in sample.tokens]
        toward = [mpmath.fdot(row, X[-1]) for row in W]
        weight = [mpmath.exp(mpmath.fdot(x, toward)) for x in X]
        context = [mpmath.fdot(weight, column) / mpmath.fsum(weight) for column in zip(*X, strict=True)]
        z = [mpmath.fdot(row, context) for row in W_ov]
        log_P = z[data.index[sample.next]] - mpmath.log(mpmath.fsum(map(mpmath.exp, z)))
        found -= mpmath.mpf(count) / total * log_P
    return found


def exact_l0(data: Dataset, W_ov: Any) -> Any:
    n = data.collocation.function
    found = mpmath.mpf(0)
    for x, token in zip(data.embeddings.tolist(), data.vocabulary, strict=True):
        z = [mpmath.fdot(row, x) for row in W_ov]
        found -= z[data.index[n[token]]] - mpmath.log(mpmath.fsum(map(mpmath.exp, z)))
    return found


def differentiated(loss: Any, W: Any) -> Any:
    """Central differences of step 1e-20 in 60 digits: off by 1e-40."""
    rows = [[mpmath.mpf(float(a)) for a in row] for row in W]
    h = mpmath.mpf(10) ** -20
    found = np.zeros(W.shape, dtype=object)
    for i, j in np.ndindex(W.shape):
        kept = rows[i][j]
        rows[i][j] = kept + h
        above = loss(rows)
        rows[i][j] = kept - h
        found[i, j] = (above - loss(rows)) / (2 * h)
        rows[i][j] = kept
    return found


def off(found: Any, exact: Any) -> float:
    with mpmath.workdps(60):
        return float(np.linalg.norm((abs(found.astype(object) - exact)).astype(float)))


@pytest.mark.parametrize("size", [0.1, 1.0, 12.0])
@pytest.mark.parametrize("name", ["one-hot", "counted", "embedded"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bound_holds_what_rounding_does_to_a_program_and_is_not_far_above(
    name: str, size: float, dtype: Any
) -> None:
    data, u = DATA[name], float(np.finfo(dtype).eps) / 2
    W_ov, W = weights(data, size, dtype)
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(float(a)) for a in row] for row in W_ov]
        exact = differentiated(lambda W_kq: exact_loss(data, rows, W_kq), W)
        exact_ov = differentiated(lambda ov: exact_l0(data, ov), W_ov)
        exact_loss_ov = differentiated(lambda ov: exact_loss(data, ov, W.tolist()), W_ov)
    wide_ov, wide = W_ov.astype(float), W.astype(float)
    loss = Stage2Loss(data)
    theirs, theirs_ov = stage2_gradient(data, W_ov, W, Mistake())
    for program, found, true in (
        (stage1_gradient(data, W_ov), Stage1Loss(data).gradient(wide_ov, u), exact_ov),
        (theirs, loss.gradient(wide_ov, wide, u), exact),
        (theirs_ov, loss.ov_gradient(wide_ov, wide, u), exact_loss_ov),
    ):
        lost = off(program, true)
        bound = np.linalg.norm(found.rounding)
        assert lost <= bound
        assert bound <= 600 * max(float(lost), u * float(np.linalg.norm(found.value))) or size > 1
        assert off(found.value, true) <= bound * 2.0**-53 / u


STEP = 1e-30


class Rounding:
    """Rounds arrays of runs, each number by ``times`` unit roundoffs at most.

    A program is written for arrays of runs, shape (runs, ...), and passes what it rounds through `Rounding`. Each run
    gives one rounded number an imaginary part, and so the derivative of the result by it. The sum of their absolute
    values is the worst that roundings can add up to, in units of the unit roundoff.
    """

    def __init__(self, runs: int) -> None:
        self.runs, self.used = runs, 0

    def __call__(self, x: Any, times: float = 1.0) -> Any:
        size, off = x[0].size, np.zeros((self.runs, x[0].size), dtype=complex)
        if self.runs > 1:
            off[self.used + np.arange(size), np.arange(size)] = STEP * 1j
        self.used += size
        return x * (1 + times * off.reshape(x.shape))

    def given(self, x: Any) -> Any:
        """Input data, each number rounded once; zeros and ones are exact."""
        every = np.broadcast_to(np.asarray(x, dtype=complex), (self.runs, *np.shape(x)))
        return every if np.isin(x, (0, 1)).all() else self(every)

    def dot(self, a: Any, b: Any) -> Any:
        """Inner products along the last axis; of k nonzero terms each is rounded k times."""
        terms = a * b
        return self(terms, max(np.count_nonzero(terms[0], axis=-1).max(), 1)).sum(axis=-1)

    def softmax(self, z: Any, exp: float, form: str = "share") -> Any:
        """Softmax along the last axis, also as exp(z - lse); ``exp`` is the error of an exponential, in roundoffs."""
        largest = z.real.max(axis=-1, keepdims=True)
        e = self(np.exp(self(z - largest)), exp)
        total = self(e, z.shape[-1]).sum(axis=-1, keepdims=True)
        if form == "share":
            return self(e / total)
        return self(np.exp(self(z - self(largest + self(np.log(total), exp)))), exp)

    def surplus(self, z: Any, answer: int, form: str) -> Any:
        """P - e_y; ``form`` "closed" is minus the sum of the others."""
        P, one = self.softmax(z, EXP, "lse" if form == "lse" else "share"), np.eye(z.shape[-1])[answer]
        if form != "closed":
            return self(P - one)
        others = P * (1 - one)
        return others - one * self(others, z.shape[-1]).sum(axis=-1, keepdims=True)


def most(program: Callable[[Rounding], Any]) -> Any:
    """The most that rounding may change what a program computes, to first order, by forward differentiation."""
    counting = Rounding(1)
    program(counting)
    return np.abs(program(Rounding(counting.used)).imag / STEP).sum(axis=0)


FORMS = ("share", "lse", "closed")
"""How P - e_y is formed."""


def eq_5(off: Rounding, data: Dataset, W_ov: Any, form: str) -> Any:
    """Eq. 5 token by token."""
    E, W, n = off.given(data.embeddings), off.given(W_ov), data.collocation.require_function()
    terms, G = np.count_nonzero(data.embeddings, axis=0).max() + 1, 0
    for i, x in enumerate(data.vocabulary):
        r = off.surplus(off.dot(W, E[:, i, None]), data.index[n[x]], form)
        G = G + off(r[:, :, None] * E[:, i, None], terms)
    return G


def both_gradients(off: Rounding, data: Dataset, W_ov: Any, W: Any, form: str) -> tuple[Any, Any]:
    """Eq. 6 sample by sample, and the gradient of the same loss in W_ov."""
    E, W, W_ov = map(off.given, (data.embeddings, W, W_ov))
    G = of_ov = 0
    samples, X_q = sum(data.counts), [data.embeddings[[data.index[x] for x in one.tokens]] for one in data.samples]
    terms = sum(
        many * np.count_nonzero(X[:, :, None] * X[-1], axis=0) for X, many in zip(X_q, data.counts, strict=True)
    )
    for sample, pi in zip(data.samples, data.frequencies, strict=True):
        X = E[:, [data.index[x] for x in sample.tokens]]
        q = X[:, -1]
        phi = off.softmax(off.dot(X, off.dot(W, q[:, None])[:, None]), EXP)
        context = off.dot(np.swapaxes(X, 1, 2), phi[:, None])
        r = off.surplus(off.dot(W_ov, context[:, None]), data.index[sample.next], form)
        g = off.dot(X, off.dot(np.swapaxes(W_ov, 1, 2), r[:, None])[:, None])
        weight = off(phi * off(g - off.dot(phi, g)[:, None]))
        pairs = pi * weight[:, :, None, None] * X[:, :, :, None] * q[:, None, None]
        G = G + off(pairs, terms + 3).sum(axis=1)
        of_ov = of_ov + off(pi * r[:, :, None] * context[:, None], samples + 2)
    return G, of_ov


@pytest.mark.parametrize("size", [0.1, 1.0, 12.0])
@pytest.mark.parametrize("name", ["one-hot", "counted", "embedded", "repeated"])
def test_the_bound_holds_all_that_roundings_can_add_up_to_and_is_not_far_above(name: str, size: float) -> None:
    data = DATA[name]
    W_ov, W = weights(data, size, np.float64)
    loss, u = Stage2Loss(data), 2.0**-40
    programs: tuple[tuple[TextbookGradient, Callable[[Rounding, str], Any], float], ...] = (
        (Stage1Loss(data).gradient(W_ov, u), lambda off, form: eq_5(off, data, W_ov, form), 4),
        (loss.gradient(W_ov, W, u), lambda off, form: both_gradients(off, data, W_ov, W, form)[0], 5),
        (loss.ov_gradient(W_ov, W, u), lambda off, form: both_gradients(off, data, W_ov, W, form)[1], 5),
    )
    for found, program, factor in programs:
        worst = np.max([most(lambda off, form=form: program(off, form)) for form in FORMS], axis=0)  # type: ignore[misc] # noqa: B023
        assert (worst <= found.rounding / u * (1 + 1e-9)).all()
        assert np.linalg.norm(found.rounding) <= factor * u * np.linalg.norm(worst)


def test_the_bound_holds_where_roundings_of_long_scores_add_up() -> None:
    """Attention is even, as the scores of b and of a = -b under b cancel to 0."""
    i, b = np.arange(16.0), np.full(16, 1.5)
    sample, embedding = Sample(("a", "b"), "a"), np.array([-b, b])
    data = Dataset("opposite", ("a", "b"), (sample,), (1,), next_token={"a": "a", "b": "b"}, embedding=embedding)
    W = 10 * np.sign(np.subtract.outer(i, i))
    worst = most(lambda off: both_gradients(off, data, embedding, W, "share")[0])
    assert (worst <= Stage2Loss(data).gradient(embedding, W, 2.0**-40).rounding * 2.0**40).all()


@pytest.mark.parametrize(
    ("size", "gap", "lost"),
    [(1e10, 1.0, True), (1e10, 2000.0, True), (1e10, 1e5, False), (1e4, 1.0, False), (5e5, 1.0, True)],
)
def test_there_is_no_bound_where_rounding_decides_a_share(size: float, gap: float, lost: bool) -> None:
    """Logits, or scores, of a size in float32, the two largest of them apart by a gap."""
    data, u = DATA["one-hot"], 2.0**-24
    W = np.tile([size, size - gap, 0.0, 0.0], (data.V, 1)).T
    nothing, loss = np.zeros_like(W), Stage2Loss(data)
    assert np.isinf(Stage1Loss(data).gradient(W, u).rounding).all() == lost
    for of in (loss.gradient, loss.ov_gradient):
        assert np.isinf(of(W, nothing, u).rounding).all() == lost
        assert np.isinf(of(nothing, W, u).rounding).all() == lost


def test_other_weights_are_means_over_samples_and_over_queries() -> None:
    data = COUNTED
    loss = Stage2Loss(data)
    W_ov, W = weights(data, 1.0, np.float64)
    every, query, longer, shorter, roots = loss.other_weights().values()
    assert every.sum() == pytest.approx(1)
    uniform, _ = stage2_gradient(data, W_ov, W, Mistake(uniform=True))
    np.testing.assert_allclose(loss.gradient(W_ov, W, 0, every).value, uniform, atol=1e-14)
    of_query = np.bincount(loss.query, query)
    np.testing.assert_allclose(of_query[of_query > 0], 1)
    pi, length = np.array(data.frequencies), np.array([len(sample.tokens) for sample in data.samples])
    for own, others in ((pi * length, longer), (pi / length, shorter), (np.sqrt(pi) / np.sqrt(pi).sum(), roots)):
        uniform, _ = stage2_gradient(data, W_ov, W, Mistake(weights=tuple(own)))
        np.testing.assert_allclose(loss.gradient(W_ov, W, 0, others).value, uniform, atol=1e-14)


@pytest.mark.parametrize("share", [1e-6, 0.3, 0.9])
def test_a_step_turns_by_no_more_than_the_rounding_of_its_gradient_allows(share: float) -> None:
    """By as much as is across the gradient, and column by column."""
    off = np.array([[0.0, 0.0], [3 * share, 0.0]])
    gradient = TextbookGradient(np.array([[3.0, 0.0], [0.0, 0.0]]), off)
    stage: Any = SimpleNamespace(gradient=lambda *_: gradient, unit=lambda *_: unit(gradient, 0.0), u=0.0, least=0.0)
    true = gradient.value + off
    for rule in (normalised(stage, 0.5), by_column(stage, 0.5)):
        change, bar = rule(np.zeros((2, 2)))
        turned = np.linalg.norm(change + 0.5 * true / np.linalg.norm(true))
        assert turned <= bar <= 2 * turned


def test_the_bound_of_a_step_column_by_column_is_one_for_all_columns() -> None:
    gradient = TextbookGradient(np.repeat([[3.0], [0.0]], 9, axis=1), np.repeat([[0.0], [0.3]], 9, axis=1))
    stage: Any = SimpleNamespace(gradient=lambda *_: gradient, unit=lambda *_: unit(gradient, 0.0), u=0.0, least=0.0)
    change, bar = by_column(stage, 0.5)(np.zeros((2, 9)))
    true = gradient.value + gradient.rounding
    assert np.linalg.norm(change + 0.5 * true / np.linalg.norm(true, axis=0)) <= bar


@pytest.mark.parametrize(("beta", "nesterov"), [(0.75, False), (-0.75, False), (0.75, True)])
def test_the_bar_of_momentum_is_what_changes_that_are_off_by_theirs_may_add(beta: float, nesterov: bool) -> None:
    """Beside all signs of what the changes of three steps are off by: the farthest is as far as the bar."""
    offs, found = (0.5, 0.25, 1.0), []
    for signs in product((-1, 0, 1), repeat=3):
        changes = iter([(np.array([1.0 + sign * off]), off) for sign, off in zip(signs, offs, strict=True)])
        step = momentum(lambda _, changes=changes: next(changes), beta, share=0.5, nesterov=nesterov)  # type: ignore[misc]
        found.append([step(np.zeros(1)) for _ in offs])
    exact = found[len(found) // 2]
    for t in range(3):
        farthest = max(abs(steps[t][0] - exact[t][0]).item() for steps in found)
        assert farthest == exact[t][1]


def test_the_bound_covers_weights_known_up_to_an_error() -> None:
    """Other weights within the error, at the ends; the bound is at most 100 times too wide."""
    loss, u, random = Stage2Loss(EMBEDDED), 2.0**-53, np.random.default_rng(0)
    W_ov, W = weights(EMBEDDED, 1.0, np.float64)
    off = np.full_like(W, 1e-6)
    value, bound = loss.gradient(W_ov, W, u, off=off)
    others = [loss.gradient(W_ov, W + off * random.choice((-1, 1), W.shape), u).value for _ in range(50)]
    apart = np.abs(np.array(others) - value).max(axis=0)
    assert (apart <= bound).all()
    assert apart.max() > bound.max() / 100
