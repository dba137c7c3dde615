"""Lemma 15: size of the eigenvalues of E'."""

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import largest_eigenvalue, largest_eigenvalue_of_inverse
from marginaudit.claims.snap.readings import PAGE, SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved

LARGER = np.array([0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
"""Lambda of Lemma 15, as fractions of the way from |lambda_1| to 1."""


def lambdas(run: ClassRun) -> NDArray[np.float64]:
    """Values of lambda for auditing the lemma."""
    largest = largest_eigenvalue(run)[0]
    return np.asarray(largest + (1 - largest) * LARGER, dtype=np.float64)


def both_inequalities(run: ClassRun) -> Series:
    """Smaller sides of Lemma 15's inequalities: max |lambda_i(E')|, then |lambda_1|/(1-lambda), at each lambda."""
    largest, e = largest_eigenvalue(run)
    of_inverse, error = largest_eigenvalue_of_inverse(run)
    at = lambdas(run)
    moved = e / (1 - at) ** 2  # the error of |lambda_1| moves a bound by this at most
    place = [f"lambda = {x:.6g}" for x in at]
    return series(
        np.concatenate([np.full(len(at), of_inverse), largest / (1 - at)]),
        radius=np.concatenate([error + moved, 2 * moved]),
        label=(*(f"largest eigenvalue of E', {x}" for x in place), *(f"|lambda_1|/(1-lambda), {x}" for x in place)),
    )


def larger_sides(run: ClassRun, _: NDArray[np.float64]) -> NDArray[np.float64]:
    """Larger sides: |lambda_1|/(1-lambda), then lambda/(1-lambda), at each lambda."""
    at = lambdas(run)
    return np.concatenate([largest_eigenvalue(run)[0] / (1 - at), at / (1 - at)])


LEMMA15 = Claim(
    id="snap.lemma15",
    source=f"{SOURCE}, Lemma 15",
    source_words=quoted(
        "appendix D.5, Lemma 15",
        "If |lambda_1| <= lambda < 1, then max_{i in [K]} |lambda_i(E')| <= |lambda_1|/(1-lambda) <= lambda/(1-lambda)",
        "For every lambda from |lambda_1| to below 1.",
    ),
    statement=(
        "Where |lambda_1| <= lambda < 1, every |lambda_i(E')| is at most |lambda_1|/(1-lambda), and that at most "
        "lambda/(1-lambda). Audited for lambda from |lambda_1|, where it is strongest, up to 1."
    ),
    formula=r"\max_i\lvert\lambda_i(E')\rvert\le\frac{\lvert\lambda_1\rvert}{1-\lambda}\le\frac{\lambda}{1-\lambda}",
    assumptions=("overlap_below_one",),
    standing=proved(PAGE + "61-snaplemma13-snaplemma14-snaplemma15", "snap.lemma14", hunted=806),
    judgement=Bounded(measure=both_inequalities, upper=larger_sides),
)

CLAIMS: tuple[Claim, ...] = (LEMMA15,)
