"""Conditions on the step size of stage 2: eta <= ||W*_kq||/e and eta <= 1/(4 ||W*_kq||).

Theorem 1 assumes eta <= O(1); its proof uses eta <= ||W*_kq||/e. The sharper rates are proved up to 1/(4 ||W*_kq||).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from marginaudit.claims.claim import Claim, ProofCondition
from marginaudit.claims.ntp.bounds import NOT_EXACT
from marginaudit.claims.ntp.quantities import no_kq_descent
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import sharpened, varied
from marginaudit.claims.standing import Implication, Severity, Standing, refuted
from marginaudit.margins.ntp import Exact

ORDER_ONE = "eta <= ||W*_kq||/e"
SHORT = "eta <= 1/(4 ||W*_kq||)"
SHORT_LATEX = r"\eta\le\frac1{4\lVert W^*_{kq}\rVert}"

READ_AS = f"eta <= O(1) is read as {ORDER_ONE}, as Theorem 1's proof uses it; longer steps are audited separately."

LONG_STEPS: Mapping[str, float] = {"lr1": 1800.0, "lr2": 2e5, "steps1": 2, "steps2": 2, "certify": 2}
"""Settings with which three samples of frequencies 10^14, 10^7 and 1 refute Theorems 1 and 2 for every eta."""

PROOF_BITS = 128
"""Bits for comparing e^2 eta^2 with the rational ||W*_kq||^2, doubled until they differ."""


def beyond_order_one(run: Run) -> str | None:
    """Message that eta exceeds ||W*_kq||/e, or None; decided in ball arithmetic, as e^2 is irrational."""
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


ORDER_ONE_USED = ProofCondition(ORDER_ONE, lambda run: beyond_order_one(run) is None)


def refuted_by_long_steps(*, weakest: str, hunted: int, cause: str = "ntp.theorem1.direction.any-step") -> Standing:
    """Standing of a bound of Theorem 1 or 2 for every eta."""
    return refuted(
        "docs/proofs.md#167-theorems-1-and-2-are-false-for-long-steps",
        severity=Severity.EXTREME,
        cause=cause,
        hunted=hunted,
        settings=LONG_STEPS,
        wrong=(
            "Theorems 1 and 2 need their condition eta = O(1): longer steps break the bound at step 2 already, "
            "when the rarest of three samples has hardly moved."
        ),
        weakest=weakest,
    )


def as_printed_and_for_any_step(
    claim: Claim, any_step: Standing, implications: tuple[Implication, ...] | None = None
) -> tuple[Claim, Claim]:
    """The statement for eta <= ||W*_kq||/e, as printed, and its variant for every eta.

    Parameters
    ----------
    claim : Claim
        The statement, without a condition on the step size.
    any_step : Standing
        Of the variant.
    implications : tuple of Implication, optional
        Of the variant; by default those of the claim.
    """
    printed = replace(
        claim,
        statement=f"Let {ORDER_ONE}. {claim.statement}",
        formula=rf"{claim.formula},\quad \eta\le\lVert W^*_{{kq}}\rVert/e",
        absent=lambda run: no_kq_descent(run, "has no direction") or beyond_order_one(run) or claim.absent(run),
        standing=replace(claim.standing),
        implications=(*claim.implications,),
    )
    words = claim.source_words
    mended = f"{words.reading} " if words.corrects else ""
    variant = replace(
        claim,
        id=f"{claim.id}.any-step",
        statement=f"Let eta be any. {claim.statement}",
        formula=rf"{claim.formula},\quad \text{{any }}\eta",
        proof_uses=(*claim.proof_uses, ORDER_ONE_USED),
        setting=(),
        source_words=varied(words.corrects or claim.id, f"{mended}Of steps of any size; in print eta <= O(1)."),
        standing=any_step,
        implications=(*claim.implications,) if implications is None else implications,
    )
    return printed, variant


def long_step(run: Run) -> str | None:
    """Message that eta exceeds 1 / (4 ||W*_kq||), the limit of the proved rate of stage 2, or None."""
    square = run.kq.norm_squared_exact if isinstance(run.kq, Exact) else None
    exceeds = 4 * run.eta * run.norm_kq > 1 if square is None else 16 * Fraction(run.eta) ** 2 * square > 1
    if not exceeds:
        return None
    return f"The step eta = {run.eta:.6g} is longer than 1 / (4 ||W*_kq||) = {1 / (4 * run.norm_kq):.6g}."


SHORT_USED = ProofCondition(f"{SHORT}, without which steps may end in a cycle", lambda run: long_step(run) is None)


def not_surely_short(run: Run) -> str | None:
    """Reason why the step is not proved to be short, or None; in rational arithmetic."""
    return (long_step(run) or "").rstrip(".") or None if isinstance(run.kq, Exact) else NOT_EXACT


def for_short_and_for_any_step(claim: Claim, *, wrong: str, instead: str, hunted: int) -> tuple[Claim, Claim]:
    """A sharper statement for eta <= 1/(4 ||W*_kq||), and its variant for every eta, which a cycle of steps refutes.

    Parameters
    ----------
    claim : Claim
        Its texts name the condition; its ``absent`` does not check it.
    wrong, instead : str
        Error of the variant, and the true statement.
    hunted : int
        Datasets tried in the search for a counterexample to the variant.
    """
    short = replace(
        claim, absent=lambda run: no_kq_descent(run, "has no direction") or long_step(run) or claim.absent(run)
    )
    variant = replace(
        claim,
        id=f"{claim.id}.any-step",
        source_words=sharpened(claim.source_words.corrects, f"As {claim.id}, without a limit to the step size."),
        statement=claim.statement.replace(SHORT, "every eta"),
        formula=claim.formula.replace(SHORT_LATEX, r"\text{any }\eta"),
        proof_uses=(SHORT_USED,),
        standing=refuted(
            "docs/proofs.md#97-a-cycle-of-two-steps",
            severity=Severity.ORDINARY,
            hunted=hunted,
            settings={"lr2": 5.0},
            wrong=wrong,
            weakest=f"{SHORT} ({claim.id})",
        ),
        implications=(
            Implication(sources=(claim.id,), condition=SHORT, proof=str(claim.standing.proof), unmet=not_surely_short),
        ),
        instead=instead,
    )
    return short, variant
