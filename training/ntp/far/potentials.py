"""Potentials under which exponential fluxes on a graph add up to a given supply."""

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.training.ntp.model.edges import Floats, Indices

MOST_STEPS = 500

SMALL = 1e-8
"""Size below which a Newton step that stops shrinking is rounding; also the relative tolerance of flux sums."""


def potentials(
    winner: Indices,
    loser: Indices,
    log_weight: Floats,
    supply: Floats,
    component: Indices,
    mass: Floats | Indices,
    level: Floats,
) -> Floats:
    r"""Solve sum over edges of exp(log_weight - (r_winner - r_loser)) (e_winner - e_loser) = supply for r.

    They minimise the convex F(r) = sum exp(log_weight - (r_winner - r_loser)) + <supply, r> (for two sides that
    is Sinkhorn's problem), unique up to one constant per connected component. Newton's method: along a step that
    changes no difference by more than d, the fraction a of it changes F by at most l (-a + (e^(a d) - a d - 1)/d^2),
    l = <step, Hessian step>; a = log(1 + d)/d makes that smallest, and F decrease wherever the iteration starts.

    Parameters
    ----------
    winner, loser : (edges,) integer arrays
    log_weight : (edges,) array
    supply : (nodes,) array
        A sum of positive fluxes, so 0 in total over each component.
    component : (nodes,) integer array
        The connected components, numbered from 0.
    mass : (nodes,) array
        Positive weights.
    level : (nodes,) array
        Array with the required sum of mass r over each component, which fixes the constants.

    Returns
    -------
    (nodes,) array

    Raises
    ------
    RuntimeError
        No positive fluxes add up to the supply.

    >>> r = potentials(np.array([0, 0]), np.array([1, 2]), np.log([2.0, 8.0]), np.array([1.5, -1.0, -0.5]),
    ...     np.zeros(3, dtype=np.int64), np.ones(3), np.zeros(3))
    >>> (np.array([2.0, 8.0]) * np.exp(-(r[0] - r[1:]))).round(12).tolist(), round(float(r.sum()), 12)
    ([1.0, 0.5], 0.0)
    """
    nodes, edges = len(level), len(winner)
    total = np.bincount(component, mass)
    every_edge = np.arange(edges)
    ends, signs = np.concatenate([winner, loser]), np.repeat([1.0, -1.0], edges)
    incidence = scipy.sparse.csr_array((signs, (ends, np.tile(every_edge, 2))), shape=(nodes, edges))
    grounded = np.unique(component, return_index=True)[1]
    free = np.setdiff1d(np.arange(nodes), grounded)
    inner = incidence[free]
    r, last = (np.bincount(component, mass * level) / total)[component], np.inf
    for _ in range(MOST_STEPS):
        flux = np.exp(log_weight - (r[winner] - r[loser]))
        missing = supply - incidence @ flux
        step = np.zeros(nodes)
        step[free] = _solved(inner, flux, missing[free])
        step -= (np.bincount(component, mass * step) / total)[component]
        d = float(np.abs(step[winner] - step[loser]).max(initial=0.0))
        if d == 0 or SMALL > d >= last:
            if np.abs(missing).max(initial=0.0) > SMALL * np.abs(supply).max(initial=0.0):
                break
            return r
        last = d
        r = r - step * (np.log1p(d) / d)
    raise RuntimeError(
        f"no positive fluxes found that add up to the supply: they miss it by {np.abs(missing).max():.1e}"
    )


def _solved(incidence: "scipy.sparse.csr_array[np.float64]", flux: Floats, right: Floats) -> Floats:
    """(incidence diag(flux) incidence^T)^-1 right."""
    matrix = scipy.sparse.csc_array((incidence * flux) @ incidence.T)
    return np.asarray(scipy.sparse.linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A").solve(right), dtype=np.float64)
