"""Figure 6: sparsity of attention by step sizes, as section 8 reads it.

Syn-Medium at the sixteen pairs of step sizes of figures 6, 11 and 12.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Bounded, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.readings import SOURCE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import unsettled
from marginaudit.orders import counted
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses, syn_medium
from marginaudit.training.snap.counts.quantiles import ranks
from marginaudit.training.snap.sgd import Recipe, entropy_of_distinct, train_sampled

LR_Z = (0.5, 1.0, 2.0, 3.0)
"""eta_Z."""

RATIOS = (1.0, 2.0, 5.0, 10.0)
"""eta_Y/eta_Z."""

NUM_LAST = (1, 3, 5, 10)
"""Queries of Syn-Medium."""

SEEDS = 10
"""Seeds of the figures."""

FIRST_SEEDS = 12
"""Seeds of the first look."""

Cell = tuple[float, float]
"""eta_Z and eta_Y/eta_Z."""

WRITTEN = 1e-12
"""Relative error of probabilities after a round trip through a file."""

CELLS: tuple[Cell, ...] = tuple(product(LR_Z, RATIOS))


def last_scores(data: SequenceClasses, cells: Sequence[Cell], seeds: Sequence[int]) -> Floats:
    """Z after the last of 100 updates, shape (seeds, cells, queries, contextual)."""
    rates = [(ratio * lr_z, lr_z) for lr_z, ratio in cells]
    return np.array([train_sampled(data, Recipe(), rates, seed).Z[:, -1] for seed in seeds])


@once_a_run
def scores(run: ClassRun, cells: tuple[Cell, ...], first: int, stop: int) -> Floats:
    """`last_scores` of the run's seeds from ``first`` to ``stop``."""
    return last_scores(run.dataset, cells, [run.config.seed + i for i in range(first, stop)])


def is_syn_medium(data: SequenceClasses) -> bool:
    """Whether the classes are those of Syn-Medium under its names, for any number of queries."""
    if 2 * len(data.queries) != data.K:
        return False
    known = syn_medium(len(data.queries))
    named, expected = ([(c.next, c.query, c.support) for c in of.classes] for of in (data, known))
    alike = data.M == known.M and named == expected and len(set(data.weights or (1.0,))) == 1
    return alike and np.allclose(data.P, known.P, rtol=WRITTEN, atol=0)


THRESHOLD = 2.0
"""Threshold of eta_Y/eta_Z for the entropy to rise."""

LOOKS = (FIRST_SEEDS, 100)
"""Seeds at each look of the sequential test."""

DOUBT = 2.0**-12
"""Error probability of one look at one comparison: that of 12 heads in a row."""

ROUNDING = 1e-9
"""Error of an entropy: changing step sizes by 1e-10, more than all rounding, moves no entropy by more than 1e-10."""

CellPair = tuple[Cell, Cell]
"""Two neighbouring cells, the smaller step size first."""

ALONG_ETA_Z: tuple[CellPair, ...] = tuple(
    ((small, ratio), (large, ratio)) for ratio in RATIOS for small, large in pairwise(LR_Z)
)
ALONG_RATIO: tuple[CellPair, ...] = tuple(
    ((lr_z, small), (lr_z, large)) for lr_z in LR_Z for small, large in pairwise(RATIOS)
)
ABOVE = tuple(pair for pair in ALONG_RATIO if pair[0][1] >= THRESHOLD)
BELOW = tuple(pair for pair in ALONG_RATIO if pair[0][1] < THRESHOLD)


def entropies(run: ClassRun, cells: tuple[Cell, ...], first: int, stop: int) -> Floats:
    """Entropy, in nats, of the seeds from ``first`` to ``stop``, shape (seeds, cells)."""
    return entropy_of_distinct(run.dataset, scores(run, cells, first, stop))


def of_median(differences: Floats) -> tuple[Floats, Floats]:
    """Distribution-free bounds on the median of each comparison; differences have shape (seeds, comparisons)."""
    seeds = len(differences)
    low, high = ranks(seeds, 0.5, DOUBT)
    ordered = np.sort(differences, axis=0)
    unknown = np.full(differences.shape[1], np.inf)
    return (
        ordered[seeds - 1 - low] if low < seeds else -unknown,
        ordered[seeds - 1 - high] if high >= 0 else unknown,
    )


def gains(found: Floats, cells: Sequence[Cell], pairs: Sequence[CellPair]) -> Floats:
    """Gain of each pair, its second cell's entropy less the first's, seed by seed."""
    before, after = ([cells.index(pair[side]) for pair in pairs] for side in (0, 1))
    return np.asarray(found[:, after] - found[:, before])


@dataclass(frozen=True)
class MedianBounds:
    """Bounds on the median over seeds of each pair's gain.

    Attributes
    ----------
    low, high : (pairs,) arrays
        Infinite for too few seeds.
    """

    pairs: tuple[CellPair, ...]
    low: Floats
    high: Floats

    @property
    def undecided(self) -> tuple[CellPair, ...]:
        """The pairs whose gain may be of either sign."""
        either = (self.low <= 0) & (self.high >= 0)
        return tuple(pair for pair, open_ in zip(self.pairs, either.tolist(), strict=True) if open_)


def looks(run: ClassRun) -> list[int]:
    """Seeds of both looks, limited to those of the run."""
    return [min(run.config.seeds, seeds) for seeds in LOOKS]


def first_look(run: ClassRun, pairs: tuple[CellPair, ...]) -> MedianBounds:
    """Verdict from few seeds. Both cells of a pair use the same samples and the same start."""
    return MedianBounds(pairs, *of_median(gains(entropies(run, CELLS, 0, looks(run)[0]), CELLS, pairs)))


@once_a_run
def second_look(run: ClassRun, pairs: tuple[CellPair, ...]) -> MedianBounds:
    """The first look's verdict, or that of many seeds if undecided."""
    few, many = looks(run)
    found = first_look(run, pairs)
    undecided = found.undecided
    if undecided and many > few:
        cells = tuple(dict.fromkeys(cell for pair in undecided for cell in pair))
        before = entropies(run, CELLS, 0, few)[:, [CELLS.index(cell) for cell in cells]]
        every = np.vstack([before, entropies(run, cells, few, many)])
        at = [pairs.index(pair) for pair in undecided]
        found.low[at], found.high[at] = of_median(gains(every, cells, undecided))
    return found


def medians(run: ClassRun, pairs: tuple[CellPair, ...]) -> Series:
    """The median gain of each pair. Its error bar misses it with probability at most 2 `DOUBT` on either side."""
    found = second_look(run, pairs)
    known = np.isfinite(found.low) & np.isfinite(found.high)
    low, high = np.where(known, found.low, 0.0), np.where(known, found.high, 0.0)
    radius = np.where(known, (high - low) / 2 + ROUNDING, np.inf)
    return series((low + high) / 2, radius=radius, label=tuple(map(comparison_name, pairs)))


def comparison_name(pair: CellPair) -> str:
    """A comparison in words."""
    (lr_z, ratio), (other_lr_z, other_ratio) = pair
    if ratio == other_ratio:
        return f"eta_Z {lr_z:g} to {other_lr_z:g} at eta_Y/eta_Z = {ratio:g}"
    return f"eta_Y/eta_Z {ratio:g} to {other_ratio:g} at eta_Z = {lr_z:g}"


def not_its_grid(run: ClassRun) -> str | None:
    """Reason why figure 6 does not apply to the run, or None.

    Raises
    ------
    BeyondTheRun
        The classes are Syn-Medium with more queries than in the figure.
    """
    if run.departs:
        return "It is about a grid of many trainings, and the file is of one."
    if not is_syn_medium(run.dataset):
        return "The figure is about Syn-Medium, and these are other classes."
    if len(run.dataset.queries) > max(NUM_LAST):
        raise BeyondTheRun(f"Syn-Medium is trained on here with at most {max(NUM_LAST)} queries")
    return None


def reading(run: ClassRun) -> str:
    """Note on the seeds of each cell, and the directions below the threshold."""
    more = [comparison_name(pair) for pairs in (ALONG_ETA_Z, ABOVE) for pair in first_look(run, pairs).undecided]
    below, (few, many) = first_look(run, BELOW), looks(run)
    falls, rises = int((below.high < 0).sum()), int((below.low > 0).sum())
    further = f", {many} for {'; '.join(more)}" if more and many > few else ""
    return (
        f"num_last = {len(run.dataset.queries)}, the {len(CELLS)} cells of figure 6 with {counted(few, 'seed')}"
        f"{further}. Below the threshold, from {min(RATIOS):g} to {THRESHOLD:g}, entropy falls in {falls} of "
        f"{len(BELOW)} cells and rises in {rises}."
    )


DIRECTION = Claim(
    id="snap.fig6.direction",
    source=f"{SOURCE}, section 8, figure 6",
    source_words=quoted(
        "section 8, Syn-Medium, figure 6",
        "the entropy goes down .. with larger eta_Z, and goes up .. by fixing eta_Z and increasing eta_Y passing "
        "the threshold eta_Y/eta_Z ~= 2",
        "Falls and rises are of the median over seeds between neighbouring step sizes; the threshold, about 2, is 2.",
    ),
    statement=(
        "On Syn-Medium, trained as in section 8, the entropy of attention to distinct tokens falls with eta_Z at fixed "
        "eta_Y/eta_Z, and rises with eta_Y/eta_Z from about 2 on at fixed eta_Z. Judged between neighbouring cells of "
        "figure 6 by the median over seeds of their difference on the same samples, its error bar by order statistics: "
        f"{LOOKS[0]} seeds, and {LOOKS[1]} where these do not decide; the chance that any bar is wrong is at most "
        f"{len(LOOKS) * len(ALONG_ETA_Z + ABOVE) * DOUBT:.0%}."
    ),
    formula=r"\partial_{\eta_Z}H\lt 0,\qquad\partial_{\eta_Y/\eta_Z}H\gt 0\ \text{for}\ \eta_Y/\eta_Z\gtrsim 2",
    assumptions=(),
    standing=unsettled("the mean of SGD's entropy after 100 updates; it is read off an experiment", hunted=0),
    judgement=Parts(
        {
            "With eta_Z": Bounded(measure=lambda run: medians(run, ALONG_ETA_Z), upper=lambda _, at: np.zeros(len(at))),
            f"With eta_Y/eta_Z from {THRESHOLD:g} on": Bounded(
                measure=lambda run: medians(run, ABOVE), lower=lambda _, at: np.zeros(len(at))
            ),
        },
        note=reading,
    ),
    absent=not_its_grid,
)

CLAIMS: tuple[Claim, ...] = (DIRECTION,)
