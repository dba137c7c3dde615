"""h, h* and gamma in balls, from eqs. 33, 44 and 45 alone."""

from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpz

from tests.oracle.snap.problem import ball

ONE_BY_ONE = 5000
"""Steps of the recursion that are taken; beyond, h* is enclosed."""


def goal(x: arb, M: int) -> arb:
    """exp(x) - 1 + (M-1) x, which is M eta_Y t at x = M h(t) (Lemma 6)."""
    return x.expm1() + (M - 1) * x


def logit(target: arb, M: int) -> arb:
    """The x of a `goal`, by Newton's method from above and a change of sign on either side of where it ends."""
    if target == 0:
        return arb(0)
    x = min(target.mid() / M, (1 + target.mid()).log().mid(), key=lambda one: float(one))
    last = None
    while True:
        step = ((goal(x, M) - target.mid()) / (M - 1 + x.exp())).mid()
        if last is not None and abs(step) >= last:
            break
        x, last = (x - step).mid(), abs(step)
    room = x * arb(fmpz(2)) ** -150 + target.rad() / (M - 1 + x.exp())
    low, high = x - room, x + room
    if not (goal(low, M) <= target and goal(high, M) >= target):
        raise ArithmeticError("no root between two balls")
    return low.union(high)


def h_logit(t: Fraction, M: int, eta_Y: float) -> arb:
    """M h(t)."""
    return logit(M * ball(eta_Y) * ball(t), M)


@lru_cache(maxsize=8)
def steps(M: int, eta_Y: float) -> list[arb]:
    """M h* after 0, 1, .. steps (eq. 33)."""
    found = [arb(0)]
    for _ in range(ONE_BY_ONE):
        found.append(found[-1] + M * ball(eta_Y) / (M - 1 + found[-1].exp()))
    return found


def h_star(s: int, M: int, eta_Y: float) -> tuple[arb, arb]:
    """M h*(s), and the lag l with h*(s) = h(s + l).

    Beyond `ONE_BY_ONE` the lag grows by between (I - d (1 - q))/2 and exp(d) I/2, with d the next increment of M h*, q
    its share exp(x)/(M-1+exp(x)) and I the integral of that share over x (docs/proofs-snap.md, section 1.1).
    """
    taken = steps(M, eta_Y)
    unit = M * ball(eta_Y)
    if s < len(taken):
        return taken[s], goal(taken[s], M) / unit - s
    x = taken[-1]
    lag = goal(x, M) / unit - (len(taken) - 1)
    share = x.exp() / (M - 1 + x.exp())
    d = unit / (M - 1 + x.exp())
    low, high = lag, lag + d.exp() * ((1 + unit * (s + 1)).log() + 1)
    for _ in range(4):
        ends = [logit(unit * (s + one), M) for one in (low, high)]
        least, most = (((M - 1 + end.exp()) / (M - 1 + x.exp())).log() for end in ends)
        low, high = lag + (least - d * (1 - share)) / 2, lag + d.exp() * most / 2
    return ends[0].union(ends[1]), low.union(high)


def share(x: arb, M: int) -> arb:
    """1/(M - 1 + exp(M h)), alpha of every other token (eq. 32)."""
    return 1 / (M - 1 + x.exp())


def gamma(x: arb, M: int) -> arb:
    """(M-1)^2 h/(M - 1 + exp(M h)) (Lemma 9)."""
    return arb(M - 1) ** 2 * x / M * share(x, M)


def clock(t: Fraction, K: int, M: int, eta_Y: float, eta_Z: float) -> arb:
    """Gamma = eta_Z times the integral of gamma to t: dt = K dh (M-1+exp(M h))/eta_Y makes it one of (M-1)^2 h dh."""
    h = h_logit(t / K, M, eta_Y) / M
    return ball(eta_Z) * K / ball(eta_Y) * arb(M - 1) ** 2 * h * h / 2


def zeros(M: int) -> tuple[arb, arb]:
    """Those of exp(x) = (M-1) x, for M >= 4 (Lemma 8)."""
    at = -1 / arb(M - 1)
    return -at.lambertw(), -at.lambertw(-1)
