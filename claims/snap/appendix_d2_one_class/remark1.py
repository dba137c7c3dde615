"""Remark 1 of arXiv 2305.16380: the rows of W = F^T Y for equal overlaps."""

import math

import flint
import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, certified, series
from marginaudit.claims.snap.conditions import SETTING, first_of, no_growth, no_inverse, one_class
from marginaudit.claims.snap.readings import PAGE, ROUNDED
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication, Severity, Weight, contradicts, proved, refuted
from marginaudit.orders.snap import common_tokens
from marginaudit.training.approximation import Approximation
from marginaudit.training.snap.balls.matrices import BITS, dual
from marginaudit.training.snap.limit.descent import descend
from marginaudit.training.snap.limit.overlap import overlap
from marginaudit.training.snap.limit.recursion import h_star

PROOF = PAGE + "21-snapremark1rederived"

ROUNDS = 10_000
"""Most rounds of SGD. A round draws each class once."""

MOST_STEPS = 60_000
"""Most SGD steps in total."""

MOST_CLASSES = 12
"""Most classes with equal overlaps for judging Remark 1."""

FLOW = (1e-6, 1e-3, 0.1, 1.0, 5.0, 15.0, 40.0)
"""Values of M tau for comparing the flow of eq. 7 with its closed form."""


@once_a_run
def in_turn(run: ClassRun) -> tuple[Series, Series]:
    """Rows of W after rounds of SGD by eq. 7, each class once a round, and eq. 43.

    Entries of the row of the class drawn first: its own next token, another class's, and, if one exists, a token that
    is never a next token. The rows of the other classes are analogous.
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


@once_a_run
def flow(run: ClassRun) -> tuple[Series, Series]:
    """The rows of docs/proofs-snap.md, section `snap.remark1.rederived`, differentiated; and the flow of eq. 7 there.

    F has one token shared by all classes and one distinct token per class, so that all overlaps are exactly the
    dataset's rho. Y = F (I-E') W, one logit at a time; tokens other than next tokens share a column. The power series
    in tau is exact. Both are the speed of W over eta_Y/(K S).
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
        return certified(found, label=tuple(label)), certified(stated, label=tuple(label))


def closed(tau: flint.arb_series, rho: flint.arb, K: int, M: int) -> tuple[flint.arb_series, flint.arb_series]:
    """x and y: logits of a class's own next token and of another's, over a token that is no next token."""
    a = 1 + rho * (M - 1)
    y = -(((1 - rho) + rho * M * (-tau * a).exp()) / a).log()
    return tau * (M * (1 + rho * (K - 1))) - y * (K - 1), y


def no_overlap_of_two(run: ClassRun) -> str | None:
    """Reason why there is no overlap rho or no computation, or None."""
    if run.K == 1:
        return "There is one class, and no overlap of two."
    return first_of(no_inverse, no_growth)(run)


def agrees(run: ClassRun) -> str | None:
    """Reason why eq. 43 is not refuted, or None: at other next tokens or, if every token is one, in round 1."""
    silent = one_class(run) or (None if common_tokens(run.dataset) else "the classes share no token")
    if silent is not None or run.K < run.M:
        return silent
    if run.K > MOST_CLASSES:
        return f"every token is a next token, of more than {MOST_CLASSES} classes"
    return "every token is a next token, and eq. 43 is true of round 1" if _first_round(run).contains(0) else None


def _first_round(run: ClassRun) -> flint.arb:
    """Excess of class 1's own logit over eq. 43 after each class was drawn once, over rho eta_Y.

    K = M. The logit is eta_Y (1 - 1/M - rho sum over n > 1 of alpha_n), alpha_n the softmax of class n at that token.
    """
    K, rho, eta = run.K, float(run.dataset.overlap.E[1, 0]), run.eta_Y
    with flint.ctx.workprec(BITS - 2 * min(0, math.frexp(rho)[1] + math.frexp(eta)[1])):
        sums = [flint.arb(0)] * K
        excess = flint.arb(K - 1) / K
        for n in range(K):
            logits = [flint.arb(rho) * eta * x for x in sums]
            top = max(logits, key=lambda x: float(x.mid()))
            powers = [(x - top).exp() for x in logits]
            alpha = [power / sum(powers, flint.arb(0)) for power in powers]
            excess -= alpha[0] if n else 0
            sums = [x + int(j == n) - alpha[j] for j, x in enumerate(sums)]
        return excess


def tokens_shared(run: ClassRun) -> str | None:
    """Reason why some overlap is not 0, or None."""
    return "the classes share a token" if common_tokens(run.dataset) else one_class(run)


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
    setting=SETTING,
    judgement=Equal(measure=lambda run: in_turn(run)[0], expected=lambda run: in_turn(run)[1], note=_late),
    absent=no_overlap_of_two,
    instead=(
        r"The $\zeta_n$ sum to zero over all $M$ tokens, not over the $K$ classes, and the other classes' errors are "
        "not that of a class alone. For the gradient flow of eq. 7, snap.remark1.rederived has the rows in closed form "
        "(docs/proofs-snap.md): for $K<M$ the logit of another class's next token rises to "
        r"$\ln\frac{1+\rho(M-1)}{1-\rho}$; for $K=M$ the rows are $(M-1)h((1-\rho)t/K)\,\zeta_n$, the rate inside of "
        r"$h$. The direction is as printed: late, $1-\alpha_{nn}$ falls as it does without overlaps at the rate "
        r"$(1-\rho)\frac{1+(K-1)\rho}{1+(K-2)\rho+(K-1)\rho/(M-1)}\,\eta_Y$, which is from $(1-\rho)\,\eta_Y$ to "
        r"$(1-\rho^2)\,\eta_Y$."
    ),
    standing=refuted(
        PROOF,
        "snap.remark1.rederived",
        severity=Severity.EVERYWHERE,
        weight=Weight.ASIDE,
        wrong=(
            "Remark 1's factor 1-rho needs K = M: the errors of K classes do not add up to zero, only those of all M "
            "tokens do."
        ),
        defence="Late in training a smaller effective rate is what overlaps bring, from (1-rho) to (1-rho^2) times.",
        hunted=10,
        weakest="rho = 0 and classes drawn in turn (Lemma 5)",
    ),
    source_words=quoted(
        "appendix D.2, Remark 1, eq. 43",
        "w_n(N) = (M-1)h*(N/K)[zeta_n + rho sum_{n' != n} zeta_n'] = (1-rho)(M-1)h*(N/K)zeta_n",
        "Eq. 43 as it is printed, its last equality included.",
    ),
    implications=(
        contradicts(
            "snap.remark1.rederived",
            condition="the classes share tokens",
            proof=PROOF,
            unmet=agrees,
            unseen=ROUNDED,
        ),
        Implication(sources=("snap.lemma5",), condition="the classes share no token", proof=PROOF, unmet=tokens_shared),
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
        measure=lambda run: flow(run)[0],
        expected=lambda run: flow(run)[1],
        scale=lambda run: np.maximum(np.abs(flow(run)[1].value), 1.0),
        note=lambda _: f"M tau from {min(FLOW):g} to {max(FLOW):g}.",
    ),
    absent=no_overlap_of_two,
    standing=proved(PROOF, hunted=231),
    source_words=rederived("snap.remark1", "The flow of eq. 7 in closed form; the zeta_n do not add up to 0."),
)

CLAIMS: tuple[Claim, ...] = (REMARK1, REMARK1_REDERIVED)
