"""Stage 2 in ball arithmetic: one pass over the sentences encloses gradient, attention and loss.

Frequencies and multiplicities enter as the integers that they are, so nothing but the balls' own rounding is
left out, and that they carry.
"""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import flint

from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.classes import SampleClasses


@dataclass(frozen=True)
class Sentence:
    """The samples of one query, bag and next token, with two or more distinct tokens and exact counts.

    Attributes
    ----------
    count : int
        How often they occur.
    optimal : int
        The pair (optimal token, query).
    others : tuple of int
        The pairs (other token, query).
    ratio : tuple of fmpq
        c_j / c_a of the multiplicities, one an other token.
    absent : int
        How many labels no token of the sentence has.
    """

    count: int
    optimal: int
    others: tuple[int, ...]
    ratio: tuple[flint.fmpq, ...]
    absent: int


class Pass(NamedTuple):
    """One pass over the sentences.

    Attributes
    ----------
    gradient : list of arb, one a pair
        dLoss/ds up to the factor A / total count.
    other : list of arb, one a sentence
        Summed attention on its other tokens.
    odds : list of arb, one a sentence
        (1 - P_y) / P_y.
    """

    gradient: list[flint.arb]
    other: list[flint.arb]
    odds: list[flint.arb]


def merged_sentences(dataset: Dataset, classes: SampleClasses) -> list[Sentence]:
    """The sentences that the gradient sees, of classes that have a reduced model (`no_reduction` is None).

    >>> from marginaudit.orders.ntp import CASES
    >>> from marginaudit.training.ntp import sample_classes
    >>> data = CASES["example-1"]()
    >>> [(s.count, len(s.others), s.absent) for s in merged_sentences(data, sample_classes(data))]
    [(1, 1, 2), (1, 2, 1), (1, 1, 2), (1, 1, 2), (1, 1, 2)]
    """
    n = dataset.collocation.require_function()
    names = dataset.vocabulary
    pair = {
        (names[x], names[q]): number
        for number, (x, q) in enumerate(zip(classes.key.tolist(), classes.pair_query.tolist(), strict=True))
    }
    counts: Counter[tuple[str, frozenset[tuple[str, int]], str]] = Counter()
    for sample, count in zip(dataset.samples, dataset.counts, strict=True):
        counts[sample.query, frozenset(sample.bag.items()), sample.next] += count
    sentences = []
    for (query, bag, following), count in counts.items():
        if len(bag) > 1:
            ((best, most),) = [(x, times) for x, times in bag if n[x] == following]
            rest = sorted((pair[x, query], times) for x, times in bag if x != best)
            others, multiplicities = zip(*rest, strict=True)
            ratio = tuple(flint.fmpq(times, most) for times in multiplicities)
            sentences.append(Sentence(count, pair[best, query], others, ratio, dataset.V - len(bag)))
    return sentences


def forward(sentences: list[Sentence], W: list[flint.arb], A: flint.arb) -> Pass:
    """Enclose gradient, attention and odds at the scores W of the pairs, all margins of W_ov being A.

    With a the optimal token of a sentence and x_j = (c_j/c_a) exp(s_j - s_a): phi_a = 1 / (1 + sum x_j),
    P_z/P_y = exp(-A phi_a (1 - x_z)), with x_z = 0 for absent labels, and
    dLoss/ds_j = A pi phi_a x_j [P_j + sum_{z != a} P_z phi_a (1 - x_z)], dLoss/ds_a = -(sum of those): free of
    cancellation once phi_a is the largest; the bracket can be negative before.

    Source: arXiv 2409.17335, eq. 6, relative to the optimal token.
    """
    gradient = [flint.arb(0)] * len(W)
    others, all_odds = [], []
    for sentence in sentences:
        best = W[sentence.optimal]
        x = [ratio * (W[j] - best).exp() for j, ratio in zip(sentence.others, sentence.ratio, strict=True)]
        total = sum(x, flint.arb(0))
        phi = 1 / (1 + total)
        fall = -A * phi
        lag = [1 - x_j for x_j in x]
        rivals = [(fall * lag_j).exp() for lag_j in lag]
        absent = sentence.absent * fall.exp()
        odds = sum(rivals, absent)
        bent = phi * sum((rival * lag_j for rival, lag_j in zip(rivals, lag, strict=True)), absent)
        scale = sentence.count * phi / (1 + odds)
        pushed = flint.arb(0)
        for j, x_j, rival in zip(sentence.others, x, rivals, strict=True):
            push = scale * x_j * (rival + bent)
            gradient[j] += push
            pushed += push
        gradient[sentence.optimal] -= pushed
        others.append(total * phi)
        all_odds.append(odds)
    return Pass(gradient, others, all_odds)
