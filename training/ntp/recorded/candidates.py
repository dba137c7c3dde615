"""Candidate causes of a departure from Algorithm 1: other update rules, tested on the recorded steps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import nnls

from marginaudit.orders.arrays import Floats
from marginaudit.training.departure import CLEAR, SLIGHT
from marginaudit.training.ntp.recorded.accumulation import split_stages
from marginaudit.training.ntp.recorded.factored import FactoredStage, by_part
from marginaudit.training.ntp.recorded.gradients import Stage2Loss
from marginaudit.training.ntp.recorded.rules import (
    ADAGRAD,
    ADAM,
    RMSPROP,
    Rule,
    Stage,
    adaptive,
    by_column,
    clipped,
    coupled,
    decayed,
    gradient_descent,
    guarded,
    momentum,
    normalised,
    once,
    over_norm,
    several,
    sign,
    together,
    transposed,
    unit,
    with_ov_moving,
)
from marginaudit.training.recorded_weights import Recorded

TOGETHER = 12
"""Largest number of records to fit weights of samples to."""

FEWEST = 3
"""Least number of steps to identify Muon."""

DRAWS, UNLIKELY = 20, 1e-6
"""Random changes drawn for each step of a minibatch, and the largest chance of all steps to lie in their cones."""

MUONS = ((0.95, True), (0.95, False), (0.9, True), (0.9, False), (0.0, False))
"""Settings of Muon: momentum, and whether it is Nesterov's."""

Frozen: TypeAlias = Callable[[Recorded, int], tuple[int, Stage] | None]
"""Function from a record to the length of stage 1 that fits it best, and stage 2 with the W_ov of this length."""

MOST = 1000
"""Largest number of classes of samples to fit weights of."""

MOST_STEPS_A_RECORD = 5

NOT_FROZEN = "W_ov not frozen"

DECAYS = (0.01, 0.1)
"""Default weight decay of AdamW, and another one in use."""

OTHER_BETAS = ((0.9, 0.95), (0.9, 0.98), (0.9, 0.99), (0.8, 0.95), (0.8, 0.98), (0.8, 0.99), (0.8, 0.999))
"""Other beta1 and beta2 of Adam that are in use."""

OTHER_EPSILONS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-10, 1e-12)
"""Other epsilon of Adam."""

OTHER_ALPHAS = (0.9, 0.95)
"""Other alpha of RMSprop."""


@dataclass(frozen=True)
class CandidateRule:
    """An update rule that may explain the steps.

    Attributes
    ----------
    words : str
        Description, with ``{0}`` for its first number.
    rule : callable, (stage, numbers) -> rule
    starts : pairs of numbers
        Two initial values of each number, for the secant method.
    remembers : bool
        Whether a step depends on the steps before it.
    stage : Stage or None
        Replaces the stage that departs.
    rivals : str
        Group of adjacent candidates; if several fit, all are named.
    """

    words: str
    rule: Callable[..., Rule]
    starts: tuple[tuple[float, float], ...] = ()
    remembers: bool = False
    stage: Stage | None = None
    rivals: str = ""


def causes(stage: Stage, run: Recorded, first: Recorded | None, i: int, frozen: Frozen) -> Iterator[CandidateRule]:
    """Candidates for a stage that departs at record ``i``, in order of trial; ``first`` is the run of stage 1."""
    yield from _lengths(stage, run, i)
    if isinstance(stage, FactoredStage):
        yield from _of_parts(stage, run, i)
        return
    lr, square = stage.lr, stage.loss.E.shape[0] == stage.loss.E.shape[1]
    if stage.number == 2 or square:
        name = "W_ov" if stage.number == 1 else "W_kq"
        yield CandidateRule(f"a transposed {name}", lambda stage: transposed(normalised(stage, lr)))
    for words, weights in stage.loss.other_weights().items():
        name = f"the mean over other weights than {'1' if stage.number == 1 else 'pi'} ({words})"
        yield CandidateRule(name, lambda stage, weights=weights: normalised(stage, lr, weights))
    if isinstance(stage.loss, Stage2Loss):
        d = stage.loss.E.shape[1]
        yield CandidateRule("scores divided by sqrt(d)", lambda stage: normalised(stage, lr, scale=1 / np.sqrt(d)))
        for words, loss in stage.loss.other_keys().items():
            yield CandidateRule(
                f"another mask ({words})", lambda stage, loss=loss: normalised(replace(stage, loss=loss), lr)
            )
        if found := frozen(run, i):
            T, other = found
            yield CandidateRule(f"W_ov after {T} steps", lambda stage: normalised(stage, lr), stage=other)
        yield from (replace(cause, remembers=True) for cause in _ov_not_frozen(stage, stage.loss, run, first))
    yield CandidateRule("each column of the gradient normalised by itself", lambda stage: by_column(stage, lr))
    yield from (replace(cause, remembers=True) for cause in _by_entry(lr, one_by_one=gapless(run, 0, i + 1)))
    yield from (replace(cause, remembers=True) for cause in _momentum(lr))
    yield from _decay(lr)
    yield from _split(stage, run, i)
    fitted = _fitted_weights(stage, run, i)
    if fitted is not None:
        words = f"the mean over other weights than {'1' if stage.number == 1 else 'pi'} (found by least squares)"
        yield CandidateRule(words, lambda stage: normalised(stage, lr, fitted))


def _of_parts(stage: FactoredStage, run: Recorded, i: int) -> Iterator[CandidateRule]:
    """Candidates for trained tensors that are no W_kq."""
    lr = stage.lr
    sizes = ((lr, 2 * lr),)
    words = "each tensor's gradient normalised by itself, and step size {0:.6g}"
    yield CandidateRule(words, by_part, sizes)
    yield from (replace(cause, remembers=True) for cause in _by_entry(lr, one_by_one=gapless(run, 0, i + 1)))
    yield from (replace(cause, remembers=True) for cause in _momentum(lr))
    yield from _decay(lr)


def _lengths(stage: Stage, run: Recorded, i: int) -> Iterator[CandidateRule]:
    """Steps along the gradient, of another length or number."""
    lr = stage.lr
    sizes = ((lr, 2 * lr),)
    yield CandidateRule("step size 0", lambda stage: normalised(stage, 0.0))
    t, before = int(run.step[i]), int(run.step[i - 1]) if i else 0
    one = f"step {t}" if t == before + 1 else f"one of steps {before + 1} to {t}"
    skipped, twice = (lambda stage, k=k: once(several(normalised(stage, lr), k), normalised(stage, lr)) for k in (0, 2))
    yield CandidateRule(f"{one} skipped", skipped)
    yield CandidateRule(f"{one} taken twice", twice)
    for k in range(2, MOST_STEPS_A_RECORD + 1):
        yield CandidateRule(f"{k} steps taken as one", lambda stage, k=k: several(normalised(stage, lr), k))
    yield CandidateRule("gradient not normalised", lambda stage: gradient_descent(stage, lr))
    norms: dict[str, Callable[[Floats], float]] = {
        "its largest entry": lambda G: float(np.abs(G).max()),
        "the sum of its absolute values": lambda G: float(np.abs(G).sum()),
        "its spectral norm": lambda G: float(np.linalg.norm(G, 2)) if np.isfinite(G).all() else float("inf"),
        "its squared norm": lambda G: float((G**2).sum()),
    }
    for words, norm in norms.items():
        yield CandidateRule(f"gradient divided by {words}", lambda stage, norm=norm: over_norm(stage, lr, norm))
    size = CandidateRule("another step size ({0:.6g})", normalised, sizes, rivals="length")
    epsilon = _epsilon(stage, run, i)
    by_epsilon = CandidateRule(
        "epsilon in the norm ({0:.4g})",
        lambda stage, by: guarded(stage, lr, by),
        ((epsilon / 2, epsilon),),
        rivals="length",
    )
    slight = 0 < epsilon < SLIGHT * float(np.linalg.norm(_gradient(stage, run, i)))
    yield from ([by_epsilon] if slight else [size, by_epsilon] if epsilon > 0 else [size])
    yield CandidateRule(
        "gradient not normalised, and another step size ({0:.4g})", gradient_descent, sizes, rivals="length"
    )
    norm_here = float(np.linalg.norm(_gradient(stage, run, i)))
    yield CandidateRule(
        "gradient clipped at norm {0:.4g}, not normalised",
        lambda stage, most: clipped(stage, lr, most),
        ((norm_here / 2, norm_here / 4),),
        rivals="length",
    )


def _by_entry(lr: float, *, one_by_one: bool) -> Iterator[CandidateRule]:
    """Sign descent, and optimizers that divide each entry of the gradient by its own size."""
    sizes = ((lr, 2 * lr),)
    yield CandidateRule("sign descent (step size {0:.4g})", sign, sizes, rivals="sign")
    yield from (replace(_adam(lr, ADAM, decay), rivals="Adam") for decay in (0.0, DECAYS[0]))
    yield from _other_constants(lr, one_by_one=one_by_one)
    for name, constants in (("RMSprop", RMSPROP), ("Adagrad", ADAGRAD)):
        yield CandidateRule(
            f"{name} (step size {{0:.4g}})",
            lambda stage, lr, constants=constants: adaptive(stage, lr, constants, corrected=False),
            sizes,
            rivals="squares",
        )


def _other_constants(lr: float, *, one_by_one: bool) -> Iterator[CandidateRule]:
    """Adam, AdamW and RMSprop with other common constants; only a few across gaps, where each fit is slow.

    A fitted weight decay can compensate for wrong constants, so AdamW is then named without them.
    """
    betas = [(*one, ADAM[2]) for one in (OTHER_BETAS if one_by_one else OTHER_BETAS[:3])]
    others = [*betas, *((*ADAM[:2], epsilon) for epsilon in OTHER_EPSILONS if one_by_one)]
    yield from (_adam(lr, constants) for constants in others)
    yield from (_adam(lr, constants, decay) for decay in DECAYS if one_by_one for constants in others)
    for constants in (ADAM, *betas):
        words = "AdamW (step size {0:.4g}, weight decay {1:.4g})"
        yield CandidateRule(
            words if constants == ADAM else "AdamW with other constants (step size about {0:.2g})",
            lambda stage, lr, decay, constants=constants: adaptive(stage, lr, constants, decay),
            ((lr, 2 * lr), (DECAYS[0], 2 * DECAYS[0])),
            rivals="AdamW",
        )
    for alpha in OTHER_ALPHAS if one_by_one else ():
        yield CandidateRule(
            f"RMSprop (step size {{0:.4g}}, alpha {alpha})",
            lambda stage, lr, alpha=alpha: adaptive(stage, lr, (0.0, alpha, RMSPROP[2]), corrected=False),
            ((lr, 2 * lr),),
            rivals="squares",
        )


def _adam(lr: float, constants: tuple[float, float, float], decay: float = 0.0) -> CandidateRule:
    """Adam or AdamW; the description lists constants other than the defaults."""
    named = zip(("beta1", "beta2", "epsilon"), constants, ADAM, strict=True)
    others = "".join(f", {name} {value:g}" for name, value, default in named if value != default)
    words = (
        f"AdamW (step size {{0:.4g}}, weight decay {decay}{others})" if decay else f"Adam (step size {{0:.4g}}{others})"
    )
    rule = lambda stage, lr: adaptive(stage, lr, constants, decay)  # noqa: E731
    return CandidateRule(words, rule, ((lr, 2 * lr),), rivals="AdamW" if decay else "other Adam")


def gapless(run: Recorded, first: int, last: int) -> bool:
    """Whether no step is left out before records ``first`` to ``last``; step 0 is before record 0."""
    steps = run.step[max(first - 1, 0) : last + 1]
    return bool((first > 0 or steps[0] <= 1) and (np.diff(steps) == 1).all())


def _momentum(lr: float) -> Iterator[CandidateRule]:
    betas, size = (0.5, 0.9), (lr, 2 * lr)
    words = "momentum ({0:.4g})"
    yield CandidateRule(words, lambda stage, beta: momentum(normalised(stage, lr), beta), (betas,))
    words = "momentum ({0:.4g}), and gradient not normalised"
    yield CandidateRule(words, lambda stage, beta: momentum(gradient_descent(stage, lr), beta), (betas,))
    words = "momentum ({1:.4g}), and another step size ({0:.4g})"
    yield CandidateRule(words, lambda stage, lr, beta: momentum(normalised(stage, lr), beta), (size, betas))
    words = "momentum ({1:.4g}), gradient not normalised, and another step size ({0:.4g})"
    yield CandidateRule(words, lambda stage, lr, beta: momentum(gradient_descent(stage, lr), beta), (size, betas))
    words = "Nesterov's momentum ({1:.4g}), gradient not normalised, and another step size ({0:.4g})"
    yield CandidateRule(
        words, lambda stage, lr, beta: momentum(gradient_descent(stage, lr), beta, nesterov=True), (size, betas)
    )
    words = "momentum ({0:.4g}), as a running mean"
    yield CandidateRule(words, lambda stage, beta: momentum(normalised(stage, lr), beta, share=1 - beta), (betas,))
    words = "Nesterov's momentum ({0:.4g})"
    yield CandidateRule(words, lambda stage, beta: momentum(normalised(stage, lr), beta, nesterov=True), (betas,))
    words = "Nesterov's momentum ({0:.4g}), and gradient not normalised"
    yield CandidateRule(words, lambda stage, beta: momentum(gradient_descent(stage, lr), beta, nesterov=True), (betas,))


def _decay(lr: float) -> Iterator[CandidateRule]:
    """Weight decay, decoupled or in the gradient."""
    strength, size = (0.01, 0.1), (lr, 2 * lr)
    yield CandidateRule("weight decay ({0:.4g})", lambda stage, by: decayed(normalised(stage, lr), lr, by), (strength,))
    yield CandidateRule("weight decay ({0:.4g}) in the gradient", lambda stage, by: coupled(stage, lr, by), (strength,))
    yield CandidateRule(
        "weight decay ({0:.4g}), and gradient not normalised",
        lambda stage, by: coupled(stage, lr, by, normal=False),
        (strength,),
    )
    yield CandidateRule(
        "weight decay ({1:.4g}), gradient not normalised, and another step size ({0:.4g})",
        lambda stage, lr, by: coupled(stage, lr, by, normal=False),
        (size, strength),
    )
    yield CandidateRule(
        "momentum ({1:.4g}), weight decay ({2:.4g}), gradient not normalised, and another step size ({0:.4g})",
        lambda stage, lr, beta, by: momentum(coupled(stage, lr, by, normal=False), beta),
        (size, (0.5, 0.9), strength),
        remembers=True,
    )


def _gradient(stage: Stage, run: Recorded, i: int) -> Floats:
    """Gradient of the step to record ``i``."""
    W = np.asarray(run.weights[i - 1], np.float64) if i else np.zeros(run.weights.shape[1:])
    return stage.at(int(run.step[i - 1]) if i else 0).gradient(W).value


def _epsilon(stage: Stage, run: Recorded, i: int) -> float:
    """Estimate of the epsilon that gives the mean step to record ``i`` its length; 0 if none does."""
    W, before = (np.asarray(run.weights[i - 1], np.float64), run.step[i - 1]) if i else (np.zeros(1), 0)
    length = float(np.linalg.norm(run.weights[i] - W)) / int(run.step[i] - before)
    norm = float(np.linalg.norm(_gradient(stage, run, i)))
    return norm * (stage.lr / length - 1) if length > 0 else 0.0


def _split(stage: Stage, run: Recorded, i: int) -> Iterator[CandidateRule]:
    """Means over micro-batches or processes of different size, averaged alike."""
    if i == 0 or not isinstance(stage.loss, Stage2Loss) or stage.loss.classes > MOST:
        return
    for t, W, after in single_steps(run, i, i + 1):
        gradients, _ = _by_class(stage.at(t), W)
        for words, other in split_stages(stage, stage.loss, gradients, (after - W).ravel()):
            name = f"a mean of unequal means ({words})"
            yield CandidateRule(name, lambda stage: normalised(stage, stage.lr), stage=other, rivals="means")
            yield CandidateRule(
                f"{name}, gradient not normalised, and step size {{0:.4g}}",
                gradient_descent,
                ((stage.lr, 2 * stage.lr),),
                stage=other,
                rivals="means",
            )


def _fitted_weights(stage: Stage, run: Recorded, i: int) -> Floats | None:
    """Fit weights of the classes to the directions of the steps to record ``i`` and the next ones.

    Least squares for weights w >= 0 and lengths s >= 0 of the gradients, the first of which is 1: the sum of w_c G_c is
    -s change / lr, entry by entry. None if steps are left out, or equations do not outnumber the unknowns.
    """
    classes = stage.loss.classes
    if i == 0 or classes > MOST:
        return None
    gradients: list[Floats] = []
    changes: list[Floats] = []
    for t, W, after in single_steps(run, i, i + TOGETHER):
        gradients.append(_by_class(stage.at(t), W)[0])
        changes.append((after - W).reshape(-1, 1) / stage.lr)
    if not changes:
        return None
    equations = np.hstack([np.vstack(gradients), block_diag(*changes)])
    equations = equations[equations.any(axis=1)]
    if len(equations) <= equations.shape[1]:
        return None
    found, _ = nnls(np.delete(equations, classes, axis=1), -equations[:, classes])
    return np.asarray(found[:classes])


def minibatch(stage: Stage, run: Recorded, i: int) -> bool:
    """Whether each step from record ``i`` on averages some of the samples, different ones each time.

    Each change then lies in the cone of the samples' gradients. Some random changes do too: the chance that all of
    these steps do must be below `UNLIKELY`.
    """
    classes, rng, chance = stage.loss.classes, np.random.default_rng(0), 1.0
    if classes > MOST:
        return False
    for t, W, after in single_steps(run, i, i + TOGETHER):
        (gradients, rounding), change = _by_class(stage.at(t), W), (after - W).ravel()
        weights, apart = nnls(gradients, -change)
        size = float(np.linalg.norm(change))
        if size == 0:
            continue
        bar = 2 * float(np.linalg.norm(rounding @ weights))
        bar += stage.u * (3 * float(np.linalg.norm(after)) + len(change) * size)
        if not (apart <= bar < size / CLEAR):
            return False
        others = [gradients @ rng.normal(size=classes) for _ in range(DRAWS)]
        inside = sum(nnls(gradients, other)[1] <= bar / size * np.linalg.norm(other) for other in others)
        chance *= (inside + 1) / (DRAWS + 1)
    return chance < UNLIKELY


def muon(stage: Stage, run: Recorded, i: int, origin: int) -> float | None:
    """Estimate of Muon's step size, if steps from record ``i`` on equalise the momentum's singular values; else None.

    Newton-Schulz iterations bring them within a factor of 2 of each other, and are often done in half precision.
    Momentum begins with the step to record ``origin``.
    """
    origin += int(origin == 0 and run.step[0] == 0)
    taken = list(single_steps(run, origin, i + TOGETHER))
    if len(taken) < i - origin + FEWEST:
        return None
    gradients = [stage.at(t).gradient(W).value for t, W, _ in taken]
    for beta, nesterov in MUONS:
        m, sizes = np.zeros_like(gradients[0]), []
        for k, (G, (_, W, after)) in enumerate(zip(gradients, taken, strict=True), origin):
            m = beta * m + G
            if k >= i:
                pairs = zip(_matrices(stage, G + beta * m if nesterov else m), _matrices(stage, W - after), strict=True)
                sizes += [_alike(*pair) for pair in pairs]
        if sizes and all(sizes):
            return float(np.median(sizes))
    return None


def _matrices(stage: Stage, row: Floats) -> list[Floats]:
    """The weights, or the matrices among the tensors of a run that trains others."""
    if not isinstance(stage, FactoredStage):
        return [row]
    return [one for one in stage.split(row) if one.ndim == 2 and min(one.shape) > 1]


def _alike(m: Floats, change: Floats) -> float:
    """Common singular value of a change with the singular vectors of m, if those of m differ; else 0."""
    if not np.isfinite(m).all():
        return 0.0
    U, singular, Vt = np.linalg.svd(m)
    kept = int(np.sum(singular > singular[0] / 100))
    turned = U[:, :kept].T @ change @ Vt[:kept].T
    sizes = np.diag(turned)
    size = float(np.median(sizes))
    off = float(np.linalg.norm(turned - np.diag(sizes)))
    differ = kept > 1 and singular[0] > 4 * singular[kept - 1]
    return size if differ and off < 0.2 * size and 0 < sizes.max() < 2 * sizes.min() else 0.0


def single_steps(run: Recorded, first: int, last: int) -> Iterator[tuple[int, Floats, Floats]]:
    """Steps from record ``first`` on, up to the first gap: steps and weights before, weights after; W = 0 at step 0."""
    for k in range(first, min(last, len(run.step))):
        if int(run.step[k]) - (int(run.step[k - 1]) if k else 0) != 1:
            return
        after = np.asarray(run.weights[k], np.float64)
        before = np.asarray(run.weights[k - 1], np.float64) if k else np.zeros_like(after)
        yield int(run.step[k]) - 1, before, after


def _by_class(stage: Stage, W: Floats) -> tuple[Floats, Floats]:
    """The gradient of each class of samples, shape (entries, classes), and bounds on their rounding."""
    found = [stage.gradient(W, one) for one in np.eye(stage.loss.classes)]
    return np.array([one.value.ravel() for one in found]).T, np.array([one.rounding.ravel() for one in found]).T


def _ov_not_frozen(stage: Stage, loss: Stage2Loss, run: Recorded, first: Recorded | None) -> Iterator[CandidateRule]:
    """Candidates with a moving W_ov: as recorded at the same step, by stage 1, or by descent on the loss of stage 2."""
    lr, u, before = stage.lr, stage.u, stage.before
    words = NOT_FROZEN
    if first is not None and len(first.step) > 1:
        for ahead in dict.fromkeys((0, max(0, int(first.step[-1] - run.step[-1])))):
            how = f"as recorded {ahead} steps later" if ahead else "as recorded at each step"
            yield CandidateRule(f"{words} ({how})", lambda stage, ahead=ahead: _with_later_ov(stage, first, ahead))
    if before is None:
        return

    def on_l0(W_ov: Floats, _: Floats) -> Floats:
        return -before.lr * unit(before.gradient(W_ov), u)[0]

    yield CandidateRule(f"{words} (goes on with stage 1)", lambda stage: with_ov_moving(stage, lr, on_l0))
    yield CandidateRule(f"{words} (both normalised together)", lambda stage: together(stage, loss))
    for size in dict.fromkeys((lr, before.lr)):
        for normal in (True, False):

            def on_loss(W_ov: Floats, W: Floats, size: float = size, normal: bool = normal) -> Floats:
                found = loss.ov_gradient(W_ov, W, u)
                return -size * (unit(found, u)[0] if normal else found.value)

            how = f"descends on Loss{'' if normal else ', not normalised'}, step size {size:.6g}"
            yield CandidateRule(f"{words} ({how})", lambda stage, on_loss=on_loss: with_ov_moving(stage, lr, on_loss))


def _with_later_ov(stage: Stage, first: Recorded, ahead: int) -> Rule:
    """Steps with the last W_ov recorded up to ``ahead`` steps later."""
    t = ahead

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal t
        i = int(np.searchsorted(first.step, t, side="right")) - 1
        t += 1
        W_ov = np.asarray(first.weights[max(i, 0)], dtype=np.float64)
        return normalised(replace(stage, W_ov=W_ov), stage.lr)(W)

    return step
