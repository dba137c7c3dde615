"""Theorem 3 and Example 2: scores along the run, and every short sentence put through the model."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement

import flint

from tests.oracle.answer import Answer, Entry, unrecorded
from tests.oracle.definitions import Order
from tests.oracle.descent import State, ball
from tests.oracle.experiment import Experiment
from tests.oracle.margin_statements import example_names
from tests.oracle.stage1_statements import Statement
from tests.oracle.stage2_statements import sharp_logarithm, silence, smallest_pi

TIE = flint.arb(2) ** -200
"""Scores that agree to rounding are a tie."""

LEAST = flint.arb(-(10**30)).exp()
"""Less than any positive gap: what stands for C > 0."""

ROUNDING = 0.45
"""Scores that agree in this part of the bits are equal."""

Bag = tuple[str, ...]
"""A sentence up to the order of its tokens, the query last."""


def gap(e: Experiment, state: State) -> flint.arb:
    """The smallest (x_opt - x_0)^T W q and (x_0 - x_non)^T W q over queries and non-comparable x_0."""
    at = {x: i for i, x in enumerate(e.problem.vocabulary)}
    found = []
    for q, order in e.orders.items():
        score = {x: state.scores[at[x]][at[q]] for x in e.problem.vocabulary}
        for middle in order.non_comparable:
            found += [_difference(score[x], score[middle]) for x in order.optimal]
            found += [_difference(score[middle], score[x]) for x in order.non_optimal]
    return min(found, key=lambda value: value.mid())


def _difference(large: flint.arb, small: flint.arb) -> flint.arb:
    """0 where it is rounding."""
    size = max(abs(large).mid(), abs(small).mid())
    rounding = flint.arb(2) ** -int(ROUNDING * flint.ctx.prec)
    return flint.arb(0) if abs(large - small).mid() <= rounding * size else large - small


def resolved_gap(e: Experiment, t: int) -> flint.arb | None:
    """The gap at a step; where it is 0, with more bits, as exp(-A) may be all of it, or None if that takes too many."""
    found = gap(e, e.states[t])
    if found != 0 or e.A is None:
        return found
    finer = e.finer(t)
    if finer is None:
        return None
    bits, state = finer
    with flint.ctx.workprec(bits):
        return gap(e, state)


def _silent(e: Experiment) -> str:
    if not any(order.non_comparable for order in e.orders.values()):
        return "no query relates two tokens and leaves one non-comparable"
    return silence(e)


def order_(e: Experiment, steps: Iterable[int]) -> Answer:
    """For some C > 0, every gap is at least C t: none may be 0 or less."""
    if reason := _silent(e):
        return Answer(silent=reason)
    known = [t for t in steps if 1 <= t < len(e.states)]
    found = ((t, resolved_gap(e, t)) for t in known)
    entries = [Entry(t, value / t, LEAST, "lower") for t, value in found if value is not None]
    return Answer(parts={"": entries}, perhaps=unrecorded(steps, 2), open_ended=True, numbers=False)


def order_late(e: Experiment, steps: Iterable[int]) -> Answer:
    """Late in the run, at any step size: W_kq/||W_kq|| tends to W*_kq/||W*_kq||, whose gaps are positive."""
    if reason := _silent(e):
        return Answer(silent=reason)
    return Answer(true=True, perhaps=unrecorded(steps, 2), patient=True)


def least_ratio(e: Experiment, steps: Iterable[int]) -> flint.arb | None:
    """The largest constant that makes `ntp.theorem3.order.any-t` true at the known steps."""
    ratios = [gap(e, e.states[t]) / t for t in steps if 1 <= t < len(e.states)]
    return min(ratios, key=lambda value: value.mid()) if ratios else None


def sentences(order: Order, q: str, length: int) -> Iterator[tuple[str, Bag]]:
    """(x_0, sentence) of one non-comparable x_0, of no other token than non-optimal ones, q last."""
    for middle in order.non_comparable:
        for others in combinations_with_replacement(order.non_optimal, length - 1):
            bag = Counter([middle, *others])
            if bag[q] and others:
                bag[q] -= 1
                yield middle, (*bag.elements(), q)


def lead(e: Experiment, state: State, sentence: Bag, answer: str) -> flint.arb:
    """The logit of ``answer`` over the largest other one, in units of A, at W_ov with one margin."""
    at, q = {x: i for i, x in enumerate(e.problem.vocabulary)}, sentence[-1]
    raw = [(x, (state.scores[at[x]][at[q]] - state.scores[at[sentence[0]]][at[q]]).exp()) for x in sentence]
    total = sum((value for _, value in raw), flint.arb(0))
    of_label = dict.fromkeys(e.problem.vocabulary, flint.arb(0))
    for x, value in raw:
        of_label[e.problem.n[x]] += value / total
    own = of_label.pop(answer)
    return own - max(of_label.values(), key=lambda value: value.mid())


def answers(e: Experiment, state: State, length: int) -> Iterator[bool]:
    """Whether each sentence of the kind is answered n(x_0); a tie is no answer."""
    for q, order in e.orders.items():
        for middle, sentence in sentences(order, q, length):
            yield bool(lead(e, state, sentence, e.problem.n[middle]).mid() > TIE)


def shortest_misled(e: Experiment, state: State, most: int) -> int | None:
    """The length of the shortest sentence of the kind that is not answered n(x_0), up to ``most`` tokens."""
    return next((length for length in range(2, most + 1) if not all(answers(e, state, length))), None)


def answered(e: Experiment, state: State, most: int) -> int:
    """How many sentences of the kind, of up to ``most`` tokens, are answered n(x_0)."""
    return sum(sum(answers(e, state, length)) for length in range(2, most + 1))


def answered_from(e: Experiment, steps: Iterable[int], most: int) -> int | None:
    """The first of the steps from which on every sentence of up to ``most`` tokens is answered n(x_0)."""
    first = None
    for t in sorted(steps, reverse=True):
        if shortest_misled(e, e.states[t], most) is not None:
            break
        first = t
    return first


def _no_sentence(e: Experiment) -> str:
    if not any(True for q, order in e.orders.items() for length in (2, 3) for _ in sentences(order, q, length)):
        return "no such sentence"
    return silence(e)


def any_length(e: Experiment, steps: Iterable[int]) -> Answer:
    """False wherever there are such sentences: at a fixed t enough copies outweigh x_0."""
    if reason := _no_sentence(e):
        return Answer(silent=reason)
    return Answer(true=False, perhaps=unrecorded(steps, 2))


def least_fall(e: Experiment) -> flint.arb:
    """The least -x^T W*_kq q/||W*_kq|| over queries that a sentence may end in and non-optimal x."""
    at = {x: i for i, x in enumerate(e.problem.vocabulary)}
    asked = [(q, order) for q, order in e.orders.items() if order.non_comparable and q in order.non_optimal]
    found = [-e.unit_kq.get((at[x], at[q]), flint.arb(0)) for q, order in asked for x in order.non_optimal]
    return min(found, key=lambda value: value.mid())


def speaks(e: Experiment, t: int) -> bool:
    """Whether docs/proofs.md, section 15.3, bounds the scores at that step."""
    w, eta, L, N = e.norm_kq, ball(e.settings.eta), e.problem.L, e.problem.N
    if e.assumptions["optimal_majority"]:
        near = (2 * w**3 * sharp_logarithm(e) + eta * w**2) * (1 + flint.arb(t).log()) + flint.arb(2).sqrt() * eta * w
        return bool(near / (t * eta) <= least_fall(e) ** 2 / 8)
    S = flint.arb(0)
    for order in e.orders.values():
        m = len(order.non_optimal)
        d = flint.arb(L).log() + 2 * eta * flint.arb(m).sqrt()
        S = S.max(d / 2 * m * (m - 1))
    rise = eta * smallest_pi(e) * ((-S).exp() / L) ** 2 / (4 * flint.arb(2).sqrt())
    t_1 = 2 * (1 + flint.arb(2).sqrt() * w) * N * ((S + flint.arb(L).log()) / rise + 1) + 1
    c = eta / (2 * flint.arb(2).sqrt() * w)
    slope = eta**2 / 2 + eta * w * (2 * L**5 / smallest_pi(e)).log()
    near = (2 * t_1 * eta + slope * (1 + flint.arb(t).log()) / c) / (c * t)
    return bool(t >= t_1) and bool(near <= least_fall(e) ** 2 / 8)


def eps(e: Experiment, t: int) -> flint.arb:
    """(V - 1) exp(-A (2 phi - 1)), phi from s_0 - s_x >= C t."""
    assert e.A is not None
    share = flint.arb(2) if e.assumptions["optimal_majority"] else flint.arb(8)
    C = ball(e.settings.eta) / (share.sqrt() * e.norm_kq) * least_fall(e) / 2
    phi = 1 / (1 + (e.problem.L - 1) * (-C * t).exp())
    return (e.problem.V - 1) * (-e.A * (2 * phi - 1)).exp()


def bags(order: Order, q: str, most: int) -> Iterator[Counter[str]]:
    """Every sentence of up to ``most`` tokens as a bag: an x_0 once or more, else non-optimal tokens, q among them."""
    for middle in order.non_comparable:
        for length in range(2, most + 1):
            for rest in combinations_with_replacement((middle, *order.non_optimal), length - 2):
                if q in order.non_optimal:
                    yield Counter((middle, *rest, q))


def largest_wrong(e: Experiment, state: State) -> flint.arb:
    """The largest 1 - P(n(x_0)) over all sentences of up to L_max tokens, each put through the model."""
    at, found = {x: i for i, x in enumerate(e.problem.vocabulary)}, []
    assert e.A is not None
    for q, order in e.orders.items():
        for bag in bags(order, q, e.problem.L):
            raw = {x: c * state.scores[at[x]][at[q]].exp() for x, c in bag.items()}
            total = sum(raw.values(), flint.arb(0))
            logit = {x: (e.A * raw.get(x, flint.arb(0)) / total).exp() for x in e.problem.vocabulary}
            [middle] = set(bag) & set(order.non_comparable)
            wrong = sum((value for x, value in logit.items() if x != middle), flint.arb(0))
            found.append(wrong / (wrong + logit[middle]))
    return max(found, key=lambda value: value.mid())


def prediction(e: Experiment, steps: Iterable[int]) -> Answer:
    """Proved from some step on; there every sentence of up to L_max tokens is put through the model."""
    if reason := _no_sentence(e):
        return Answer(silent=reason)
    spoken = [t for t in steps if t >= 1 and speaks(e, t)]
    known = [t for t in spoken if t < len(e.states)]
    entries = [Entry(t, largest_wrong(e, e.states[t]), eps(e, t), reach=flint.arb(1)) for t in known]
    return Answer(
        true=True,
        parts={"": entries} if entries else {},
        perhaps=unrecorded(steps, 2),
        open_ended=len(known) < len(spoken) or not spoken,
        unreached=not spoken,
    )


def example2(e: Experiment, steps: Iterable[int]) -> Answer:
    """After training, SP is answered V and OSP is answered P."""
    name = example_names(e)
    if name is None:
        return Answer(silent="not the dataset of Example 1")
    if reason := silence(e):
        return Answer(silent=reason)
    if e.settings.steps2 < 2:
        return Answer(perhaps="not trained")
    if len(e.states) <= e.settings.steps2:
        return Answer(true=True)  # late enough
    state = e.states[-1]
    leads = [lead(e, state, tuple(name[x] for x in X), name[y]) for X, y in (("SP", "V"), ("OSP", "P"))]
    return Answer(true=all(bool(value > 0) for value in leads))


STATEMENTS: dict[str, Statement] = {
    "ntp.theorem3.order": order_late,
    "ntp.theorem3.order.any-t": order_,
    "ntp.theorem3.prediction": prediction,
    "ntp.theorem3.prediction.any-length": any_length,
    "ntp.example2": example2,
}
