"""Lemma 5 at its edges, its parts and their error bars; the oracle checks its numbers."""

import math

import numpy as np
import pytest

from marginaudit.orders.ntp import Dataset, Sample
from marginaudit.reports import LEDGER, Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.claims import lemma5
from marginaudit.reports.ntp.claims.lemma5 import lemma5_weights
from marginaudit.reports.ntp.error_bars import score_error
from marginaudit.reports.ntp.quantities import stage2_log_other_weight
from marginaudit.reports.series import FORMULA_ROUNDING
from tests.reports.ntp.samples import judged, pair, run, small, with_copies
from tests.solutions import known


def test_lemma_5_blocks_of_records_leave_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    on = run("section-7", steps2=40)
    whole = lemma5_weights(on)
    for most in (1, 500):
        monkeypatch.setattr(lemma5, "MOST_TOGETHER", most)
        on.kept.clear()
        parts = lemma5_weights(on)
        np.testing.assert_array_equal(whole.rise, parts.rise)
        np.testing.assert_array_equal(whole.literal, parts.literal)


def test_lemma_5_read_literally_fails_at_the_start_where_another_token_has_several_positions() -> None:
    on = Run(with_copies(), Config(steps1=50, steps2=40, lr2=0.1))
    found = judged("ntp.lemma5", on)
    assert found.verdict is Verdict.HOLDS
    stage = on.training.stage2
    ahead = stage.score(0, 2) - stage.score(1, 2)
    last = int(stage.step[ahead < np.log(2)][-1])
    assert 0 < last < 40
    assert f"one optimal position against the sum over another token, it fails up to t = {last}," in found.detail
    assert "holds at every record too" in judged("ntp.lemma5", Run(pair(), Config(steps2=20))).detail


@pytest.mark.parametrize("error", [0.0, 1e-3])
def test_the_bars_of_lemma_5(error: float) -> None:
    on = small(error)
    found, step = lemma5_weights(on), on.training.stage2.step
    own = score_error(on) + FORMULA_ROUNDING
    assert found.error.tolist() == own.tolist()
    values = ((found.rise, own[1:] + own[:-1], 1), (found.position, own, 0), (found.token, own, 0))
    for part, (value, radius, first) in zip(lemma5.LEMMA5_PARTS.values(), values, strict=False):
        measured = part.measure(on)
        assert measured.log
        assert known(measured.step).tolist() == step[first:].tolist()
        assert measured.value.tolist() == value[first:].tolist()
        assert measured.radius.tolist() == radius.tolist()


def test_the_parts_of_lemma_5() -> None:
    on, t = small(), np.array([1.0, 5.0])
    parts = list(lemma5.LEMMA5_PARTS.values())
    limits = [part.upper(on, t).tolist() for part in parts if part.upper is not None]  # type: ignore[union-attr]
    L = on.dataset.L_max
    assert limits == [[0.0, 0.0]] * 3 + [pytest.approx([math.log(1 - 1 / L)] * 2)]
    assert parts[3].measure(on).value.tolist() == stage2_log_other_weight(on, 0).value.tolist()
    found = LEDGER["ntp.lemma5"].judge(on)
    assert (found.verdict, found.curve) == (Verdict.HOLDS, None)
    assert all(f"{name}: holds." in found.detail for name in lemma5.LEMMA5_PARTS)


def test_contests_are_each_optimal_token_against_each_other_one() -> None:
    on = Run(
        Dataset(
            "one", tuple("oxq"), (Sample(tuple("ooxxq"), "x"),), (1,), next_token=dict(zip("oxq", "xqo", strict=True))
        ),
        Config(steps1=5, steps2=2),
    )
    found = lemma5_weights(on)
    assert (found.position[0], found.token[0], found.literal[0]) == (0.0, 0.0, math.log(2))
    o, x, q = np.exp([on.training.stage2.score_matrix(k, 3)[:, 2] for k in (0, 1)]).T
    assert found.rise[1] == pytest.approx(np.diff(np.log((2 * x + q) / (2 * o)))[0], rel=1e-9, abs=0)
