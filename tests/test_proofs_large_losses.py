"""Section 16 of docs/proofs.md in ball arithmetic: while losses are large, and long steps."""

import math
import re
from collections.abc import Iterator
from random import Random

import pytest
from flint import arb, ctx

from tests.ball_problems import SMALL, ZERO, Problem, Sample, inner, random_problem, references, size, walk
from tests.pages import ROOT
from tests.test_proofs_printed import section

PAGE = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _bits() -> Iterator[None]:
    with ctx.workprec(600):
        yield


def theta(L: int) -> arb:
    return 4 * arb(L).log() + arb("3.1")


@pytest.mark.parametrize("seed", range(50))
def test_16_6_the_weighted_sum_of_fluxes_is_negative_while_the_loss_is_large(seed: int) -> None:
    rng = Random(seed)
    drawn = random_problem(rng, majority=True, rarest=90, optimal=1)
    problem = Problem(drawn.samples, drawn.V, arb(10 ** rng.uniform(0.6, 2.3)), drawn.eta)
    S = problem.start()
    for q, names in problem.losing().items():
        far = 10 ** rng.uniform(-2, 2)
        [o] = {sample.optimal for sample in problem.samples if sample.query == q}
        S[o, q] = arb(rng.expovariate(1) * far)
        for x in names:
            S[x, q] = -arb(rng.expovariate(1) * far * rng.choice([0, 1, 1]))
    found, B = problem.found(S), problem.V * (-problem.A / 4).exp()
    if not problem.loss(found) > B:
        return
    assert problem.A > 4
    L, V, total = problem.L, problem.V, ZERO
    lam = theta(L) - (8 * arb(L)).log()
    assert lam >= 3 * arb(L).log() + 1
    for sample, there in zip(problem.samples, found, strict=True):
        o, q = sample.optimal, sample.query
        own = sum((there.flux[x] * (S[o, q] - S[x, q] - theta(L)) for x in sample.others), ZERO)
        v = min(((there.phi[o] / there.phi[x]).log() for x in sample.others), key=lambda value: value.mid())
        loss = there.odds.log1p()
        assert there.wrong >= loss / (1 + arb(V).log())
        if v < (8 * arb(L)).log():
            assert own <= -loss * lam / (16 * L**3 * (1 + arb(V).log()))
        else:
            assert loss <= B * (-problem.A / 2).exp()
            assert own <= there.wrong * L * (-theta(L) - 1).exp()
        total += sample.pi * own
    assert total < 0


@pytest.mark.parametrize("limit", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_16_6_the_loss_is_small_from_that_step_on(seed: int, limit: bool) -> None:
    """With frequencies down to 1e-90, at eta = w/e and at longer steps; and no sample's loss ever rises."""
    rng = Random(seed)
    drawn = random_problem(rng, majority=True, rarest=90, optimal=1)
    w = size(references(drawn))
    problem = Problem(drawn.samples, drawn.V, drawn.A, w / arb(1).exp() if limit else 20 * w)
    start = 4 * theta(problem.L) * w**3 / problem.eta + 2 * w**2
    last = math.ceil(float(start)) + 1
    assert last < 2000
    B, before, reached = problem.V * (-problem.A / 4).exp(), None, False
    for t, _, found, _ in walk(problem, last + 1):
        losses = [there.odds.log1p() for there in found]
        if before is not None:
            assert all(now <= then * (1 + SMALL) for now, then in zip(losses, before, strict=True))
        before = losses
        small = bool(problem.loss(found) <= B)
        assert small or not reached
        reached = small
        assert small or t <= start
    assert reached


def test_16_6_its_numbers() -> None:
    for V in range(2, 200):
        assert V / math.log(V) >= math.e
        assert (math.log(V) / V) ** 2 * (1 + math.log(V)) < 1
        for S in (1e-9, 0.1, 1.0, V - 1):
            if S <= V - 1:
                assert (1 + S) * math.log1p(S) / S <= math.log(V) + 1 + 1e-12
    assert 1 - math.exp(-2) >= 0.86
    for L in range(2, 200):
        lam = 3 * math.log(L) + 1
        assert math.log(8 * L) + lam <= float(theta(L))
        assert lam >= 3
        assert (L - 2) * math.exp(-1 - lam) <= lam / 2
        assert L**3 * math.exp(-lam) <= 1 / math.e + 1e-12
        assert 4 * float(theta(L)) + 1 == pytest.approx(16 * math.log(L) + 13.4, abs=1e-9)
        assert 16 * math.log(L) + 13.4 < 51600 * L**4
    assert 2 / (0.86 * 3 * math.e**2) < 0.11
    assert 864 * 13**2 * 2**-1.5 >= 51600
    assert 2 / math.e <= 1


def test_16_7_three_samples_refute_theorems_1_and_2_for_long_steps() -> None:
    counts = (10**14, 10**7, 1)
    total = sum(counts)
    names = ((0, 1), (1, 2), (2, 0))
    samples = [Sample(arb(c) / total, q, o, {o: 1, q: 1}) for c, (o, q) in zip(counts, names, strict=True)]
    eta, A = arb(2 * 10**5), arb(3600) / arb(2).sqrt()
    problem = Problem(samples, 3, A, eta)
    W = {(x, q): arb(1 if x == s.optimal else -1) / 2 for s in samples for x in s.count for q in [s.query]}
    w2 = inner(W, W)
    assert abs(w2 - arb(3) / 2) < SMALL
    *_, (t, S, found, _) = walk(problem, 3)
    assert t == 2
    cos = inner(S, W) / size(S) / size(W)
    bound = 54 * 3 * 16 * w2**2 * arb(2).log() ** 2 / (2 * eta)
    decay = 2 * (-2 * eta / (8 * w2)).exp()
    C0T = A / (4 * arb(2).sqrt())
    eq4 = 3 * (-C0T * (1 - 4 / (2 + (2 * eta / (8 * w2)).exp()))).exp()
    rest = max((there.phi[s.query] for s, there in zip(samples, found, strict=True)), key=lambda value: value.mid())
    rows = re.findall(r"\(`ntp\.theorem.*?\) \| (.*?) \| (.*?) \|", section(PAGE, "16.7"))
    shown = [arb(text.strip("$").replace(r"\cdot10^{", "e").rstrip("}")) for row in rows for text in row]
    for true, stated in zip((1 - cos, bound, rest, decay, problem.loss(found), eq4), shown, strict=True):
        assert abs(true / stated - 1) < 0.005
    assert 1 - cos > bound
    assert rest > decay
    assert problem.loss(found) > eq4
    assert eta > w2.sqrt() / arb(1).exp()
