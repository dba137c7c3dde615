"""What follows from proved statements for one dataset of sequence classes, checked in rational or ball arithmetic."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import flint
import scipy  # its subpackages load when first used
from flint import arb, fmpq, fmpq_mat

from marginaudit.orders.snap import common_tokens, distinct_tokens
from marginaudit.orders.snap.exactly import only_to_rounding
from marginaudit.reports.implication import Implication
from marginaudit.reports.run import once_a_run
from marginaudit.reports.snap.run import ClassRun
from marginaudit.reports.snap.standings import PAGE
from marginaudit.reports.verdict import Verdict

BITS = 256

MOST_CLASSES = 100
"""Of more classes neither E' nor det(I+E) is enclosed."""

ROOM = Fraction(51, 100)
"""Where -ln det(I+E) is below that over K - 1 no row of E adds up to 1 (docs/proofs-snap.md, section 7.9)."""

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


def tokens_shared(run: ClassRun) -> str | None:
    """Why not all overlaps are 0, or None."""
    return "the classes share a token" if common_tokens(run.dataset) else one_class(run)


def no_crossing(run: ClassRun) -> str | None:
    """Why exp(x) = (M-1) x has no zeros, or None."""
    return None if run.M >= 4 else "M is below 4"


def crossing(run: ClassRun) -> str | None:
    """Why exp(x) = (M-1) x has zeros, or None."""
    return None if no_crossing(run) else "M is at least 4"


def large_steps(run: ClassRun) -> str | None:
    """Why theta's constant is not proved to be 6, or None."""
    return one_class(run) or (None if run.eta_Y <= 1 else "eta_Y is above 1")


def overlap_not_below_one(run: ClassRun) -> str | None:
    """Why |lambda_1| is not below 1, or None."""
    return None if run.assumption("overlap_below_one").holds else "|lambda_1| is not below 1"


@once_a_run
def all_positive(run: ClassRun) -> bool | None:
    """Whether E'_nk > 0 for every pair n != k where Z = 0, or None: where there is no E', or too many classes for it.

    Entries of I - E' are those of the inverse of P P^T, which are rational, but for positive factors. It is 0 between
    classes that no chain of shared tokens joins; elsewhere balls decide, or where one has 0 in it, rational arithmetic.
    """
    if run.K > MOST_CLASSES:
        return None
    P = fmpq_mat([[fmpq(*p.as_integer_ratio()) for p in row] for row in run.dataset.P.tolist()])
    gram, pairs = P * P.transpose(), list(combinations(range(run.K), 2))
    try:
        with flint.ctx.workprec(BITS):
            near = flint.arb_mat(gram).inv()
        if all(near[n, k] < 0 for n, k in pairs):
            return True
        if any(near[n, k] > 0 for n, k in pairs) or not joined_by_tokens(run):
            return False
    except ZeroDivisionError:
        pass
    try:
        inverse = gram.inv()
    except ZeroDivisionError:
        return None
    return all(inverse[n, k] < 0 for n, k in pairs)


def joined_by_tokens(run: ClassRun) -> bool:
    """Whether a chain of classes, each sharing a token with the next, leads from any class to any other."""
    present = (run.dataset.P > 0).astype(int)
    count, _ = scipy.sparse.csgraph.connected_components(present @ present.T, directed=False)
    return bool(count == 1)


def _near_one(run: ClassRun) -> flint.arb_mat:
    """I + E where Z = 0."""
    found = flint.arb_mat(run.K, run.K, [int(n == k) for n in range(run.K) for k in range(run.K)])
    for n, k in combinations(range(run.K), 2):
        found[n, k] = found[k, n] = _root(overlap_squared(run, n, k))
    return found


def some_not_positive(run: ClassRun) -> str | None:
    """Why not every E'_nk off the diagonal is seen to be positive where Z = 0, or None."""
    return no_pair(run) or (None if all_positive(run) else "some E'_nk off the diagonal is not positive")


def none_not_positive(run: ClassRun) -> str | None:
    """Why no E'_nk off the diagonal is seen to be 0 or below where Z = 0, or None."""
    found = all_positive(run)
    return no_pair(run) or (None if found is False else "every E'_nk off the diagonal is positive")


def no_pair(run: ClassRun) -> str | None:
    """Why there is no E'_nk with n != k, or none that is looked at; or None."""
    if reason := one_class(run):
        return reason
    if all_positive(run) is None:
        return f"E' of more than {MOST_CLASSES} classes is not enclosed" if run.K > MOST_CLASSES else "there is no E'"
    return None


def _root(square: Fraction) -> arb:
    return arb(fmpq(square.numerator, square.denominator)).sqrt()


def nobody_gains(run: ClassRun) -> str | None:
    """Why no common token is seen to gain where Z = 0, or None: eq. 10 over eta_Z gamma in ball arithmetic."""
    if reason := no_pair(run):
        return reason
    data, K, M = run.dataset, run.K, run.M
    common = [data.contextual.index(token) for token in common_tokens(data)]
    with flint.ctx.workprec(BITS):
        P = flint.arb_mat([[arb(fmpq(*p.as_integer_ratio())) for p in row] for row in data.P.tolist()])
        norms = [sum((p * p for p in row), arb(0)).sqrt() for row in P.tolist()]
        F = flint.arb_mat([[p / norm for p in row] for row, norm in zip(P.tolist(), norms, strict=True)])
        gram = F * F.transpose()
        left = gram.inv()  # I - E'
        q_1, q_0 = arb(M) / (M - 1), -arb(M) / (M - 1) ** 2
        sums = [sum(row, arb(0)) for row in left.tolist()]
        beta = flint.arb_mat(
            [[-(q_1 - q_0) * left[n, k] - q_0 * sums[k] if k != n else arb(0) for k in range(K)] for n in range(K)]
        )
        xi = [sum((beta[n, k] * gram[n, k] for k in range(K)), arb(0)) for n in range(K)]
        heard = beta * F
        for members in data.queries.values():
            for l in common:  # noqa: E741
                if sum((F[n, l] * (F[n, l] * xi[n] - heard[n, l]) for n in members), arb(0)) > 0:
                    return None
    return "where Z = 0 no common token is seen to gain"


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


def several_common(run: ClassRun) -> str | None:
    """Why there is no single token that is common, or None."""
    return None if run.assumption("single_common").holds else "several tokens are common, or none"


def may_rise(run: ClassRun) -> str | None:
    """Why -ln det(I+E) is not proved to stay small to the last recorded step, or None: section 7.9, in ball arithmetic.

    It grows from Z = 0 on by (eta_Z/eta_Y) (K x/M)^2 at most, x = ln(1 + M eta_Y t/K).
    """
    import flint

    if run.K > MOST_CLASSES:
        return f"det(I+E) of more than {MOST_CLASSES} classes is not enclosed"
    if one_class(run) or not len(run.steps):
        return one_class(run) or "no step is recorded"
    with flint.ctx.workprec(BITS):
        t, eta_Y, eta_Z = (flint.arb(x) for x in (int(run.steps.max()), run.eta_Y, run.eta_Z))
        way = run.K * (1 + run.M * eta_Y * t / run.K).log() / run.M
        most = -_near_one(run).det().log() + eta_Z / eta_Y * way**2
        if most * (run.K - 1) * ROOM.denominator < ROOM.numerator:
            return None
    return f"-ln det(I+E) is not proved to stay below {float(ROOM)}/(K-1) to t = {int(run.steps.max())}"


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


def near_one(least: Callable[[int], Fraction]) -> Callable[[ClassRun], str | None]:
    """Why neither C0 nor 1/C0 is above a number that M gives, or None; in rational arithmetic."""

    def unmet(run: ClassRun) -> str | None:
        pairs = list(combinations(range(run.K), 2))
        inverse = run.K * sum((overlap_squared(run, n, k) for n, k in pairs), Fraction(0))
        if not inverse:
            return "the classes share no token"
        C0 = len(pairs) / inverse
        return None if max(C0, 1 / C0) > least(run.M) else "C0 is near 1"

    return unmet


def some_offset(run: ClassRun) -> str | None:
    """Why C0 is not 1, or None; in rational arithmetic."""
    return None if no_offset(run) == "C0 = 1" else "C0 is not 1"


def no_offset_in_scan(run: ClassRun) -> str | None:
    """Why eq. 14 is not seen to be false at t = K, or None; in ball arithmetic.

    There exp(4B) = 1 + A x^2 with y = eta_Y and x = M h(1), which is the fixed point of (M y + 1 - exp(x))/(M-1).
    """
    if reason := no_offset(run):
        return reason
    K, M = run.K, run.M
    total = sum((overlap_squared(run, n, k) for n, k in combinations(range(K), 2)), Fraction(0))
    inverse = 2 * total / (K - 1)  # 1/C0
    with flint.ctx.workprec(BITS):
        one, y = arb(1), arb(run.eta_Y)
        C_0 = one / arb(fmpq(inverse.numerator, inverse.denominator))
        A = 2 * K * (1 - one / M) ** 2 / C_0 * arb(run.eta_Z) / y
        x = y / 2 + arb(0, run.eta_Y)  # 0 <= x <= y
        for _ in range(BITS):
            x = (M * y + 1 - x.exp()) / (M - 1)
        least, most = (C_0 * (1 + A * end**2) for end in (y - (y.exp() - 1) / M, y))
        seen = 1 + A * x**2 < least or 1 + A * x**2 > most
    return None if seen else "C0 is too near 1 for eq. 14 to be false at t = K"


def small_vocabulary(run: ClassRun) -> str | None:
    """Why larger rates are not proved to slow B, or None."""
    return None if run.M >= 6 else "M is below 6"


def always(run: ClassRun) -> None:
    """No condition."""


def _contradicted(
    source: str,
    target: str,
    place: str,
    condition: str = "",
    unmet: Callable[[ClassRun], str | None] = always,
    unseen: str = "",
) -> Implication:
    """What is proved in the place of a printed statement says that this one is false."""
    return Implication(
        sources=(f"snap.{source}",),
        target=f"snap.{target}",
        condition=condition,
        proof=PAGE + place,
        unmet=unmet,
        verdict=Verdict.VIOLATED,
        unseen=unseen,
    )


EQUAL = "overlaps stay equal: two classes that share a token, or symmetric ones of one query"
OFFSET = "C0 is not 1"
ROUNDED = "both sides agree to rounding"
FALSE = (
    _contradicted(
        "remark1.rederived",
        "remark1",
        "21-snapremark1rederived",
        "the classes share tokens and some token is no next token",
        no_row_for_none,
        ROUNDED,
    ),
    _contradicted("remark2.rederived", "remark2", "11-snapremark2rederived"),
    _contradicted("lemma8.rederived", "lemma8.any-M", "12-snaplemma8rederived", "M is 2 or 3", crossing),
    _contradicted("remark3.rederived", "remark3", "81-snapremark3rederived"),
    _contradicted("eq64.rederived", "eq64", "82-snapeq64rederived", unseen=ROUNDED),
    _contradicted(
        "theorem5.rederived", "lemma12.Y.eq26", "84-snaplemma12y-and-eq-26", "F° may lean on a feature", unseen=ROUNDED
    ),
    _contradicted("eq71", "eq71.continuous", "85-snapeq71", "h* is above h after every step", unseen=ROUNDED),
    _contradicted(
        "eq112.rederived", "eq112", "87-snapeq112rederived", f"1 is not 2, as {EQUAL}", unequal_on_the_way, ROUNDED
    ),
    *(
        _contradicted(
            f"theorem4.{part}.rederived",
            f"theorem4.{part}",
            "88-snaptheorem4growthrederived-snaptheorem4endsrederived",
            f"C0 or 1/C0 is above {said}",
            near_one(least),
            unseen,
        )
        for part, said, least, unseen in (
            ("growth", "1 + 7/M", lambda M: 1 + Fraction(7, M), "no recorded t is early enough"),
            ("ends", "1.16", lambda _: Fraction(116, 100), ROUNDED),
        )
    ),
    _contradicted("lemma9.scan.rederived", "lemma9.scan.any-t", "13-snaplemma9scanrederived", "t = 0 is in the scan"),
    _contradicted("lemma6", "theorem1.b", "14-snaptheorem1brederived", "the constant at t_0 grows with M"),
    _contradicted("lemma10.rederived", "lemma10", "22-snaplemma10rederived", "N = 1, delta = 0.99 is a case of it"),
    _contradicted(
        "lemma6",
        "lemma11.any-delta",
        "23-snaplemma11-and-snaplemma11any-delta",
        "a class may never be drawn: there are two",
        one_class,
        "no N is large enough",
    ),
    _contradicted(
        "corollary1.rederived",
        "corollary1",
        "26-snapcorollary1rederived",
        "a class may never be drawn: there are two",
        one_class,
    ),
    _contradicted(
        "lemma12.rederived",
        "lemma12.any-step",
        "24-snaplemma12rederived",
        "h* is above h after every step",
        unseen=ROUNDED,
    ),
    _contradicted(
        "theorem1.form.rederived",
        "theorem1.form",
        "32-snaptheorem1formrederived",
        "there are two classes",
        one_class,
        ROUNDED,
    ),
    _contradicted(
        "theorem1.form.rederived",
        "theorem1.a.any-t",
        "33-snaptheorem1aany-t",
        "some E'_nk off the diagonal is not positive",
        none_not_positive,
    ),
    _contradicted(
        "lemma4.rederived",
        "lemma4",
        "41-snaplemma4rederived",
        "there are two classes and some z-dot is not 0",
        nothing_moves,
        ROUNDED,
    ),
    _contradicted(
        "lemma14",
        "corollary2.any-classes",
        "42-snapcorollary2any-classes",
        "where Z = 0 a common token gains",
        nobody_gains,
        "float64 hides the sign where Z = 0",
    ),
    _contradicted("eq13.rederived", "eq13", "43-snapeq13rederived", "K - 1 is not K"),
    _contradicted(
        "theorem4.closed-form.rederived",
        "theorem4.closed-form",
        "44-snaptheorem4closed-formrederived",
        OFFSET,
        no_offset,
        ROUNDED,
    ),
    *(
        _contradicted(
            f"theorem4.{part}.rederived",
            f"theorem4.{part}",
            "45-snaptheorem4scanrederived-snaptheorem4snaprederived",
            condition,
            unmet,
            unseen,
        )
        for part, condition, unmet, unseen in (
            ("scan", "eq. 14 is off at t = K", no_offset_in_scan, ROUNDED),
            ("snap", OFFSET, no_offset, "no t is late enough"),
        )
    ),
    _contradicted(
        "theorem4.closed-form.rederived",
        "theorem4.rates.any-M",
        "76-snaptheorem4rates-for-m-at-least-6-and-not-for-5",
        "M is 5",
        lambda run: None if run.M == 5 else "M is not 5",
    ),
)

TRUE = (
    Implication(
        sources=("snap.lemma5",),
        target="snap.remark1",
        condition="the classes share no token",
        proof=PAGE + "21-snapremark1rederived",
        unmet=tokens_shared,
    ),
    *(
        Implication(
            sources=(f"snap.theorem4.{part}.rederived",),
            target=f"snap.theorem4.{part}",
            condition="C0 = 1",
            proof=PAGE + place,
            unmet=some_offset,
        )
        for part, place in (
            ("closed-form", "44-snaptheorem4closed-formrederived"),
            ("scan", "45-snaptheorem4scanrederived-snaptheorem4snaprederived"),
            ("snap", "45-snaptheorem4scanrederived-snaptheorem4snaprederived"),
        )
    ),
    Implication(
        sources=("snap.lemma8.rederived",),
        target="snap.lemma8.any-M",
        condition="M >= 4",
        proof=PAGE + "58-snaplemma8-for-m-at-least-4",
        unmet=no_crossing,
    ),
    Implication(
        sources=("snap.lemma12.rederived", "snap.lemma6"),
        target="snap.theorem5.any-step",
        condition="eta_Y <= 1 and there are two classes: the constant is 6",
        proof=PAGE + "59-snaptheorem5any-step-for-small-step-sizes",
        unmet=large_steps,
    ),
    Implication(
        sources=("snap.lemma17.rederived",),
        target="snap.lemma17",
        condition="|lambda_1| < 1",
        proof=PAGE + "31-snaplemma17rederived",
        unmet=overlap_not_below_one,
    ),
    Implication(
        sources=("snap.theorem1.form.rederived",),
        target="snap.theorem1.a.any-t",
        condition="every E'_nk off the diagonal is positive",
        proof=PAGE + "33-snaptheorem1aany-t",
        unmet=some_not_positive,
    ),
    *(
        Implication(
            sources=("snap.theorem1.form.rederived",),
            target=target,
            condition=condition,
            proof=PAGE + place,
            unmet=unmet,
        )
        for target, where_equal in (
            ("snap.theorem2.distinct.from-zero", "72-snaptheorem2distinctfrom-zero-where-71-applies"),
            ("snap.theorem3.growth.from-zero", "75-snaptheorem3growthfrom-zero-where-71-applies"),
        )
        for condition, place, unmet in (
            (EQUAL, where_equal, unequal_on_the_way),
            ("one token is common", "78-snaptheorem2commonfrom-zero", several_common),
            (
                "-ln det(I+E) stays below 0.51/(K-1) to the last recorded step",
                "79-snaptheorem2distinctfrom-zero-and-snaptheorem3growthfrom-zero-for-a-long-time",
                may_rise,
            ),
        )
    ),
    Implication(
        sources=("snap.theorem1.form.rederived",),
        target="snap.corollary2.any-classes",
        condition="classes are as in Corollary 2, or two with one common token",
        proof=PAGE + "73-snapcorollary2",
        unmet=not_as_in_corollary_2,
    ),
    Implication(
        sources=("snap.theorem4.closed-form.rederived", "snap.theorem1.b.rederived"),
        target="snap.theorem4.rates.any-M",
        condition="M >= 6",
        proof=PAGE + "76-snaptheorem4rates-for-m-at-least-6-and-not-for-5",
        unmet=small_vocabulary,
    ),
)

IMPLICATIONS = (*FALSE, *TRUE)
