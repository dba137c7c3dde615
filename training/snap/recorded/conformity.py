"""Conformity of a recorded trajectory of Y and Z to the batch-1 SGD of Lemma 1 on sequences of the classes."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.departure import Departure, StageComparison
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.snap.recorded.causes import cause_of, pattern_of, rules_of_Y, rules_of_Z
from marginaudit.training.snap.recorded.draws import Draws
from marginaudit.training.snap.recorded.step import Off, Rule, Tokens, of_Y, of_Z, shown_sequence, steps

APART = "no two records are one step apart, so none is compared: record every step"


def compared_classes(
    data: SequenceClasses,
    decoder: Recorded,
    attention: Recorded,
    lr_y: float,
    lr_z: float,
    progress: Callable[[float], None] = lambda _: None,
) -> list[StageComparison]:
    """Compare Y and Z step by step up to the first departure, and the draws.

    Parameters
    ----------
    decoder, attention : Recorded
        Y, (M, M) [contextual token, next token], and Z, (queries, M), tokens in the order of `SequenceClasses.tokens`.
    lr_y, lr_z : float
        eta_Y and eta_Z.
    progress : callable
        Called with the share of records compared.

    Returns
    -------
    list of StageComparison, of "Y" and "Z"
        The first record is accepted unchecked if another one is compared. A record more than one step after the
        previous one is left undecided.
    """
    tokens, rule, draws = Tokens(data), Rule(lr_y, lr_z), Draws(data)
    apart = not (np.diff(decoder.step) == 1).any()
    decided, at = {"Y": int(not apart), "Z": int(not apart)}, None
    with np.errstate(all="ignore"):
        for i, step in steps(decoder, attention):
            progress(i / len(decoder.step))
            found, shows = shown_sequence(tokens, step, rule), False
            for name, compare, rules in (("Y", of_Y, rules_of_Y), ("Z", of_Z, rules_of_Z)):
                off = compare(tokens, step, rule, found)
                shows = off.decided if name == "Y" else shows
                decided[name] += off.decided or not off.within
                if not off.within:
                    some = partial(steps, decoder, attention, i)
                    cause, value = cause_of(tokens, some, rule, compare, rules(tokens, step, rule))
                    if cause is None:
                        cause, value = pattern_of(tokens, some, rule, compare)
                    at = Departure(name, step.step, off.error, off.bar, _place(data, name, off), cause, value)
                    break
            if at is not None:
                break
            draws.add(tokens, step, found if shows else None)
        at = at or draws.departure(int(decoder.step[-1]))
    answer = []
    for name, lr, run in (("Y", lr_y, decoder), ("Z", lr_z, attention)):
        departs = at if at is not None and at.stage == name else None
        start: Literal["zero", "given"] = "zero" if run.step[0] == 0 and not run.weights[0].any() else "given"
        note = "" if name == "Z" else APART if apart else draws.detected if at is None else ""
        answer.append(StageComparison(name, lr, len(run.step), decided[name], departs, start, note=note))
    return answer


def _place(data: SequenceClasses, name: str, off: Off) -> str:
    """Next token of the column of Y, or query of the row of Z, with the largest error."""
    names = data.tokens if name == "Y" else tuple(data.queries)
    place = int(np.linalg.norm(off.apart, axis=0 if name == "Y" else 1).argmax())
    return names[place] if place < len(names) else f"number {place + 1}"
