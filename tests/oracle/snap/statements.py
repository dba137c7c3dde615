"""The statements of the ledger's section 2: what each needs, where it says nothing, whether it is true, its two sides.

A statement that is proved, in the paper without a fault that was found or in docs/proofs-snap.md, is never violated. Of
one that is false on a dataset, the two sides at the row's worst step are computed where the oracle can.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from flint import arb, arb_mat

from tests.oracle.snap import growth
from tests.oracle.snap.assumptions import below, dominates, every
from tests.oracle.snap.chances import missed
from tests.oracle.snap.flow import State
from tests.oracle.snap.numbers import Truth
from tests.oracle.snap.problem import Problem, ball, eigenvalues, gram, unit
from tests.oracle.snap.sides import Place, Sides

Entries = Callable[[Truth, Place], Iterator[Sides]]

Verdict = Callable[[Truth], bool | None]
"""Whether a statement is true of a problem; None where the oracle does not know."""

MOST_ROUNDS = 2000
"""Steps of SGD on whole rows."""

MOST_COUNTED = 10**9
"""Draws up to which a tail is summed term by term."""


@dataclass(frozen=True)
class Statement:
    """One statement.

    Attributes
    ----------
    needs : its assumptions
    silent : from a problem to why it says nothing, "" where it speaks, None where float64 leaves that open
    true : whether it is true
    entries : its two sides at a place
    setting : assumptions of its source's setting, outside of which it is not applicable, but where it is proved
    """

    needs: tuple[str, ...] = ()
    silent: tuple["Callable[[Truth], str | None]", ...] = ()
    true: Verdict = lambda T: True
    entries: Entries = lambda T, at: iter(())
    setting: tuple[str, ...] = ()


# Where statements say nothing


def no_M(least: int) -> Callable[[Truth], str]:
    return lambda T: f"M is below {least}" if least > T.M else ""


def one_class(T: Truth) -> str:
    return "there is one class" if T.K == 1 else ""


def no_inverse(T: Truth) -> str | None:
    if not T.problem.independent:
        return "the classes are dependent"
    return None if 1 + T.problem.eigenvalues[0] < 1e-9 else ""


def largest_from_one_on(T: Truth) -> str | None:
    """Where the eigenvalue of largest absolute value is not below 1, be it of either sign."""
    most, least = T.problem.eigenvalues[-1], T.problem.eigenvalues[0]
    if most - 1 > 1e-9 * most and abs(abs(least) - most) > 1e-9 * most:
        return f"lambda_1 is {most}"
    return None if most > 1 - 1e-9 else ""


def outside_range_R(T: Truth) -> str:
    inside = 10 * T.M**-0.99 <= T.eta_Y < 1
    return "" if inside else "eta_Y is outside range R"


def slow_decoder(T: Truth) -> str:
    """Assumption 1 (c)."""
    return "" if T.eta_Y * (1 + 1e-15) >= 10 * T.settings.lr_z else "Y is not much faster than Z"


def nothing_distinct(T: Truth) -> str:
    return "" if any(T.problem.distinct(c) for c in T.problem.classes) else "no token is distinct"


def nothing_common(T: Truth) -> str:
    return "" if T.problem.common else "no token is common"


def no_two_distinct(T: Truth) -> str:
    return "" if any(len(T.problem.distinct(c)) > 1 for c in T.problem.classes) else "no class has two distinct tokens"


def nothing_completes(T: Truth) -> str:
    return "K = M" if T.K == T.M else ""


def nothing_dominated(T: Truth) -> str | None:
    ranked = [sorted((c.P[l] for l in T.problem.distinct(c)), reverse=True) for c in T.problem.classes]  # noqa: E741
    found = [dominates(own) for own in ranked if len(own) > 1]
    return "" if True in found else None if None in found else "no class has two distinct tokens, one dominant"


def bare(T: Truth) -> str:
    return "" if all(T.problem.distinct(c) for c in T.problem.classes) else "a class has no distinct token"


def not_weak_at_first(T: Truth) -> str | None:
    """Whether Assumption 2 holds at the first recorded step, as eq. 10 leads there; elsewhere it is not looked."""
    state = T.state(min(T.recorded)) if T.recorded else None
    return "" if state is not None and weak_at(T, state) else None


def weak_at(T: Truth, state: State) -> bool | None:
    """Whether attention meets Assumption 2 at a state; None where float64 leaves it open."""
    sizes = [abs(x) for x in eigenvalues(gram(T.flow.attention(state[: len(T.flow.pairs)])))]
    return every([below(max(sizes), 1 / T.K), below(6 / T.M**0.5, min(sizes))])


def nothing_dominates(T: Truth) -> str | None:
    """Classes of which a common token gains from the start are left out; which ones is not looked at here."""
    return nothing_distinct(T) or None


def not_syn_medium(T: Truth) -> str:
    """Each class has twenty tokens, ten of them shared by all; there is a query for every two classes."""
    twenty = all(len(c.P) == 20 for c in T.problem.classes)
    return "" if twenty and 2 * T.M == 20 + 23 * T.K else "these are not Syn-Medium's classes"


def no_file(T: Truth) -> str:
    """It is about recorded runs, and an audit of a dataset has none."""
    return "there is no recorded run"


# Whether they are true


def never(T: Truth) -> bool | None:
    return False


def unknown(T: Truth) -> bool | None:
    return None


def enough_tokens(T: Truth) -> bool:
    return T.M >= 4


def six_tokens(T: Truth) -> bool:
    """docs/proofs-snap.md, section 7.6."""
    return T.M >= 6


def no_eigenvalue_minus_one(T: Truth) -> bool | None:
    """Lemma 17 as printed: the eigenvalue of largest absolute value is below 1, and there is an E'."""
    sizes = [abs(x) for x in T.problem.eigenvalues]
    if abs(max(sizes) - 1) < 1e-9:
        return False if abs(T.problem.eigenvalues[0] + 1) < 1e-12 and not T.problem.independent else None
    return True


def all_positive_beside(T: Truth) -> bool | None:
    """Theorem 1 (a) at any t: E'_nk > 0 for every n != k (docs/proofs-snap.md, section 3.3)."""
    return all(x > 0 for x in T.problem.beside) if T.recorded else None


def nobody_gains_at_first(T: Truth) -> bool | None:
    """Common tokens of any classes: a z-dot > 0 where Z = 0 refutes it, and so does one that is 0 by symmetry."""
    first = T.flow.rates([arb(0)] * len(T.flow.pairs))[0]
    gains = any(x > 0 for (_, l), x in zip(T.flow.pairs, first, strict=True) if l in T.problem.common)  # noqa: E741
    return False if (gains or stays(T.problem)) and T.recorded else None


def stays(problem: Problem) -> bool:
    """Whether a query has a common token and each of its classes only tokens that no class tells apart."""
    place = {l: tuple(c.P.get(l) for c in problem.classes) for l in problem.tokens}  # noqa: E741
    for query in {c.query for c in problem.classes}:
        own = [c for c in problem.classes if c.query == query]
        alike = all(len({place[token] for token in c.P}) == 1 for c in own)
        if alike and any(c.P.keys() & problem.common for c in own):
            return True
    return False


def start_at_one(T: Truth) -> bool | None:
    """Eq. 129 as printed is off by ln(C0)/4."""
    return T.problem.inverse_C0 == 1


def start_near_one(T: Truth) -> bool | None:
    """The scan of eq. 14: whatever its o(1) is at t = K, it is less than this."""
    off = abs(float(T.inverse_C0.log()))
    return True if start_at_one(T) else False if off > 0.01 else None


def lasting(T: Truth) -> bool | None:
    """Theorems 2 and 3 from Z = 0: two or three classes, one common token, or so long as section 7.9 goes."""
    if T.K in (2, 3) or len(T.problem.common) == 1:
        return True
    if not T.recorded:
        return None
    gone = (
        -T.problem.gram.det().log()
        + ball(T.settings.lr_z) / ball(T.eta_Y) * (T.K * T.logit(max(T.recorded)) / T.M) ** 2
    )
    return True if gone < ball(0.51) / (T.K - 1) else None


def small_rate(T: Truth) -> bool | None:
    """Theorem 5's order of theta, for eta_Y = O(1)."""
    return True if T.eta_Y <= 1 else None


def orthogonal(T: Truth) -> bool | None:
    """Remark 1: without overlap a class's row hears of no other."""
    overlaps = [T.problem.E[i][j] for i in range(T.K) for j in range(i)]
    return True if not any(x > 0 for x in overlaps) else False if min(map(float, overlaps)) > 1e-6 else None


def far_from_one(T: Truth) -> bool | None:
    """The growth factor as printed: whatever the o(1) is at t = K, it is less than this."""
    return False if abs(float(T.inverse_C0.log())) > 0.01 else None


def ends_inside(T: Truth) -> bool | None:
    """B(t_0') and B(t_0) as printed: by ln(C0)/4 off, which may be less than what is left open of M h."""
    return all(one.excess()[1] <= 0 for end in ("t_0'", "t_0") for one in _end(T, end, printed=True))


# Their two sides


def lemma6(T: Truth, at: Place) -> Iterator[Sides]:
    yield Sides("equal", growth.goal(T.logit(at.t), T.M) / (T.M * ball(T.eta_Y)), ball(at.t / T.K))


def _gap(T: Truth, at: Place) -> arb:
    x = growth.h_logit(at.t, T.M, T.eta_Y)
    return (growth.h_star(int(at.t), T.M, T.eta_Y)[0] - x) / ball(T.eta_Y)


def lemma7_gap(T: Truth, at: Place) -> Iterator[Sides]:
    if at.label == "":  # at s; along M and eta_Y no gap is shown
        yield Sides("upper", _gap(T, at), arb(2))
        yield Sides("lower", _gap(T, at), arb(0))


def lemma7_limit(T: Truth, at: Place) -> Iterator[Sides]:
    yield Sides("limit", 1 + _gap(T, at), arb(1))


def remark2(T: Truth, at: Place) -> Iterator[Sides]:
    x, lag = growth.h_star(int(at.t), T.M, T.eta_Y)
    integral = ((T.M - 1 + x.exp()) / T.M).log()
    if lag.rad() <= 1e-15 * abs(lag):
        yield Sides("lower", lag, (integral - ball(T.eta_Y)) / 2)
        yield Sides("upper", lag, ball(T.eta_Y).exp() * integral / 2)


def lemma8(T: Truth, at: Place) -> Iterator[Sides]:
    x = ball(at.t)
    ratio = x.exp() / ((T.M - 1) * x)
    yield Sides("upper", ratio if at.label == "inside" else 1 / ratio, arb(1))


def _scan(T: Truth, at: Place) -> tuple[arb, arb, arb]:
    """M h, gamma and y."""
    x = T.logit(at.t)
    return x, growth.gamma(x, T.M), ball(T.eta_Y) * ball(at.t) / T.K


def lemma9_scan(T: Truth, at: Place) -> Iterator[Sides]:
    x, *_ = _scan(T, at)
    yield Sides("upper", x.exp(), min(arb(T.M - 1), (T.M - 1) * x))


def lemma9_scan_rederived(T: Truth, at: Place) -> Iterator[Sides]:
    x, *_ = _scan(T, at)
    yield Sides("upper", x.exp(), arb(T.M - 1))


def lemma9_snap(T: Truth, at: Place) -> Iterator[Sides]:
    x, *_ = _scan(T, at)
    yield Sides("lower", x.exp(), max(arb(T.M - 1), (T.M - 1) * x))


def theorem1_b_rederived(T: Truth, at: Place) -> Iterator[Sides]:
    _, speed, y = _scan(T, at)
    yield Sides("upper", speed, y)


def _pair(T: Truth, at: Place) -> tuple[int, int] | None:
    names = T.problem.names
    found = at.label.split(", ")
    return (names.index(found[0]), names.index(found[1])) if len(found) == 2 and set(found) <= set(names) else None


def _largest(T: Truth) -> arb:
    return arb(max(abs(x) for x in T.problem.eigenvalues))


def lemma13(T: Truth, at: Place) -> Iterator[Sides]:
    if pair := _pair(T, at):
        yield Sides("upper", T.problem.E[pair[0]][pair[1]], _largest(T))


def lemma14(T: Truth, at: Place) -> Iterator[Sides]:
    if pair := _pair(T, at):
        found = T.problem.E_prime[pair[0]][pair[1]]
        largest = max(abs(float(x)) for row in T.problem.E_prime for x in row)
        yield Sides("equal", found, found, largest)


def lemma15(T: Truth, at: Place) -> Iterator[Sides]:
    found = re.fullmatch(r"largest eigenvalue of E', lambda = (\S+)", at.label)
    if found and abs(float(found[1]) - float(_largest(T))) < 1e-5 * float(_largest(T)):
        sizes = [abs(x / (1 + x)) for x in T.problem.eigenvalues]
        yield Sides("upper", arb(max(sizes)), _largest(T) / (1 - _largest(T)))


def lemma16(T: Truth, at: Place) -> Iterator[Sides]:
    names = T.problem.names
    if at.label in names:
        n = names.index(at.label)
        yield Sides("upper", T.problem.E_prime[n][n], arb(0))


def lemma17(T: Truth, at: Place) -> Iterator[Sides]:
    if pair := _pair(T, at):
        i, j = pair
        off = abs(T.problem.E_prime[i][j] - T.problem.E[i][j])
        yield Sides("upper", off, _largest(T) ** 2 / (1 - _largest(T)))


def lemma12(T: Truth, at: Place) -> Iterator[Sides]:
    """Eq. 66; chances have no step."""
    if at.position is not None:
        found = growth.h_star(int(at.t), T.M, T.eta_Y)[0]
        yield Sides("equal", (T.M - 1) * found / T.M, (T.M - 1) * growth.h_logit(at.t, T.M, T.eta_Y) / T.M)


def remark1(T: Truth, at: Place) -> Iterator[Sides]:
    """Rows of SGD, classes in turn, from softmax over K next tokens and the M - K others; and eq. 43."""
    told = re.fullmatch(r"w_n at (its own|another class's|no class's) next token, N = (\d+)", at.label)
    if not told or int(told[2]) > MOST_ROUNDS:
        return
    K, M, N = min(T.K, 12), T.M, int(told[2])
    rho = T.problem.E[1][0]
    W = [[arb(0)] * (K + 1) for _ in range(K)]
    for step in range(N):
        n = step % K
        powers = [(x - W[n][n]).exp() * (M - K if j == K else 1) for j, x in enumerate(W[n])]
        total = sum(powers, arb(0))
        for j in range(K + 1):
            alpha = powers[j] / total / (M - K if j == K and M > K else 1)
            change = ball(T.eta_Y) * ((j == n) - alpha)
            for k in range(K):
                W[k][j] += change if k == n else rho * change
    column = {"its own": 0, "another class's": 1, "no class's": K}[told[1]]
    h = growth.h_star(N // K, M, T.eta_Y)[0] / M
    yield Sides("equal", W[0][column], (M - 1 if column == 0 else -1) * (1 - rho) * h)


def _weights(T: Truth, n: int, rows: list[arb]) -> list[arb]:
    """Y (e_n - alpha_n) in terms of f_1 .. f_K, rows h_k (M e_k - 1) of W = F^T Y."""
    M, K = T.M, T.K
    share = growth.share(M * rows[n], M)
    errors = [[rows[k] * share * M * ((M if k == n else 0) - 1)] for k in range(K)]
    return [row[0] for row in T.problem.gram.solve(arb_mat(errors)).tolist()]


def any_t(T: Truth, at: Place) -> Iterator[Sides]:
    names = T.problem.names
    told = re.fullmatch(r"(.*?) where (.*)", at.label)
    if not told:
        return
    drawn = dict(re.findall(r"(\S+) was drawn (\d+) times?", told[2]))
    rows = [growth.h_star(int(drawn.get(name, 0)), T.M, T.eta_Y)[0] / T.M for name in names]
    n = names.index(told[1])
    weights = _weights(T, n, rows)
    xi = weights[n] - sum((weights[k] * T.problem.gram[n, k] for k in range(T.K)), arb(0))
    yield Sides("lower", xi, arb(0))


def _z_dot(T: Truth, at: Place) -> arb | None:
    token, _, query = at.label.removesuffix(" where Z = 0").rpartition(" under ")
    if at.label.endswith(" where Z = 0"):
        return T.flow.rates([arb(0)] * len(T.flow.pairs))[0][T.flow.place[query, token]]
    found = T.value("z-dot", (int(at.t), query, token)) if (query, token) in T.flow.place else None
    return None if found is None else found * ball(T.settings.lr_z)


def gaining(T: Truth, at: Place) -> Iterator[Sides]:
    found = _z_dot(T, at)
    if found is not None:
        yield Sides("lower", found, arb(0))


def losing(T: Truth, at: Place) -> Iterator[Sides]:
    found = _z_dot(T, at)
    if found is not None:
        yield Sides("upper", found, arb(0))


def while_weak(entries: Entries) -> Entries:
    """Of what is only said while Assumption 2 holds: at a worst step at which it does not, sides that no row has."""

    def found(T: Truth, at: Place) -> Iterator[Sides]:
        state = T.state(int(at.t))
        if state is not None and weak_at(T, state) is False:
            yield Sides("lower", arb(-1), arb(0))
        else:
            yield from entries(T, at)

    return found


def eq_12(T: Truth, at: Place) -> Iterator[Sides]:
    token, _, name = at.label.rpartition(" of ")
    names = T.problem.names
    t = int(at.t)
    state, rates = T.state(t), T.rates(t)
    if name not in names or state is None or rates is None:
        return
    n = names.index(name)
    c = T.problem.classes[n]
    i = T.flow.place[c.query, token]
    z, B = state[i], state[len(T.flow.pairs) + n]
    f = unit({l: ball(p) for l, p in c.P.items()})[token]  # noqa: E741
    yield Sides("upper", 2 * z, 2 * B)
    yield Sides("lower", 2 * z, 2 * f * f * B)
    now, unit_of = unit(T.flow.attention(state)[n]), ball(T.settings.lr_z) * growth.gamma(T.logit(t), T.M)
    mean = sum((x * x * rates[0][T.flow.place[c.query, l]] for l, x in now.items()), arb(0))  # noqa: E741
    yield Sides("lower", unit_of * rates[0][i], arb(0))
    yield Sides("lower", unit_of * (rates[0][i] - mean), arb(0))


def _two_tokens(T: Truth, at: Place) -> tuple[int, int, arb] | None:
    """Where a state has the two tokens that a label compares, and the square of the ratio of their probabilities."""
    told = re.fullmatch(r"(.*) over (.*) of (.*)", at.label)
    if not told:
        return None
    c = T.problem.classes[T.problem.names.index(told[3])]
    i, j = (T.flow.place[c.query, l] for l in told.groups()[:2])  # noqa: E741
    return i, j, (ball(c.P[told[1]]) / ball(c.P[told[2]])) ** 2


def eq_11(T: Truth, at: Place) -> Iterator[Sides]:
    if tokens := _two_tokens(T, at):
        i, j, squared = tokens
        if (state := T.state(int(at.t))) is not None:
            now, then = squared * (2 * (state[i] - state[j])).exp() - 1, (squared - 1) * (2 * state[i]).exp()
            # both are differences from 1: where the tokens are alike, rounding of 1 is all that float64 leaves
            yield Sides("equal", now, then, 1 + abs(float(now)) + abs(float(then)))


def _start(T: Truth, *, printed: bool) -> arb:
    return -T.inverse_C0.log() / 4 if printed else arb(0)


def closed_form(T: Truth, at: Place, *, printed: bool) -> Iterator[Sides]:
    B = T.B_of_eq_13(at.t)
    yield Sides("equal", B, B + _start(T, printed=printed))


def _piece(T: Truth, rows: arb) -> arb:
    factor = 2 * T.K * (arb(T.M - 1) / T.M) ** 2 * ball(T.settings.lr_z) / ball(T.eta_Y)
    return (factor * rows * rows * T.inverse_C0).log1p() / 4


def scanning(T: Truth, at: Place, *, printed: bool) -> Iterator[Sides]:
    y, B, start = _scan(T, at)[2], T.B_of_eq_13(at.t), _start(T, printed=printed)
    yield Sides("lower", B, start + _piece(T, y - y.expm1() / T.M))
    yield Sides("upper", B, start + _piece(T, y))


def snapping(T: Truth, at: Place, *, printed: bool) -> Iterator[Sides]:
    y, B, start = _scan(T, at)[2], T.B_of_eq_13(at.t), _start(T, printed=printed)
    yield Sides("lower", B, start + _piece(T, (T.M * y / 2).log()))
    yield Sides("upper", B, start + _piece(T, (T.M * y).log()))


def weaker(T: Truth, at: Place, *, printed: bool) -> Iterator[Sides]:
    """Eq. 10 at Z = 0 over eq. 13, overlaps divided by the position and M times its square: z-dot, and xi's mean."""
    [common], times, K = T.problem.common, ball(at.t), T.K
    M = int((T.M * times * times).ceil().unique_fmpz() or 0)
    F = []
    for c in T.problem.classes:
        f = {common: arb(0)} | unit({l: ball(p) for l, p in c.P.items()})  # noqa: E741
        square = f[common] ** 2
        left = ((1 - square / times) / (1 - square)).sqrt()
        F.append({l: x / times.sqrt() if l == common else x * left for l, x in f.items()})  # noqa: E741
    e = [[F[n][common] * F[k][common] if k != n else arb(1) for k in range(K)] for n in range(K)]
    v = [[arb(M * ((M if k == n else 0) - 1)) / (M - 1) ** 2 for n in range(K)] for k in range(K)]
    weights = arb_mat(e).solve(arb_mat(v)).tolist()
    mean = sum((e[n][k] ** 2 for n in range(K) for k in range(K) if k != n), arb(0)) / (K * (K - 1))
    xi = [weights[n][n] - v[n][n] for n in range(K)]
    # f_n^T of the others' part is -xi_n; a common token's own part of it is that part over f_n
    z_dot = sum((-(1 - F[n][common] ** 2) * xi[n] for n in range(K)), arb(0))
    yield Sides("limit", z_dot / mean / (-K if printed else -K * (K - 1)), arb(1))
    yield Sides("limit", sum(xi, arb(0)) / K / mean / (K if printed else K - 1), arb(1))


def _omega_0(T: Truth) -> arb:
    return 1 + growth.zeros(T.M)[0].log() / arb(T.M).log()


def remark3(T: Truth, at: Place) -> Iterator[Sides]:
    yield Sides("lower", growth.zeros(T.M)[0], arb(T.M) ** (arb(-99) / 100))


def remark3_rederived(T: Truth, at: Place) -> Iterator[Sides]:
    yield Sides("upper", _omega_0(T), arb(1) / 1000)


def eq_64(T: Truth, at: Place, *, printed: bool) -> Iterator[Sides]:
    x = growth.h_logit(at.t, T.M, T.eta_Y)
    slope = -x.exp() * growth.share(x, T.M) ** 3 * T.M * ball(T.eta_Y)
    yield Sides("equal", slope, -slope if printed else slope)


def eq_60(T: Truth, at: Place) -> Iterator[Sides]:
    told = re.fullmatch(r"delta = (\S+), N = (\d+)", at.label)
    if told and int(told[2]) <= MOST_COUNTED:
        delta, N = float(told[1]), int(told[2])
        room = 2 * (N * (1 / ball(delta)).log()).sqrt().ceil()
        yield Sides("upper", missed(N, Fraction(1, T.K), Fraction(-(-N // T.K)), room + 0.5), ball(delta))


def eq_90(T: Truth, at: Place) -> Iterator[Sides]:
    largest, K = _largest(T), T.K
    inverse = arb(max(abs(x / (1 + x)) for x in T.problem.eigenvalues))
    scaled = largest * K / (K - 1)
    entry = max((abs(x) for row in T.problem.E_prime for x in row), key=float)
    sides = {
        "the largest |E'_kn|": (entry, inverse),
        "the largest |lambda_i(E')|": (inverse, scaled),
        "|lambda_1|/(1-1/K)": (scaled, arb(1) / (K - 1)),
    }
    if at.label in sides:
        yield Sides("upper", *sides[at.label])


def eq_112(T: Truth, at: Place, *, factor: int) -> Iterator[Sides]:
    if at.position is None or (tokens := _two_tokens(T, at)) is None:
        return
    i, j, squared = tokens
    state, rates = T.state(int(at.t)), T.rates(int(at.t))
    if state is not None and rates is not None:
        unit_of = ball(T.settings.lr_z) * growth.gamma(T.logit(int(at.t)), T.M)
        left = squared * (2 * (state[i] - state[j])).exp() * 2 * (rates[0][i] - rates[0][j]) * unit_of
        yield Sides("equal", left, factor * (squared - 1) * (2 * state[i]).exp() * rates[0][i] * unit_of)


def growing(T: Truth, at: Place, *, printed: bool) -> Iterator[Sides]:
    f = max(
        unit({l: ball(p) for l, p in c.P.items()})[token]  # noqa: E741
        for c in T.problem.classes
        for token in T.problem.distinct(c)
    )
    y, start = ball(T.eta_Y) * ball(at.t) / T.K, _start(T, printed=printed)
    B = 2 * f * f * T.B_of_eq_13(at.t)
    yield Sides("lower", B, 2 * f * f * (start + _piece(T, y - y.expm1() / T.M)))
    yield Sides("upper", B, 2 * f * f * (start + _piece(T, y * T.M / (T.M - 1))))


def _end(T: Truth, end: str, *, printed: bool) -> Iterator[Sides]:
    L = arb(T.M).log()
    y = L if end == "t_0'" else 2 * growth.zeros(T.M)[1]
    x = growth.logit(T.M * y, T.M)
    start = _start(T, printed=printed)
    low, high = (L - 1 + arb(1) / T.M, L) if end == "t_0'" else ((T.M * y / 2).log(), (T.M * y).log())
    yield Sides("lower", _piece(T, x), start + _piece(T, low))
    yield Sides("upper", _piece(T, x), start + _piece(T, high))


def ends(T: Truth, at: Place, *, printed: bool) -> Iterator[Sides]:
    if at.label in ("t_0'", "t_0"):
        yield from _end(T, at.label, printed=printed)


def eq_132(T: Truth, at: Place) -> Iterator[Sides]:
    """M h(t/K) is L to more digits than are shown."""
    factor = 2 * T.K * (arb(T.M - 1) / T.M) ** 2 * ball(T.settings.lr_z) / ball(T.eta_Y)
    u = ball(at.t)
    yield Sides("limit", (factor * (2 * u).exp() * T.inverse_C0).log1p() / 4 / (u / 2 + factor.log() / 4), arb(1))


A2 = ("wide_vocabulary", "small_overlap", "spread_overlap")
UNIFORM = ("uniform_classes",)
R = (*A2, *UNIFORM, "large_vocabulary")
ONE_COMMON = (*UNIFORM, "single_common", "single_query")
SECTION_6 = (*ONE_COMMON, "large_vocabulary")
PATH = (no_M(4), no_inverse)
IN_RANGE_R = (slow_decoder, outside_range_R)

STATEMENTS: dict[str, Statement] = {
    "snap.lemma1": Statement(),
    "snap.lemma2": Statement(),
    "snap.lemma18": Statement(),
    "snap.lemma3": Statement(silent=(no_inverse,)),
    "snap.lemma5": Statement(silent=(no_M(2), no_inverse)),
    "snap.remark1": Statement(
        (*UNIFORM, "equal_overlaps"), (one_class, no_M(2), no_inverse), orthogonal, remark1, setting=A2
    ),
    "snap.remark1.rederived": Statement((*UNIFORM, "equal_overlaps"), (one_class, no_M(2), no_inverse)),
    "snap.lemma6": Statement(silent=(no_M(2),), entries=lemma6),
    "snap.lemma7.gap": Statement(silent=(no_M(2),), entries=lemma7_gap),
    "snap.lemma7.limit": Statement(silent=(no_M(2),), entries=lemma7_limit),
    "snap.remark2": Statement(silent=(no_M(4),), true=never),
    "snap.remark2.rederived": Statement(silent=(no_M(2),), entries=remark2),
    "snap.lemma8": Statement(("large_vocabulary",), entries=lemma8),
    "snap.lemma8.any-M": Statement(silent=(no_M(2),), true=enough_tokens, entries=lemma8),
    "snap.lemma8.rederived": Statement(silent=(no_M(4),), entries=lemma8),
    "snap.remark3": Statement(("large_vocabulary",), (outside_range_R,), never, remark3),
    "snap.remark3.rederived": Statement(("large_vocabulary",), (outside_range_R,), entries=remark3_rederived),
    "snap.eq64": Statement(("large_vocabulary",), (outside_range_R,), never, entries=partial(eq_64, printed=True)),
    "snap.eq64.rederived": Statement(silent=(no_M(2),), entries=partial(eq_64, printed=False)),
    "snap.lemma9.scan": Statement(("large_vocabulary",), (outside_range_R,), entries=lemma9_scan),
    "snap.lemma9.scan.any-t": Statement(("large_vocabulary",), (outside_range_R,), never, lemma9_scan),
    "snap.lemma9.snap": Statement(("large_vocabulary",), (outside_range_R,), entries=lemma9_snap),
    "snap.lemma9.scan.rederived": Statement(silent=(no_M(5),), entries=lemma9_scan_rederived),
    "snap.theorem1.b": Statement(R, (outside_range_R,), never),
    "snap.theorem1.b.rederived": Statement(silent=(no_M(5),), entries=theorem1_b_rederived),
    "snap.lemma10": Statement(silent=(one_class,)),
    "snap.lemma10.any-N": Statement(true=never),
    "snap.lemma10.rederived": Statement(),
    "snap.remark4": Statement(UNIFORM, (one_class,), entries=eq_60),
    "snap.lemma11": Statement(UNIFORM, (one_class, no_M(4))),
    "snap.lemma11.any-delta": Statement(UNIFORM, (one_class, no_M(4)), never),
    "snap.lemma12": Statement((*UNIFORM, "large_vocabulary"), (outside_range_R, one_class, no_inverse)),
    "snap.lemma12.any-step": Statement(UNIFORM, (one_class, no_M(2), no_inverse), never, lemma12),
    "snap.lemma12.rederived": Statement(UNIFORM, (one_class, no_M(2), no_inverse)),
    "snap.lemma12.Y": Statement((*UNIFORM, "large_vocabulary"), (outside_range_R, no_inverse)),
    "snap.lemma12.Y.eq26": Statement(UNIFORM, (no_M(2), no_inverse, nothing_completes), never),
    "snap.theorem5": Statement(R, (outside_range_R,)),
    "snap.theorem5.any-step": Statement((*A2, *UNIFORM), true=small_rate),
    "snap.theorem5.rederived": Statement(UNIFORM, (no_M(2), no_inverse)),
    "snap.corollary1": Statement(R, (outside_range_R,)),
    "snap.corollary1.any-delta": Statement(R, (outside_range_R,), never),
    "snap.corollary1.rederived": Statement(UNIFORM, (one_class, no_M(4), no_inverse)),
    "snap.eq71": Statement(R, (outside_range_R,)),
    "snap.eq71.continuous": Statement(R, (outside_range_R,), unknown),
    "snap.lemma13": Statement(silent=(one_class,), entries=lemma13),
    "snap.lemma14": Statement(("overlap_below_one",), entries=lemma14),
    "snap.lemma15": Statement(("overlap_below_one",), entries=lemma15),
    "snap.lemma16": Statement(A2, entries=lemma16),
    "snap.lemma17": Statement(("overlap_below_one",), entries=lemma17),
    "snap.lemma17.literal": Statement(silent=(largest_from_one_on,), true=no_eigenvalue_minus_one, entries=lemma17),
    "snap.theorem1.form": Statement(R, (outside_range_R,), never),
    "snap.theorem1.form.rederived": Statement(R, (outside_range_R,)),
    "snap.eq87": Statement(R, (outside_range_R,)),
    "snap.eq89": Statement(R, (outside_range_R,)),
    "snap.eq90": Statement(A2, entries=eq_90),
    "snap.theorem1.a": Statement(R, (outside_range_R,)),
    "snap.theorem1.a.any-t": Statement(R, (outside_range_R,), all_positive_beside, any_t),
    "snap.lemma4": Statement(
        R,
        IN_RANGE_R,
        never,
    ),
    "snap.lemma4.rederived": Statement(R, (outside_range_R,)),
    "snap.theorem2.distinct": Statement(
        UNIFORM, (slow_decoder, *PATH, nothing_distinct, not_weak_at_first), entries=while_weak(gaining)
    ),
    "snap.theorem2.distinct.from-zero": Statement((*A2, *UNIFORM), (*PATH, nothing_distinct), lasting, gaining),
    "snap.theorem2.common": Statement(
        (*UNIFORM, "single_common", "distinct_beside_common"),
        (slow_decoder, *PATH, not_weak_at_first),
        entries=while_weak(losing),
    ),
    "snap.theorem2.common.from-zero": Statement(
        (*A2, *UNIFORM, "single_common", "distinct_beside_common"), PATH, entries=losing
    ),
    "snap.theorem2.distinct.sgd": Statement(UNIFORM, (no_file,)),
    "snap.theorem2.common.sgd": Statement((*UNIFORM, "distinct_beside_common"), (no_file,)),
    "snap.theorem3.growth.sgd": Statement((*UNIFORM, "dominant_distinct"), (no_file,)),
    "snap.corollary2": Statement(
        (*A2, *UNIFORM, "single_query", "symmetric_classes", "shared_common"),
        (slow_decoder, *PATH, nothing_common),
        unknown,
        losing,
    ),
    "snap.corollary2.any-classes": Statement((*A2, *UNIFORM), (*PATH, nothing_common), nobody_gains_at_first, losing),
    "snap.theorem3.gain": Statement(UNIFORM, (slow_decoder, *PATH, no_two_distinct), entries=eq_11),
    "snap.theorem3.gain.sgd": Statement(silent=(no_two_distinct,), true=unknown),
    "snap.theorem3.growth": Statement(
        (*A2, *UNIFORM, "dominant_distinct"), (slow_decoder, *PATH, nothing_dominates), entries=while_weak(eq_12)
    ),
    "snap.theorem3.growth.from-zero": Statement(
        (*A2, *UNIFORM, "dominant_distinct"), (*PATH, nothing_dominates), lasting, eq_12
    ),
    "snap.eq112": Statement(
        (*A2, *UNIFORM, "dominant_distinct"),
        (slow_decoder, *PATH, nothing_dominated),
        unknown,
        partial(eq_112, factor=1),
    ),
    "snap.eq112.rederived": Statement(UNIFORM, (*PATH, nothing_dominated), entries=partial(eq_112, factor=2)),
    "snap.eq13": Statement(
        ONE_COMMON, (slow_decoder, no_M(5), bare, no_inverse), never, partial(weaker, printed=True), setting=A2
    ),
    "snap.eq13.rederived": Statement(ONE_COMMON, (no_M(5), bare, no_inverse), entries=partial(weaker, printed=False)),
    "snap.theorem4.closed-form": Statement(
        SECTION_6,
        IN_RANGE_R,
        start_at_one,
        partial(closed_form, printed=True),
        setting=A2,
    ),
    "snap.theorem4.closed-form.rederived": Statement(
        ONE_COMMON, (no_M(5),), entries=partial(closed_form, printed=False)
    ),
    "snap.theorem4.scan": Statement(
        SECTION_6,
        IN_RANGE_R,
        start_near_one,
        partial(scanning, printed=True),
        setting=A2,
    ),
    "snap.theorem4.scan.rederived": Statement(ONE_COMMON, (no_M(5),), entries=partial(scanning, printed=False)),
    "snap.theorem4.snap": Statement(
        SECTION_6,
        IN_RANGE_R,
        start_at_one,
        partial(snapping, printed=True),
        setting=A2,
    ),
    "snap.theorem4.snap.rederived": Statement(ONE_COMMON, (no_M(5),), entries=partial(snapping, printed=False)),
    "snap.theorem4.growth": Statement(
        SECTION_6,
        (slow_decoder, outside_range_R, nothing_distinct),
        far_from_one,
        partial(growing, printed=True),
        setting=A2,
    ),
    "snap.theorem4.growth.rederived": Statement(
        ONE_COMMON, (no_M(5), nothing_distinct), entries=partial(growing, printed=False)
    ),
    "snap.theorem4.ends": Statement(
        SECTION_6,
        IN_RANGE_R,
        ends_inside,
        partial(ends, printed=True),
        setting=A2,
    ),
    "snap.theorem4.ends.rederived": Statement(ONE_COMMON, (no_M(5),), entries=partial(ends, printed=False)),
    "snap.eq132": Statement(
        SECTION_6,
        IN_RANGE_R,
        entries=eq_132,
    ),
    "snap.eq133": Statement(
        SECTION_6,
        IN_RANGE_R,
    ),
    "snap.fig6.direction": Statement(silent=(not_syn_medium,), true=unknown),
    "snap.theorem4.rates": Statement(
        SECTION_6,
        IN_RANGE_R,
    ),
    "snap.theorem4.rates.any-M": Statement(ONE_COMMON, (no_M(5),), six_tokens),
}
