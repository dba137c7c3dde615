"""High-precision descent against the loss by difference quotients, the closed form of stage 1, and the float64 run."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import flint
import numpy as np
import pytest

from tests.oracle import descent
from tests.oracle.answer import EQUAL
from tests.oracle.descent import ball, common_margin, groups, logits, stage1, stage2
from tests.oracle.experiment import BITS, Experiment, Settings
from tests.oracle.late import late
from tests.oracle.problem import Problem, problem
from tests.oracle.stage1_statements import stage1_loss
from tests.oracle.stage2_statements import one_minus_cos
from tests.oracle.theorem3_statements import gap, resolved_gap

EXAMPLE = {"sentences": [list(sentence) for sentence in ("SVOP", "VOP", "OPP", "PSV")]}
UNEVEN = {
    "next_token": {"a": "b", "b": "c", "c": "a"},
    "samples": [
        {"tokens": ["a", "b", "b", "a", "c"], "next": "b", "count": 7},
        {"tokens": ["b", "a"], "next": "c", "count": 10**9},
        {"tokens": ["c", "a", "c"], "next": "a"},
    ],
}
HEIGHT_ONE = {
    "next_token": {"a": "b", "b": "c", "c": "a"},
    "samples": [
        {"tokens": ["a", "b", "b", "a", "c"], "next": "b", "count": 7},
        {"tokens": ["a", "c"], "next": "b", "count": 10**9},
        {"tokens": ["b", "a", "b"], "next": "c"},
    ],
}
SKEW = {"embedding": [[1.0, 0.0, 0.5, 0.0], [0.25, -1.0, 0.0, 1.0], [0.0, 2.0, 1.0, 0.125]]}


@pytest.fixture(autouse=True)
def _bits() -> Iterator[None]:
    with flint.ctx.workprec(BITS):
        yield


def loss(p: Problem, gram: list[list[Fraction]], B: list[list[flint.arb]], K: list[list[flint.arb]]) -> flint.arb:
    """Eq. 1 from the definitions: softmax over positions, softmax over labels."""
    at = {x: i for i, x in enumerate(p.vocabulary)}
    G = [[ball(a) for a in row] for row in gram]
    total = flint.arb(0)
    for (tokens, y), count in p.counts.items():
        q = at[tokens[-1]]
        scores = [
            sum((G[at[x]][i] * K[i][j] * G[j][q] for i, j in product(range(p.V), repeat=2)), flint.arb(0))
            for x in tokens
        ]
        weights = [s.exp() for s in scores]
        phi = [w / sum(weights, flint.arb(0)) for w in weights]
        z = [sum((f * B[v][at[x]] for f, x in zip(phi, tokens, strict=True)), flint.arb(0)) for v in range(p.V)]
        total += (flint.arb(count) / p.total) * (sum((a.exp() for a in z), flint.arb(0)).log() - z[at[y]])
    return total


@pytest.mark.parametrize("document", [EXAMPLE, UNEVEN, UNEVEN | SKEW])
def test_each_step_is_normalised_gradient_descent_on_the_loss(document: dict[str, list[list[str]]]) -> None:
    """<grad, X_i X_j^T> for every pair of tokens, by a difference quotient of the loss, against the step taken."""
    p = problem(document)
    C = stage1(p, p.gram, 0.3, 5)[-1]
    B = logits(C, p.gram)
    states = stage2(p, p.gram, B, None, 0.7, 3)
    G = [[ball(a) for a in row] for row in p.gram]
    state, h = states[2], flint.arb(2) ** -100
    step = [
        [(b - a) / ball(0.7) for a, b in zip(*rows, strict=True)]
        for rows in zip(state.weights, states[3].weights, strict=True)
    ]
    slopes = []
    for i, j in product(range(p.V), repeat=2):
        moved = [
            [[a + sign * h * ((i, j) == (k, m)) for m, a in enumerate(row)] for k, row in enumerate(state.weights)]
            for sign in (1, -1)
        ]
        quotient = (loss(p, p.gram, B, moved[0]) - loss(p, p.gram, B, moved[1])) / (2 * h)
        along = sum((step[k][m] * G[k][i] * G[m][j] for k, m in product(range(p.V), repeat=2)), flint.arb(0))
        slopes.append((quotient, along))
    size = max(
        (abs(quotient) / abs(along) for quotient, along in slopes if abs(along).mid() > 1e-20), key=lambda x: x.mid()
    )
    for quotient, along in slopes:
        assert abs(quotient + size * along).mid() < 1e-50
    lengths = sum(
        (step[i][j] * step[k][m] * G[i][k] * G[j][m] for i, j, k, m in product(range(p.V), repeat=4)), flint.arb(0)
    )
    assert abs(lengths - 1).mid() < 1e-80
    assert abs(state.log_loss.exp() - loss(p, p.gram, B, state.weights)).mid() < 1e-90


@pytest.mark.parametrize("document", [EXAMPLE, UNEVEN])
def test_stage_1_is_on_the_ray(document: dict[str, list[list[str]]]) -> None:
    """t eta0 W*_ov/||W*_ov||, all margins t eta0/sqrt(V-1), and its loss."""
    p = problem(document)
    e = Experiment(p, Settings(9, 0, 2.5, 1.0), 0)
    for t, C in enumerate(stage1(p, p.gram, 2.5, 9)):
        rate = t * ball(2.5) / e.norm_ov
        L0 = flint.arb(0)
        for j, x in enumerate(p.vocabulary):
            for i, v in enumerate(p.vocabulary):
                assert abs(C[i][j] - rate * ball(e.ov.weights.get((v, x), Fraction(0)))).mid() < 1e-100
            y = p.vocabulary.index(p.n[x])
            L0 += sum(((C[v][j] - C[y][j]).exp() for v in range(p.V)), flint.arb(0)).log()
        assert abs(L0 - stage1_loss(e, t)).mid() < 1e-100
    assert e.ov.norm_squared == p.V - 1


def test_the_common_margin_is_what_stage_1_leaves() -> None:
    p = problem(UNEVEN)
    e = Experiment(p, Settings(11, 20, 0.3, 0.7), 20)
    B = logits(stage1(p, p.gram, 0.3, 11)[-1], p.gram)
    for own, other in zip(stage2(p, p.gram, B, None, 0.7, 20), e.states, strict=True):
        assert abs(own.norm - other.norm).mid() < 1e-80
        assert abs(own.log_loss - other.log_loss).mid() < 1e-80


def test_the_excess_is_the_loss_less_its_infimum() -> None:
    e = Experiment(problem(UNEVEN), Settings(3, 12, 0.5, 0.7), 12)
    assert e.A is not None
    infimum = ((e.problem.V - 1) * (-e.A).exp()).log1p()
    for state in e.states:
        assert state.log_excess is not None
        assert abs(state.log_excess.exp() / (state.log_loss.exp() - infimum) - 1).mid() < 1e-60


def test_a_repeated_token_counts_in_attention() -> None:
    p = problem({"next_token": {"a": "a", "b": "b"}, "samples": [{"tokens": ["a", "a", "a", "b"], "next": "a"}]})
    state = stage2(p, p.gram, common_margin(p, flint.arb(1)), flint.arb(1), 1.0, 0)[0]
    assert groups(p)[0].bag == ((0, 3), (1, 1))
    assert [float(f) for f in state.attention[0]] == [0.75, 0.25]


def test_no_gradient_no_step() -> None:
    """Two samples whose pulls cancel leave W where it is."""
    samples = [{"tokens": ["a", "b", "q"], "next": y} for y in "ab"]
    n = {"a": "a", "b": "b", "q": "q"}
    e = Experiment(problem({"next_token": n, "samples": samples}), Settings(3, 2, 1.0, 1.0), 2)
    score = {x: e.states[2].scores[i][2] for i, x in enumerate(e.problem.vocabulary)}
    assert abs(score["a"] - score["b"]).mid() == 0
    assert score["a"] - score["q"] > 0
    same = [{"tokens": ["a", "q"], "next": y} for y in "aq"]
    still = Experiment(problem({"next_token": n, "samples": same}), Settings(3, 2, 1.0, 1.0), 2)
    assert still.states[2].descent is None
    assert still.states[2].norm == 0


def test_unknown_where_fewer_bits_lead_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(900, 40, 1e12, 1e14)
    assert len(Experiment(problem(UNEVEN), settings, 40).states) == 41
    monkeypatch.setattr("tests.oracle.experiment.FEWER_BITS", 60)
    assert len(Experiment(problem(UNEVEN), settings, 40).states) < 41


FAR = {
    "next_token": {"a": "e", "b": "d", "c": "c", "d": "f", "e": "a", "f": "b"},
    "samples": [
        {"tokens": ["f", "f", "c"], "next": "b"},
        {"tokens": ["e", "e", "f", "c", "d", "d"], "next": "a"},
        {"tokens": ["b", "f", "a", "f", "b"], "next": "d", "count": 10**6},
    ],
}


def test_a_gap_of_the_size_of_exp_minus_a_is_told_from_0() -> None:
    """By 6 A more bits, where those are not too many."""
    e = Experiment(problem(FAR), Settings(900, 1, 4.9, 0.025), 1)
    assert gap(e, e.states[1]) == 0
    found = resolved_gap(e, 1)
    assert found is not None
    with flint.ctx.workprec(4000):
        assert float(found.log()) == pytest.approx(-674.4564, abs=1e-4)
    assert resolved_gap(Experiment(e.problem, Settings(9000, 1, 4.9, 0.025), 1), 1) is None
    near = Experiment(e.problem, Settings(9, 1, 4.9, 0.025), 1)
    assert resolved_gap(near, 1) == gap(near, near.states[1]) != 0


@pytest.mark.parametrize(("document", "eta"), [(EXAMPLE, 0.15), (HEIGHT_ONE, 0.6), (HEIGHT_ONE, 7.0)])
def test_the_long_run_is_the_same_descent(document: dict[str, list[list[str]]], eta: float) -> None:
    e = Experiment(problem(document), Settings(30, 120, 0.5, eta), 120)
    steps = np.array([1, 2, 10, 80, 120])
    found = late(e, 120, steps)
    at = {x: i for i, x in enumerate(e.problem.vocabulary)}
    for i, t in enumerate(steps):
        state = e.states[t]
        assert found.scaled[i] == pytest.approx(float(t**2 * one_minus_cos(e, state)), rel=1e-7, abs=1e-12)
        assert found.scores[i] == pytest.approx(
            [float(state.scores[at[x]][at[q]]) for x, q in found.pairs], rel=1e-9, abs=1e-15
        )
    excess, before = e.states[120].log_excess, e.states[80].log_excess
    assert excess is not None
    assert before is not None
    rise = float(excess - before)
    assert found.log_excess[4] - found.log_excess[3] == pytest.approx(rise, rel=1e-5, abs=1e-12)


def test_negligible_is_zero_and_small_is_not() -> None:
    assert EQUAL < 2.0 ** (-descent.NOTHING * 280)
    rng = random.Random(1)
    p = problem(
        {
            "next_token": {"a": "a", "b": "b"},
            "samples": [{"tokens": ["a", "b"], "next": "a", "count": rng.randint(1, 9)}],
        }
    )
    e = Experiment(p, Settings(1, 3, 1.0, 1e5), 3)
    # the gradient is about exp(-2e5) and still leads on
    assert float(e.states[3].norm) == pytest.approx(3e5)
