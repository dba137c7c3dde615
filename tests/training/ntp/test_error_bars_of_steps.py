"""The stated errors of the flow and of compiled steps: each term written out by hand."""

import math
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import broken, free_dataset
from marginaudit.training.ntp import sample_classes, train
from marginaudit.training.ntp.far.flow import FlowPath, fast_forward
from marginaudit.training.ntp.far.late_field import LateField
from marginaudit.training.ntp.model.edges import Floats, MergedEdges
from marginaudit.training.ntp.steps.compiled import CompiledSteps
from marginaudit.training.ntp.steps.iterate import EPS, Iterate
from marginaudit.training.ntp.steps.ov_loss import OV
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.spaces import EmbeddedOV, TokenOV
from marginaudit.training.ntp.steps.stepper import Stepper
from tests.training.ntp.far.late_model import block, late_steps, of_dataset, of_graph
from tests.training.ntp.problems import REDUCED, SMALL, answers, at_scores, near, reduced, unreduced


def test_the_error_of_the_flow_term_by_term() -> None:
    data = free_dataset(V=8, N=30, L=5, seed=2)
    merged, reference = of_dataset(data)
    eta, t0 = 0.05 / math.sqrt(8), 50_000
    [rest] = late_steps(merged, reference, eta, [t0])
    rows = [t0, t0 + 1, 10**6, 10**10]
    found = fast_forward(merged, reference, eta, t0, rest, rows, start_error=1e-7)
    assert (found.arc[0], found.discretisation[0], found.inherited[0]) == (0.0, 0.0, 1e-7)
    np.testing.assert_allclose(found.discretisation, 1.01 * eta / 2 * found.arc * np.exp(found.arc), rtol=1e-14)
    np.testing.assert_allclose(found.inherited, 1e-7 * np.exp(found.arc), rtol=1e-14)
    solver_steps = found.rounding / (EPS * (1 + np.linalg.norm(found.rest, axis=1)))
    np.testing.assert_allclose(solver_steps, np.rint(solver_steps), atol=1e-6)
    What = reference.unit[0]
    along = found.rest @ What
    u = np.linalg.norm(found.rest - along[:, None] * What, axis=1)
    c = eta * np.array(rows) + along
    steps_own = found.discretisation + found.inherited + found.rounding
    narrow = ((1 + steps_own / u) / (1 - (steps_own + found.integration) / c)) ** 2 - 1 + 16 * EPS
    wide = ((1 + (steps_own + found.integration) / u) / (1 - (steps_own + found.integration) / c)) ** 2 - 1 + 16 * EPS
    assert (narrow <= found.error * (1 + 1e-12)).all()
    assert (found.error <= wide * (1 + 1e-12)).all()
    # where the start's error is nearly all there is, the bound is known
    only = fast_forward(merged, reference, eta, t0, rest, [t0], start_error=1e-3)
    assert only.error[0] == near(((1 + 1e-3 / u[0]) / (1 - 1e-3 / c[0])) ** 2 - 1, rel=1e-3)
    lost = fast_forward(merged, reference, eta, t0, rest, [t0], start_error=2 * c[0])
    assert (lost.error[0], lost.distance_error[0]) == (math.inf, 2.0)
    half = fast_forward(merged, reference, eta, t0, rest, [t0], start_error=c[0] / 2)
    assert half.distance_error[0] == near(1 + u[0] / c[0], rel=1e-6)


def test_the_integration_s_error_is_twice_the_largest_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a second solution that is off by a known amount: across What by 1e-6, along it by 2e-6, then nearer."""
    from marginaudit.training.ntp.far import flow

    merged, reference = of_graph(block(1, 2, 0) | block(2, 2, 3))
    [rest] = late_steps(merged, reference, 0.01, [20_000])
    rows = [10**5, 10**6, 10**7]
    follow = flow.integrated
    calls: list[tuple[float, int]] = []

    def shifted(
        field: LateField,
        eta: float,
        s0: float,
        rest0: NDArray[np.float64],
        goals: NDArray[np.float64],
        looser: float,
        *,
        interpolated: bool = False,
    ) -> FlowPath:
        assert not interpolated
        path = follow(field, eta, s0, rest0, np.asarray(goals_at), 1.0)
        calls.append((looser, len(goals)))
        if looser == 1.0:
            return path
        assert looser == 10
        np.testing.assert_allclose(goals[1::2], goals_at, rtol=1e-15)
        np.testing.assert_allclose(goals[::2], (np.array([math.log(0.01 * 20_000), *goals_at[:-1]]) + goals_at) / 2)
        size = np.array([1.0, 3.0, 2.0])
        across = np.repeat(path.across + 1e-6 * size[:, None] * np.eye(len(rest0))[0], 2, axis=0)
        return replace(path, across=across, along=np.repeat(path.along + 2e-6 * size, 2))

    goals_at = np.log(0.01 * np.array(rows, dtype=float)).tolist()
    monkeypatch.setattr(flow, "integrated", shifted)
    found = fast_forward(merged, reference, 0.01, 20_000, rest, rows)
    np.testing.assert_allclose(found.integration, 2 * math.hypot(1e-6, 2e-6) * np.array([1, 3, 3]), rtol=1e-6)
    What = reference.unit[0]
    along = found.rest @ What
    u, c = np.linalg.norm(found.rest - along[:, None] * What, axis=1), 0.01 * np.array(rows) + along
    own = found.discretisation + found.inherited + found.rounding
    across, every = own + 2e-6 * np.array([1, 3, 3]), own + found.integration
    error = ((1 + across / u) / (1 - every / c)) ** 2 - 1 + 16 * EPS
    np.testing.assert_allclose(found.distance_error, (across + u * every / c) / (c - every), rtol=1e-9)
    np.testing.assert_allclose(found.error, error, rtol=1e-9)
    assert [looser for looser, _ in calls] == [1, 10]


@pytest.mark.parametrize("form", ["common", "general"])
@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_the_hessian_bounds_of_stage_2(form: str, spread: float) -> None:
    """Flux by flux: along e_x - e_u, times |e_x + e_u - 2 Phi|, and twice sqrt(2) times margins times attention's."""
    data, A = broken(SMALL, "injective"), 2.5
    classes, n, problem = sample_classes(data), data.collocation.require_function(), unreduced(data, A, form)
    iterate = at_scores(problem, spread * np.random.default_rng(1).normal(size=problem.space.shape))
    found, log_phi = problem.token_gradient(iterate), problem.log_phi(iterate)
    phi, seen = np.exp(log_phi), set()
    most: dict[int, float] = {}
    least: dict[int, float] = {}
    log_magnitude = problem.fluxes(log_phi).log_magnitude
    label = {i: n[x] for i, x in enumerate(data.vocabulary)}
    margin = A if form == "common" else 2 * A
    number = {
        places: i
        for i, places in enumerate(zip(problem.pairs.left.tolist(), problem.pairs.right.tolist(), strict=True))
    }
    for k in range(len(classes)):
        edges = np.flatnonzero(classes.edge_class == k)
        weight: dict[int, float] = {}
        for e in edges.tolist():
            weight[int(problem.place[e])] = weight.get(int(problem.place[e]), 0.0) + phi[e]
        good = {
            int(problem.place[e]) for e in edges if label[int(classes.token[e])] == data.vocabulary[classes.next[k]]
        }
        square = sum(w * w for w in weight.values())
        undecided = max(w * (1 - w) for w in weight.values())
        decided = sum(w for place, w in weight.items() if place in good) >= 0.5
        for (x, u), i in number.items():
            if x in weight:
                crossing = (x in good) != (u in good)
                magnitude = math.exp(log_magnitude[i]) * classes.frequency[k] * weight[x] * weight[u]
                across = math.sqrt(2 + 4 * square - 4 * (weight[x] + weight[u]))
                bent = 2 * math.sqrt(2) * margin * undecided * (1 if crossing else 2)
                q = int(classes.query[k])
                most[q] = most.get(q, 0.0) + math.sqrt(2) * magnitude * (across + bent)
                concave = not (crossing and decided)
                least[q] = least.get(q, 0.0) + concave * math.sqrt(2) * magnitude * across
                seen.add((crossing, decided))
    assert len(seen) == 4
    scale = math.exp(found.log_scale)
    assert found.curvature * scale == near(max(most.values()), rel=1e-10)
    assert found.concavity * scale == near(max(least.values()), rel=1e-10)


class ByHand(NamedTuple):
    """Gradient; its terms by their margins' errors; the fluxes of each winner; the terms of the NumPy form's bound."""

    into: Floats
    terms: Floats
    won: Floats
    magnitude: Floats
    convex: float
    concave: float
    leading: float
    attention: float


def by_hand(problem: ReducedKQ, A: float, rest: Floats, along: float = 0.0) -> ByHand:
    """Class by class, with the Hessian's bounds per query, the least phi_a, and what attention is off by."""
    edges, merged = problem.edges, problem.merged
    straight = along * problem.rest_rate
    across = rest[merged.winner] - rest[merged.loser]
    lead = along * problem.lead_rate
    off = 2 * (np.abs(straight) + np.abs(across)) + 3
    # far behind the largest, attention counts by its size
    behind = np.exp((straight + across).min() - (straight + across))
    worst = (off * np.minimum(1, behind * 2.0**40)).max()
    flux, own, absolute, own_absolute = np.zeros((4, len(merged)))
    convex: dict[int, float] = {}
    concave: dict[int, float] = {}
    leading: list[float] = []
    attention: list[float] = []
    for k in range(len(edges.query)):
        at = slice(edges.first[k], edges.first[k + 1])
        number = merged.number[at]
        odds = np.exp(edges.log_ratio[at] - lead - (straight + across)[number])
        phi_a = 1 / (1 + odds.sum())
        phi, Phi = odds * phi_a, 1 - phi_a
        z = np.concatenate([[A * phi_a], A * phi, np.zeros(edges.absent[k])])
        P = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
        behind_a = phi_a - np.concatenate([phi, np.zeros(edges.absent[k])])
        h = P[1 : len(phi) + 1] + P[1:] @ behind_a
        f = A * edges.frequency[k] * phi * h
        push = A * edges.frequency[k] * phi * (P[1 : len(phi) + 1] + P[1:].sum())
        for summed, values in ((flux, f), (own, f * off[number]), (absolute, push), (own_absolute, push * off[number])):
            np.add.at(summed, number, values)
        reach = phi_a * Phi + phi.max() * (1 - phi.max())
        q = int(edges.query[k])
        bent = 2 * A**2 * edges.frequency[k] * (1 - P[0]) * reach**2
        # a Hessian is linear in its fluxes: that of the positive ones minus that of the others, turned
        size, against, positive = np.maximum(f, 0), np.maximum(-f, 0).sum(), h.min() > 0
        tilt = Phi + math.sqrt(Phi * (phi @ h) / h.min()) - 1 if positive else 0.0
        most = min(max(tilt, 0.0) * (size.sum() + size.max()), 4 * Phi * size.sum())
        rise = size.sum() * (1 + Phi) + size.max() + bent
        convex[q] = convex.get(q, 0.0) + rise + 4 * Phi * against
        concave[q] = concave.get(q, 0.0) + (most if positive else 4 * Phi * size.sum()) + (2 + Phi) * against
        leading.append(phi_a)
        attention.append(Phi * (worst + lead + 3 + len(phi) / 2))
    summed = np.add(*onto_pairs(merged, np.ones(len(merged)), len(rest))).max() + np.bincount(merged.number).max()
    inexact = (4 * A + 2) * max(attention) + np.diff(edges.first).max() + 12 + summed
    won, pulled = onto_pairs(merged, flux, len(rest))
    return ByHand(
        pulled - won,
        np.add(*onto_pairs(merged, own, len(rest))),
        won,
        np.add(*onto_pairs(merged, own_absolute + inexact * absolute, len(rest))),
        max(convex.values()),
        max(concave.values()),
        min(leading),
        max(attention),
    )


def onto_pairs(merged: MergedEdges, values: Floats, pairs: int) -> tuple[Floats, Floats]:
    """Sums over the winners, and over the losers."""
    winners, losers = np.bincount(merged.winner, values, pairs), np.bincount(merged.loser, values, pairs)
    return winners.astype(np.float64), losers.astype(np.float64)


@pytest.mark.parametrize("name", ["free", "prefix-closed", "no majority", "confused"])
@pytest.mark.parametrize("A", [0.2, 3.0])
@pytest.mark.parametrize(("spread", "moves"), [(0.2, 0), (0.2, 40), (14.0, 0), (100.0, 0), (300.0, 0)])
def test_the_errors_of_a_compiled_step(name: str, A: float, spread: float, moves: int) -> None:
    """Its rounding and the growth of an error, at a step that the gradient's slope ends and one that it does not.

    Where attention is one-hot, as at last, only the margins' own errors and the sums are left, and the Hessian is twice
    the sum of the fluxes at most.
    """
    for lr in (0.01, 50.0 / (1 + moves)):
        problem, start = reduced(REDUCED[name], A, lr=lr)
        rest = 0.2 * np.random.default_rng(3).normal(size=start.high.shape)
        rest[problem.merged.winner] += np.random.default_rng(4).uniform(0.3, 1, len(problem.merged)) * spread
        found = by_hand(problem, A, rest, lr * moves)
        norm = np.linalg.norm(found.into)
        winners = [len({a for a in problem.merged.winner.tolist() if problem.classes.pair_query[a] == q})
                   for q in set(problem.classes.pair_query.tolist())]  # fmt: skip
        inexact = max(np.diff(problem.edges.first)) + 14 + problem.summed + (4 * A + 2) * found.attention
        shared = math.sqrt(1 + max(winners)) * np.linalg.norm(found.won)
        relative = EPS * (np.linalg.norm(found.terms) + inexact / found.leading * shared) / norm
        iterate = start.placed(moves, rest)
        CompiledSteps(problem).take(iterate, moves + 1, lambda t: None)
        assert iterate.moves == moves + 1
        np.testing.assert_allclose(iterate.last, found.into / norm, atol=1e-13)
        assert iterate.local_error == near(lr * (relative + 4 * EPS), rel=1e-9)
        convex, concave = (2 * found.won.sum(), 0.0) if spread == 300 else (found.convex, found.concave)
        growth = max(1 + lr * concave / norm, lr * convex / norm - 1)
        arc = 1.0 if moves else 0.0  # from no gradient to a unit one
        assert iterate.log_growth == near(arc + math.log(growth), rel=1e-9)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.2, 3.0, 20.0])
@pytest.mark.parametrize(("spread", "moves"), [(-1.5, 0), (0.2, 0), (0.2, 40), (14.0, 0), (100.0, 40)])
def test_the_bounds_of_the_reduced_form(name: str, A: float, spread: float, moves: int) -> None:
    """Of the Hessian; and each flux by its margin's rounding, and by what attention and its sums make of theirs."""
    problem, start = reduced(REDUCED[name], A)
    rest = 0.2 * np.random.default_rng(3).normal(size=start.high.shape)
    uneven = spread == 100 and name != "cycle"  # whose losers win too
    rest[problem.merged.winner] += np.random.default_rng(4).uniform(0.3, 1, len(problem.merged)) ** uneven * spread
    found, hand = problem.token_gradient(start.placed(moves, rest)), by_hand(problem, A, rest, start.lr * moves)
    scale = math.exp(found.log_scale)
    np.testing.assert_allclose(found.value * scale, hand.into, rtol=1e-9, atol=1e-15 * A)
    assert found.curvature * scale == near(hand.convex, rel=1e-9)
    assert found.concavity * scale == near(hand.concave, rel=1e-9)
    assert found.relative == EPS
    np.testing.assert_allclose(found.magnitude * scale, hand.magnitude, rtol=1e-11)


@pytest.mark.parametrize(("general", "optimizer"), [(False, "ngd"), (False, "gd"), (True, "ngd")])
def test_the_error_of_the_margin(general: bool, optimizer: Literal["ngd", "gd"]) -> None:
    """The norm of E times the error of W_ov over root(V - 1), 0 on the closed form, and V operations on A."""
    data = replace(SMALL, embedding=np.random.default_rng(0).normal(size=(6, 7))) if general else SMALL
    trained = train(data, steps1=30, steps2=0, optimizer=optimizer)
    V = data.V
    space = EmbeddedOV(data.embeddings) if general else TokenOV(V)
    iterate = Iterate(space.shape, 0.2 / np.sqrt(V), None, normalised=optimizer == "ngd")
    Stepper(OV(space, answers(data), iterate.reference)).advance(iterate, 30, lambda t: None)
    norm = np.linalg.norm(data.embeddings, 2) if general else 1.0
    stepped = 0.0 if (general, optimizer) == (False, "ngd") else norm * iterate.state_error / math.sqrt(V - 1)
    assert trained.margin_error == near(stepped + V * EPS * trained.margin, rel=1e-9)
    assert iterate.state_error > 0
