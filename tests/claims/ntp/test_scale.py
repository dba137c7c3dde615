"""What claims compute of a large dataset: in blocks, of a random part, of the entries that can differ."""

import re
import tracemalloc
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_a_gradients.eq5_eq6 import compare
from marginaudit.claims.ntp.appendix_c_stage2 import lemma5
from marginaudit.claims.ntp.appendix_d_orders import proposition2
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, free_dataset
from marginaudit.reports import LEDGER
from tests.measured import judgement


@pytest.fixture(scope="module")
def run() -> Run:
    data = free_dataset(V=100, N=1000, L=12, seed=1, optimal=(1, 3), non_optimal=(4, 8))
    return Run(data, Config(steps1=20, steps2=20))


def test_lemma_5_holds_a_block_of_records_at_a_time(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    assert run.trained.stage2.known.all()

    def peak(together: int) -> int:
        monkeypatch.setattr(lemma5, "MOST_TOGETHER", together)
        run.kept.clear()
        tracemalloc.start()
        lemma5.lemma5_weights(run)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(1) < peak(10**9) / 2


def test_a_random_part_is_named() -> None:
    data = free_dataset(V=120, N=600, L=4, seed=0)
    run = Run(data, Config(steps1=5, steps2=5))
    found = LEDGER["ntp.gradient.ov"].judge(run)
    assert "100 of 120 tokens, a random part" in found.detail
    assert found.verdict is Verdict.HOLDS  # one wrong token shows where it is taken
    assert (compare(run, 1).size > 1).all()
    for claim in ("ntp.gradient.kq", "ntp.lemma4"):
        assert "100 of 600 samples" in LEDGER[claim].judge(run).detail
    number = len(run.training.classes)
    assert f"500 of {number} samples" in LEDGER["sharp.floor"].judge(run).detail
    small = Run(free_dataset(V=6, N=14, L=4, seed=5), Config(steps1=5, steps2=5))
    for claim in ("ntp.gradient.ov", "ntp.gradient.kq", "ntp.lemma4", "sharp.floor"):
        assert "random part" not in LEDGER[claim].judge(small).detail


def test_scores_under_a_query_are_those_of_its_tokens(run: Run) -> None:
    stage = run.training.stage2
    present = stage.key[stage.query == 3].tolist()
    absent = sorted(set(range(run.dataset.V)) - set(present))
    assert absent
    several = stage.scores_under(3, present[:4])
    np.testing.assert_array_equal(several, [stage.score(key, 3) for key in present[:4]])
    np.testing.assert_array_equal(stage.scores_under(3, [present[0], *absent])[0], stage.score(present[0], 3))
    assert not stage.scores_under(3, [present[0], *absent])[1:].any()
    assert np.abs(several).max() > 0


@pytest.mark.parametrize("case", ["section-7", "free-20"])
@pytest.mark.parametrize("method", ["auto", "cvxpy"])
def test_proposition_2_leaves_out_no_entry_that_could_differ(case: str, method: Any) -> None:
    """Against all tokens of every query, and against all pairs of every sample."""
    run = Run(CASES[case](), Config(steps1=2, steps2=2))
    run.__dict__["kq"] = solve_kq(run.dataset, method=method)
    data, scores = run.dataset, run.kq.optimal().scores
    listed = set(judgement("ntp.prop2.closed-form").measure(run).label)
    for query, order in data.orders.items():
        for token in data.vocabulary:
            if token not in order.confused and f"x = {token!r} under query {query!r}" not in listed:
                assert scores[data.index[token], data.index[query]] == 0
                assert proposition2.closed_form_value(order, token) == 0
    corollary, found = judgement("ntp.prop2.corollary"), dict[str, float]()
    least, most = corollary.measure(run), corollary.expected(run)
    for label, difference in zip(least.label, np.abs((least.value - most.value).astype(float)), strict=True):
        x, other, query = re.findall(r"'\w+'", label.replace("x'", "x"))
        assert x != other
        found[query] = max(found.get(query, 0.0), difference)

    def spread(query: str, x: str, other: str) -> float:
        return abs(float(scores[data.index[x], data.index[query]] - scores[data.index[other], data.index[query]]))

    n = data.collocation.function
    pairs = {
        (sample.query, *pair)
        for sample in data.samples
        for pair in combinations({x for x in sample.tokens if n[x] != sample.next}, 2)
    }
    largest = {repr(query): max(spread(*pair) for pair in pairs if pair[0] == query) for query, *_ in pairs}
    assert found == {query: pytest.approx(size, rel=1e-12, abs=1e-15) for query, size in largest.items()}
