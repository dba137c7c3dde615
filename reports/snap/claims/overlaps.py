"""Lemmas 13 to 17 of arXiv 2305.16380: what overlaps of the classes' features do to each other.

Lemmas 14 to 17 are about any symmetric matrix: E stands for the one that float64 holds, which is within rounding of the
classes' own. E' is what solving (I+E) E' = E gives, whatever its eigenvalues are.
"""

from dataclasses import replace

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.snap.assumptions import dependent
from marginaudit.orders.snap.overlap import eigenpairs
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Decided, Equal
from marginaudit.reports.judgements.bounded import LEAST
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap.conditions import ASSUMPTION_2
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.verdict import Evidence, Finding, Verdict, not_applicable

SOURCE = "arXiv 2305.16380"

BELOW_ZERO = -LEAST
"""The largest float64 below 0, as the bound of what is to be negative."""

LARGER = np.array([0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
"""Lambda of Lemma 15, as parts of the way from |lambda_1| to 1."""


def entries(run: ClassRun) -> Series:
    """|E_nn'| of every pair of classes; exactly 0 where they share no token."""
    overlap, names = run.dataset.overlap, run.dataset.next_tokens
    n, other = np.triu_indices(run.K, 1)
    size = np.abs(overlap.E[n, other])
    bars = overlap.relative_error * size + overlap.norm_error + overlap.eigenvalue_error
    occurs = (run.dataset.P > 0).astype(float)
    share = (occurs @ occurs.T)[n, other] > 0
    label = tuple(f"{names[i]}, {names[j]}" for i, j in zip(n, other, strict=True))
    return series(size, radius=np.where(share, bars, 0.0), label=label)


LEMMA13 = Claim(
    id="snap.lemma13",
    source=f"{SOURCE}, Lemma 13",
    statement="Every |E_nn'| is at most |lambda_1|, the largest absolute eigenvalue of E.",
    formula=r"\lvert E_{nn'}\rvert\le\lvert\lambda_1\rvert",
    assumptions=(),
    judgement=Bounded(
        measure=entries,
        upper=lambda run, _: np.full(run.K * (run.K - 1) // 2, run.dataset.overlap.largest),
    ),
    absent=lambda run: "There is one class, and no pair." if run.K == 1 else None,
)


def _pairs(run: ClassRun) -> tuple[str, ...]:
    """Names of a matrix's entries, row by row."""
    names = run.dataset.next_tokens
    return tuple(f"{n}, {other}" for n in names for other in names)


def solved(run: ClassRun) -> Series:
    """E' = I - (I+E)^{-1}, entry by entry."""
    found = run.overlap.E_prime
    return series(found.value.ravel(), radius=found.error.ravel(), label=_pairs(run))


def spectral(run: ClassRun) -> Series:
    """U^T D' U, with eigenvalues lambda_i/(1+lambda_i), entry by entry.

    With V, L and e of `eigenpairs`, the orthogonal factor W of V, R = E V - V L and G = V^T V - I: E is within
    2 |R| + 5 |G| |L| <= 3 e of W L W^T, so that 1/(1+E) is within 3 e/m^2 of W/(1+L) W^T, where m is below all
    1 + lambda; W is within |G| <= e/(2 |L|) of V, which adds 2 e/m; and K + 4 roundings of the product.
    """
    L, V, e = eigenpairs(run.overlap.E)
    least = 1 + L[0] - 4 * e
    of_E_prime = L / (1 + L)
    error = 3 * e / least**2 + 2 * e / least + (run.K + 4) * UNIT_ROUNDOFF * 1.01 * np.abs(of_E_prime).max()
    return series(((V * of_E_prime) @ V.T).ravel(), radius=error)


LEMMA14 = Claim(
    id="snap.lemma14",
    source=f"{SOURCE}, Lemma 14",
    statement=(
        "Where |lambda_1| < 1, I + E is invertible and (I+E)^{-1} = I - E', E' having the eigenvectors of E and the "
        "eigenvalues lambda_i/(1+lambda_i)."
    ),
    formula=r"(I+E)^{-1}=I-E',\quad E'=U^\top D'U,\quad \lambda'_i=\frac{\lambda_i}{1+\lambda_i}",
    assumptions=("overlap_below_one",),
    judgement=Equal(measure=solved, expected=spectral, scale=lambda run: np.abs(run.overlap.E_prime.value).max()),
)


def _largest(run: ClassRun) -> tuple[float, float]:
    """|lambda_1| of E, and what it is off."""
    L, _, error = eigenpairs(run.overlap.E)
    return float(np.abs(L).max()), error


def _lambdas(run: ClassRun) -> NDArray[np.float64]:
    largest = _largest(run)[0]
    return np.asarray(largest + (1 - largest) * LARGER, dtype=np.float64)


def both_inequalities(run: ClassRun) -> Series:
    """The smaller sides of Lemma 15: max |lambda_i(E')|, then |lambda_1|/(1-lambda), at each lambda."""
    largest, e = _largest(run)
    at, found = _lambdas(run), run.overlap.E_prime
    L, _, error = eigenpairs((found.value + found.value.T) / 2)
    error += float(np.linalg.norm(found.error))
    first = np.full(len(at), np.abs(L).max())
    moved = e / (1 - at) ** 2  # what |lambda_1| is off moves a bound by this at most
    place = [f"lambda = {x:.6g}" for x in at]
    return series(
        np.concatenate([first, largest / (1 - at)]),
        radius=np.concatenate([error + moved, 2 * moved]),
        label=(*(f"largest eigenvalue of E', {x}" for x in place), *(f"|lambda_1|/(1-lambda), {x}" for x in place)),
    )


def _larger_sides(run: ClassRun, _: NDArray[np.float64]) -> NDArray[np.float64]:
    at = _lambdas(run)
    return np.concatenate([_largest(run)[0] / (1 - at), at / (1 - at)])


LEMMA15 = Claim(
    id="snap.lemma15",
    source=f"{SOURCE}, Lemma 15",
    statement=(
        "Where |lambda_1| <= lambda < 1, every |lambda_i(E')| is at most |lambda_1|/(1-lambda), and that at most "
        "lambda/(1-lambda). Audited for lambda from |lambda_1|, where it says most, up to 1."
    ),
    formula=r"\max_i\lvert\lambda_i(E')\rvert\le\frac{\lvert\lambda_1\rvert}{1-\lambda}\le\frac{\lambda}{1-\lambda}",
    assumptions=("overlap_below_one",),
    judgement=Bounded(measure=both_inequalities, upper=_larger_sides),
)


def diagonal(run: ClassRun) -> Series:
    """E'_nn of each class."""
    found, own = run.overlap.E_prime, np.arange(run.K)
    return series(found.value[own, own], radius=found.error[own, own], label=run.dataset.next_tokens)


LEMMA16 = Claim(
    id="snap.lemma16",
    source=f"{SOURCE}, Lemma 16",
    statement="Every E'_nn is at most 0, and below 0 where some E_kn is above 0.",
    formula=r"E'_{nn}\le 0,\qquad E'_{nn}\lt 0\text{ if some }E_{kn}\gt 0",
    assumptions=ASSUMPTION_2,
    judgement=Bounded(
        measure=diagonal,
        upper=lambda run, _: np.where((run.overlap.E > 0).any(axis=0), BELOW_ZERO, 0.0),
    ),
)


def differences(run: ClassRun) -> Series:
    """|E'_nn' - E_nn'| of all pairs, n' = n among them; the bars also hold what |lambda_1| moves the bound."""
    largest, e = _largest(run)
    difference = run.overlap.E_prime - run.overlap.E
    moved = 2 * (largest + e) * e / (1 - largest - e) ** 2
    return series(np.abs(difference.value).ravel(), radius=difference.error.ravel() + moved, label=_pairs(run))


LEMMA17_BOUND = Bounded(
    measure=differences,
    upper=lambda run, _: np.full(run.K**2, _largest(run)[0] ** 2 / (1 - _largest(run)[0])),
)


def lambda_1_is_minus_one(run: ClassRun) -> bool:
    """Whether -1 is an eigenvalue of E as large as any, in exact arithmetic.

    1 + lambda is an eigenvalue of a Gram matrix, so no lambda is below -1, and -1 is one exactly where the classes'
    attention is linearly dependent. By Perron and Frobenius E >= 0 has no eigenvalue of larger absolute value where
    the graph of overlapping classes is bipartite: there -lambda is an eigenvalue with lambda.
    """
    occurs = (run.dataset.P > 0).astype(float)
    overlapping = nx.from_numpy_array(occurs @ occurs.T - np.diag(occurs.sum(axis=1)) > 0)
    if not nx.is_bipartite(overlapping):
        return False
    return dependent(run.dataset)


def lemma17(run: ClassRun) -> Finding:
    """Lemma 17 under its printed condition, lambda_1 < 1 for the eigenvalue lambda_1 of largest absolute value."""
    assumption = run.assumption("overlap_below_one")
    if assumption.holds:
        return LEMMA17_BOUND.judge(run)
    if lambda_1_is_minus_one(run):
        return Finding(
            Verdict.VIOLATED,
            Evidence.EXACT,
            detail=(
                "lambda_1 = -1 is below 1 and no eigenvalue is larger in absolute value, but I + E is singular: there "
                "is no E', and the bound divides by 0."
            ),
            witness={"lambda_1": -1},
        )
    witness = assumption.witness or {}
    if witness.get("undecided"):
        return Finding(Verdict.INCONCLUSIVE, detail=f"Whether lambda_1 is below 1 is not decided: {dict(witness)}.")
    return not_applicable(f"lambda_1 is not below 1: {dict(witness)}.", witness)


LEMMA17 = Claim(
    id="snap.lemma17",
    source=f"{SOURCE}, Lemma 17",
    statement=(
        "Where lambda_1 < 1, every |E'_nn' - E_nn'| is at most |lambda_1|^2/(1-|lambda_1|); lambda_1 is the eigenvalue "
        "of E of largest absolute value, either one where two of opposite sign are."
    ),
    formula=r"\lambda_1\lt 1\ \Rightarrow\ \lvert E'_{nn'}-E_{nn'}\rvert\le"
    r"\frac{\lvert\lambda_1\rvert^2}{1-\lvert\lambda_1\rvert}",
    assumptions=(),
    judgement=Decided(lemma17, LEMMA17_BOUND.kind),
    instead=(
        r"The condition is $\lvert\lambda_1\rvert<1$ (snap.lemma17.rederived, docs/proofs-snap.md section 3.1). Two "
        "classes of the same attention have the eigenvalues $1$ and $-1$: there is no $E'$."
    ),
)

LEMMA17_REDERIVED = replace(
    LEMMA17,
    id="snap.lemma17.rederived",
    source=f"{SOURCE}, Lemma 17 with its condition re-derived",
    statement="Where |lambda_1| < 1, every |E'_nn' - E_nn'| is at most |lambda_1|^2/(1-|lambda_1|).",
    formula=r"\lvert\lambda_1\rvert\lt 1\ \Rightarrow\ \lvert E'_{nn'}-E_{nn'}\rvert\le"
    r"\frac{\lvert\lambda_1\rvert^2}{1-\lvert\lambda_1\rvert}",
    assumptions=("overlap_below_one",),
    judgement=LEMMA17_BOUND,
    instead="",
)

CLAIMS: tuple[Claim, ...] = (LEMMA13, LEMMA14, LEMMA15, LEMMA16, LEMMA17, LEMMA17_REDERIVED)
