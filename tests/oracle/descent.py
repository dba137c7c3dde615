"""Algorithm 1 with hundreds of bits, for any embeddings, after the textbook: softmax, its gradient, a normalised step.

Weights stay in the span of the gradients, W_ov = C X and W_kq = X^T K X with X the matrix of embeddings, so that only
the coefficients C[label, token], K[key, query] and the inner products of embeddings are needed. No difference of nearly
equal numbers is formed: 1 - P_y is the sum of the other probabilities, and phi_x (g_x - sum phi g) is the sum over z
of phi_x phi_z (g_x - g_z).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import flint

from tests.oracle.problem import Problem

Matrix = list[list[flint.arb]]

NOTHING = 0.6
"""A gradient's entry below 2 to minus this part of the bits, relative to its terms, is the rounding of 0."""


@dataclass(frozen=True)
class Group:
    """Samples that agree in query, bag and next token, with their common frequency."""

    query: int
    bag: tuple[tuple[int, int], ...]
    next: int
    pi: Fraction


@dataclass(frozen=True)
class State:
    """Stage 2 after some steps.

    Attributes
    ----------
    scores : [key][query], x^T W_kq q
    weights : [key][query], the coefficients K
    norm : ||W_kq||
    log_loss, log_excess : logarithms of Loss and of Loss - log(1 + (V-1) exp(-A)); the latter None without one A
    attention : a group's attention by token, in the order of its bag
    gradient_norm : ||grad||
    descent : [key][query], coefficients of -grad/||grad||, or None where the gradient is 0
    """

    scores: Matrix
    weights: Matrix
    norm: flint.arb
    log_loss: flint.arb
    log_excess: flint.arb | None
    attention: tuple[tuple[flint.arb, ...], ...]
    gradient_norm: flint.arb
    descent: Matrix | None


def ball(value: Fraction | float | int) -> flint.arb:
    """The number to the precision that is set."""
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def groups(p: Problem) -> list[Group]:
    """All samples, merged."""
    at = {x: i for i, x in enumerate(p.vocabulary)}
    merged: Counter[tuple[int, tuple[tuple[int, int], ...], int]] = Counter()
    for (tokens, y), count in p.counts.items():
        merged[at[tokens[-1]], tuple(sorted(Counter(at[x] for x in tokens).items())), at[y]] += count
    return [Group(q, bag, y, Fraction(count, p.total)) for (q, bag, y), count in merged.items()]


def stage1(p: Problem, gram: Sequence[Sequence[Fraction]], eta0: float, steps: int) -> list[Matrix]:
    """C after 0 to ``steps`` steps, [label][token]."""
    V = range(p.V)
    at = {x: i for i, x in enumerate(p.vocabulary)}
    answer = [at[p.n[x]] for x in p.vocabulary]
    G = [[ball(value) for value in row] for row in gram]
    C = [[flint.arb(0)] * p.V for _ in V]
    found = [C]
    for _ in range(steps):
        B = _times(C, G)
        gradient = [[flint.arb(0)] * p.V for _ in V]
        for x in V:
            y = answer[x]
            odds = {v: (B[v][x] - B[y][x]).exp() for v in V if v != y}
            others = sum(odds.values(), flint.arb(0))
            for v, value in odds.items():
                gradient[v][x] = value / (1 + others)
            gradient[y][x] = -others / (1 + others)
        size = _inner(gradient, _times(gradient, G)).sqrt()
        if size == 0:
            found.append(C)
            continue
        rate = ball(eta0) / size
        C = [[(C[v][x] - rate * gradient[v][x]).mid() for x in V] for v in V]
        found.append(C)
    return found


def logits(C: Matrix, gram: Sequence[Sequence[Fraction]]) -> Matrix:
    """B[label][token] = e_v^T W_ov x of the coefficients C."""
    return _times(C, [[ball(value) for value in row] for row in gram])


def common_margin(p: Problem, A: flint.arb) -> Matrix:
    """B where every margin is A: A 1[v = n(x)]."""
    at = {x: i for i, x in enumerate(p.vocabulary)}
    return [[A if v == at[p.n[x]] else flint.arb(0) for x in p.vocabulary] for v in range(p.V)]


def stage2(
    p: Problem, gram: Sequence[Sequence[Fraction]], B: Matrix, A: flint.arb | None, eta: float | Fraction, steps: int
) -> list[State]:
    """Stage 2 from zero with the logits B[label][token], after 0 to ``steps`` steps; A is their one margin, if any."""
    V = range(p.V)
    G = None if all(gram[i][j] == (i == j) for i, j in product(V, V)) else [[ball(a) for a in row] for row in gram]
    K = [[flint.arb(0)] * p.V for _ in V]
    merged = [(group, ball(group.pi)) for group in groups(p)]
    rate, found = ball(eta), []
    for _ in range(steps + 1):
        S = K if G is None else _times(_times(G, K), G)
        D, loss, excess, attention = _forces(merged, S, B, A)
        size = _inner(D, D if G is None else _times(_times(G, D), G)).sqrt().mid()
        descent = [[(a / size).mid() for a in row] for row in D] if size != 0 else None
        found.append(
            State(
                S,
                K,
                _inner(K, S).sqrt().mid(),
                loss.log(),
                excess.log() if A is not None else None,
                tuple(attention),
                size,
                descent,
            )
        )
        if descent is not None:
            K = [[(K[i][j] + rate * descent[i][j]).mid() for j in V] for i in V]
    return found


def downhill(p: Problem, S: Matrix, B: Matrix) -> Matrix:
    """Minus the derivative of the loss by the scores S[key][query], with the logits B[label][token]."""
    return _forces([(group, ball(group.pi)) for group in groups(p)], S, B, None)[0]


def _forces(
    merged: Sequence[tuple[Group, flint.arb]], S: Matrix, B: Matrix, A: flint.arb | None
) -> tuple[Matrix, flint.arb, flint.arb, list[tuple[flint.arb, ...]]]:
    """`downhill`, the loss, what it exceeds its infimum by, and each group's attention."""
    V = range(len(B))
    loss, excess, attention = flint.arb(0), flint.arb(0), []
    D = [[flint.arb(0)] * len(V) for _ in V]
    terms = [[flint.arb(0)] * len(V) for _ in V]
    for group, pi in merged:
        phi, others, over = _forward(group, S, B, A, len(V))
        attention.append(phi)
        loss += pi * sum(others.values(), flint.arb(0)).log1p()
        excess += pi * over
        for x, value, size in _pull(group, phi, others, B):
            D[x][group.query] -= pi * value
            terms[x][group.query] += pi * size
    for i, j in product(V, V):
        if abs(D[i][j]).mid() <= terms[i][j].mid() * flint.arb(2) ** (-int(NOTHING * flint.ctx.prec)):
            D[i][j] = flint.arb(0)
    return D, loss, excess, attention


def _forward(
    group: Group, S: Matrix, B: Matrix, A: flint.arb | None, V: int
) -> tuple[tuple[flint.arb, ...], dict[int, flint.arb], flint.arb]:
    """Attention by token, exp(z_v - z_y) of the labels v other than y, and what the loss exceeds its infimum by."""
    y = group.next
    raw = [count * (S[x][group.query] - S[group.bag[0][0]][group.query]).exp() for x, count in group.bag]
    total = sum(raw, flint.arb(0))
    phi = tuple((value / total).mid() for value in raw)
    lead = {
        v: sum((f * (B[v][x] - B[y][x]) for f, (x, _) in zip(phi, group.bag, strict=True)), flint.arb(0))
        for v in range(V)
        if v != y
    }
    others = {v: value.exp().mid() for v, value in lead.items()}
    over = flint.arb(0)
    if A is not None:
        # every z_v - z_y is at least -A, by A times the attention on other labels and on v's
        least = (-A).exp()
        wrong = sum((f for f, (x, _) in zip(phi, group.bag, strict=True) if B[y][x] == 0), flint.arb(0))
        above = flint.arb(0)
        for v in lead:
            own = sum((f for f, (x, _) in zip(phi, group.bag, strict=True) if B[v][x] != 0), flint.arb(0))
            above += (A * (wrong + own)).expm1()
        over = (least * above / (1 + (V - 1) * least)).log1p()
    return phi, others, over


def _pull(
    group: Group, phi: tuple[flint.arb, ...], others: dict[int, flint.arb], B: Matrix
) -> Iterator[tuple[int, flint.arb, flint.arb]]:
    """d(sample loss)/d score, token by token: sum over z of phi_x phi_z (g_x - g_z), and the sum of absolute terms."""
    y, normal = group.next, 1 + sum(others.values(), flint.arb(0))
    slope = [
        (sum((e * (B[v][x] - B[y][x]) for v, e in others.items()), flint.arb(0)) / normal).mid() for x, _ in group.bag
    ]
    for i, (x, _) in enumerate(group.bag):
        parts = [phi[i] * phi[j] * (slope[i] - slope[j]) for j in range(len(phi)) if j != i]
        yield x, sum(parts, flint.arb(0)), sum((abs(part) for part in parts), flint.arb(0))


def _times(left: Matrix, right: Matrix) -> Matrix:
    found = flint.arb_mat(left) * flint.arb_mat(right)
    return [[found[i, j].mid() for j in range(found.ncols())] for i in range(found.nrows())]


def _inner(left: Matrix, right: Matrix) -> flint.arb:
    return sum(
        (a * b for one, other in zip(left, right, strict=True) for a, b in zip(one, other, strict=True)), flint.arb(0)
    )


def inner(left: Mapping[tuple[int, int], flint.arb], right: Matrix) -> flint.arb:
    """Sum over the pairs of ``left`` of the products of both."""
    return sum((value * right[i][j] for (i, j), value in left.items()), flint.arb(0))
