"""Stage 2 at margins of W_ov that float64 cannot follow, against Algorithm 1 in thousands of bits."""

from fractions import Fraction
from itertools import combinations

import flint
import numpy as np
import pytest

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, broken, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.training import stage_rows
from marginaudit.training.ntp import Training, sample_classes, stage1, train
from marginaudit.training.ntp.certified import first_steps
from marginaudit.training.ntp.certified.balls import alike, merged_sentences
from tests.training.ntp.naive import exact_states, other_weight

BITS = 3000
LAST = 23
AT = (1, 2, 7, LAST)

SMALL = [
    free_dataset(V=V, N=N, L=4, seed=seed, max_count=997)
    for seed, (V, N) in enumerate([(4, 4), (4, 6), (5, 9), (6, 12)])
]
SMALL += [broken(data, "optimal_majority") for data in SMALL[2:]]


def trained(data: Dataset, margin: float, eta: float) -> Training:
    return train(data, steps1=1, lr1=margin, steps2=LAST, lr2=eta, at=AT, kq_reference=solve_kq(data))


@pytest.mark.parametrize(("margin", "eta"), [(1e10, 5.0), (1e15, 60.0), (1e17, 0.01), (1e300, 0.3), (1e300, 60.0)])
@pytest.mark.parametrize("number", range(len(SMALL)))
def test_records_are_right_within_their_error_bars(number: int, margin: float, eta: float) -> None:
    data = SMALL[number]
    found = trained(data, margin, eta)
    with flint.ctx.workprec(BITS):
        A = flint.arb(margin) / flint.arb(data.V - 1).sqrt()
        p, states = exact_states(data, A, eta, LAST)
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
            other = float(other_weight(p, states[t]).log())
            assert stage.log_other_weight[i] == pytest.approx(other, rel=1e-13, abs=1e-15)
        assert found.enclosed is not None
        assert found.lost == (len(known) < len(AT))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stage 1 is in closed form from step 100 on, and at most fifty steps of stage 2 are enclosed."""
    monkeypatch.setattr(stage1, "STAGE1_STEPS", 100)
    monkeypatch.setattr(first_steps, "MOST_STEPS", 50)


def test_beyond_some_margin_stage_2_does_not_depend_on_it(few: None) -> None:
    data = CASES["example-1"]()
    kq, margins = solve_kq(data), (10**15, 10**16, 10**18)
    last = [train(data, steps1=steps1, steps2=50, at=[50], kq_reference=kq).stage2 for steps1 in margins]
    for steps1, stage in zip(margins, last, strict=True):
        assert stage.norm[0] == pytest.approx(last[0].norm[0], rel=1e-15, abs=0)
        assert stage.min_optimal_weight[0] == pytest.approx(last[0].min_optimal_weight[0], rel=1e-14, abs=0)
        assert stage.log_loss[0] / steps1 == pytest.approx(last[0].log_loss[0] / margins[0], rel=1e-10, abs=0)
        assert stage.error[0] < 1e-12


def test_w_kq_moves_where_nothing_is_known_of_it_and_no_number_is_shown(few: None) -> None:
    """Embeddings that nothing is proved of, and steps that are too many to be enclosed."""
    data = CASES["example-1"]()
    found = train(data, steps1=10**16, steps2=200, at=[50, 51, 200], kq_reference=solve_kq(data))
    assert found.stage2.known.tolist() == [True, False, False]
    assert found.lost
    assert found.stage2.norm[-1] > 3
    last = stage_rows(found.stage2)[-1]
    sure = {"step": 200, "along": 5.0, "error": None, "distance_error": 2.0, "method": "steps"}
    assert last == dict.fromkeys(last) | sure


def test_a_row_shows_no_number_that_is_not_known(few: None) -> None:
    """Decided by proof, whatever float64 has left of W_kq."""
    on = Run(CASES["example-1"](), Config(steps1=10**16, steps2=200, at=(200,)))
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
