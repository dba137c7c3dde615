"""What the ledger says of W*_kq itself, decided in rational arithmetic."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, permutations

from tests.oracle.answer import Answer, Entry
from tests.oracle.definitions import Order
from tests.oracle.descent import ball
from tests.oracle.experiment import Experiment
from tests.oracle.stage1_statements import Statement

EXAMPLE = Counter(
    (tuple(sentence[:i]), sentence[i]) for sentence in ("SVOP", "VOP", "OPP", "PSV") for i in range(1, len(sentence))
)
"""The samples of Example 1."""


def closed_form(order: Order, x: str) -> Fraction:
    """Proposition 2's x^T W*_kq q."""
    k, m = len(order.optimal), len(order.non_optimal)
    if x in order.optimal:
        return Fraction(m, k + m)
    return Fraction(-k, k + m) if x in order.non_optimal else Fraction(0)


def agrees(e: Experiment, q: str) -> bool:
    """Whether the closed form is the solution under q."""
    order = e.orders[q]
    return all(e.kq.weights.get((x, q), Fraction(0)) == closed_form(order, x) for x in e.problem.vocabulary)


def hall(order: Order) -> bool:
    """|N(S)| k >= |S| m for every set S of optimal tokens."""
    k, m = len(order.optimal), len(order.non_optimal)
    return all(
        len({z for x, z in order.beats if x in S}) * k >= size * m
        for size in range(1, k + 1)
        for S in combinations(order.optimal, size)
    )


def _closed_form(e: Experiment, steps: Iterable[int]) -> Answer:
    if not e.orders:
        return Answer(silent="no sample relates two tokens")
    return Answer(true=all(agrees(e, q) for q in e.orders))


def _corollary(e: Experiment, steps: Iterable[int]) -> Answer:
    pairs = [
        (e.kq.weights.get((x, tokens[-1]), Fraction(0)), e.kq.weights.get((z, tokens[-1]), Fraction(0)))
        for tokens, y in e.problem.counts
        for x, z in combinations([x for x in dict.fromkeys(tokens) if not e.problem.maps(x, y)], 2)
    ]
    if not pairs:
        return Answer(silent="no sample has two other-than-optimal tokens")
    return Answer(true=all(left == right for left, right in pairs))


def _sharp(e: Experiment, steps: Iterable[int]) -> Answer:
    if not e.orders:
        return Answer(silent="no sample relates two tokens")
    return Answer(true=all(agrees(e, q) == hall(order) for q, order in e.orders.items()))


def _single_optimum(e: Experiment, steps: Iterable[int]) -> Answer:
    if not e.orders:
        return Answer(silent="no sample relates two tokens")
    entries = [Entry(None, ball(len(order.optimal)), ball(1), "equal") for order in e.orders.values()]
    return Answer(parts={"": entries})


def example_names(e: Experiment) -> dict[str, str] | None:
    """The tokens that play S, V, O, P, where the samples are those of Example 1."""
    if e.problem.V != 4:
        return None
    for tokens in permutations(e.problem.vocabulary):
        name = dict(zip("SVOP", tokens, strict=True))
        if {(tuple(name[x] for x in X), name[y]) for X, y in EXAMPLE} == set(e.problem.counts):
            return name
    return None


def _example1(e: Experiment, steps: Iterable[int]) -> Answer:
    name = example_names(e)
    if name is None:
        return Answer(silent="not the dataset of Example 1")
    beats = {"S": [("S", "P")], "V": [("V", "S")], "O": [("O", "S"), ("O", "V")], "P": [("O", "P")]}
    right = {name[q]: {(name[x], name[z]) for x, z in pairs} for q, pairs in beats.items()}
    n = {name[x]: name[y] for x, y in (("S", "V"), ("V", "O"), ("O", "P"), ("P", "S"))}
    return Answer(true=e.problem.n == n and {q: set(order.beats) for q, order in e.orders.items()} == right)


STATEMENTS: dict[str, Statement] = {
    "ntp.prop2.closed-form": _closed_form,
    "ntp.prop2.corollary": _corollary,
    "ntp.prop2.closed-form.any-data": _closed_form,
    "ntp.prop2.corollary.any-data": _corollary,
    "ntp.example1": _example1,
    "sharp.prop2": _sharp,
    "sharp.single-optimum": _single_optimum,
}
