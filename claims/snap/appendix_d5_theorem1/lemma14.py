"""Lemma 14: (I+E)^{-1} = I - E', and the eigenvalues of E'.

Here and in Lemmas 15 to 17, E is the float64 matrix, within rounding of the exact one of the classes. E' is the
solution of (I+E) E' = E, for any eigenvalues.
"""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import pairs_of_classes
from marginaudit.claims.snap.readings import PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.arrays import UNIT_ROUNDOFF
from marginaudit.orders.snap.overlap import eigenpairs


def solved(run: ClassRun) -> Series:
    """E' = I - (I+E)^{-1}, entry by entry."""
    found = run.overlap.E_prime
    return series(found.value.ravel(), radius=found.error.ravel(), label=pairs_of_classes(run))


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
    source_words=quoted(
        "appendix D.5, Lemma 14",
        "If .. |lambda_1| <= lambda < 1, then (I + E) is invertible and (I + E)^{-1} = I - E' .. lambda'_i = "
        "lambda_i/(1+lambda_i)",
    ),
    statement=(
        "Where |lambda_1| < 1, I + E is invertible and (I+E)^{-1} = I - E', E' having the eigenvectors of E and the "
        "eigenvalues lambda_i/(1+lambda_i)."
    ),
    formula=r"(I+E)^{-1}=I-E',\quad E'=U^\top D'U,\quad \lambda'_i=\frac{\lambda_i}{1+\lambda_i}",
    assumptions=("overlap_below_one",),
    standing=proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", hunted=778),
    judgement=Equal(measure=solved, expected=spectral, scale=lambda run: np.abs(run.overlap.E_prime.value).max()),
)

CLAIMS: tuple[Claim, ...] = (LEMMA14,)
