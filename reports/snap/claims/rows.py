r"""Lemma 5 and Remark 1 of arXiv 2305.16380: a class's row w_n of W = F^T Y, of one class alone and of all."""

from dataclasses import dataclass
from math import ceil

import flint
import numpy as np

from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Equal
from marginaudit.reports.judgements.parts import Parts
from marginaudit.reports.run import once_a_run
from marginaudit.reports.series import Series, series
from marginaudit.reports.snap.ball_arithmetic import BITS, certified, dual, features, softmax, some_classes
from marginaudit.reports.snap.conditions import no_growth, no_inverse
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.limit import Approximation, descend, h_star, overlap

DENSE_STEPS = 24
"""SGD steps on whole matrices."""

DENSE_CLASSES = 3
DENSE_TOKENS = 9
"""Of the vocabulary, at most, in whole matrices."""

ALONE = 10_000
"""SGD steps on one class with the dataset's M, at most."""

ROUNDS = 10_000
"""Rounds in which each class is drawn once, at most."""

MOST_STEPS = 60_000
"""SGD steps of all rounds together."""

MOST_CLASSES = 12
"""Of more classes with equal overlaps, Remark 1 is judged on so many."""

FLOW = (1e-6, 1e-3, 0.1, 1.0, 5.0, 15.0, 40.0)
"""M tau at which the flow of eq. 7 is compared with its closed form."""


@dataclass(frozen=True)
class Dense:
    """w_n and alpha_n of SGD on whole matrices, and of eqs. 31 to 33; a column for each of M' tokens."""

    found: Series
    stated: Series


def _bits(run: ClassRun) -> int:
    """Of SGD: the first step leaves 1 - alpha_nn at about exp(-eta_Y)."""
    return BITS + 8 * ceil(run.eta_Y)


@once_a_run
def one_class(run: ClassRun) -> Dense:
    """SGD with the modified gradient of Lemma 3 on one class from Y = 0, and eqs. 31 to 33, all in ball arithmetic.

    Nothing of the dataset but M is smaller: a few classes, M' tokens, and eta_Y.
    """
    classes = some_classes(run, DENSE_CLASSES)
    M = min(run.M, DENSE_TOKENS)
    names = [run.dataset.next_tokens[n] for n in classes]
    found: list[flint.arb] = []
    stated: list[flint.arb] = []
    label: list[str] = []
    with flint.ctx.workprec(_bits(run)):
        F = features(run, classes)
        step, eta = dual(F), flint.arb(run.eta_Y)
        for n, name in enumerate(names):
            f = flint.arb_mat(F.nrows(), 1, [F[i, n] for i in range(F.nrows())])
            direction = flint.arb_mat(F.nrows(), 1, [step[i, n] * eta for i in range(F.nrows())])
            Y, h = flint.arb_mat(F.nrows(), M), flint.arb(0)
            for s in range(1, DENSE_STEPS + 1):
                alpha = softmax((Y.transpose() * f).entries())
                Y += direction * flint.arb_mat(1, M, [int(j == n) - share for j, share in enumerate(alpha)])
                power = (M * h).exp()
                h += eta / (M - 1 + power)
                found += [*(Y.transpose() * f).entries(), *alpha]
                stated += [(M - 1) * h if j == n else -h for j in range(M)]
                stated += [(power if j == n else 1) / (M - 1 + power) for j in range(M)]
                for of in ("w", "alpha"):
                    label += [f"{of} of {name} at token {j} of {M}, s = {s}" for j in range(M)]
        return Dense(certified(found, label), certified(stated, label))


@once_a_run
def drawn_classes(run: ClassRun) -> Dense:
    """W = F^T Y after SGD with the modified gradient on classes drawn at random, and rows (M-1) h*(N_n) zeta_n."""
    classes = some_classes(run, DENSE_CLASSES)
    K, M = len(classes), min(run.M, DENSE_TOKENS)
    names = [run.dataset.next_tokens[n] for n in classes]
    sequence = np.random.default_rng(2305_16380).integers(K, size=DENSE_STEPS).tolist()
    with flint.ctx.workprec(_bits(run)):
        F = features(run, classes)
        step, eta = dual(F), flint.arb(run.eta_Y)
        Y, h = flint.arb_mat(F.nrows(), M), [flint.arb(0)] * K
        for n in sequence:
            f = flint.arb_mat(F.nrows(), 1, [F[i, n] for i in range(F.nrows())])
            direction = flint.arb_mat(F.nrows(), 1, [step[i, n] * eta for i in range(F.nrows())])
            alpha = softmax((Y.transpose() * f).entries())
            Y += direction * flint.arb_mat(1, M, [int(j == n) - share for j, share in enumerate(alpha)])
            h[n] += eta / (M - 1 + (M * h[n]).exp())
        found = (F.transpose() * Y).entries()
        stated = [(M - 1) * h[n] if j == n else -h[n] for n in range(K) for j in range(M)]
        label = [f"w of {name} at token {j} of {M}" for name in names for j in range(M)]
        return Dense(certified(found, label), certified(stated, label))


@once_a_run
def alone(run: ClassRun) -> tuple[Series, Series]:
    """w_nn(s), at the dataset's M, of SGD as in eq. 7 on one class alone, where E = 0; and (M-1) h*(s)."""
    at = np.unique(np.rint(np.geomspace(1, ALONE, 41)).astype(np.int64))
    column = np.asarray(run.dataset.overlap.F[:, :1])
    went = descend(overlap(column), np.zeros((1, ALONE), dtype=np.int64), at.tolist(), run.M, run.eta_Y)
    h = h_star(at, run.M, run.eta_Y).level.h * (run.M - 1.0)
    found = series(went.W[0, :, 0, 0], radius=went.error[0], step=at, clock="s")
    return found, series(h.value, radius=h.error, step=at, clock="s")


LEMMA5 = Claim(
    id="snap.lemma5",
    source="arXiv 2305.16380, Lemma 5 (eqs. 31-33)",
    statement=(
        "Y(0) = 0, Z fixed, s steps of the modified gradient (Lemma 3), all on class n: w_n(s) = (M-1) h*(s) zeta_n, "
        "alpha_nn(s) = exp(M h*(s-1))/(M-1+exp(M h*(s-1))), alpha_nj(s) = 1/(M-1+exp(M h*(s-1))) for j != n. Compared "
        "with "
        f"SGD on whole matrices with at most {DENSE_TOKENS} tokens, and with SGD on one class at the dataset's M."
    ),
    formula=(
        r"w_n(s)=(M-1)h^*(s)\zeta_n,\quad \alpha_{nn}(s)=\frac{\exp(Mh^*(s-1))}{M-1+\exp(Mh^*(s-1))},\quad "
        r"\alpha_{nj}(s)=\frac{1}{M-1+\exp(Mh^*(s-1))}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            f"{DENSE_STEPS} steps on whole matrices": Equal(
                measure=lambda run: one_class(run).found,
                expected=lambda run: one_class(run).stated,
                scale=lambda run: np.maximum(np.abs(one_class(run).stated.value), 1e-3 * min(1.0, run.eta_Y)),
            ),
            f"{ALONE} steps at the dataset's M": Equal(
                measure=lambda run: alone(run)[0], expected=lambda run: alone(run)[1]
            ),
        }
    ),
    absent=lambda run: no_inverse(run) or no_growth(run),
)


@once_a_run
def in_turn(run: ClassRun) -> tuple[Series, Series]:
    """Rows of W after rounds of SGD as in eq. 7, each class once a round, and eq. 43; classes beyond the first like it.

    Entries of the row of the class drawn first: its own next token, another class's, and one of a token that is no
    next token, where there is one.
    """
    K, M = min(run.K, MOST_CLASSES), run.M
    rho = float(run.dataset.overlap.E[1, 0])
    o = overlap(run.dataset.overlap.F[:, :K])
    rounds = min(ROUNDS, MOST_STEPS // K)
    at = np.unique(np.rint(np.geomspace(1, rounds, 25)).astype(np.int64))
    went = descend(o, np.tile(np.arange(K), rounds)[None], (at * K).tolist(), M, run.eta_Y)
    h: Approximation = h_star(at, M, run.eta_Y).level.h * (1 - rho)
    columns = {"its own": (0, M - 1.0), "another class's": (1, -1.0)}
    if M > K:
        columns["no class's"] = (K, -1.0)
    found, stated, bars, wide, label = [], [], [], [], []
    for what, (column, factor) in columns.items():
        row = went.W[0, :, 0, column]
        size = went.A[0, :, :, column]
        found += row.tolist()
        bars += (2 * went.error[0] + 1e-15 * K * np.abs(size).max(axis=-1)).tolist()
        stated += (factor * h.value).tolist()
        wide += (np.abs(factor) * h.error + 1e-14 * np.abs(factor * h.value)).tolist()
        label += [f"w_n at {what} next token, N = {N}" for N in (at * K).tolist()]
    return series(found, radius=bars, label=tuple(label)), series(stated, radius=wide, label=tuple(label))


def _late(run: ClassRun) -> str:
    found, stated = in_turn(run)
    last = next(i for i in reversed(range(len(found))) if found.label[i].startswith("w_n at its own"))
    return (
        f"In the end ({found.label[last]}): {found.value[last]:.4g}, printed {stated.value[last]:.4g}. Classes are "
        f"drawn "
        "in turn."
    )


@dataclass(frozen=True)
class Flow:
    """The speed of W along the closed form, and what eq. 7 gives there, over eta_Y/(K S)."""

    found: Series
    stated: Series


@once_a_run
def flow(run: ClassRun) -> Flow:
    """The rows of docs/proofs-snap.md, section `snap.remark1.rederived`, differentiated; and the flow of eq. 7 there.

    From features F of one token that all classes share and one of each class's own, so that all overlaps are the
    dataset's rho exactly, with Y = F (I-E') W, one logit at a time; tokens that are no next token share a column. The
    power series in tau leaves nothing out.
    """
    K, M = min(run.K, MOST_CLASSES), run.M
    found: list[flint.arb] = []
    stated: list[flint.arb] = []
    label: list[str] = []
    with flint.ctx.workprec(BITS + 2 * int(max(FLOW)) * K):  # 1 - alpha_nn is down to exp(-M tau K)
        rho = flint.arb(float(run.dataset.overlap.E[1, 0]))
        shared, own = rho.sqrt(), (1 - rho).sqrt()
        F = flint.arb_mat([[shared] * K, *([own if i == k else 0 for k in range(K)] for i in range(K))])
        gram, lift = F.transpose() * F, dual(F)
        for M_tau in FLOW:
            tau = flint.arb_series([flint.arb(M_tau) / M, 1], 2)
            x, y = closed(tau, rho, K, M)
            rest = -(x + (K - 1) * y) / M
            W = flint.arb_mat(
                K, K + 1, [(rest + (x if j == n else y if j < K else 0))[0] for n in range(K) for j in range(K + 1)]
            )
            Y = lift * W
            pull = [[flint.arb(0)] * (K + 1) for _ in range(K)]
            for k in range(K):
                logits = [sum((Y[i, j] * F[i, k] for i in range(F.nrows())), flint.arb(0)) for j in range(K + 1)]
                powers = [logit.exp() for logit in logits]
                total = sum(powers[:K], flint.arb(0)) + (M - K) * powers[K]
                # S of the page is the sum relative to a token that is no next token
                S = total / powers[K]
                for n in range(K):
                    for j in range(K + 1):
                        pull[n][j] += gram[n, k] * (int(j == k) - powers[j] / total) * S
            for n in range(min(K, 2)):
                for j, what in ((n, "its own"), (1 - n, "another class's"), (K, "no class's")):
                    speed = (rest + (x if j == n else y if j < K else 0))[1]
                    found.append(speed)
                    stated.append(pull[n][j])
                    label.append(f"w of class {n + 1} at {what} next token, M tau = {M_tau:g}")
        return Flow(certified(found, label), certified(stated, label))


def closed(tau: flint.arb_series, rho: flint.arb, K: int, M: int) -> tuple[flint.arb_series, flint.arb_series]:
    """x and y, the logits of a class's own next token and of another's over a token that is none."""
    a = 1 + rho * (M - 1)
    y = -(((1 - rho) + rho * M * (-tau * a).exp()) / a).log()
    return tau * (M * (1 + rho * (K - 1))) - y * (K - 1), y


def one(run: ClassRun) -> str | None:
    """Why there is no overlap rho, or nothing is computed; or None."""
    if run.K == 1:
        return "There is one class, and no overlap of two."
    return no_inverse(run) or no_growth(run)


REMARK1 = Claim(
    id="snap.remark1",
    source="arXiv 2305.16380, Remark 1 (eq. 43)",
    statement=(
        "With the gradient of eq. 7, all f_n^T f_n' = rho for n != n', and uniform classes: w_n(N) = (M-1) h*(N/K) "
        "[zeta_n + "
        "rho sum over n' != n of zeta_n'] = (1-rho) (M-1) h*(N/K) zeta_n, so that the effective rate is (1-rho) eta_Y."
    ),
    formula=r"w_n(N)=(1-\rho)(M-1)h^*(N/K)\zeta_n",
    assumptions=("uniform_classes", "equal_overlaps"),
    judgement=Equal(measure=lambda run: in_turn(run)[0], expected=lambda run: in_turn(run)[1], note=_late),
    absent=one,
    instead=(
        r"The $\zeta_n$ sum to zero over all $M$ tokens, not over the $K$ classes, and the other classes' errors are "
        "not that of a class alone. For the gradient flow of eq. 7, snap.remark1.rederived has the rows in closed form "
        "(docs/proofs-snap.md): for $K<M$ the logit of another class's next token rises to "
        r"$\ln\frac{1+\rho(M-1)}{1-\rho}$; for $K=M$ the rows are $(M-1)h((1-\rho)t/K)\,\zeta_n$, the rate inside of "
        r"$h$. The direction is as printed: late, $1-\alpha_{nn}$ falls as it does without overlaps at the rate "
        r"$(1-\rho)\frac{1+(K-1)\rho}{1+(K-2)\rho+(K-1)\rho/(M-1)}\,\eta_Y$, which is from $(1-\rho)\,\eta_Y$ to "
        r"$(1-\rho^2)\,\eta_Y$."
    ),
)

REMARK1_REDERIVED = Claim(
    id="snap.remark1.rederived",
    source="docs/proofs-snap.md, for arXiv 2305.16380, Remark 1",
    statement=(
        "The flow dY/dt = (eta_Y/K) sum over n of f_n (e_n - alpha_n)^T of eq. 7 from Y = 0, all f_n^T f_n' = rho: "
        "with a "
        "= 1+rho(M-1) and a parameter tau from 0 on, dt/dtau = (K/eta_Y) (e^x + (K-1) e^y + M-K), y = -ln((1-rho+rho M "
        "e^(-a tau))/a), x = M (1+(K-1)rho) tau - (K-1) y, w_n is -(x+(K-1)y)/M, plus x at next token n, plus y at the "
        "other classes'. Its speed is compared with the flow's on features with the dataset's rho, K and M."
    ),
    formula=(
        r"y=-\ln\frac{1-\rho+\rho Me^{-a\tau}}{a},\quad x=M(1+(K-1)\rho)\tau-(K-1)y,\quad "
        r"\frac{dt}{d\tau}=\frac{K}{\eta_Y}\left(e^x+(K-1)e^y+M-K\right)"
    ),
    assumptions=("uniform_classes", "equal_overlaps"),
    judgement=Equal(
        measure=lambda run: flow(run).found,
        expected=lambda run: flow(run).stated,
        scale=lambda run: np.maximum(np.abs(flow(run).stated.value), 1.0),
        note=lambda _: f"M tau from {min(FLOW):g} to {max(FLOW):g}.",
    ),
    absent=one,
)

CLAIMS: tuple[Claim, ...] = (LEMMA5, REMARK1, REMARK1_REDERIVED)
