"""Stage 2 at margins of W_ov that float64 cannot follow, against Algorithm 1 in thousands of bits."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import flint
import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, broken, dataset_to_document, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.training import stage_rows
from marginaudit.training.ntp import Training, sample_classes, train
from marginaudit.training.ntp.certified.balls import alike, merged_sentences
from tests.oracle import descent
from tests.oracle.problem import problem

BITS = 3000
LAST = 40
AT = (1, 2, 7, 23, LAST)

SMALL = [
    free_dataset(V=V, N=N, L=4, seed=seed, max_count=997)
    for seed, (V, N) in enumerate([(4, 4), (4, 6), (5, 9), (6, 12)])
]
SMALL += [broken(data, "optimal_majority") for data in SMALL[2:]]


def trained(data: Dataset, margin: float, eta: float) -> Training:
    return train(data, steps1=1, lr1=margin, steps2=LAST, lr2=eta, at=AT, kq_reference=solve_kq(data))


@pytest.mark.parametrize("eta", [0.01, 0.3, 5.0, 60.0])
@pytest.mark.parametrize("margin", [1e10, 1e15, 1e17, 1e60, 1e300])
@pytest.mark.parametrize("number", range(len(SMALL)))
def test_records_are_right_within_their_error_bars(number: int, margin: float, eta: float) -> None:
    data = SMALL[number]
    found = trained(data, margin, eta)
    p, V = problem(dataset_to_document(data)), range(data.V)
    with flint.ctx.workprec(BITS):
        A = flint.arb(margin) / flint.arb(data.V - 1).sqrt()
        gram = [[Fraction(i == j) for j in V] for i in V]
        states = descent.stage2(p, gram, descent.common_margin(p, A), A, eta, LAST)
        stage = found.stage2
        # each time that labels tie, enclosures lose the digits of A: of 1e300 some take more than are affordable
        known = AT if margin < 1e100 else AT[: np.flatnonzero(stage.known)[-1] + 1]
        assert len(known) >= 3
        assert (stage.distance_error[: len(known)] < 1e-14).all()
        for i, t in enumerate(known):
            assert stage.norm[i] == pytest.approx(float(states[t].norm), rel=1e-14, abs=0)
            off = [
                (float(states[t].scores[key][query] - flint.arb(score))) ** 2
                for key, query, score in zip(stage.key, stage.query, stage.scores[i], strict=True)
            ]
            assert np.sqrt(sum(off)) <= (stage.distance_error[i] + 4e-16) * stage.norm[i]
            assert stage.log_loss[i] == pytest.approx(float(states[t].log_loss), rel=1e-14, abs=0)
            shares = attention(p, states[t])
            other = 1 - min(sum((phi for phi, best in group if best), flint.arb(0)) for group in shares)
            assert stage.log_other_weight[i] == pytest.approx(float(other.log()), rel=1e-13, abs=1e-15)
        assert found.enclosed is not None
        assert found.lost == (len(known) < len(AT))


def attention(p: Any, state: descent.State) -> list[list[tuple[flint.arb, bool]]]:
    """Of each group its tokens' attention, and whether they are optimal."""
    n = [p.vocabulary.index(p.n[x]) for x in p.vocabulary]
    return [
        [(phi, n[x] == group.next) for phi, (x, _) in zip(weights, group.bag, strict=True)]
        for group, weights in zip(descent.groups(p), state.attention, strict=True)
    ]


@pytest.mark.parametrize("steps1", [10**15, 10**16, 10**18])
def test_beyond_some_margin_stage_2_does_not_depend_on_it(steps1: int) -> None:
    data = CASES["example-1"]()
    stage = train(data, steps1=steps1, steps2=900, at=[900], kq_reference=solve_kq(data)).stage2
    assert stage.norm[0] == pytest.approx(15.992686116258072, rel=1e-15, abs=0)
    assert stage.min_optimal_weight[0] == pytest.approx(0.999971541496691, rel=1e-14, abs=0)
    assert stage.log_loss[0] / steps1 == pytest.approx(-0.057732503276, rel=1e-10, abs=0)
    assert stage.error[0] < 1e-12


def test_w_kq_moves_where_nothing_is_known_of_it_and_no_number_is_shown() -> None:
    """Embeddings that nothing is proved of, and steps that are too many to be enclosed."""
    data = CASES["example-1"]()
    found = train(data, steps1=10**16, steps2=2000, at=[1000, 1001, 2000], kq_reference=solve_kq(data))
    assert found.stage2.known.tolist() == [True, False, False]
    assert found.lost
    assert found.stage2.norm[-1] > 30
    last = stage_rows(found.stage2)[-1]
    sure = {"step": 2000, "along": 50.0, "error": None, "distance_error": 2.0, "method": "steps"}
    assert last == dict.fromkeys(last) | sure


def test_a_row_shows_no_number_that_is_not_known() -> None:
    """Decided by proof, whatever float64 has left of W_kq."""
    on = Run(CASES["example-1"](), Config(steps1=10**16, steps2=2000, at=(2000,)))
    for name in ("ntp.theorem1.norm", "ntp.theorem2.weight", "ntp.theorem2.loss", "ntp.lemma6", "sharp.lemma6"):
        found = LEDGER[name].judge(on)
        assert (found.measured, found.slack) == (None, None), name
        assert found.curve is None or np.isnan(found.curve.measured).all(), name


@pytest.mark.parametrize("name", ["section-7", "example-1"])
def test_pairs_that_are_alike_have_equal_scores(name: str) -> None:
    data = CASES[name]()
    classes = sample_classes(data)
    exact = solve_kq(data).exact().weights_exact
    names = data.vocabulary
    pairs = list(zip(classes.key.tolist(), classes.pair_query.tolist(), strict=True))
    weights = [exact.get(names[q], {}).get(names[x], Fraction(0)) for x, q in pairs]
    number = alike(merged_sentences(data, classes), weights).number
    assert len(set(number)) < len(number)
    S = train(data, steps1=50, steps2=30, at=[30], kq_reference=solve_kq(data)).S
    values = [S[pair] for pair in pairs]
    for i, j in combinations(range(len(pairs)), 2):
        if number[i] == number[j]:
            assert values[i] == pytest.approx(values[j], rel=1e-13, abs=0)
