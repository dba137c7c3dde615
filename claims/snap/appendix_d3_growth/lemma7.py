"""Lemma 7 of arXiv 2305.16380: the distance of the stepped growth h* from the continuous h."""

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Bounded, HiddenConstant, Limit, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_d3_growth.two_stages import ones
from marginaudit.claims.snap.conditions import VOCABULARIES, no_recorded_growth
from marginaudit.claims.snap.config import FARTHEST
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import proved
from marginaudit.training.snap.limit.recursion import gap, h_star

RATES = np.geomspace(1, 1e-6, 13)
"""Step sizes eta_Y of Lemma 7's sweep."""


def gaps(run: ClassRun) -> Series:
    """(h*(s) - h(s)) M/eta_Y."""
    found = gap(h_star(run.steps, run.M, run.eta_Y), run.eta_Y)
    scale = run.M / run.eta_Y
    value = found.value * scale
    return series(value, radius=found.error * scale + FORMULA_ROUNDING * value, step=run.steps, clock="s")


def largest_lag(M: int, eta_Y: float) -> tuple[float, float] | None:
    """The lag at the last step s <= ln M/eta_Y, h*(s) = h(s + lag), and its error; None without such a step.

    The lag never decreases.

    Raises
    ------
    BeyondTheRun
        That step is beyond `FARTHEST`.
    """
    last = np.floor(np.log(M) / eta_Y)
    if last > FARTHEST:
        raise BeyondTheRun(f"ln M/eta_Y is beyond {FARTHEST:.0e} steps")
    if last < 1:
        return None
    lag = h_star([int(last)], M, eta_Y).lag
    return float(lag.value[0]), float(lag.error[0])


def _lags(found: list[tuple[float, tuple[float, float] | None]], clock: str) -> Series:
    known = [(position, *lag) for position, lag in found if lag is not None]
    position, value, error = np.array(known, dtype=np.float64).reshape(-1, 3).T
    return series(value, radius=error, step=position, clock=clock)


def lags_by_vocabulary(run: ClassRun) -> Series:
    """The largest lag for s <= ln M/eta_Y, along M."""
    return _lags([(float(M), largest_lag(int(M), run.eta_Y)) for M in VOCABULARIES[::2]], "M")


def lags_by_rate(run: ClassRun) -> Series:
    """The largest lag for s <= ln M/eta_Y, along 1/eta_Y."""
    return _lags([(1 / eta_Y, largest_lag(run.M, eta_Y)) for eta_Y in RATES.tolist()], "1/eta_Y")


LEMMA7_GAP = Claim(
    id="snap.lemma7.gap",
    source="arXiv 2305.16380, Lemma 7 (a)",
    statement=(
        "0 <= h*(s) - h(s) <= 2 eta_Y/M for all s; and h(s+c) >= h*(s) >= h(s) with a constant c for all "
        "s <= ln M/eta_Y, whatever M and eta_Y: h* is h, later by at most c."
    ),
    formula=(
        r"0\le h^*(s)-h(s)\le\frac{2\eta_Y}{M},\quad "
        r"h(s+c)\ge h^*(s)\ge h(s)\ \text{for}\ s\le\frac{\ln M}{\eta_Y}"
    ),
    assumptions=(),
    judgement=Parts(
        {
            "(h* - h) M/eta_Y is between 0 and 2": Bounded(
                measure=gaps, lower=lambda _, s: np.zeros(len(s)), upper=lambda _, s: np.full(len(s), 2.0)
            ),
            "One c serves every M at this eta_Y": HiddenConstant(measure=lags_by_vocabulary, shape=ones),
            "One c serves every eta_Y at this M": HiddenConstant(measure=lags_by_rate, shape=ones),
        }
    ),
    absent=no_recorded_growth,
    standing=proved(PAGE + "56-snaplemma7gap", "snap.remark2.rederived", hunted=27),
    source_words=quoted(
        "appendix D.3, Lemma 7 (a)",
        "0 <= h*(s) - h(s) <= 2 eta_Y/M .. c = Theta(1) such that for any s <= ln(M)/eta_Y, h(s+c) >= h*(s) >= h(s)",
        "A constant is one c for every s, M and eta_Y in the lemma's range.",
    ),
)


def caught_up(run: ClassRun) -> float:
    """(ln M + exp(eta_Y))/eta_Y: about the step at which h passes the first step of h*."""
    return float((np.log(run.M) + np.exp(run.eta_Y)) / run.eta_Y)


def _one_and_gaps(run: ClassRun) -> Series:
    """1 + (h* - h) M/eta_Y, whose distance from 1 a `Limit` judges."""
    found = gaps(run)
    return series(1 + found.value, radius=found.radius + FORMULA_ROUNDING, step=run.steps, clock="s")


LEMMA7_LIMIT = Claim(
    id="snap.lemma7.limit",
    source="arXiv 2305.16380, Lemma 7 (b)",
    statement="h*(s) - h(s) tends to 0; audited as 1 + (h* - h) M/eta_Y, which tends to 1.",
    formula=r"h^*(s)-h(s)\to0",
    assumptions=(),
    judgement=Limit(
        measure=_one_and_gaps,
        predicted=lambda _: 1.0,
        regime=caught_up,
    ),
    absent=no_recorded_growth,
    standing=proved(PAGE + "57-snaplemma7limit", "snap.lemma6", "snap.lemma7.gap", "snap.remark2.rederived", hunted=57),
    source_words=quoted("appendix D.3, Lemma 7 (b)", "h*(s) - h(s) -> 0 when s -> +infty"),
)

CLAIMS: tuple[Claim, ...] = (LEMMA7_GAP, LEMMA7_LIMIT)
