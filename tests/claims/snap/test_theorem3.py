"""Theorem 3 as claims: of which tokens it speaks, eq. 11 along SGD, and eq. 12 by differences."""

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.snap import ClassRun
from marginaudit.claims.snap.appendix_e_attention import eq112, theorem3_gain, theorem3_growth
from marginaudit.claims.snap.appendix_e_attention.eq10 import meets_assumption_2, rates_along
from marginaudit.claims.snap.appendix_e_attention.theorem3_gain import MOST_PAIRS
from marginaudit.orders.snap import SequenceClasses, single_common_dataset
from marginaudit.training.approximation import Approximation
from tests.claims.snap.samples import run
from tests.twins import part

HOLDS, VIOLATED, ABSENT = Verdict.HOLDS, Verdict.VIOLATED, Verdict.NOT_APPLICABLE


def test_classes_without_two_distinct_tokens() -> None:
    data = SequenceClasses.from_weights("few", 5000, [("m", "q", {"a": 3, "x": 1}), ("n", "q", {"b": 3, "x": 1})])
    assert theorem3_gain.SGD_GAIN.judge(ClassRun(data)).verdict is ABSENT


def test_theorem_3_speaks_of_the_classes_in_which_a_distinct_token_dominates() -> None:
    classes = [("n0", "q", {"a": 4, "b": 4, "x": 2}), ("n1", "q", {"c": 6, "d": 2, "x": 2})]
    on = ClassRun(SequenceClasses.from_weights("one-dominates", 100_000, classes))
    dominant = [(n, token) for n, token, _ in theorem3_growth.dominating(on, while_assumption_2=False)]
    assert (dominant, eq112.dominated(on)) == ([(1, "c")], [(1, "c", "d")])
    assert theorem3_growth.GROWTH.judge(on).verdict is HOLDS
    assert eq112.EQ112.judge(on).verdict is VIOLATED


def test_attention_to_the_dominant_token_grows_as_differences_along_z_dot_say() -> None:
    on, h = ClassRun(single_common_dataset(K=3, M=5000, seed=4, queries=2, distinct=(2, 4))), 1e-4
    seen, grows = rates_along(on), part(theorem3_growth.GROWTH, "f").measure(on)
    assert len(grows) > 2
    for label, step, value in zip(grows.label, grows.step.tolist(), grows.value.tolist(), strict=True):
        token, _, name = label.partition(" of ")
        at, n = seen.step.tolist().index(step), on.dataset.next_tokens.index(name)
        z, z_dot = seen.path.z.value[at], seen.found[at].z_dot.value
        along = on.logits.attended(np.array([z + h * z_dot / abs(z_dot).max(), z - h * z_dot / abs(z_dot).max()]))
        after, before = along[:, n, on.dataset.contextual.index(token)]
        slope = np.log(after / before) / (2 * h) * abs(z_dot).max()
        assert value == pytest.approx(on.eta_Z * slope, rel=1e-6, abs=0)


# SGD


def test_the_sides_of_sgd_s_eq_11_agree_where_z_obeys_eq_110() -> None:
    """So it is SGD that breaks it, not the comparison; from a start other than 0 too."""
    on = run("snap-medium")
    logits, rng = on.path.logits, np.random.default_rng(0)
    start = rng.normal(size=len(logits.names)) / 10
    after = start.copy()
    for n, c in enumerate(on.dataset.classes):
        own = [token for token in c.support if token.startswith("d")]
        places = [logits.position(n, token) for token in own]
        squares = np.array([c.probabilities[token] for token in own]) ** 2 * np.exp(2 * start[places])
        after[places] -= np.log1p(-0.3 * squares / squares.max()) / 2
    z = Approximation(np.array([start, after]), np.full((2, len(start)), 1e-14))
    left, right = theorem3_gain.both_sides(on, logits, z, np.array([0, 1]))
    assert len(left) == MOST_PAIRS
    assert (np.abs(left.value - right.value) <= left.radius + right.radius).all()
    assert np.abs(left.value).max() > 1
    wide = Approximation(z.value, np.full_like(z.value, 1e-3))
    bars = theorem3_gain.both_sides(on, logits, wide, np.array([0, 1]))
    assert (bars[0].radius > 3e-3 * (left.value + 1)).all()
    assert (bars[1].radius > 3e-3 * np.abs(right.value)).all()


# Eq. 12


def test_eq_12_is_printed_for_as_long_as_assumption_2_holds() -> None:
    on = run("snap-symmetric")
    both = theorem3_growth.GROWTH, theorem3_growth.GROWTH_FROM_ZERO
    printed, stronger = (part(claim, "z").measure(on).step for claim in both)
    assert set(printed) == set(rates_along(on).step[meets_assumption_2(on)]) < set(stronger)


def test_classes_whose_common_tokens_gain_are_left_out() -> None:
    classes = [("n0", "q", {"a": 0.5, "x": 0.4, "y": 0.5}), ("n1", "q", {"b": 0.8, "x": 0.4, "y": 0.002})]
    on = ClassRun(SequenceClasses.from_weights("nearly-distinct", 5000, classes))
    assert [theorem3_growth.dominating(on, while_assumption_2=either) for either in (True, False)] == [[], []]
    assert theorem3_growth.GROWTH.judge(on).verdict is ABSENT
    kept = [(n, token) for n, token, _ in theorem3_growth.dominating(run("snap-single"), while_assumption_2=False)]
    assert kept == [(0, "a"), (1, "c")]
