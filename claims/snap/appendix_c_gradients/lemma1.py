r"""Lemma 1 of arXiv 2305.16380: the gradient dynamics of Y and Z."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, certified
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.reading import Token
from marginaudit.training.snap.balls.matrices import BITS, identity, softmax

Matrix = list[list[flint.arb]]

Entries = Sequence[Sequence[Any]]
"""Balls, or power series of them."""

SCALES = (0, 1, 3)
"""Standard deviations of the random Y and Z of the gradient comparison. The source starts from 0."""

CONTEXT = 6
"""Contextual tokens of a sequence, T - 1."""


@dataclass(frozen=True)
class DrawnSequence:
    """Sequence sampled from a class, with random weights. Indices point into ``vocabulary``.

    Attributes
    ----------
    vocabulary : tuple of tokens
        Those of the sequence and, as wrong answers, next tokens of other classes.
    context : tuple of int
        x_1 .. x_{T-1}.
    query, following : int
        x_T and x_{T+1}.
    Y, Z : (vocabulary, vocabulary) matrices
    """

    vocabulary: tuple[Token, ...]
    context: tuple[int, ...]
    query: int
    following: int
    Y: Matrix
    Z: Matrix
    scale: int


def drawn(run: ClassRun) -> list[DrawnSequence]:
    """Sample one sequence for each of `SCALES`, its class drawn by frequency."""
    rng = np.random.default_rng(2305_16380)
    data, found = run.dataset, []
    for scale in SCALES:
        c = data.classes[int(rng.choice(run.K, p=data.frequencies))]
        p = np.array([c.probabilities[token] for token in c.support])
        tokens = [c.support[int(i)] for i in rng.choice(len(p), size=CONTEXT, p=p / p.sum())]
        vocabulary = tuple(dict.fromkeys([*tokens, c.query, c.next, *data.next_tokens[:2]]))
        index, size = {token: i for i, token in enumerate(vocabulary)}, len(vocabulary)
        Y, Z = (
            [[flint.arb(x) for x in row] for row in (scale * rng.standard_normal((size, size))).tolist()]
            for _ in range(2)
        )
        context = tuple(index[token] for token in tokens)
        found.append(DrawnSequence(vocabulary, context, index[c.query], index[c.next], Y, Z, scale))
    return found


def log_likelihood(at: DrawnSequence, Y: Entries, Z: Entries) -> Any:
    """J of eq. 15: log of the next token's softmax(Y^T X^T b/|X^T b|), b = softmax(X z_query)."""
    size = len(at.vocabulary)
    powers = [Z[at.query][token].exp() for token in at.context]
    total = sum(powers)
    v: list[Any] = [flint.arb(0)] * size
    for token, power in zip(at.context, powers, strict=True):
        v[token] = v[token] + power / total
    length = sum((x * x for x in v), flint.arb(0)).sqrt()
    logits = [sum(Y[i][j] * v[i] for i in set(at.context)) / length for j in range(size)]
    return logits[at.following] - sum((x.exp() for x in logits), flint.arb(0)).log()


def derivative(at: DrawnSequence, of: str, row: int, column: int) -> flint.arb:
    """dJ/dY or dJ/dZ at one entry: exactly the first coefficient of a power series."""
    weights: dict[str, Entries] = {"Y": at.Y, "Z": at.Z}
    moved: list[list[Any]] = [list(line) for line in weights[of]]
    moved[row][column] = flint.arb_series([moved[row][column], 1], 2)
    weights[of] = moved
    J = log_likelihood(at, weights["Y"], weights["Z"])
    return J[1] if isinstance(J, flint.arb_series) else flint.arb(0)


def printed(at: DrawnSequence) -> dict[str, flint.arb_mat]:
    """Y-dot/eta_Y and Z-dot/eta_Z of eq. 3, from whole matrices X, b and P-perp."""
    size, T = len(at.vocabulary), len(at.context)
    X = flint.arb_mat(T, size, [int(token == j) for token in at.context for j in range(size)])
    Y, Z = flint.arb_mat(at.Y), flint.arb_mat(at.Z)
    unit = identity(size)
    query = flint.arb_mat(size, 1, [unit[i, at.query] for i in range(size)])
    following = flint.arb_mat(size, 1, [unit[i, at.following] for i in range(size)])
    b = softmax((X * (Z.transpose() * query)).entries())
    v = X.transpose() * flint.arb_mat(T, 1, b)
    square = (v.transpose() * v)[0, 0]
    length = square.sqrt()
    alpha = softmax((Y.transpose() * v * (1 / length)).entries())
    error = (following - flint.arb_mat(size, 1, alpha)).transpose()
    projected = unit - v * v.transpose() * (1 / square)
    diagonal = flint.arb_mat(T, T, [b[i] if i == j else 0 for i in range(T) for j in range(T)])
    attention = X.transpose() * diagonal * X
    return {
        "Y": v * (1 / length) * error,
        "Z": query * error * Y.transpose() * projected * (1 / length) * attention,
    }


@once_a_run
def both_gradients(run: ClassRun) -> tuple[Series, Series]:
    """Derivatives of the log-likelihood, then the printed ones: all entries, and row sums."""
    found: list[flint.arb] = []
    stated: list[flint.arb] = []
    label = []
    with flint.ctx.workprec(BITS):
        for at in drawn(run):
            for of, matrix in printed(at).items():
                for i, row in enumerate(at.vocabulary):
                    slopes = [derivative(at, of, i, j) for j in range(len(at.vocabulary))]
                    found += [*slopes, sum(slopes, flint.arb(0))]
                    stated += [*(matrix[i, j] for j in range(len(at.vocabulary))), flint.arb(0)]
                    place = f"{of}-dot, row of {row}"
                    label += [
                        f"{place}, column of {column}, weights of deviation {at.scale}" for column in at.vocabulary
                    ]
                    label.append(f"{place}, its sum, weights of deviation {at.scale}")
        return certified(found, label=tuple(label)), certified(stated, label=tuple(label))


LEMMA1 = Claim(
    id="snap.lemma1",
    source="arXiv 2305.16380, Lemma 1 (eq. 3)",
    statement=(
        "Y-dot = eta_Y LN(X^T b) (x_{T+1} - alpha)^T and Z-dot = eta_Z x_T (x_{T+1} - alpha)^T Y^T P-perp/|X^T b| X^T "
        "diag(b) X, where P-perp projects off X^T b; rows of both sum to zero. Compared, entry by entry and up to the "
        "step sizes, with the log-likelihood's own derivatives on short sequences drawn from the classes, at Y = Z = 0 "
        "and at random Y, Z."
    ),
    formula=(
        r"\dot Y=\eta_Y\,\mathrm{LN}(X^\top b)(x_{T+1}-\alpha)^\top,\quad \dot Z=\eta_Z\,x_T(x_{T+1}-\alpha)^\top "
        r"Y^\top\frac{P^\perp_{X^\top b}}{\lVert X^\top b\rVert_2}X^\top\mathrm{diag}(b)X,\quad "
        r"\dot Y\mathbf 1=\dot Z\mathbf 1=0"
    ),
    assumptions=(),
    judgement=Equal(
        measure=lambda run: both_gradients(run)[0],
        expected=lambda run: both_gradients(run)[1],
        scale=lambda run: np.maximum(1.0, np.abs(both_gradients(run)[1].value)),
    ),
    standing=proved(PAGE + "51-snaplemma1", hunted=146),
    source_words=quoted(
        "section 3.1, Lemma 1, eq. 3; appendix C",
        "The gradient dynamics of Eqn. 2 with batchsize 1 is: Y-dot = eta_Y LN(X^T b_T)(x_{T+1} - alpha)^T, Z-dot = ..",
        "The derivatives of the log-likelihood of one sequence. The text after the lemma adds that rows sum to zero.",
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA1,)
