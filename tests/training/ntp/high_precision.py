"""Both stages in high precision, by the oracle's descent."""

import flint
import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset, dataset_to_document
from tests.oracle.descent import Matrix, State, stage1
from tests.oracle.problem import problem
from tests.training.ntp.naive import exact_states

BITS = 700


def off_direction(W: Matrix, reference: NDArray[np.float64]) -> float:
    """1 - cos of the angle between them."""
    pairs = [(W[i][j], flint.arb(float(r))) for (i, j), r in np.ndenumerate(reference)]
    norms = (sum((one[k] ** 2 for one in pairs), flint.arb(0)) for k in (0, 1))
    return float(1 - sum((w * r for w, r in pairs), flint.arb(0)) / (next(norms) * next(norms)).sqrt())


def both_stages(data: Dataset, steps1: int, steps2: int) -> tuple[list[Matrix], list[State]]:
    """W_ov by token and label, orthonormal tokens, and stage 2 on the last of them."""
    p, (eta0, eta) = problem(dataset_to_document(data)), of_the_paper(data)
    first = stage1(p, p.gram, eta0, steps1)
    n, last = p.vocabulary.index(p.n[p.vocabulary[0]]), first[-1]
    return first, exact_states(data, last[n][0] - last[(n + 1) % p.V][0], eta, steps2)[1]


def stage1_loss(data: Dataset, B: Matrix) -> flint.arb:
    """The sum over tokens of log sum over v of exp(B[v][x] - B[n(x)][x])."""
    n = [data.index[data.collocation.function[x]] for x in data.vocabulary]
    columns = (sum(((row[x] - B[y][x]).exp() for row in B), flint.arb(0)) for x, y in enumerate(n))
    return sum((total.log() for total in columns), flint.arb(0))


def of_the_paper(data: Dataset) -> tuple[float, float]:
    """Its step sizes."""
    return 0.2 / np.sqrt(data.V), 0.05 / np.sqrt(data.V)
