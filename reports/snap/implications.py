"""What follows from proved statements for one dataset of sequence classes, checked in rational or ball arithmetic."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from marginaudit.orders.snap import common_tokens, distinct_tokens
from marginaudit.orders.snap.exactly import only_to_rounding
from marginaudit.reports.implication import Implication
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.standings import PAGE
from marginaudit.reports.verdict import Verdict

if TYPE_CHECKING:
    from flint import arb

BITS = 256

MOST_CLASSES = 40
"""Of more classes E' is not enclosed."""

SYMMETRIC = ("single_query", "symmetric_classes", "shared_common")
"""The conditions (1) to (3) of Corollary 2."""


def overlap_squared(run: ClassRun, n: int, k: int) -> Fraction:
    """(f_n^T f_k)^2 where Z = 0: a rational number, as P is."""
    rows = [run.dataset.classes[i].probabilities for i in (n, k)]
    exact = [{token: Fraction(p) for token, p in row.items()} for row in rows]
    product = sum((p * exact[1][token] for token, p in exact[0].items() if token in exact[1]), Fraction(0))
    sizes = [sum((p * p for p in row.values()), Fraction(0)) for row in exact]
    return product**2 / (sizes[0] * sizes[1])


def one_class(run: ClassRun) -> str | None:
    """Why there are no two classes, or None."""
    return None if run.K >= 2 else "there is one class"


def no_row_for_none(run: ClassRun) -> str | None:
    """Why remark 1's rows are not seen to be wrong at the other next tokens, or None."""
    if run.K >= run.M:
        return "every token is a next token"
    return one_class(run) or (None if overlap_squared(run, 0, 1) else "the classes share no token")


def no_crossing(run: ClassRun) -> str | None:
    """Why exp(x) = (M-1) x has no zeros, or None."""
    return None if run.M >= 4 else "M is below 4"


def large_steps(run: ClassRun) -> str | None:
    """Why theta's constant is not proved to be 6, or None."""
    return one_class(run) or (None if run.eta_Y <= 1 else "eta_Y is above 1")


def no_inverse(run: ClassRun) -> str | None:
    """Why |lambda_1| is not below 1, or None."""
    return None if run.assumption("overlap_below_one").holds else "|lambda_1| is not below 1"


def some_not_positive(run: ClassRun) -> str | None:
    """Why not every E'_nk off the diagonal is positive where Z = 0, or None: I - (I+E)^{-1} in ball arithmetic."""
    import flint

    if run.K > MOST_CLASSES:
        return f"E' of more than {MOST_CLASSES} classes is not enclosed"
    with flint.ctx.workprec(BITS):
        near_one = flint.arb_mat(run.K, run.K, [int(n == k) for n in range(run.K) for k in range(run.K)])
        for n, k in combinations(range(run.K), 2):
            near_one[n, k] = near_one[k, n] = _root(overlap_squared(run, n, k))
        try:
            inverse = near_one.inv()
        except ZeroDivisionError:
            return "I + E is not seen to be invertible"
        positive = all(-inverse[n, k] > 0 for n, k in combinations(range(run.K), 2))
    return one_class(run) or (None if positive else "some E'_nk off the diagonal is not positive")


def _root(square: Fraction) -> "arb":
    from flint import arb, fmpq

    return arb(fmpq(square.numerator, square.denominator)).sqrt()


def nothing_moves(run: ClassRun) -> str | None:
    """Why z-dot is not seen to be other than 0 where Z = 0, or None."""
    if not any(distinct_tokens(run.dataset).values()):
        return "no class has a distinct token"
    return some_not_positive(run)


def unequal_on_the_way(run: ClassRun) -> str | None:
    """Why overlaps are not known to be equal all along eq. 10, or None: docs/proofs-snap.md, section 7.1."""
    data = run.dataset
    if not common_tokens(data) or not any(distinct_tokens(data).values()):
        return "the classes share no token, or none has a distinct one"
    if data.K == 2:
        return None
    exactly = (run.assumption(name).holds and not only_to_rounding(data, name) for name in SYMMETRIC)
    return None if all(exactly) else "there are more than two classes, and they are not symmetric ones of one query"


def not_as_in_corollary_2(run: ClassRun) -> str | None:
    """Why neither Corollary 2 nor Theorem 2 (b) for two classes says that common tokens lose, or None."""
    symmetric = all(run.assumption(name).holds and not only_to_rounding(run.dataset, name) for name in SYMMETRIC)
    single = run.K == 2 and all(run.assumption(name).holds for name in ("single_common", "distinct_beside_common"))
    if symmetric or single:
        return unequal_on_the_way(run)
    return "the classes do not meet Corollary 2's conditions, and are not two with one common token"


def no_offset(run: ClassRun) -> str | None:
    """Why C0 = rho_0^4/K is not seen to be other than 1, or None; in rational arithmetic."""
    pairs = list(combinations(range(run.K), 2))
    total = sum((overlap_squared(run, n, k) for n, k in pairs), Fraction(0))
    return "C0 = 1" if pairs and run.K * total == len(pairs) else one_class(run)


def small_vocabulary(run: ClassRun) -> str | None:
    """Why larger rates are not proved to slow B, or None."""
    return None if run.M >= 6 else "M is below 6"


def always(run: ClassRun) -> None:
    """No condition."""


def _contradicted(
    source: str, target: str, place: str, condition: str = "", unmet: Callable[[ClassRun], str | None] = always
) -> Implication:
    """What is proved in the place of a printed statement says that this one is false."""
    return Implication(
        sources=(f"snap.{source}",),
        target=f"snap.{target}",
        condition=condition,
        proof=PAGE + place,
        unmet=unmet,
        verdict=Verdict.VIOLATED,
    )


EQUAL = "overlaps stay equal: two classes that share a token, or symmetric ones of one query"
OFFSET = "C0 is not 1"
FALSE = (
    _contradicted(
        "remark1.rederived",
        "remark1",
        "21-snapremark1rederived",
        "the classes share tokens and some token is no next token",
        no_row_for_none,
    ),
    _contradicted("remark2.rederived", "remark2", "11-snapremark2rederived"),
    _contradicted("lemma9.scan.rederived", "lemma9.scan", "13-snaplemma9scanrederived", "t = 0 is in the scan"),
    _contradicted("lemma6", "theorem1.b", "14-snaptheorem1brederived", "the constant at t_0 grows with M"),
    _contradicted("lemma10.rederived", "lemma10", "22-snaplemma10rederived", "N = 1, delta = 0.99 is a case of it"),
    _contradicted("lemma12.rederived", "lemma12", "24-snaplemma12rederived", "h* is above h after every step"),
    _contradicted(
        "theorem1.form.rederived", "theorem1.form", "32-snaptheorem1formrederived", "there are two classes", one_class
    ),
    _contradicted(
        "lemma4.rederived",
        "lemma4",
        "41-snaplemma4rederived",
        "there are two classes and some z-dot is not 0",
        nothing_moves,
    ),
    _contradicted("eq13.rederived", "eq13", "43-snapeq13rederived", "K - 1 is not K"),
    _contradicted(
        "theorem4.closed-form.rederived",
        "theorem4.closed-form",
        "44-snaptheorem4closed-formrederived",
        OFFSET,
        no_offset,
    ),
    *(
        _contradicted(
            f"theorem4.{part}.rederived",
            f"theorem4.{part}",
            "45-snaptheorem4scanrederived-snaptheorem4snaprederived",
            OFFSET,
            no_offset,
        )
        for part in ("scan", "snap")
    ),
)

TRUE = (
    Implication(
        sources=("snap.lemma8.rederived",),
        target="snap.lemma8",
        condition="M >= 4",
        proof=PAGE + "58-snaplemma8-for-m-at-least-4",
        unmet=no_crossing,
    ),
    Implication(
        sources=("snap.lemma12.rederived", "snap.lemma6"),
        target="snap.theorem5",
        condition="eta_Y <= 1 and there are two classes: the constant is 6",
        proof=PAGE + "59-snaptheorem5-for-small-step-sizes",
        unmet=large_steps,
    ),
    Implication(
        sources=("snap.lemma17.rederived",),
        target="snap.lemma17",
        condition="|lambda_1| < 1",
        proof=PAGE + "31-snaplemma17rederived",
        unmet=no_inverse,
    ),
    *(
        Implication(
            sources=("snap.theorem1.form.rederived",),
            target=target,
            condition="every E'_nk off the diagonal is positive",
            proof=PAGE + "33-snaptheorem1aany-t",
            unmet=some_not_positive,
        )
        for target in ("snap.theorem1.a", "snap.theorem1.a.any-t")
    ),
    *(
        Implication(
            sources=("snap.theorem1.form.rederived",),
            target=target,
            condition=EQUAL,
            proof=PAGE + "72-snaptheorem2distinct-and-snaptheorem2common-where-71-applies",
            unmet=unequal_on_the_way,
        )
        for target in ("snap.theorem2.distinct", "snap.theorem2.common")
    ),
    Implication(
        sources=("snap.theorem1.form.rederived",),
        target="snap.corollary2.any-classes",
        condition="classes are as in Corollary 2, or two with one common token",
        proof=PAGE + "73-snapcorollary2",
        unmet=not_as_in_corollary_2,
    ),
    Implication(
        sources=("snap.theorem3.gain",),
        target="snap.theorem3.growth",
        condition=EQUAL,
        proof=PAGE + "75-snaptheorem3growth-where-71-applies",
        unmet=unequal_on_the_way,
    ),
    Implication(
        sources=("snap.theorem4.closed-form.rederived", "snap.theorem1.b.rederived"),
        target="snap.theorem4.rates",
        condition="M >= 6",
        proof=PAGE + "76-snaptheorem4rates-for-m-at-least-6-and-not-for-5",
        unmet=small_vocabulary,
    ),
)

IMPLICATIONS = (*FALSE, *TRUE)
