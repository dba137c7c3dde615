"""Tokens that gain or lose attention along eq. 10: the z-dot closest to the wrong sign, at each step.

Also conditions that prove xi_n > 0 all along eq. 10, so that distinct tokens gain at every t.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import NotJudged
from marginaudit.claims.judgements import Bounded, Parts
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import BITS, MOST_CLASSES, gram
from marginaudit.claims.snap.appendix_e_attention.eq10 import (
    above_zero,
    at_start,
    clock,
    distinct_pairs,
    gains_along,
    gains_of_pairs,
    how_long_assumption_2_holds,
    no_equation,
    no_gains,
)
from marginaudit.claims.snap.conditions import one_class
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication
from marginaudit.claims.verdict import LEAST
from marginaudit.orders.snap import common_tokens, distinct_tokens
from marginaudit.orders.snap.exactly import only_to_rounding

AT_FIRST = "At first, over eta_Z gamma"

Pairs = Callable[[ClassRun], NDArray[np.int64]]


def extreme(run: ClassRun, pairs: Pairs, sign: int, *, where_assumption_2: bool = False) -> Series:
    """The z-dot of the given pairs closest to the wrong sign, at each step.

    Optionally only at steps at which Assumption 2 holds.
    """
    chosen = pairs(run)
    if not len(chosen):
        return series([], radius=0, step=np.array([], dtype=np.int64))
    step, found = gains_along(run, chosen, where_assumption_2=where_assumption_2)
    at = np.argmin(sign * found.value - found.error, axis=1)
    rows = np.arange(len(at))
    names = [run.logits.names[chosen[i]] for i in at]
    return series(
        found.value[rows, at],
        radius=found.error[rows, at],
        step=step,
        label=tuple(f"{token} under {query}" for query, token in names),
        clock=clock(run),
    )


def starting(run: ClassRun, pairs: Pairs) -> Series:
    """z-dot of the given pairs over eta_Z gamma at Z = 0, whatever the recorded steps.

    Raises
    ------
    NotJudged
        A recorded run need not start at Z = 0.
    """
    if run.recorded is not None:
        if not run.recorded.starts_at_zero:
            raise NotJudged("it is about runs from Z = 0, and the first record is not Z = 0 at step 0")
        return series([], radius=0)
    chosen = pairs(run)
    found = at_start(run)[chosen]
    names = [run.logits.names[i] for i in chosen]
    label = tuple(f"{token} under {query} where Z = 0" for query, token in names)
    return series(found.value, radius=found.error, label=label)


def no_distinct_gains(run: ClassRun) -> str | None:
    """Reason why the statement on distinct tokens does not apply, or None; see `no_gains`."""
    none = None if any(distinct_tokens(run.dataset).values()) else "No class has a distinct token."
    return no_equation(run) or none or no_gains(run)


def no_common_gains(run: ClassRun) -> str | None:
    """Reason why the statement on common tokens does not apply, or None; see `no_gains`."""
    none = None if common_tokens(run.dataset) else "No two classes share a token."
    return no_equation(run) or none or no_gains(run)


def below_zero(_: ClassRun, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest negative float at each step."""
    return np.full(len(t), -LEAST)


def gain(name: str, *, from_zero: bool) -> Parts:
    """Claim that every distinct token gains, while Assumption 2 holds or at Z = 0 and every recorded step."""
    found = Bounded(
        measure=lambda run: extreme(run, distinct_pairs, 1, where_assumption_2=not from_zero), lower=above_zero
    )
    first = Bounded(measure=lambda run: starting(run, distinct_pairs), lower=above_zero)
    return Parts({name: found} | ({AT_FIRST: first} if from_zero else {}), note=how_long_assumption_2_holds)


def lose(name: str, pairs: Pairs, *, from_zero: bool) -> Parts:
    """Claim that the tokens of the given pairs lose, while Assumption 2 holds or at Z = 0 and every recorded step."""
    found = Bounded(measure=lambda run: extreme(run, pairs, -1, where_assumption_2=not from_zero), upper=below_zero)
    first = Bounded(measure=lambda run: starting(run, pairs), upper=below_zero)
    return Parts({name: found} | ({AT_FIRST: first} if from_zero else {}), note=how_long_assumption_2_holds)


def gain_of_the_run(pairs: Pairs) -> Bounded:
    """Claim that the given pairs gain in the mean of a recorded run's steps."""
    return Bounded(measure=lambda run: gains_of_pairs(run, pairs(run)), lower=above_zero)


def loss_of_the_run(pairs: Pairs) -> Bounded:
    """Claim that the given pairs lose in the mean of a recorded run's steps."""
    return Bounded(measure=lambda run: gains_of_pairs(run, pairs(run)), upper=below_zero)


SYMMETRIC = ("single_query", "symmetric_classes", "shared_common")
"""The conditions (1) to (3) of Corollary 2."""

MOST_RISE = Fraction(51, 100)
"""Row sums of E stay below 1 for -ln det(I+E) below `MOST_RISE`/(K - 1) (docs/proofs-snap.md, section 7.9)."""

EQUAL = "overlaps stay equal: two classes that share a token, or symmetric ones of one query"


def symmetric(run: ClassRun) -> bool:
    """Whether the classes are those of Corollary 2, exactly."""
    return all(run.assumption(name).holds and not only_to_rounding(run.dataset, name) for name in SYMMETRIC)


def not_equal(run: ClassRun) -> str | None:
    """Reason why overlaps are not known to stay equal along eq. 10, or None: docs/proofs-snap.md, section 7.1."""
    data = run.dataset
    if not common_tokens(data) or not any(distinct_tokens(data).values()):
        return "the classes share no token, or none has a distinct one"
    if data.K == 2 or symmetric(run):
        return None
    return "there are more than two classes, and they are not symmetric ones of one query"


def several_common(run: ClassRun) -> str | None:
    """Reason for not having exactly one common token, or None."""
    return None if run.assumption("single_common").holds else "several tokens are common, or none"


def may_rise(run: ClassRun) -> str | None:
    """Reason why -ln det(I+E) may grow by the last recorded step, or None: section 7.9, in ball arithmetic.

    From Z = 0 on it grows by at most (eta_Z/eta_Y) (K x/M)^2, x = ln(1 + M eta_Y t/K).
    """
    import flint

    if run.K > MOST_CLASSES:
        return f"det(I+E) of more than {MOST_CLASSES} classes is not enclosed"
    if one_class(run) or not len(run.steps):
        return one_class(run) or "no step is recorded"
    with flint.ctx.workprec(BITS):
        t, eta_Y, eta_Z = (flint.arb(x) for x in (int(run.steps.max()), run.eta_Y, run.eta_Z))
        way = run.K * (1 + run.M * eta_Y * t / run.K).log() / run.M
        most = -gram(run).det().log() + eta_Z / eta_Y * way**2
        if most * (run.K - 1) * MOST_RISE.denominator < MOST_RISE.numerator:
            return None
    return f"-ln det(I+E) is not proved to stay below {float(MOST_RISE)}/(K-1) to t = {int(run.steps.max())}"


def positive_along_eq_10(where_equal: str) -> tuple[Implication, ...]:
    """Implications for a consequence of xi_n > 0; ``where_equal`` proves it for equal overlaps."""
    return tuple(
        Implication(sources=("snap.theorem1.form.rederived",), condition=condition, proof=PAGE + place, unmet=unmet)
        for condition, place, unmet in (
            (EQUAL, where_equal, not_equal),
            ("one token is common", "78-snaptheorem2commonfrom-zero", several_common),
            (
                f"-ln det(I+E) stays below {float(MOST_RISE)}/(K-1) to the last recorded step",
                "79-snaptheorem2distinctfrom-zero-and-snaptheorem3growthfrom-zero-for-a-long-time",
                may_rise,
            ),
        )
    )
