"""X^T h_X and X^T diag(h_X) X of short random sequences: Lemmas 2 and 18."""

from fractions import Fraction

import numpy as np

from marginaudit.orders.reading import Token
from marginaudit.reports.judgements import Equal
from marginaudit.reports.series import Series, exact_series
from marginaudit.reports.snap.run import ClassRun

ENTROPY = 2305_16380

SEQUENCES = 4
"""Short sequences on which identities are compared."""

CONTEXT = 8
"""Contextual tokens of each, T - 1."""


def identities(run: ClassRun, *, attention: bool) -> tuple[Series, Series]:
    """X^T h_X and X^T diag(h_X) X of whole matrices X, then by the counts of tokens; in rational arithmetic.

    h is random, and both are over T - 1 (Lemma 18). With ``attention``, h = exp(z) is random and positive, and both are
    over the sum of h_X, so that they are X^T b and X^T diag(b) X (Lemma 2); expected of the latter is diag(X^T b).
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
    """Both are as their counts of tokens say."""
    return Equal(
        measure=lambda run: identities(run, attention=attention)[0],
        expected=lambda run: identities(run, attention=attention)[1],
    )
