"""Lemma 4: eq. 10 against its source, batch-1 SGD of both layers."""

from dataclasses import dataclass

import flint
import numpy as np
from flint import arb
from numpy.typing import NDArray

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, enclosing, series
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import some_not_positive
from marginaudit.claims.snap.appendix_d5_theorem1.theorem1 import ASSUMPTIONS
from marginaudit.claims.snap.appendix_e_attention.eq10 import no_path
from marginaudit.claims.snap.conditions import late_steps, outside_range_r, slow_decoder
from marginaudit.claims.snap.readings import FAST_DECODER, PAGE, ROUNDED, SOURCE, mended
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.orders.balls import ball_around
from marginaudit.orders.snap import distinct_tokens
from marginaudit.training.approximation import Approximation
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention.descent import descend_both
from marginaudit.training.snap.attention.path import follow, turned
from marginaudit.training.snap.attention.rates import features, rates
from marginaudit.training.snap.balls.coefficients import BITS, gradients
from marginaudit.training.snap.counts.drawn import class_counts, class_sequences
from marginaudit.training.snap.limit.fluctuation import Fluctuation, fluctuation
from marginaudit.training.snap.limit.overlap import Overlap
from marginaudit.training.snap.limit.recursion import TAKEN

PROOF = PAGE + "41-snaplemma4rederived"

STEPS = 4
"""Number of steps for comparing one SGD step, and of decoder seeds at each."""

SEEDS = 2

ENTRIES = 50_000
"""Most classes squared times contextual tokens for comparing every step and seed."""

RUNS = 64
"""Runs of SGD to t_0."""

LONGEST = 1000
"""Most steps of a run to t_0."""


@dataclass(frozen=True)
class Place:
    """Comparison point of one SGD step: attention along eq. 10 and the decoder of a seed.

    Attributes
    ----------
    z : Approximation, shape (pairs,)
        Taken as exact.
    own : Overlap
        Of the features at z.
    at : Fluctuation
        Without axes.
    """

    step: int
    z: Approximation
    own: Overlap
    at: Fluctuation


def places(run: ClassRun) -> list[Place]:
    """A few late steps, if possible within the range where h* resolves single steps, with a few seeds at each."""
    most = max(1, min(STEPS, ENTRIES // (run.K**2 * len(run.dataset.contextual))))
    late = late_steps(run, len(run.steps))
    near = late[late <= TAKEN] if late[0] <= TAKEN else late[:1]
    steps = np.unique(near[evenly_spaced(len(near), most)])
    counts = class_counts(steps.tolist(), run.dataset.frequencies, min(SEEDS, run.config.seeds), run.config.seed)
    logits, found = run.path.logits, []
    for record, t in enumerate(steps.tolist()):
        value = run.path.z.value[int(np.searchsorted(run.steps, t))]
        z = Approximation(value, np.zeros_like(value))
        own = features(logits, z)[1]
        found += [Place(t, z, own, fluctuation(seed[record], run.M, run.eta_Y)) for seed in counts]
    return found


@once_a_run
def steps_of_sgd(run: ClassRun) -> Series:
    """The mean over classes of a batch-1 step of z, by softmax and products of matrices of balls."""
    logits, found, label, steps = run.path.logits, [], [], []
    query, token = logits.pairs
    with flint.ctx.workprec(BITS):
        for place in places(run):
            weights = gradients(place.own, place.at.rows.h, place.at.mean.M)
            F = place.own.F
            moved = [arb(0)] * len(logits.names)
            for n in range(run.K):
                along = sum(
                    (weights[k, n] * ball_around(place.own.E[n, k] if k != n else 1.0) for k in range(run.K)), arb(0)
                )
                for i in np.flatnonzero((query == run.dataset.asked[n]) & (F[token, n] > 0)).tolist():
                    f = ball_around(F[token[i], n])
                    g = sum((weights[k, n] * ball_around(F[token[i], k]) for k in range(run.K)), arb(0))
                    moved[i] += ball_around(run.eta_Z) * f * (g - f * along) / run.K
            found += moved
            label += [f"{name} under {asked}, t = {place.step}" for asked, name in logits.names]
            steps += [place.step] * len(moved)
        return enclosing(found, step=np.array(steps), label=tuple(label))


@once_a_run
def of_eq_10(run: ClassRun) -> Series:
    """Eq. 10 at the places of `steps_of_sgd`, with beta of each place's decoder."""
    found = [rates(run.path.logits, place.z, place.at).z_dot * run.eta_Z for place in places(run)]
    return series(np.concatenate([x.value for x in found]), radius=np.concatenate([x.error for x in found]))


def _scaled(run: ClassRun, factor: float) -> Series:
    found = of_eq_10(run)
    return series(found.value * factor, radius=found.radius * factor * (1 + 1e-15))


def _largest(run: ClassRun) -> NDArray[np.float64]:
    """The largest |z-dot| of each place, for each of its pairs: the scale of rounding."""
    size = np.abs(of_eq_10(run).value).reshape(-1, len(run.path.logits.names)).max(axis=1)
    return np.repeat(size, len(run.path.logits.names))


def averages(of: NDArray[np.float64], marks: list[int]) -> str:
    """The mean over runs at each mark, with its standard error."""
    mean, off = of.mean(axis=0), of.std(axis=0, ddof=1) / np.sqrt(RUNS)
    return ", ".join(f"{m:.3g} +- {s:.2g} at t = {t}" for m, s, t in zip(mean, off, marks, strict=True))


def whole_runs(run: ClassRun) -> str:
    """Ratio of z of whole SGD runs to that of eq. 10 divided by K, for the token with the largest change."""
    marks = [round(run.transition), round(run.snap_start)]
    if marks[1] > LONGEST or len(run.path.logits.names) * RUNS > ENTRIES:
        return f"SGD was not followed to t_0 = {marks[1]}."
    turns = turned(marks, run.K, run.M, run.eta_Y, run.eta_Z / run.K).value
    try:
        expected = follow(run.dataset, turns).z.value
    except NotIntegrated:
        return "SGD was not followed: eq. 10 with eta_Z/K was not integrated."
    top = int(np.argmax(np.abs(expected[-1])))
    if not expected[:, top].all():
        return "No z moves along eq. 10."
    sequences = class_sequences(marks[1], run.dataset.frequencies, RUNS, run.config.seed)
    try:
        shares = [
            averages(
                descend_both(run.dataset, sequences, marks, run.eta_Y, run.eta_Z, modified=modified)[:, :, top]
                / expected[:, top],
                marks,
            )
            for modified in (True, False)
        ]
    except np.linalg.LinAlgError:
        return "SGD was not followed: on its way the classes' attention becomes linearly dependent."
    asked, token = run.path.logits.names[top]
    return (
        f"Over {RUNS} whole runs, z of {token} under {asked} is on average, as a part of that of eq. 10 with eta_Z/K: "
        f"{shares[0]} under the modified gradient of Lemma 3; {shares[1]} under that of eq. 7."
    )


def no_motion(run: ClassRun) -> str | None:
    """Reason why z-dot at Z = 0 is not known to differ from 0, or None."""
    if not any(distinct_tokens(run.dataset).values()):
        return "no class has a distinct token"
    return some_not_positive(run)


LEMMA4 = Claim(
    id="snap.lemma4",
    source=f"{SOURCE}, Lemma 4, eq. 10",
    source_words=quoted(
        "section 5, Lemma 4, eq. 10; appendix E",
        "With Assumption 1(b) .. Eqn. 4 becomes: z-dot_m = eta_Z gamma sum_{n in psi^{-1}(m)} diag(f_n) sum_{n' "
        "!= n} beta_nn'(f_n f_n^T - I)f_n'",
        "In the mean over the classes that a batch-1 step draws: a step moves by one class, and eq. 10 adds up a "
        f"query's. {FAST_DECODER}",
    ),
    statement=(
        "In long sequences z of a query moves, in the mean over the classes that a batch-1 step draws, by eta_Z gamma "
        "times the sum over its classes n of diag(f_n) sum over n' != n of beta_nn' (f_n f_n^T - I) f_n'; Y is that of "
        "eq. 26 after t steps, gamma(t) and beta are those of its gradient (Theorem 1)."
    ),
    formula=r"\dot z_m=\eta_Z\gamma\sum_{n\in\psi^{-1}(m)}\mathrm{diag}(f_n)"
    r"\sum_{n'\ne n}\beta_{nn'}(f_nf_n^\top-I)f_{n'}",
    assumptions=ASSUMPTIONS,
    standing=refuted(
        PROOF,
        "snap.lemma4.rederived",
        severity=Severity.CONSTANT,
        wrong="Eq. 10 is off by a factor K for batch-1 SGD: a step draws one of K classes, and eq. 10 adds all up.",
        defence="Absorbed in eta_Z: appendix E sums over all choices of the next token; K is never compared.",
        hunted=1,
        weakest="none for K >= 2",
        relied_on_by=(
            "snap.theorem2.distinct",
            "snap.theorem2.common",
            "snap.corollary2",
            "snap.theorem3.gain",
            "snap.theorem3.growth",
            "snap.eq13",
        ),
        remains="They are about eq. 10 itself, and stay true of it; for SGD, eta_Z/K replaces eta_Z.",
    ),
    implications=(
        contradicts(
            "snap.lemma4.rederived",
            condition="there are two classes and some z-dot is not 0",
            proof=PROOF,
            unmet=no_motion,
            unseen=ROUNDED,
        ),
    ),
    judgement=Equal(measure=steps_of_sgd, expected=of_eq_10, scale=_largest, note=whole_runs),
    absent=lambda run: slow_decoder(run) or outside_range_r(run) or no_path(run),
    instead=(
        r"A batch-1 step draws class $n$ with probability $1/K$, and $\gamma(t)$ counts such steps: eq. 10 needs "
        r"$\eta_Z/K$ in place of $\eta_Z$ (snap.lemma4.rederived, docs/proofs-snap.md section 4.1)."
    ),
)

LEMMA4_REDERIVED = mended(
    LEMMA4,
    "1/K, the probability of a class, before the sum.",
    source=f"{LEMMA4.source} with the mean over classes",
    statement=LEMMA4.statement.replace("by eta_Z gamma", "by (eta_Z/K) gamma"),
    formula=LEMMA4.formula.replace(r"\eta_Z\gamma", r"\frac{\eta_Z}{K}\gamma"),
    standing=proved(PROOF, "snap.lemma1", "snap.lemma2", "snap.theorem1.form.rederived", hunted=11),
    judgement=Equal(
        measure=steps_of_sgd,
        expected=lambda run: _scaled(run, 1 / run.K),
        scale=lambda run: _largest(run) / run.K,
        note=whole_runs,
    ),
    absent=lambda run: outside_range_r(run) or no_path(run),
)

CLAIMS: tuple[Claim, ...] = (LEMMA4, LEMMA4_REDERIVED)
