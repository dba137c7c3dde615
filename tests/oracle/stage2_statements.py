"""What the ledger says of stage 2, step by step, on states of `descent`."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

import flint

from tests.oracle.answer import Answer, Entry, unrecorded
from tests.oracle.descent import State, ball, inner
from tests.oracle.experiment import Experiment
from tests.oracle.stage1_statements import Statement


def silence(e: Experiment) -> str:
    """Why stage 2 has nothing to learn, or ""."""
    if not e.orders:
        return "no sample relates two tokens"
    return "stage 1 has no step" if e.settings.steps1 == 0 else ""


def _along(
    first: int,
    entries: Callable[[Experiment, int, State], dict[str, Entry]],
    condition: Callable[[Experiment], Callable[[int], bool]] | None = None,
    proved: Callable[[Experiment], bool] = lambda e: False,
) -> Statement:
    """A statement about every step from ``first`` on, or those of them that meet a condition; ``proved`` or not."""

    def statement(e: Experiment, steps: Iterable[int]) -> Answer:
        if reason := silence(e):
            return Answer(silent=reason)
        known = [t for t in steps if first <= t < len(e.states)]
        speaks, unreached = known, False
        if condition is not None:
            met = condition(e)
            unreached = not any(met(t) for t in steps)
            speaks = [t for t in known if met(t)]
        parts: dict[str, list[Entry]] = {}
        for t in speaks:
            for name, entry in entries(e, t, e.states[t]).items():
                parts.setdefault(name, []).append(entry)
        beyond = (condition is not None and not speaks) or any(t >= len(e.states) for t in steps)
        true = True if proved(e) else None
        perhaps = unrecorded(steps, first)
        return Answer(true=true, parts=parts, perhaps=perhaps, open_ended=beyond, unreached=unreached)

    return statement


def one_minus_cos(e: Experiment, state: State) -> flint.arb:
    """1 - cos(W_kq, W*_kq); W*_kq is orthogonal to nothing outside the span, and tokens are orthonormal."""
    return 1 - inner(e.unit_kq, state.weights) / state.norm


def smallest_pi(e: Experiment) -> flint.arb:
    return flint.arb(min(e.problem.counts.values())) / e.problem.total


# lemmas 5 and 6, theorem 1


def other_weight(e: Experiment, state: State) -> flint.arb:
    """The largest summed attention on other-than-optimal positions."""
    names = e.problem.vocabulary
    found = [
        sum(
            (f for f, (x, _) in zip(phi, group.bag, strict=True) if not e.problem.maps(names[x], names[group.next])),
            flint.arb(0),
        )
        for group, phi in zip(e.groups, state.attention, strict=True)
    ]
    return max(found, key=lambda value: value.mid())


def lemma5(e: Experiment, steps: Iterable[int]) -> Answer:
    """Its five parts; of a token with several positions each has an equal share of its attention."""
    if reason := silence(e):
        return Answer(silent=reason)
    names, L = e.problem.vocabulary, e.problem.L
    known = [t for t in steps if t < len(e.states)]
    parts: dict[str, list[Entry]] = {name: [] for name in ("grows", "position", "token", "sum", "each")}
    one = flint.arb(1)
    contests = []
    for number, group in enumerate(e.groups):
        optimal = [i for i, (x, _) in enumerate(group.bag) if e.problem.maps(names[x], names[group.next])]
        contests += [(number, group, i, [j for j in range(len(group.bag)) if j not in optimal]) for i in optimal]

    def odds(t: int, number: int, i: int) -> flint.arb:
        phi = e.states[t].attention[number]
        return sum((f for j, f in enumerate(phi) if j != i), flint.arb(0)) / phi[i]

    for before, t in pairwise(known):
        rises = [odds(t, number, i) / odds(before, number, i) for number, group, i, _ in contests if len(group.bag) > 1]
        parts["grows"].append(Entry(t, max(rises, key=lambda value: value.mid()), one))
    for t in known:
        position, token, each = [], [], []
        for number, group, i, others in contests:
            phi = e.states[t].attention[number]
            each.append(phi[i] / group.bag[i][1])
            for j in others:
                token.append(phi[j] / phi[i])
                position.append(token[-1] * group.bag[i][1] / group.bag[j][1])
        parts["position"].append(Entry(t, max(position, key=lambda value: value.mid()), one))
        parts["token"].append(Entry(t, max(token, key=lambda value: value.mid()), one))
        parts["sum"].append(Entry(t, other_weight(e, e.states[t]), 1 - one / L))
        parts["each"].append(Entry(t, min(each, key=lambda value: value.mid()), one / L, "lower"))
    return Answer(parts=parts, perhaps=unrecorded(steps, 1), open_ended=len(known) < len(list(steps)))


def _norm_bounds(e: Experiment, t: int, state: State) -> dict[str, Entry]:
    most = t * ball(e.settings.eta)
    return {
        "lower": Entry(t, state.norm, most / (2 * e.problem.L * e.norm_kq), "lower"),
        "upper": Entry(t, state.norm, most),
    }


def _sharp_norm(e: Experiment, t: int, state: State) -> dict[str, Entry]:
    return {"": Entry(t, state.norm, t * ball(e.settings.eta) / (flint.arb(2).sqrt() * e.norm_kq), "lower")}


def theorem1_bound(e: Experiment, t: int) -> flint.arb:
    """Theorem 1's, on 1 - cos."""
    p = e.problem
    return 54 * p.N * p.L**4 * e.norm_kq**4 * flint.arb(t).log() ** 2 / (t * ball(e.settings.eta))


def sharp_logarithm(e: Experiment) -> flint.arb:
    return (2 * e.problem.L**3 / smallest_pi(e)).log()


def sharp_bound(e: Experiment, t: int) -> flint.arb:
    """`sharp.theorem1`'s, on 1 - cos."""
    norm, eta, rise = e.norm_kq, ball(e.settings.eta), 1 + flint.arb(t).log()
    whole = 2 * norm**3 * sharp_logarithm(e) * rise + eta * norm**2 * rise + flint.arb(2).sqrt() * eta * norm
    return whole / (t * eta)


def _direction(bound: Callable[[Experiment, int], flint.arb], e: Experiment, t: int, state: State) -> dict[str, Entry]:
    return {"": Entry(t, one_minus_cos(e, state), bound(e, t), reach=flint.arb(2))}


# lemma 7


def _lemma7(
    slack: Callable[[Experiment, flint.arb], flint.arb], e: Experiment, t: int, state: State
) -> dict[str, Entry]:
    """cos(d, W) - cos(d, W*) <= a_t cos(d, W*), d the descent direction; ``slack`` is a_t of a norm."""
    if state.descent is None or state.norm == 0:
        return {}
    own = {(i, j): a for i, row in enumerate(state.weights) for j, a in enumerate(row)}
    with_W = inner(own, state.descent) / state.norm
    with_reference = inner(e.unit_kq, state.descent)
    most = 1 - 1 / (flint.arb(2).sqrt() * e.norm_kq)
    return {"": Entry(t, with_W - with_reference, slack(e, state.norm) * with_reference, reach=most)}


def _printed_slack(e: Experiment, norm: flint.arb) -> flint.arb:
    p = e.problem
    return 4 * p.N * p.L**2 * e.norm_kq**2 / norm * (1 + (2 * p.L * norm).log())


def _rederived_slack(e: Experiment, norm: flint.arb) -> flint.arb:
    return _printed_slack(e, norm) / (e.problem.N * smallest_pi(e))


def _sharp_slack(e: Experiment, norm: flint.arb) -> flint.arb:
    return e.norm_kq * sharp_logarithm(e) / norm


def _lemma7_speaks(e: Experiment) -> Callable[[int], bool]:
    least = 8 * e.problem.L * e.norm_kq**2 / ball(e.settings.eta)
    return lambda t: bool(t >= least)


# theorem 2


def theorem2_speaks(factor_t: int, power: int, e: Experiment) -> Callable[[int], bool]:
    """T >= .. log T and t >= .. log^2 t, both at least 2: at 1 the logarithm is 0."""
    p, T, eta0, eta = e.problem, e.settings.steps1, ball(e.settings.eta0), ball(e.settings.eta)
    of_T = 384 * e.norm_ov**power * flint.arb(p.V).log() / eta0
    of_t = factor_t * p.N * p.L**4 * e.norm_kq**6 / eta
    enough = T >= 2 and bool(of_T * flint.arb(T).log() <= T)
    return lambda t: enough and t >= 2 and bool(t >= of_t * flint.arb(t).log() ** 2)


def _C1(e: Experiment) -> flint.arb:
    return ball(e.settings.eta) / (4 * e.problem.L * e.norm_kq**2)


def _weight(e: Experiment, t: int, state: State) -> dict[str, Entry]:
    decay = e.problem.L * (-_C1(e) * t).exp()
    return {"": Entry(t, other_weight(e, state), decay / (1 + decay), reach=flint.arb(1))}


def _loss(e: Experiment, t: int, state: State) -> dict[str, Entry]:
    p, L = e.problem, e.problem.L
    C0 = ball(e.settings.eta0) / (4 * e.norm_ov**2)
    bound = p.V * (-C0 * e.settings.steps1 * (1 - 2 * L / (L + (_C1(e) * t).exp()))).exp()
    assert e.A is not None
    most = (p.V - 1 + e.A.exp()).log()
    return {"": Entry(t, state.log_loss.exp(), bound, reach=most)}


def floor(e: Experiment, steps: Iterable[int]) -> Answer:
    """inf Loss = log(1 + (V-1) exp(-A)) (sharp.floor) against V exp(-C0 T)."""
    if not e.orders or e.settings.steps1 == 0:
        return Answer(silent=silence(e))
    assert e.A is not None
    infimum = ((e.problem.V - 1) * (-e.A).exp()).log1p()
    printed = e.problem.V * (-ball(e.settings.eta0) * e.settings.steps1 / (4 * e.norm_ov**2)).exp()
    return Answer(parts={"": [Entry(None, infimum, printed, "equal")]})


def _always(e: Experiment) -> bool:
    """docs/proofs.md: `sharp.lemma6`, `sharp.lemma7`, `sharp.theorem1` at any T, t, eta; the norm's bounds follow."""
    return True


def order_one(e: Experiment) -> bool:
    """eta <= ||W*_kq||/e, what the printed eta <= O(1) is read as."""
    return bool(ball(e.settings.eta) * flint.arb(1).exp() <= e.norm_kq)


def for_order_one(statement: Statement) -> Statement:
    """The statement, which says nothing of longer steps."""

    def restricted(e: Experiment, steps: Iterable[int]) -> Answer:
        if silence(e) or order_one(e):
            return statement(e, steps)
        return Answer(silent="eta exceeds ||W*||/e")

    return restricted


def _weight_proved(e: Experiment) -> bool:
    """Corollary 10.2 of docs/proofs.md."""
    return order_one(e) and bool(sharp_logarithm(e) <= 230 * e.problem.N * e.problem.L**4)


ANY_STEP: dict[str, Statement] = {
    "theorem1.direction": _along(2, partial(_direction, theorem1_bound)),
    "theorem2.weight": _along(2, _weight, partial(theorem2_speaks, 1696, 5), _weight_proved),
    "theorem2.weight.rederived": _along(2, _weight, partial(theorem2_speaks, 864, 7), _weight_proved),
    "theorem2.loss": _along(2, _loss, partial(theorem2_speaks, 1696, 5), order_one),
    "theorem2.loss.rederived": _along(2, _loss, partial(theorem2_speaks, 864, 7), order_one),
}
"""Statements that print eta <= O(1), without it; the loss by docs/proofs.md, section 16.6."""

STATEMENTS: dict[str, Statement] = {
    "ntp.lemma5": lemma5,
    "ntp.lemma6": _along(1, _norm_bounds, proved=_always),
    "ntp.lemma7": _along(1, partial(_lemma7, _printed_slack), _lemma7_speaks),
    "ntp.lemma7.rederived": _along(1, partial(_lemma7, _rederived_slack), _lemma7_speaks),
    "ntp.theorem1.norm": _along(2, _norm_bounds, proved=_always),
    **{f"ntp.{name}": for_order_one(statement) for name, statement in ANY_STEP.items()},
    **{f"ntp.{name}.any-step": statement for name, statement in ANY_STEP.items()},
    "ntp.theorem2.floor": floor,
    "sharp.lemma6": _along(1, _sharp_norm, proved=_always),
    "sharp.lemma7": _along(1, partial(_lemma7, _sharp_slack), proved=_always),
    "sharp.theorem1": _along(1, partial(_direction, sharp_bound), proved=_always),
}
