"""Algorithm 1 of arXiv 2409.17335: two-stage gradient descent, normalised or plain."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.margins.ntp import Exact, MaxMargin, Optimal
from marginaudit.margins.support import support
from marginaudit.orders.ntp import Dataset, check_assumption
from marginaudit.training.ntp.far.horizon import follow
from marginaudit.training.ntp.far.law import Law
from marginaudit.training.ntp.model.classes import SampleClasses, sample_classes
from marginaudit.training.ntp.model.edges import Indices, merged_edges, no_reduction, sentence_edges
from marginaudit.training.ntp.model.reference import ExactReference, exact_reference, over_root
from marginaudit.training.ntp.records import Progress, Stage1, Stage2
from marginaudit.training.ntp.step_sizes import step_sizes
from marginaudit.training.ntp.steps.descent import Descent, descend
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.kq import KQ, CommonMargin, GeneralB
from marginaudit.training.ntp.steps.loss import Row
from marginaudit.training.ntp.steps.ov import OV
from marginaudit.training.ntp.steps.recording import rows_at
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.shadow import Beside, Perturbed, Shadowed, perturbed, unlike
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, EmbeddedOV, Space, TokenKQ, TokenOV
from marginaudit.training.ntp.trained import Asymptotics, Reduced, Training
from marginaudit.training.schedule import recorded_steps

if TYPE_CHECKING:
    from marginaudit.training.ntp.certified.enclosure import Enclosure

Optimizer: TypeAlias = Literal["ngd", "gd"]
Reference: TypeAlias = ArrayLike | MaxMargin | None

SPREAD_TOLERANCE = 1e-12
"""Margins of W_ov that spread by no more than this, relative to their mean, count as one margin A."""

LARGEST_SHADOW = 10**7
"""Numbers that a general shadow of a run with one margin A may hold."""

LAW_ROUNDING = 64 * EPS
"""Relative rounding of a recorded norm or direction."""

STAGE1_STEPS = 100_000
"""True steps of stage 1; beyond them it is recorded by its closed form, where that is proved."""


def train(
    dataset: Dataset,
    *,
    steps1: int = 900,
    steps2: int = 900,
    lr1: float | None = None,
    lr2: float | None = None,
    at: Iterable[int] | None = None,
    ov_reference: Reference = None,
    kq_reference: Reference = None,
    optimizer: Optimizer = "ngd",
    progress: Progress | None = None,
) -> Training:
    """Two-stage gradient descent, recorded against reference directions.

    From zero, W <- W - lr grad / ||grad||: ``steps1`` steps of W_ov on L0, then ``steps2`` steps of W_kq on
    Loss (eq. 1) with W_ov frozen. Where a gradient is zero or at rounding level (no sample holds two
    distinct tokens; symmetric data whose terms cancel), W stays where it is.

    For orthonormal tokens normalised descent in stage 1 has a closed form (`stage1_law`). It takes over after
    `STAGE1_STEPS` steps, and where rounding hides the gradient; stage 2 starts from it in any case. The steps of
    stage 2 are compiled where its loss has a reduced model (`ReducedKQ`): orthonormal tokens, one margin A, exactly
    one token of each sentence with the label of its next token, and no label twice in a sentence.

    Parameters
    ----------
    dataset : Dataset
        n has to be a function on the whole vocabulary; no other assumption is needed.
    steps1, steps2 : int
        T, and the length of stage 2.
    lr1, lr2 : float or None
        eta0 and eta; None for the paper's 0.2 / sqrt(V) and 0.05 / sqrt(V).
    at : iterable of int or None
        Recorded steps; each stage leaves out those beyond its own length. None: `log_spaced`.
    ov_reference, kq_reference : MaxMargin, array or None
        W*_ov and W*_kq; of a solution the exact weights are used where there are any. Arrays may have any
        norm; for orthonormal embeddings they are in token space, both (V, V): [label, token] and [key, query];
        otherwise in embedding space, (V, d) and (d, d). Without one, or where it is 0 or infeasible, the
        directions are NaN.
    optimizer : "ngd" or "gd"
        "gd" is plain gradient descent, W <- W - lr grad, in both stages.
    progress : callable or None
        Called with the number of steps done, both stages together.

    Returns
    -------
    Training

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    ValueError
        A step of ``at`` beyond both stages or negative; a negative number of steps; a step size that is not
        positive and finite; a reference of another shape, or not finite; another optimizer.

    Source: arXiv 2409.17335, Algorithm 1.

    >>> from marginaudit.orders.ntp import CASES
    >>> trained = train(CASES["example-1"](), steps1=100, steps2=3, at=[1, 2, 3])
    >>> trained.stage2.step.tolist(), trained.stage1.norm.round(12).tolist()
    ([1, 2, 3], [0.1, 0.2, 0.3])
    """
    dataset.collocation.require_function()
    for name, steps in (("steps1", steps1), ("steps2", steps2)):
        if steps < 0:
            raise ValueError(f"{name}: got {steps}, expected at least 0")
    eta0, eta = step_sizes(dataset.V, lr1, lr2)
    if optimizer not in ("ngd", "gd"):
        raise ValueError(f"optimizer: got {optimizer!r}, expected 'ngd' or 'gd'")
    at1, at2 = recorded_steps(at, steps1, steps2)
    run = _Settings(dataset, optimizer == "ngd", check_assumption(dataset, "orthonormal").holds, progress)
    first = _first_stage(run, eta0, steps1, at1, ov_reference)
    second = _second_stage(run, first, eta, steps1, steps2, at2, kq_reference)
    return Training(
        stage1=Stage1(**_columns(first.rows, OV_COLUMNS)),
        stage2=second.record,
        B=first.B,
        S=second.S,
        W_ov=first.weights,
        W_kq=second.weights,
        margin=first.margin,
        margin_spread=first.spread,
        margin_error=first.margin_error,
        common_margin=first.common,
        classes=second.classes,
        optimizer=optimizer,
        form="compiled" if second.reason == "" else "token space" if run.orthonormal else "embedding space",
        form_reason=second.reason,
        stopped=second.stopped,
        reduced=second.reduced,
        asymptotics=second.asymptotics,
        enclosed=second.enclosed,
        lost=second.lost,
    )


class _Settings(NamedTuple):
    """What both stages share."""

    dataset: Dataset
    normalised: bool
    orthonormal: bool
    progress: Progress | None


class _Shadow(NamedTuple):
    """B and A as rounding may have left them; ``lost`` is whether nothing is known of their error."""

    B: Floats
    margin: float
    lost: bool


class _First(NamedTuple):
    """Stage 1 done: W_ov as B = W_ov E^T, and its margins, all A if ``common``; no shadow where they are of a law."""

    eta0: float
    rows: list[Row]
    B: Floats
    weights: Floats
    margin: float
    spread: float
    margin_error: float
    common: bool
    shadow: _Shadow | None


def _first_stage(run: _Settings, eta0: float, steps1: int, at: Sequence[int], reference: Reference) -> _First:
    """Steps on L_0; with orthonormal tokens only the first ones, as all are on one ray."""
    dataset, V, E = run.dataset, run.dataset.V, run.dataset.embeddings
    n = dataset.collocation.require_function()
    space: Space = TokenOV(V) if run.orthonormal else EmbeddedOV(E)
    unit = _ov_unit(dataset, space, reference)
    iterate = _start(space, eta0, unit, normalised=run.normalised)
    answer = np.array([dataset.index[n[x]] for x in dataset.vocabulary])
    ov = OV(space, answer, iterate.reference)
    on_the_ray = run.orthonormal and run.normalised and V > 1
    beside = None if on_the_ray else _start(space, eta0, unit, normalised=run.normalised)
    descent = Descent(ov) if beside is None else Beside(ov, Perturbed(ov), beside)
    law_from = STAGE1_STEPS if on_the_ray else steps1
    rows = descend(descent, iterate, min(steps1, law_from), [t for t in at if t <= law_from], run.progress, 0)
    if on_the_ray:
        # of steps so long that rounding hides the next gradient there are fewer
        rows = [row for row in rows if row["step"] <= iterate.moves]
        for t in at[len(rows) :]:
            rows += rows_at(ov, iterate, [(t, _on_the_law(iterate, answer, t), 0.0)], "law")
        iterate = iterate.placed(steps1, _on_the_law(iterate, answer, steps1))
        if run.progress is not None:
            run.progress(steps1)
        rows = [_known_by_law(row, eta0) for row in rows]
    B, margins = _scores(space, iterate), ov.other_margins(iterate)
    A, shadow = _mean(margins), None
    if beside is not None:
        shadow = _Shadow(
            perturbed(_scores(space, beside), space.rounding(beside)),
            _mean(ov.other_margins(beside)),
            lost=bool(np.isinf(iterate.local_error)) or unlike(iterate.weights, beside.weights),
        )
    spread = float(np.abs(margins - A).max(initial=0.0))
    return _First(
        eta0=eta0,
        rows=rows,
        B=B,
        weights=B @ E if run.orthonormal else iterate.weights,
        margin=A,
        spread=spread,
        margin_error=_margin_error(iterate, dataset.embedding, A, V),
        common=A >= 0 and spread <= SPREAD_TOLERANCE * A,
        shadow=shadow,
    )


def _scores(space: Space, iterate: Iterate) -> Floats:
    return iterate.along * space.scores(iterate.reference) + space.scores(iterate.rest)


def _mean(margins: Floats) -> float:
    return float(margins.mean()) if len(margins) else 0.0


class _Second(NamedTuple):
    """Stage 2 done; ``reason`` says why not in the reduced form, ``stopped`` why not to its end, or is empty."""

    record: Stage2
    S: Floats
    weights: Floats
    classes: SampleClasses
    reason: str
    stopped: str
    reduced: Reduced | None
    asymptotics: Asymptotics | None
    enclosed: "Enclosure | None"
    lost: bool


def _second_stage(
    run: _Settings,
    first: _First,
    eta: float,
    steps1: int,
    steps2: int,
    at: Sequence[int],
    reference: Reference,
) -> _Second:
    """Steps on the loss, and where there is an exact reference the fast-forward."""
    dataset, V, E = run.dataset, run.dataset.V, run.dataset.embeddings
    classes = sample_classes(dataset)
    reason = _not_reduced(classes, orthonormal=run.orthonormal, common=first.common)
    exact = None
    pairs = classes.key, classes.pair_query
    space: TokenKQ | EmbeddedKQ = TokenKQ(V, *pairs) if run.orthonormal else EmbeddedKQ(E, *pairs)
    unit = _unit(space, "kq_reference", reference)
    shadow = first.shadow
    kq: KQ
    other: KQ | None = None
    if reason == "" and isinstance(space, TokenKQ):
        edges = sentence_edges(classes, V)
        merged = merged_edges(edges, len(classes.key))
        if isinstance(reference, MaxMargin):
            exact = exact_reference(dataset, classes, merged, reference)
        if exact is not None:
            unit = Unit(*exact.unit, outside=0.0)
        iterate = _start(space, eta, unit, normalised=run.normalised)
        kq = ReducedKQ(space, classes, V, iterate.reference, first.margin, edges, merged, exact)
        if shadow is not None:
            other = ReducedKQ(space, classes, V, iterate.reference, shadow.margin, edges, merged, exact)
    else:
        iterate = _start(space, eta, unit, normalised=run.normalised)
        what = iterate.reference
        kq = (
            CommonMargin(space, classes, V, what, first.margin)
            if first.common
            else GeneralB(space, classes, V, what, first.B)
        )
        if shadow is not None:
            # in which margins that are one A but for their rounding are each their own, if memory has room for them
            one = first.common and GeneralB.size(classes, V) > LARGEST_SHADOW
            other = (
                CommonMargin(space, classes, V, what, shadow.margin)
                if one
                else GeneralB(space, classes, V, what, shadow.B)
            )
    stopped, asymptotics, found, enclosed = "", None, None, None
    if isinstance(kq, ReducedKQ) and exact is not None and run.normalised and isinstance(reference, MaxMargin):
        rows, iterate, found, stopped = follow(kq, exact, iterate, steps2, at, run.progress, steps1)
        asymptotics = _asymptotics(dataset, kq, exact, found)
        enclosed = _enclosed(dataset, reference, rows, steps1, first.eta0, eta)
        if enclosed is not None and enclosed.step[-1] == steps2:
            iterate = iterate.placed(steps2, enclosed.rest[-1])
    else:
        descent = Descent(kq)
        if shadow is not None and other is not None:
            descent = Shadowed(kq, other, _start(space, eta, unit, normalised=run.normalised), lost=shadow.lost)
        rows = descend(descent, iterate, steps2, at, run.progress, steps1)

    what = space.recorded(iterate.reference)
    S = np.zeros((V, V))
    S[space.recorded_key, space.recorded_query] = iterate.along * what + space.recorded(iterate.rest)
    lost = iterate.direction().distance_error >= 2 or any(row["distance_error"] >= 2 for row in rows[-1:])
    record = Stage2(
        **_columns(rows, KQ_COLUMNS),
        law=np.full(len(rows), np.nan) if found is None else found.one_minus_cos(at)[: len(rows)],
        rest=np.array([row["rest"] for row in rows]).reshape(-1, len(what)),
        reference=what,
        key=space.recorded_key,
        query=space.recorded_query,
    )
    weights = E.T @ S @ E if run.orthonormal else iterate.weights
    reduced = Reduced(kq.merged, exact) if isinstance(kq, ReducedKQ) and exact is not None else None
    return _Second(record, S, weights, classes, reason, stopped, reduced, asymptotics, enclosed, lost)


COLUMNS = (
    "step",
    "loss",
    "log_loss",
    "norm",
    "one_minus_cos",
    "distance",
    "error",
    "distance_error",
    "gradient_norm",
    "log_gradient_norm",
    "method",
)
OV_COLUMNS = (*COLUMNS, "min_margin", "max_margin", "label_spread")
KQ_COLUMNS = (
    *COLUMNS,
    "min_optimal_weight",
    "log_other_weight",
    "log_excess",
    "along",
    "descent_reference",
    "descent_rest",
)
TYPES: dict[str, Any] = {"step": np.int64, "method": np.str_}


def _asymptotics(dataset: Dataset, kq: ReducedKQ, exact: ExactReference, law: Law | None) -> Asymptotics:
    """Which tight constraints carry no multiplier, by name, and the law."""
    merged, classes, names = kq.merged, kq.classes, dataset.vocabulary
    found = support(merged.winner, merged.loser, exact.slack, exact.multiplier, len(exact.weight))
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
    """Puts enclosed records in the place of the first ones where float64 has lost these; None where it has not."""
    from marginaudit.training.ntp.certified.first_steps import enclosed_row, first_steps

    found = first_steps(dataset, kq, rows, steps1=steps1, lr1=eta0, lr2=eta)
    if found is not None:
        for i in np.flatnonzero(found.step).tolist():
            rows[i] = enclosed_row(found, i, eta)
    return found


def _columns(rows: Sequence[Row], names: Sequence[str]) -> dict[str, Any]:
    return {name: np.array([row[name] for row in rows], dtype=TYPES.get(name, np.float64)) for name in names}


def _not_reduced(classes: SampleClasses, *, orthonormal: bool, common: bool) -> str:
    """Why stage 2 has no reduced model, or ""."""
    if not orthonormal:
        return "the embeddings are not orthonormal"
    if not common:
        return "the margins of W_ov are not one A"
    return no_reduction(classes) or ""


def _on_the_law(iterate: Iterate, answer: Indices, t: int) -> Floats:
    """rho after t steps of stage 1 on its closed form: t eta0 W*_ov / ||W*_ov|| - s What."""
    V = len(answer)
    (one, other), _ = over_root([Fraction(V - 1, V), Fraction(-1, V)], Fraction(V - 1))
    unit = np.full((V, V), other)
    unit[answer, np.arange(V)] = one
    return np.asarray(iterate.lr * t * (unit - iterate.reference))


def _known_by_law(row: Row, eta0: float) -> Row:
    """A record of stage 1; where rounding may have left it far off, with its distance from the closed form instead."""
    t = row["step"]
    if not (t and row["distance_error"] >= 2):
        return row
    off = row["distance"] + abs(row["norm"] / (t * eta0) - 1) + LAW_ROUNDING
    if not off < 2:
        return row
    relative = off / row["distance"] if row["distance"] > 0 else np.inf
    return {**row, "distance_error": off, "error": (1 + relative) ** 2 - 1}


class Unit(NamedTuple):
    """What in a space, as the sum of two arrays, and the squared norm of what lies outside of it."""

    high: Floats
    low: Floats
    outside: float


def _ov_unit(dataset: Dataset, space: Space, reference: Reference) -> Unit | None:
    """W*_ov's, from the exact weights where the space is that of tokens."""
    if not isinstance(reference, Exact) or not isinstance(space, TokenOV):
        return _unit(space, "ov_reference", reference)
    if not reference.norm_squared_exact:
        return None
    zero = Fraction(0)
    columns = [reference.weights_exact.get(x, {}) for x in dataset.vocabulary]
    entries = [column.get(v, zero) for v in dataset.vocabulary for column in columns]
    high, low = over_root(entries, reference.norm_squared_exact)
    return Unit(high.reshape(space.shape), low.reshape(space.shape), 0.0)


def _unit(space: Space, name: str, reference: Reference) -> Unit | None:
    """An array's, or a solution's in float64; None where there is none, or it is 0."""
    if isinstance(reference, Optimal):
        reference = reference.scores if isinstance(space, TokenOV) else reference.matrix
    if reference is None or isinstance(reference, MaxMargin):
        return None
    given = np.asarray(reference, dtype=np.float64)
    if given.shape != space.reference_shape:
        raise ValueError(f"{name}: got shape {given.shape}, expected {space.reference_shape}")
    if not np.isfinite(given).all():
        raise ValueError(f"{name}: got an entry that is not finite, expected finite numbers")
    largest = np.abs(given).max(initial=0.0)
    if largest == 0:
        return None
    scaled = given / largest
    inside, outside = space.enter(scaled / np.linalg.norm(scaled))
    return Unit(inside, np.zeros_like(inside), outside)


def _start(space: Space, lr: float, unit: Unit | None, *, normalised: bool) -> Iterate:
    """The zero initialisation, ready to be compared with the reference."""
    if unit is None:
        return Iterate(space.shape, lr, None, normalised=normalised)
    return Iterate(space.shape, lr, unit.high, unit.outside, reference_low=unit.low, normalised=normalised)


def _margin_error(iterate: Iterate, embedding: Floats | None, A: float, V: int) -> float:
    """A = <B, C> with |C| = 1/sqrt(V-1), and B = W E^T is off by at most |E| times the error of W."""
    if V == 1:
        return 0.0
    size = 1.0 if embedding is None else np.linalg.norm(embedding, 2)
    return float(size * iterate.state_error / np.sqrt(V - 1)) + V * EPS * abs(A)
