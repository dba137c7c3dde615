"""Stage 2 in ball arithmetic: one pass over the sentences encloses gradient, attention and loss.

Frequencies and multiplicities are exact integers, so the only rounding is that of the balls, which their radii contain.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import flint

from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.classes import SampleClasses

Others: TypeAlias = tuple[tuple[tuple[int, Fraction], int], ...]
"""Other tokens of a sentence: class of pairs, c_j / c_a, and their number."""


@dataclass(frozen=True)
class Sentence:
    """Samples of equal query, bag and next token, of two or more distinct tokens, with exact counts.

    Attributes
    ----------
    count : int
        Number of the samples.
    optimal : int
        The pair (optimal token, query).
    others : tuple of int
        The pairs (other token, query).
    ratio : tuple of Fraction
        c_j / c_a, the ratio of multiplicities, for each other token.
    absent : int
        Number of labels without a token in the sentence.
    """

    count: int
    optimal: int
    others: tuple[int, ...]
    ratio: tuple[Fraction, ...]
    absent: int


@dataclass(frozen=True)
class Term:
    """Sentences merged by `Alike`; their tokens are classes of pairs.

    Attributes
    ----------
    count : int
        Number of all their samples.
    others : list of (class, c_j / c_a, number of such tokens in a sentence)
    """

    count: int
    optimal: int
    others: list[tuple[int, flint.fmpq, int]]
    absent: int


class Alike(NamedTuple):
    """Pairs with equal scores at every step, by symmetry, merged into classes.

    Attributes
    ----------
    number : list of int
        The class of each pair.
    size : list of int
        Number of pairs of each class.
    """

    number: list[int]
    size: list[int]
    terms: list[Term]


class Pass(NamedTuple):
    """One pass over the sentences.

    Attributes
    ----------
    gradient : list of arb, one per class
        dLoss/ds of each of its pairs, up to the factor exp(log_scale) A / total count.
    other : list of arb, one per term
        Summed attention on its other tokens.
    odds : list of arb, one per term
        (1 - P_y) / P_y minus (V-1) exp(-A), its value with all attention on the optimal token.
    """

    gradient: list[flint.arb]
    log_scale: flint.arb
    other: list[flint.arb]
    odds: list[flint.arb]


def merged_sentences(dataset: Dataset, classes: SampleClasses) -> list[Sentence]:
    """Sentences of two or more distinct tokens, for classes with a reduced model (`no_reduction` is None).

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
            ratio = tuple(Fraction(times, most) for times in multiplicities)
            sentences.append(Sentence(count, pair[best, query], others, ratio, dataset.V - len(bag)))
    return sentences


def alike(sentences: Sequence[Sentence], weights: Sequence[Fraction]) -> Alike:
    """Group pairs of equal weight in W* and, class by class, equal roles in equally many equivalent sentences.

    Pairs of a class with equal scores have equal gradients, so their scores stay exactly equal from W = 0 on.

    >>> half = Fraction(1, 2)
    >>> pair = lambda a, b: Sentence(1, a, (b,), (Fraction(1),), 0)
    >>> alike([pair(0, 1), pair(2, 3)], [half, -half, half, -half]).number
    [0, 1, 0, 1]
    """
    number = _numbered(weights)
    while True:
        kinds = [_kind(sentence, number) for sentence in sentences]
        places: list[Counter[object]] = [Counter() for _ in number]
        for sentence, kind in zip(sentences, kinds, strict=True):
            places[sentence.optimal][kind, None] += 1
            for pair, ratio in zip(sentence.others, sentence.ratio, strict=True):
                places[pair][kind, ratio] += 1
        finer = _numbered([(old, frozenset(found.items())) for old, found in zip(number, places, strict=True)])
        if max(finer) == max(number):
            break
        number = finer
    size = Counter(number)
    counts: Counter[tuple[int, Others, int]] = Counter()
    for count, optimal, others, absent in kinds:
        counts[optimal, others, absent] += count
    terms = [
        Term(
            count,
            optimal,
            [(j, flint.fmpq(ratio.numerator, ratio.denominator), times) for (j, ratio), times in others],
            absent,
        )
        for (optimal, others, absent), count in counts.items()
    ]
    return Alike(number, [size[c] for c in range(len(size))], terms)


def _kind(sentence: Sentence, number: Sequence[int]) -> tuple[int, int, Others, int]:
    """Key of a sentence up to renaming tokens within a class."""
    others = Counter((number[j], ratio) for j, ratio in zip(sentence.others, sentence.ratio, strict=True))
    return sentence.count, number[sentence.optimal], tuple(sorted(others.items())), sentence.absent


def _numbered(values: Sequence[object]) -> list[int]:
    """Number distinct values in order of first occurrence."""
    known: dict[object, int] = {}
    return [known.setdefault(value, len(known)) for value in values]


def forward(found: Alike, W: list[flint.arb], A: flint.arb) -> Pass:
    """Enclose gradient, attention and odds at the scores W of the classes of pairs, all margins of W_ov being A.

    With a the optimal token of a sentence and x_j = (c_j/c_a) exp(s_j - s_a): phi_a = 1 / (1 + sum x_j),
    P_z/P_y = exp(-A phi_a (1 - x_z)), with x_z = 0 for absent labels, and
    dLoss/ds_j = A pi phi_a x_j [P_j + sum_{z != a} P_z phi_a (1 - x_z)], dLoss/ds_a = -(sum of those): free of
    cancellation once phi_a is the largest; the bracket can be negative before.

    If one label of one term dominates, no ball gets wider by a factor A: probabilities are relative to that of the
    term's first rival r, terms to the one with the largest P_r, and fluxes to the largest, whose factors are then
    exactly 1. With a single relation the balls do not widen.

    Source: arXiv 2409.17335, eq. 6, relative to the optimal token.
    """
    parts = [_part(term, W, A) for term in found.terms]
    level = max((part.level for part in parts), key=flint.arb.mid)
    fluxes = []
    for term, part in zip(found.terms, parts, strict=True):
        share = 1 if part.level is level else (part.level - level).exp()
        pushes = zip(term.others, part.pushes, strict=True)
        fluxes += [(term.optimal, j, times * push * share) for (j, _, times), push in pushes]
    _, _, largest = max(fluxes, key=lambda flux: abs(flux[2].mid()))
    size = abs(largest)
    gradient = [flint.arb(0)] * len(W)
    for optimal, j, flux in fluxes:
        part_of = largest.sgn() if flux is largest else flux / size
        gradient[j] += part_of
        gradient[optimal] -= part_of
    each = [g / many for g, many in zip(gradient, found.size, strict=True)]
    return Pass(each, level + size.log(), [part.other for part in parts], [part.odds for part in parts])


class _Part(NamedTuple):
    """Contribution of a term: log P_r, and dLoss/ds of each kind of other token over A P_r / total count."""

    level: flint.arb
    pushes: list[flint.arb]
    other: flint.arb
    odds: flint.arb


def _part(term: Term, W: list[flint.arb], A: flint.arb) -> _Part:
    best = W[term.optimal]
    x = [ratio * (W[j] - best).exp() for j, ratio, _ in term.others]
    times = [many for _, _, many in term.others]
    total = sum((many * x_j for many, x_j in zip(times, x, strict=True)), flint.arb(0))
    phi = 1 / (1 + total)
    top = max(x, key=flint.arb.mid)
    rivals = [flint.arb(1) if x_j is top else (A * phi * (x_j - top)).exp() for x_j in x]
    absent = term.absent * (-A * phi * top).exp()
    together = sum((many * rival for many, rival in zip(times, rivals, strict=True)), absent)
    fall = A * phi * (1 - top)
    behind = (-fall).exp()
    level = -fall - (together * behind).log1p() if fall.mid() > 0 else -(together + fall.exp()).log()
    bent = sum((m * rival * (1 - x_j) for m, rival, x_j in zip(times, rivals, x, strict=True)), absent)
    scale = term.count * phi
    pushes = [scale * x_j * (rival + phi * bent) for x_j, rival in zip(x, rivals, strict=True)]
    other = total * phi
    # each label v has P_v/P_y = exp(-A (1 - other - phi_v))
    above = [(A * (other + phi * x_j)).expm1() for x_j in x]
    risen = sum((many * value for many, value in zip(times, above, strict=True)), term.absent * (A * other).expm1())
    return _Part(level, pushes, other, (-A).exp() * risen)
