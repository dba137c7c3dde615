"""Steps of stage 2 of which arXiv 2409.17335 speaks: Theorem 1 has eta <= O(1), its proof uses eta <= ||W*_kq||/e."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from marginaudit.margins.ntp import Exact
from marginaudit.reports.claim import Claim, ProofCondition
from marginaudit.reports.ntp.quantities import nothing_to_learn
from marginaudit.reports.ntp.run import Run

ANY_STEP = ".any-step"

PROOF_BITS = 128
"""Of e^2 eta^2 against the rational number ||W*_kq||^2, and twice as many until they differ."""


def beyond_order_one(run: Run) -> str | None:
    """By how much eta exceeds ||W*_kq||/e, or None; decided in ball arithmetic, as e^2 is no rational number."""
    import flint

    square = run.kq.norm_squared_exact if isinstance(run.kq, Exact) else Fraction(run.norm_kq) ** 2
    bits = PROOF_BITS
    while True:
        with flint.ctx.workprec(bits):
            above = (flint.arb(run.eta) * flint.arb(1).exp()) ** 2 - flint.fmpq(square.numerator, square.denominator)
            if above < 0:
                return None
            if above > 0:
                return f"The step eta = {run.eta:.6g} is longer than ||W*_kq||/e = {run.norm_kq / math.e:.6g}."
        bits *= 2


ORDER_ONE = ProofCondition("eta <= ||W*_kq||/e", lambda run: beyond_order_one(run) is None)


def at_most_order_one(absent: Callable[[Run], str | None]) -> Callable[[Run], str | None]:
    """Why a statement about steps of at most ||W*_kq||/e says nothing of a run, or None."""
    return lambda run: nothing_to_learn(run, "has no direction") or beyond_order_one(run) or absent(run)


def as_printed_and_for_any_step(claim: Claim) -> tuple[Claim, Claim]:
    """The statement for eta <= ||W*_kq||/e, as it is printed, and its variant for every eta."""
    printed = replace(
        claim,
        statement=f"Let eta <= ||W*_kq||/e. {claim.statement}",
        formula=rf"{claim.formula},\quad \eta\le\lVert W^*_{{kq}}\rVert/e",
        absent=at_most_order_one(claim.absent),
    )
    variant = replace(
        claim,
        id=f"{claim.id}{ANY_STEP}",
        statement=f"Let eta be any. {claim.statement}",
        formula=rf"{claim.formula},\quad \text{{any }}\eta",
        proof_uses=(*claim.proof_uses, ORDER_ONE),
    )
    return printed, variant
