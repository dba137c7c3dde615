"""Problems of any frequency and step size in ball arithmetic, for docs/proofs.md."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from flint import arb

ZERO = arb(0)


SMALL = arb(2) ** -100
"""What the rounding of a state to its centre may make of an inequality that is attained."""


Scores = dict[tuple[int, int], arb]
"""By token and query; all others are 0."""


@dataclass(frozen=True)
class Sample:
    """A sample with others: the multiplicities of its tokens, the optimal one among them."""

    pi: arb
    query: int
    optimal: int
    count: dict[int, int]

    @property
    def others(self) -> list[int]:
        return [x for x in self.count if x != self.optimal]


@dataclass(frozen=True)
class Found:
    """Section 4's quantities of a sample at a state; fluxes without A pi."""

    phi: dict[int, arb]
    P: dict[int, arb]
    wrong: arb  # tau
    odds: arb  # S
    beta: dict[int, arb]
    flux: dict[int, arb]


def at(sample: Sample, S: Scores, A: arb, V: int) -> Found:
    o, q = sample.optimal, sample.query
    ratio = {x: c * (S[x, q] - S[o, q]).exp() / sample.count[o] for x, c in sample.count.items()}
    total = sum(ratio.values(), ZERO)
    phi = {x: r / total for x, r in ratio.items()}
    odds = {z: (A * (phi.get(z, ZERO) - phi[o])).exp() for z in range(V) if z != o}
    everything = sum(odds.values(), ZERO)
    P = {z: odd / (1 + everything) for z, odd in odds.items()}
    wrong = sum(P.values(), ZERO)
    Q = sum((P[x] * phi[x] for x in sample.others), ZERO)
    beta = {x: P[x] + phi[o] * wrong - Q for x in sample.others}
    return Found(phi, P, wrong, everything, beta, {x: phi[x] * beta[x] for x in sample.others})


@dataclass(frozen=True)
class Problem:
    """Samples whose frequencies add up to 1, the number of tokens, A and the step size."""

    samples: list[Sample]
    V: int
    A: arb
    eta: arb

    @property
    def L(self) -> int:
        return max(sum(sample.count.values()) for sample in self.samples)

    def losing(self) -> dict[int, list[int]]:
        """The non-optimal tokens of each query."""
        queries = {sample.query for sample in self.samples}
        return {q: sorted({x for s in self.samples if s.query == q for x in s.others}) for q in queries}

    def start(self) -> Scores:
        return {(x, sample.query): ZERO for sample in self.samples for x in sample.count}

    def descent(self, S: Scores, found: list[Found]) -> Scores:
        """- grad Loss."""
        d = dict.fromkeys(S, ZERO)
        for sample, there in zip(self.samples, found, strict=True):
            for x, flux in there.flux.items():
                d[x, sample.query] -= self.A * sample.pi * flux
                d[sample.optimal, sample.query] += self.A * sample.pi * flux
        return d

    def found(self, S: Scores) -> list[Found]:
        return [at(sample, S, self.A, self.V) for sample in self.samples]

    def loss(self, found: list[Found]) -> arb:
        return sum((s.pi * there.odds.log1p() for s, there in zip(self.samples, found, strict=True)), ZERO)


def size(S: Scores) -> arb:
    return sum((x * x for x in S.values()), ZERO).sqrt()


def inner(a: Scores, b: Scores) -> arb:
    return sum((x * b[pair] for pair, x in a.items()), ZERO)


def walk(problem: Problem, steps: int) -> Iterator[tuple[int, Scores, list[Found], Scores]]:
    """t, W^(t), what is found there, and - grad Loss; each state is the centre of its balls."""
    S = problem.start()
    for t in range(steps):
        found = problem.found(S)
        d = problem.descent(S, found)
        yield t, S, found, d
        length = size(d)
        S = {pair: (x + problem.eta * d[pair] / length).mid() for pair, x in S.items()}


def random_problem(rng: Random, *, majority: bool, rarest: int = 30, optimal: int = 2) -> Problem:
    """A few queries with their optimal and non-optimal tokens; without ``majority`` others may outnumber."""
    V = rng.randint(3, 6)
    samples = []
    for q in range(rng.randint(1, 2)):
        names = rng.sample(range(V), V)
        winners = names[: rng.randint(1, min(optimal, V - 1))]
        losers = names[len(winners) :]
        for _ in range(rng.randint(1, 3)):
            o, own = rng.choice(winners), rng.choice([1, 2])
            counts = [1, own] if majority else [1, 1, 2, 3, 8]
            count = {o: own} | {x: rng.choice(counts) for x in rng.sample(losers, rng.randint(1, len(losers)))}
            samples.append((arb(10) ** -rng.randint(0, rng.choice([0, 3, rarest])), q, o, count))
    total = sum((pi for pi, *_ in samples), ZERO)
    return Problem(
        [Sample(pi / total, q, o, count) for pi, q, o, count in samples],
        V,
        arb(10 ** rng.uniform(-1, 1.7)),
        arb(10 ** rng.uniform(-1.5, 1.7)),
    )


def references(problem: Problem) -> Scores:
    """W*_kq where each query has one optimal token: the closed form of Proposition 2."""
    W = problem.start()
    for q, names in problem.losing().items():
        m = len(names)
        for x in names:
            W[x, q] = arb(-1) / (1 + m)
        [o] = {sample.optimal for sample in problem.samples if sample.query == q}
        W[o, q] = arb(m) / (1 + m)
    return W
