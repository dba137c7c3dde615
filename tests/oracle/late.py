"""Stage 2 in float64 for so many steps that limits show: log of the excess of the loss, and t^2 (1 - cos).

Assumptions 1 to 3. The scores are t eta What + rho, and rho is what is stepped, with a compensated sum. Attention
and probabilities are kept as logarithms relative to the optimal token's, the loss without its factor exp(-A).
"""

from collections import Counter
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from tests.oracle.experiment import Experiment

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Late:
    """What a long run shows.

    Attributes
    ----------
    step : (records,) integer array
    log_excess : (records,) array
        log(Loss - infimum) + A, up to a constant while attention is not saturated.
    scaled : (records,) array
        t^2 (1 - cos(W, W*)).
    scores : (records, pairs) array
    pairs : (key, query) of each column of the scores
    """

    step: Indices
    log_excess: Floats
    scaled: Floats
    scores: Floats
    pairs: tuple[tuple[str, str], ...]


def late(experiment: Experiment, steps: int, records: Indices) -> Late:
    """A run of ``steps`` steps, recorded at ``records``."""
    p, n = experiment.problem, experiment.problem.n
    merged: Counter[tuple[str, tuple[tuple[str, int], ...], str]] = Counter()
    for (tokens, y), count in p.counts.items():
        bag = Counter(tokens)
        if len(bag) > 1:
            merged[tokens[-1], tuple(sorted(bag.items(), key=lambda item: (n[item[0]] != y, item[0]))), y] += count
    pairs = list(dict.fromkeys((x, q) for q, bag, _ in merged for x, _ in bag))
    column = {pair: i for i, pair in enumerate(pairs)}
    first = np.cumsum([0, *(len(bag) for _, bag, _ in merged)])
    pair = np.array([column[x, q] for q, bag, _ in merged for x, _ in bag])
    log_count = np.log(np.array([c for _, bag, _ in merged for _, c in bag], dtype=float))
    log_pi = np.log(np.array([count / p.total for count in merged.values()]))
    norm = float(experiment.norm_kq)
    what = np.array([float(experiment.kq.weights.get((x, q), 0)) / norm for x, q in pairs])
    A = float(experiment.A or 0)
    found = _run(first, pair, log_count, log_pi, what, A, p.V, float(experiment.settings.eta), steps, records)
    return Late(records, found[0], found[1], found[2], tuple(pairs))


@numba.njit(cache=True)
def _run(
    first: Indices,
    pair: Indices,
    log_count: Floats,
    log_pi: Floats,
    what: Floats,
    A: float,
    V: int,
    eta: float,
    steps: int,
    records: Indices,
) -> tuple[Floats, Floats, Floats]:
    """The first token of every sample is the optimal one."""
    pairs, samples = len(what), len(log_pi)
    rho, low, D = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)
    log_flux = np.zeros(len(pair))
    log_excess, scaled = np.zeros(len(records)), np.zeros(len(records))
    scores = np.zeros((len(records), pairs))
    record = 0
    for t in range(steps + 1):
        s = t * eta
        log_sum = -np.inf
        for n in range(samples):
            start, end = first[n], first[n + 1]
            o = pair[start]
            # logarithms of attention over the optimal token's
            lead = np.empty(end - start)
            total = 0.0
            for e in range(start, end):
                x = pair[e]
                lead[e - start] = (
                    log_count[e] - log_count[start] - s * (what[o] - what[x]) - (rho[o] - rho[x]) - (low[o] - low[x])
                )
            most = lead.max()
            for e in range(end - start):
                total += np.exp(lead[e] - most)
            log_total = most + np.log(total)
            log_others = -np.inf
            for e in range(1, end - start):
                log_others = np.logaddexp(log_others, lead[e])
            others = np.exp(log_others - log_total)
            own = np.exp(-log_total)
            # exp(z_v - z_y + A) = exp(A (others + phi_v)), logarithms; labels of no token of the sentence once
            exponent = np.empty(end - start)
            exponent[0] = A * others
            largest = exponent[0]
            for e in range(1, end - start):
                exponent[e] = A * (others + np.exp(lead[e] - log_total))
                largest = max(largest, exponent[e])
            summed = 0.0
            absent = V - (end - start)
            for e in range(1, end - start):
                summed += np.exp(exponent[e] - largest)
            summed += absent * np.exp(exponent[0] - largest)
            log_S = largest - A + np.log(summed)  # log sum_v exp(z_v - z_y)
            log_norm = np.log1p(np.exp(log_S)) if log_S < 30 else log_S
            # fluxes phi_x [P_x + sum over z other than y of P_z (phi_o - phi_z)], times exp(A)
            for e in range(1, end - start):
                bracket = np.exp(exponent[e] - largest)
                for z in range(1, end - start):
                    bracket += np.exp(exponent[z] - largest) * (own - np.exp(lead[z] - log_total))
                bracket += absent * np.exp(exponent[0] - largest) * own
                bracket_log = np.log(bracket) if bracket > 0 else -np.inf
                log_flux[start + e] = log_pi[n] + lead[e] - log_total + bracket_log + largest - log_norm
            # excess of the sample, times exp(A): log1p(S) - log1p(S_inf)
            above = -np.inf
            for e in range(1, end - start):
                if exponent[e] > 0:
                    above = np.logaddexp(above, np.log(np.expm1(exponent[e])) if exponent[e] < 30 else exponent[e])
            if absent > 0 and exponent[0] > 0:
                above = np.logaddexp(
                    above, np.log(absent) + (np.log(np.expm1(exponent[0])) if exponent[0] < 30 else exponent[0])
                )
            if above == -np.inf:
                above = np.log(A) + log_others - log_total  # to first order, up to a constant
            log_sum = np.logaddexp(log_sum, log_pi[n] + above)
        if record < len(records) and t == records[record]:
            log_excess[record] = log_sum
            al = 0.0
            for i in range(pairs):
                al += (rho[i] + low[i]) * what[i]
            across = 0.0
            for i in range(pairs):
                across += ((rho[i] + low[i]) - al * what[i]) ** 2
                scores[record, i] = s * what[i] + rho[i]
            c = s + al
            size = np.sqrt(c * c + across)
            scaled[record] = float(t) ** 2 * across / (size * (size + c)) if t else 0.0
            record += 1
        largest = -np.inf
        for n in range(samples):
            for e in range(first[n] + 1, first[n + 1]):
                largest = max(largest, log_flux[e])
        D[:] = 0.0
        for n in range(samples):
            for e in range(first[n] + 1, first[n + 1]):
                flux = np.exp(log_flux[e] - largest)
                D[pair[first[n]]] += flux
                D[pair[e]] -= flux
        length = np.sqrt((D * D).sum())
        for i in range(pairs):
            addend = eta * (D[i] / length - what[i])
            total = rho[i] + addend
            virtual = total - rho[i]
            low[i] += (rho[i] - (total - virtual)) + (addend - virtual)
            rho[i] = total
    return log_excess, scaled, scores
