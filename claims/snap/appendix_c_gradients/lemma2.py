"""Lemma 2 of arXiv 2305.16380: the limit of attention in long sequences, and X^T h_X of short ones."""

from fractions import Fraction

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal, Limit, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, exact_series, series
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.orders.reading import Token
from marginaudit.training.snap.counts.quantiles import ranks

ENTROPY = 2305_16380

SEQUENCES = 4
"""Number of short sequences to test the identities on."""

CONTEXT = 8
"""Contextual tokens of a short sequence, T - 1."""


def identities(run: ClassRun, *, attention: bool) -> tuple[Series, Series]:
    """X^T h_X and X^T diag(h_X) X of whole matrices X, then by the counts of tokens; in rational arithmetic.

    h is random, and both are divided by T - 1 (Lemma 18). With ``attention``, h = exp(z) is random and positive, and
    both are divided by the sum of h_X, which gives X^T b and X^T diag(b) X (Lemma 2); the latter should equal diag(X^T
    b).
    """
    rng = np.random.default_rng(ENTROPY)
    data = run.dataset
    found: list[Fraction] = []
    stated: list[Fraction] = []
    label = []
    for number in range(1, SEQUENCES + 1):
        c = data.classes[int(rng.integers(run.K))]
        p = np.array([c.probabilities[token] for token in c.support])
        sequence = rng.choice(len(p), size=CONTEXT, p=p / p.sum()).tolist()
        tokens = sorted(set(sequence))
        h = {token: Fraction(int(rng.integers(1, 100)), 7) - (0 if attention else 5) for token in tokens}
        size = sum(h[token] for token in sequence) if attention else Fraction(CONTEXT)
        X = [[int(token == l) for l in tokens] for token in sequence]  # noqa: E741
        h_X = [h[token] for token in sequence]
        vector = [sum((X[t][i] * h_X[t] for t in range(CONTEXT)), Fraction(0)) / size for i in range(len(tokens))]
        expected = [sequence.count(token) * h[token] / size for token in tokens]
        names: list[Token] = [c.support[token] for token in tokens]
        place = f"sequence {number} of {c.next}"
        found += vector
        stated += expected
        label += [f"{place}, {name}" for name in names]
        if attention:
            found.append(sum(vector, Fraction(0)))
            stated.append(Fraction(1))
            label.append(f"{place}, sum")
        for i, name in enumerate(names):
            for j, other in enumerate(names):
                found.append(sum((X[t][i] * h_X[t] * X[t][j] for t in range(CONTEXT)), Fraction(0)) / size)
                stated.append(expected[i] if i == j else Fraction(0))
                label.append(f"{place}, {name} and {other}")
    return exact_series(found, label=tuple(label)), exact_series(stated, label=tuple(label))


def by_counts(*, attention: bool) -> Equal:
    """Claim that attention and c equal their formulas in token counts."""
    return Equal(
        measure=lambda run: identities(run, attention=attention)[0],
        expected=lambda run: identities(run, attention=attention)[1],
    )


FAR = 10**9
"""Longest context of the limit."""

LAST_DECADE = 9
"""Lengths in the last decade, including both ends, to detect a different limit."""

SHARE = 0.1
"""Quantile of the sequences' likeness."""

LEVEL = 1e-6
"""Failure probability of a quantile's error bar, for each length."""

MOST_CLASSES = 4
"""Most classes with sampled attention."""

MOST_DRAWN = 4_000_000
"""Most counts sampled for a class: large vocabularies get fewer sequences."""


@once_a_run
def likeness(run: ClassRun) -> Series:
    """Overlap of attention and c, 1 - |X^T b - c|_1/2 = sum over l of min((X^T b)_l, c_l), over T - 1 tokens.

    The quantile `SHARE` over sequences drawn from a class at a random z, and its least value over the classes. The
    error bar lies between two order statistics; for any distribution each bound fails with probability at most LEVEL/2
    per class, by the binomial law.
    """
    rng = np.random.default_rng([ENTROPY, run.config.seed])
    data = run.dataset
    decades = 10.0 ** np.arange(1, int(np.log10(FAR)))
    lengths = np.rint(np.concatenate([decades, np.geomspace(FAR / 10, FAR, LAST_DECADE)[1:]])).astype(np.int64)
    chosen = rng.permutation(run.K)[:MOST_CLASSES]
    least, most = np.full(len(lengths), np.inf), np.full(len(lengths), np.inf)
    middle = np.full(len(lengths), np.inf)
    for n in chosen:
        P = data.P[n][data.P[n] > 0]
        P = P / P.sum()
        weight = np.exp(rng.standard_normal(len(P)))
        c = P * weight / (P * weight).sum()
        seeds = int(min(run.config.seeds, max(20, MOST_DRAWN // (len(P) * len(lengths)))))
        counts, alike = np.zeros((seeds, len(P)), dtype=np.int64), []
        for more in np.diff(lengths, prepend=0):
            counts += rng.multinomial(more, P, size=seeds)
            powers = counts * weight
            b = powers / powers.sum(axis=1, keepdims=True)
            alike.append(np.sort(np.minimum(b, c).sum(axis=1)))
        sorted_ = np.array(alike)
        below, above = order_statistics(seeds)
        rounding = 4 * len(P) * np.finfo(float).eps
        low = sorted_[:, below - 1] - rounding if below >= 1 else np.zeros(len(lengths))
        high = sorted_[:, above - 1] + rounding if above <= seeds else np.ones(len(lengths))
        least, most = np.minimum(least, low), np.minimum(most, high)
        middle = np.minimum(middle, sorted_[:, min(seeds - 1, int(SHARE * seeds))])
    return series(middle, radius=np.maximum(most - middle, middle - least).clip(min=0.0), step=lengths, clock="T - 1")


def once_drawn(run: ClassRun) -> float:
    """Context length that likely has every token of a class ten times, so that attention is near c."""
    return max(1e3, 10 / float(run.dataset.P[run.dataset.P > 0].min()))


def order_statistics(seeds: int) -> tuple[int, int]:
    """Ranks i < j, from 1, of the order statistics around the quantile `SHARE`. 0 and seeds + 1 mean unbounded."""
    low, high = ranks(seeds, SHARE, LEVEL / 2)
    return high + 1, low + 1


LEMMA2 = Claim(
    id="snap.lemma2",
    source="arXiv 2305.16380, Lemma 2 (eq. 6)",
    statement=(
        "As T grows, X^T b -> c_n and X^T diag(b) X -> diag(c_n), c_n proportional to P(l|n) exp(z_l), of sum 1. "
        "Attention "
        "of drawn sequences at a random z, and, exactly, that X^T diag(b) X is diag(X^T b)."
    ),
    formula=r"X^\top b_T\to c_n,\qquad X^\top\mathrm{diag}(b_T)X\to\mathrm{diag}(c_n)",
    assumptions=(),
    judgement=Parts(
        {
            "X^T diag(b) X = diag(X^T b)": by_counts(attention=True),
            f"1 - |X^T b - c|_1/2 tends to 1 (its {SHARE:.0%} quantile, error bars at level {LEVEL:g})": Limit(
                measure=likeness, predicted=lambda _: 1.0, regime=once_drawn
            ),
        }
    ),
    standing=proved(PAGE + "53-snaplemma2-and-snaplemma18", "snap.lemma18", hunted=26),
    source_words=quoted(
        "section 3.3, Lemma 2, eq. 6; appendix C",
        "when T -> +infty, we have X^T b_T -> c_{m,n}, X^T diag(b_T) X -> diag(c_{m,n})",
        "In probability, as Lemma 18 has it.",
    ),
)

CLAIMS: tuple[Claim, ...] = (LEMMA2,)
