"""Stage 2 of Algorithm 1: W_kq on the loss of eq. 1, W_ov frozen; `steps.stepper` takes a step."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marginaudit.margins.ntp import MaxMargin
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.far.horizon import follow
from marginaudit.training.ntp.far.law import AsymptoticLaw
from marginaudit.training.ntp.model.classes import SampleClasses, sample_classes
from marginaudit.training.ntp.model.edges import merged_edges, no_reduction, sentence_edges
from marginaudit.training.ntp.model.reference import ExactReference, exact_reference
from marginaudit.training.ntp.records import Stage1, Stage2, columns
from marginaudit.training.ntp.stage1 import Stage1Result
from marginaudit.training.ntp.start import Reference, TrainingSettings, Unit, start, unit_in
from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.kq_loss import KQ, CommonMargin, GeneralB
from marginaudit.training.ntp.steps.loss import Row
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.shadow import Shadowed
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, TokenKQ
from marginaudit.training.ntp.steps.stepper import Stepper, descend
from marginaudit.training.ntp.trained import Asymptotics, Reduced, Training

if TYPE_CHECKING:
    from marginaudit.training.ntp.certified.enclosure import Enclosure

LARGEST_SHADOW = 10**7
"""Limit on the size of a general shadow of a run with one margin A."""


class Stage2Problem(NamedTuple):
    """Stage 2: loss, exact W*_kq or None, zero initialisation, and stepper, with a shadow if stage 1 has one."""

    loss: KQ
    exact: ExactReference | None
    iterate: Iterate
    stepper: Stepper


class Stage2Result(NamedTuple):
    """The records of stage 2 and its last state."""

    rows: list[Row]
    iterate: Iterate
    law: AsymptoticLaw | None = None
    stopped: str = ""
    asymptotics: Asymptotics | None = None
    enclosed: "Enclosure | None" = None


def second_stage(
    run: TrainingSettings,
    first: Stage1Result,
    eta: float,
    steps1: int,
    steps2: int,
    at: Sequence[int],
    reference: Reference,
) -> Training:
    """Stage 2 by steps, and with an exact reference by fast-forward; returns both stages."""
    return trained(
        run, first, eta, at, reference, lambda problem: _followed(run, first, problem, steps1, steps2, at, reference)
    )


def trained(
    run: TrainingSettings,
    first: Stage1Result,
    eta: float,
    at: Sequence[int],
    reference: Reference,
    followed: Callable[[Stage2Problem], Stage2Result],
) -> Training:
    """Both stages, with stage 2 ``followed`` on its loss and recorded at the steps ``at``."""
    dataset, V, E = run.dataset, run.dataset.V, run.dataset.embeddings
    classes = sample_classes(dataset)
    reason = not_reduced(classes, orthonormal=run.orthonormal, common=first.common)
    pairs = classes.key, classes.pair_query
    space: TokenKQ | EmbeddedKQ = TokenKQ(V, *pairs) if run.orthonormal else EmbeddedKQ(E, *pairs)
    unit = unit_in(space, "kq_reference", reference)
    if reason == "" and isinstance(space, TokenKQ):
        problem = _reduced(run, first, eta, space, classes, unit, reference)
    else:
        problem = _unreduced(run, first, eta, space, classes, unit)
    found = followed(problem)

    rows, iterate = found.rows, found.iterate
    what = space.recorded(iterate.reference)
    S = np.zeros((V, V))
    S[space.recorded_key, space.recorded_query] = iterate.along * what + space.recorded(iterate.rest)
    record = Stage2(
        **columns(Stage2, rows),
        law=np.full(len(rows), np.nan) if found.law is None else found.law.one_minus_cos(at)[: len(rows)],
        rest=np.array([row["rest"] for row in rows]).reshape(-1, len(what)),
        reference=what,
        key=space.recorded_key,
        query=space.recorded_query,
    )
    kq, exact = problem.loss, problem.exact
    return Training(
        stage1=Stage1(**columns(Stage1, first.rows)),
        stage2=record,
        B=first.B,
        S=S,
        W_ov=first.weights,
        W_kq=_in_embeddings(dataset, S) if run.orthonormal else iterate.weights,
        margin=first.margin,
        margin_spread=first.spread,
        margin_error=first.margin_error,
        common_margin=first.common,
        classes=classes,
        optimizer="ngd" if run.normalised else "gd",
        form="compiled" if reason == "" else "token space" if run.orthonormal else "embedding space",
        form_reason=reason,
        stopped=found.stopped,
        reduced=Reduced(kq.merged, exact) if isinstance(kq, ReducedKQ) and exact is not None else None,
        asymptotics=found.asymptotics,
        enclosed=found.enclosed,
        lost=iterate.direction().distance_error >= 2 or any(row["distance_error"] >= 2 for row in rows[-1:]),
    )


def _in_embeddings(dataset: Dataset, S: Floats) -> Floats:
    E = dataset.embedding
    return S if E is None else E.T @ S @ E


def _reduced(
    run: TrainingSettings,
    first: Stage1Result,
    eta: float,
    space: TokenKQ,
    classes: SampleClasses,
    unit: Unit | None,
    reference: Reference,
) -> Stage2Problem:
    """The reduced model, with the exact W*_kq if the reference has it."""
    dataset, V, exact = run.dataset, run.dataset.V, None
    edges = sentence_edges(classes, V)
    merged = merged_edges(edges, len(classes.key))
    if isinstance(reference, MaxMargin):
        exact = exact_reference(dataset, classes, merged, reference)
    if exact is not None:
        unit = Unit(*exact.unit, outside=0.0)
    iterate, beside = (start(space, eta, unit, normalised=run.normalised) for _ in range(2))

    def loss(A: float) -> ReducedKQ:
        return ReducedKQ(space, classes, V, iterate.reference, A, edges, merged, exact)

    kq, shadow = loss(first.margin), first.shadow
    if shadow is None:
        return Stage2Problem(kq, exact, iterate, Stepper(kq))
    return Stage2Problem(kq, exact, iterate, Shadowed(kq, loss(shadow.margin), beside, lost=shadow.lost))


def _unreduced(
    run: TrainingSettings,
    first: Stage1Result,
    eta: float,
    space: TokenKQ | EmbeddedKQ,
    classes: SampleClasses,
    unit: Unit | None,
) -> Stage2Problem:
    """The unreduced model, with one margin A or with all of B."""
    V = run.dataset.V
    iterate, beside = (start(space, eta, unit, normalised=run.normalised) for _ in range(2))

    def loss(A: float, B: Floats, *, common: bool) -> KQ:
        if common:
            return CommonMargin(space, classes, V, iterate.reference, A)
        return GeneralB(space, classes, V, iterate.reference, B)

    kq, shadow = loss(first.margin, first.B, common=first.common), first.shadow
    if shadow is None:
        return Stage2Problem(kq, None, iterate, Stepper(kq))
    # a general B keeps margins that equal A up to rounding apart, if memory allows
    one = first.common and GeneralB.size(classes, V) > LARGEST_SHADOW
    other = loss(shadow.margin, shadow.B, common=one)
    return Stage2Problem(kq, None, iterate, Shadowed(kq, other, beside, lost=shadow.lost))


def _followed(
    run: TrainingSettings,
    first: Stage1Result,
    problem: Stage2Problem,
    steps1: int,
    steps2: int,
    at: Sequence[int],
    reference: Reference,
) -> Stage2Result:
    """True steps, then the fast-forward if available."""
    kq, exact, iterate, stepper = problem
    if isinstance(kq, ReducedKQ) and exact is not None and run.normalised and isinstance(reference, MaxMargin):
        rows, last, law, stopped = follow(kq, exact, iterate, steps2, at, run.progress, steps1)
        enclosed = _enclosed(run.dataset, reference, rows, steps1, first.eta0, iterate.lr)
        if enclosed is not None and enclosed.step[-1] == steps2:
            last = last.placed(steps2, enclosed.rest[-1])
        return Stage2Result(rows, last, law, stopped, asymptotics(run.dataset, kq, exact, law), enclosed)
    return Stage2Result(descend(stepper, iterate, steps2, at, run.progress, steps1), iterate)


def asymptotics(dataset: Dataset, kq: ReducedKQ, exact: ExactReference, law: AsymptoticLaw | None) -> Asymptotics:
    """Tight constraints without a multiplier, by name, and the law."""
    merged, classes, names = kq.merged, kq.classes, dataset.vocabulary
    found = exact.support(merged)
    idle = np.flatnonzero(found.uncarried)
    return Asymptotics(
        degenerate=found.degenerate,
        without_multiplier=tuple(
            (names[classes.pair_query[a]], names[classes.key[a]], names[classes.key[j]])
            for a, j in zip(merged.winner[idle].tolist(), merged.loser[idle].tolist(), strict=True)
        ),
        law=law,
    )


def _enclosed(
    dataset: Dataset, kq: MaxMargin, rows: list[Row], steps1: int, eta0: float, eta: float
) -> "Enclosure | None":
    """Replace the first records by enclosed ones if float64 lost them; otherwise return None."""
    from marginaudit.training.ntp.certified.first_steps import enclosed_row, first_steps

    found = first_steps(dataset, kq, rows, steps1=steps1, lr1=eta0, lr2=eta)
    if found is not None:
        for i in np.flatnonzero(found.step).tolist():
            rows[i] = enclosed_row(found, i, eta)
    return found


def not_reduced(classes: SampleClasses, *, orthonormal: bool, common: bool) -> str:
    """Reason why stage 2 has no reduced model, or ""."""
    if not orthonormal:
        return "the embeddings are not orthonormal"
    if not common:
        return "the margins of W_ov are not one A"
    return no_reduction(classes) or ""
