"""Algorithm 1 of arXiv 2409.17335: two-stage gradient descent, normalised or plain."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from marginaudit.orders.ntp import Dataset, check_assumption
from marginaudit.training.ntp.records import Progress
from marginaudit.training.ntp.stage1 import first_stage
from marginaudit.training.ntp.stage2 import second_stage
from marginaudit.training.ntp.start import Reference, TrainingSettings, step_sizes
from marginaudit.training.ntp.trained import Training
from marginaudit.training.schedule import recorded_steps

Optimizer: TypeAlias = Literal["ngd", "gd"]


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
    distinct tokens; symmetric data whose terms cancel), W does not move.

    For orthonormal tokens normalised descent in stage 1 has a closed form (`stage1_law`). It replaces the steps after
    `steps_before_the_law`, or once rounding hides the gradient; stage 2 always starts from it. Stage 2 is compiled if
    its loss has a reduced model (`ReducedKQ`): orthonormal tokens, one margin A, exactly one token of each sentence
    with the label of its next token, and no label twice in a sentence.

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
        W*_ov and W*_kq, with the exact weights of a solution if it has them. Arrays may have any norm. They are in
        token space for orthonormal embeddings, both (V, V): [label, token] and [key, query]; otherwise in embedding
        space, (V, d) and (d, d). Without a reference, or if it is 0 or infeasible, directions are NaN.
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
    run = TrainingSettings(dataset, optimizer == "ngd", check_assumption(dataset, "orthonormal").holds, progress)
    first = first_stage(run, eta0, steps1, at1, ov_reference)
    return second_stage(run, first, eta, steps1, steps2, at2, kq_reference)
