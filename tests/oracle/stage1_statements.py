"""What the ledger says of stage 1, evaluated on its closed form: W_ov^(t) = t eta0 W*_ov/||W*_ov||.

The closed form is compared with the descent itself in test_descent.
"""

from collections.abc import Callable, Iterable
from functools import partial

import flint

from tests.oracle.answer import Answer, Entry, unrecorded
from tests.oracle.descent import ball
from tests.oracle.experiment import Experiment

Statement = Callable[[Experiment, Iterable[int]], Answer]
"""From an experiment and the steps that were recorded."""


def _along_the_law(first: int, entries: Callable[[Experiment, int], dict[str, Entry]]) -> Statement:
    def statement(e: Experiment, steps: Iterable[int]) -> Answer:
        if e.problem.V == 1:
            return Answer(silent="one token has no margins")
        parts: dict[str, list[Entry]] = {}
        for t in steps:
            if t >= first:
                for name, entry in entries(e, t).items():
                    parts.setdefault(name, []).append(entry)
        return Answer(parts=parts, perhaps="" if parts else "no recorded step")

    return statement


def _norm(e: Experiment, t: int) -> dict[str, Entry]:
    length = t * ball(e.settings.eta0)
    return {"lower": Entry(t, length, length / (2 * e.norm_ov), "lower"), "upper": Entry(t, length, length)}


def direction_bound(e: Experiment, t: int) -> flint.arb:
    """Proposition 1's, on 1 - cos."""
    return 12 * e.norm_ov**3 * flint.arb(2 * e.problem.V).log() * flint.arb(t).log() / (t * ball(e.settings.eta0))


def _direction(e: Experiment, t: int) -> dict[str, Entry]:
    return {"": Entry(t, flint.arb(0), direction_bound(e, t), reach=flint.arb(2))}


def _lemma2(e: Experiment, t: int) -> dict[str, Entry]:
    quotient = t * ball(e.settings.eta0) / e.norm_ov
    return {"": Entry(t, quotient, quotient + 2 * flint.arb(2 * e.problem.V).log())}


def _lemma3(e: Experiment, t: int) -> dict[str, Entry]:
    return {"": Entry(t, flint.arb(0), flint.arb(0), "equal")}


def lemma3(e: Experiment, steps: Iterable[int]) -> Answer:
    if e.problem.V == 2:
        return Answer(silent="of two tokens only one is not n(x)")
    return _along_the_law(1, _lemma3)(e, steps)


def stage1_loss(e: Experiment, t: int) -> flint.arb:
    """L0 on the closed form."""
    margin = t * ball(e.settings.eta0) / e.norm_ov
    return e.problem.V * ((e.problem.V - 1) * (-margin).exp()).log1p()


def _proved(first: int | None = None) -> Statement:
    """True, and about steps from ``first`` on where that is given."""

    def statement(e: Experiment, steps: Iterable[int]) -> Answer:
        if e.problem.V == 1:
            return Answer(silent="one token has no margins")
        return Answer(true=True, perhaps="" if first is None else unrecorded(steps, first))

    return statement


def loss_constant(e: Experiment, steps: Iterable[int]) -> flint.arb | None:
    """The smallest constant that makes `ntp.prop1.loss` true at the steps."""
    rate = ball(e.settings.eta0) / (4 * e.norm_ov**2)
    needed = [stage1_loss(e, t) * (rate * t).exp() for t in steps if t >= 2]
    return max(needed, key=lambda value: value.mid()) if needed else None


def _corollary1(side: str, e: Experiment, steps: Iterable[int]) -> Answer:
    """All margins are 4 ||W*|| A at every T: above A always, below 3 A never (||W*|| >= 1)."""
    if e.problem.V == 1:
        return Answer(silent="one token has no margins")
    return Answer(true=bool(4 * e.norm_ov > 1) if side == "lower" else bool(4 * e.norm_ov < 3))


def identity(e: Experiment, steps: Iterable[int]) -> Answer:
    """An identity of the model; `test_descent` compares the gradient that it is about with the loss."""
    return Answer(true=True)


STATEMENTS: dict[str, Statement] = {
    "ntp.gradient.ov": identity,
    "ntp.gradient.kq": identity,
    "ntp.lemma4": _proved(),
    "ntp.prop1.norm": _along_the_law(2, _norm),
    "ntp.prop1.direction": _along_the_law(2, _direction),
    # L0 exp(t eta0/(4 ||W*||^2)) falls with t, since 1/(4 (V-1)) < 1/sqrt(V-1): it has a largest value
    "ntp.prop1.loss": _proved(2),
    "ntp.lemma2": _along_the_law(1, _lemma2),
    "ntp.lemma3": lemma3,
    "sharp.stage1": _proved(1),
} | {
    f"ntp.corollary1.{side}{suffix}": partial(_corollary1, side)
    for side in ("lower", "upper")
    for suffix in ("", ".rederived")
}
