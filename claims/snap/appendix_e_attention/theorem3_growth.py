"""Theorem 3, eq. 12: bounds on the attention gained by the most probable distinct token of a class."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.claim import BeyondTheRun, Claim, NotFollowed
from marginaudit.claims.judgements import Bounded, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_e_attention.eq10 import (
    EQ_10,
    FROM_ZERO,
    IN_THE_MEAN,
    OF_RUNS,
    above_zero,
    assumption_2_never_met,
    clock,
    gains_along,
    gains_of_the_run,
    how_long_assumption_2_holds,
    mean_rates,
    meets_assumption_2,
    no_equation,
    no_gains,
    no_rule,
    rates_along,
    unit,
)
from marginaudit.claims.snap.appendix_e_attention.theorem2 import FOUR_CLASSES, THREE_CLASSES
from marginaudit.claims.snap.appendix_e_attention.token_gains import positive_along_eq_10
from marginaudit.claims.snap.conditions import THEOREM_5, slow_decoder
from marginaudit.claims.snap.readings import FAST_DECODER, PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved, unsettled
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import common_tokens, dominant_tokens
from marginaudit.training.approximation import Approximation, stacked
from marginaudit.training.snap.recorded.mean_steps import Vectors
from marginaudit.training.snap.recorded.trajectory import ClassTrajectory


@once_a_run
def dominating(run: ClassRun, while_assumption_2: bool) -> list[tuple[int, str, int]]:
    """Each class, its dominant token, and the number of steps of `gains_along` up to which all its common tokens lose.

    With ``while_assumption_2`` that must hold up to there, too. Omits classes with a common token that gains from
    the start, and classes without a dominant token.
    """
    common, dominant = set(common_tokens(run.dataset)), dominant_tokens(run.dataset)
    found = []
    for n, c in enumerate(run.dataset.classes):
        if c.next not in dominant:
            continue
        lost = np.array([run.logits.position(n, l) for l in c.support if l in common], dtype=np.int64)  # noqa: E741
        _, rate = gains_along(run, lost, where_assumption_2=_in_windows(run, while_assumption_2))
        loses = np.asarray((rate.value + rate.error < 0).all(axis=1), dtype=bool).ravel()
        if while_assumption_2 and run.mean_steps is None:
            loses = loses & meets_assumption_2(run)
        upto = len(loses) if loses.all() else int(np.argmin(loses))
        if upto:
            found.append((n, dominant[c.next], upto))
    return found


def _in_windows(run: ClassRun, while_assumption_2: bool) -> bool:
    """Whether mean steps are summed where Assumption 2 holds, in place of an end at the first step without it."""
    return while_assumption_2 and run.mean_steps is not None


def _gather(run: ClassRun, what: str, while_assumption_2: bool) -> Series:
    """Each dominating token's exponent 2 z, f-dot/f or z-dot, along steps; a recorded run has no exponent."""
    if run.recorded is not None and what == "exponent":
        return series([], radius=0, step=np.array([], dtype=np.int64))
    step, _ = gains_along(run, np.zeros(0, dtype=np.int64), where_assumption_2=_in_windows(run, while_assumption_2))
    found, steps, label = [], [], []
    for n, l, upto in dominating(run, while_assumption_2):  # noqa: E741
        i = run.logits.position(n, l)
        if what == "exponent":
            seen = rates_along(run)
            z, B = seen.path.z[:upto, i], seen.path.B[:upto, n]
            found.append(Approximation(2 * z.value, 2 * (z.error + B.error)))
        else:
            found.append(_rate(run, n, i, what, while_assumption_2)[:upto])
        steps.append(step[:upto])
        label += [f"{l} of {run.dataset.next_tokens[n]}"] * upto
    if not found:
        return series([], radius=0, step=np.array([], dtype=np.int64))
    value, radius = (np.concatenate(each) for each in zip(*((x.value, x.error) for x in found), strict=True))
    return series(value, radius=radius, step=np.concatenate(steps), label=tuple(label), clock=clock(run))


def _rate(run: ClassRun, n: int, i: int, what: str, while_assumption_2: bool) -> Approximation:
    """eta_Z times z-dot of a pair, or f-dot/f = z-dot minus the mean of z-dot over f_n^2, at each step.

    For a recorded run, the change of z or of ln f_n between records, or the mean steps of z and f-dot/f.
    """
    if run.mean_steps is not None:
        return mean_rates(run, unit(i) if what == "z" else derivative_of_ln_f(run, n, i), while_assumption_2)
    if run.recorded is not None:
        return run.recorded.z_dot[:, i] if what == "z" else _change_of_ln_f(run.recorded, n, i)
    seen, logits, c = rates_along(run), run.path.logits, run.dataset.classes[n]
    own = np.array([logits.position(n, l) for l in c.support], dtype=np.int64)  # noqa: E741
    column = [run.dataset.contextual.index(l) for l in c.support]  # noqa: E741
    each = []
    for rate in seen.found:
        f, z_dot = rate.f[n, column], rate.z_dot
        each.append(z_dot[i] if what == "z" else z_dot[i] - (f * f * z_dot[own]).sum())
    found = stacked(each)
    return Approximation(run.eta_Z * found.value, run.eta_Z * found.error * (1 + FORMULA_ROUNDING))


def derivative_of_ln_f(run: ClassRun, n: int, i: int) -> Vectors:
    """Vectors whose product with z-dot is f-dot/f of a pair in class n."""
    own = np.array([run.logits.position(n, l) for l in run.dataset.classes[n].support], dtype=np.int64)  # noqa: E741
    columns = [run.dataset.contextual.index(run.logits.names[k][1]) for k in own]

    def vectors(z: Floats) -> Floats:
        found = np.zeros(z.shape)
        found[:, own] = -(run.logits.attended(z)[:, n, columns] ** 2)
        found[:, i] += 1
        return found

    return vectors


def _change_of_ln_f(run: ClassTrajectory, n: int, i: int) -> Approximation:
    """Change of ln f = z + ln P - ln sum (P e^z)^2 / 2 of pair ``i`` in class ``n``; error at most twice that of z."""
    logits, last = run.logits, run.spans
    own = np.array([logits.position(n, l) for l in logits.data.classes[n].support], dtype=np.int64)  # noqa: E741
    column = logits.data.contextual.index(logits.names[i][1])
    f = np.array([logits.attended(z)[n, column] for z in run.z.value])
    off = run.z.error[:, i] + run.z.error[:, own].max(axis=1) + FORMULA_ROUNDING
    taken = (run.step[last] - run.step[last - 1]).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # f may underflow
        return Approximation(np.log(f[last] / f[last - 1]) / taken, (off[last] + off[last - 1]) / taken)


def _growths(run: ClassRun, while_assumption_2: bool, share: bool) -> NDArray[np.float64]:
    """2 B_n, or 2 f_nl0(0)^2 B_n, at the entries of `_gather`."""
    if run.recorded is not None:
        return np.zeros(0)
    seen, found = rates_along(run), []
    for n, l, upto in dominating(run, while_assumption_2):  # noqa: E741
        f = run.dataset.overlap.F[run.dataset.contextual.index(l), n] if share else 1.0
        found.append(2 * f**2 * seen.path.B.value[:upto, n])
    return np.concatenate(found)


def eq_12(*, while_assumption_2: bool) -> Parts:
    """Claim of eq. 12: both bounds on chi of the dominating token, and growth of its z and f."""
    return Parts(
        {
            "ln chi": Bounded(
                measure=lambda run: _gather(run, "exponent", while_assumption_2),
                upper=lambda run, _: _growths(run, while_assumption_2, share=False),
                lower=lambda run, _: _growths(run, while_assumption_2, share=True),
            ),
            "z": Bounded(measure=lambda run: _gather(run, "z", while_assumption_2), lower=above_zero),
            "f": Bounded(measure=lambda run: _gather(run, "f", while_assumption_2), lower=above_zero),
        },
        note=_note,
    )


def _note(run: ClassRun) -> str:
    """Note on the duration of Assumption 2, and on gaps in a recorded run."""
    unknown = "" if run.recorded is None else "The bounds on chi need B, which the file does not hold. "
    return unknown + how_long_assumption_2_holds(run)


def unseen(run: ClassRun, *, while_assumption_2: bool) -> str | None:
    """Reason why eq. 10 does not apply to the run, or None.

    Raises
    ------
    BeyondTheRun
        See `no_gains`. Only the path shows which classes the statement covers, except for a single common token,
        which loses by `snap.theorem2.common`.
    """
    try:
        if reason := no_equation(run) or no_gains(run):
            return reason
        if run.recorded is not None and not dominating(run, while_assumption_2=False):
            return "In no class do all common tokens lose up to the second record."
        return assumption_2_never_met(run) if while_assumption_2 else None
    except NotFollowed as fault:
        if run.assumption("single_common").holds:
            raise
        raise BeyondTheRun(str(fault)) from fault


GROWTH = Claim(
    id="snap.theorem3.growth",
    source=f"{SOURCE}, Theorem 3, eq. 12",
    source_words=quoted(
        "section 5, Theorem 3, eq. 12; appendix E",
        "both z_{ml_0}(t) and f_{nl_0}(t) are monotonously increasing over t, and e^{2f_{nl_0}^2(0)B_n(t)} <= "
        "chi_{l_0}(t) <= e^{2B_n(t)}",
        "For as long as every common token of the class loses, class by class, and Assumption 2 keeps holding. At "
        f"Z = 0 the dominant token is the one with the largest P(l|n). {FAST_DECODER}",
    ),
    statement=(
        "Let l_0 have the largest P(l|n) of n's distinct tokens, none as large, and let n's common tokens lose. Under "
        "eq. 10 from z = 0, z and f_n of l_0 increase, and exp(2 f_nl0(0)^2 B_n) <= chi_l0 <= exp(2 B_n), B_n = eta_Z "
        f"int xi_n; {EQ_10}. Judged, class by class, for as long as its common tokens lose and attention meets "
        "Assumption 2."
    ),
    formula=r"e^{2f_{nl_0}^2(0)B_n(t)}\le\chi_{l_0}(t)\le e^{2B_n(t)}",
    assumptions=(*THEOREM_5, "dominant_distinct"),
    standing=proved(
        PAGE + "77-snaptheorem2distinct-snaptheorem2common-and-snaptheorem3growth",
        "snap.theorem2.distinct",
        "snap.theorem3.gain",
        hunted=18,
    ),
    judgement=eq_12(while_assumption_2=True),
    absent=lambda run: slow_decoder(run) or unseen(run, while_assumption_2=True),
)

GROWTH_FROM_ZERO = variant(
    GROWTH,
    "from-zero",
    FROM_ZERO,
    source=f"{GROWTH.source}, with Assumption 2 at Z = 0 alone",
    statement=GROWTH.statement.replace("lose and attention meets Assumption 2", "lose, to the last recorded t"),
    standing=unsettled(FOUR_CLASSES, hunted=26),
    implications=(*positive_along_eq_10("75-snaptheorem3growthfrom-zero-where-71-applies"), THREE_CLASSES),
    judgement=eq_12(while_assumption_2=False),
    absent=partial(unseen, while_assumption_2=False),
)


def growth_of_runs(run: ClassRun) -> Series:
    """Mean z-dot and f-dot/f per step of each class's dominant token, over a recorded run."""
    found: dict[str, Vectors] = {}
    for n, token in enumerate(dominant_tokens(run.dataset).get(c.next) for c in run.dataset.classes):
        if token is not None:
            i, label = run.logits.position(n, token), f"{token} of {run.dataset.next_tokens[n]}"
            found |= {f"z of {label}": unit(i), f"f of {label}": derivative_of_ln_f(run, n, i)}
    return gains_of_the_run(run, found)


GROWTH_OF_RUNS = variant(
    GROWTH,
    "sgd",
    f"{IN_THE_MEAN} Of eq. 12 the growth alone, whatever common tokens do.",
    source=f"{GROWTH.source}, for a recorded run by batches",
    statement=(
        "Let l_0 have the largest P(l|n) of n's distinct tokens, none as large. In the mean over the draw of a "
        "recorded run's batches, summed over its steps, z and f_n of l_0 grow, whether or not Assumptions 1 (c) and 2 "
        "hold."
    ),
    formula=r"\sum_t\mathbb E_t[z_{ml_0}(t+1)-z_{ml_0}(t)]\gt 0",
    assumptions=("uniform_classes", "dominant_distinct"),
    standing=unsettled(OF_RUNS),
    judgement=Bounded(measure=growth_of_runs, lower=above_zero),
    absent=lambda run: no_rule(run) or no_gains(run),
)

CLAIMS: tuple[Claim, ...] = (GROWTH, GROWTH_FROM_ZERO, GROWTH_OF_RUNS)
