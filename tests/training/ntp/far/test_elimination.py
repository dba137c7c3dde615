"""Solutions of mu I plus the Laplacian of a graph, against dense ones."""

import numpy as np
import pytest

from marginaudit.training.ntp.far.elimination import decomposed, elimination, solved


@pytest.mark.parametrize("mu", [0.3, 2.0 - 3.0j])
@pytest.mark.parametrize("edges", [29, 45, 200, 0], ids=["tree", "circles", "dense", "none"])
def test_the_decomposition_solves_equations_of_any_graph(edges: int, mu: complex) -> None:
    random = np.random.default_rng(edges)
    nodes = 30
    winner, loser = random.integers(nodes, size=edges), random.integers(nodes, size=edges)
    if edges == nodes - 1:
        winner, loser = np.arange(1, nodes), random.integers(np.arange(1, nodes))
    else:
        loser = np.where(loser == winner, (winner + 1) % nodes, loser)
    rate, right = random.exponential(size=edges), random.normal(size=nodes) + 0 * mu
    ends = np.eye(nodes)[winner] - np.eye(nodes)[loser]
    matrix = mu * np.eye(nodes) + (ends.T * rate) @ ends
    known = elimination(winner, loser, nodes)
    row, value, inverse = decomposed(known, rate, np.diag(matrix))
    np.testing.assert_allclose(solved(known, row, value, inverse, right), np.linalg.solve(matrix, right), rtol=1e-11)
    assert edges != nodes - 1 or len(row) == edges  # a forest in an order of least degree has no fill
