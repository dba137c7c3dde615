"""Lemma 1: gradients of eq. 3 against finite differences."""

from typing import Any

import flint
import mpmath as mp
import numpy as np
import pytest

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_c_gradients import lemma1
from marginaudit.claims.snap.appendix_c_gradients.lemma1 import LEMMA1, both_gradients, derivative, drawn, printed
from marginaudit.claims.verdict import Evidence
from marginaudit.orders.snap import CASES
from tests.claims.snap.samples import run


def number(x: flint.arb) -> mp.mpf:
    return mp.mpf(x.mid().str(45, radius=False))


def loss(at: lemma1.DrawnSequence, Y: Any, Z: Any) -> Any:
    """log softmax(Y^T u)_next, u = X^T b/|X^T b|, written position by position."""
    weights = [mp.exp(Z[at.query][token]) for token in at.context]
    v = [mp.mpf(0)] * len(at.vocabulary)
    for token, weight in zip(at.context, weights, strict=True):
        v[token] += weight / mp.fsum(weights)
    norm = mp.sqrt(mp.fsum(x**2 for x in v))
    logits = [mp.fsum(Y[i][j] * v[i] / norm for i in range(len(v))) for j in range(len(v))]
    return logits[at.following] - mp.log(mp.fsum(mp.exp(x) for x in logits))


@pytest.mark.parametrize("case", ["snap-single", "snap-medium"])
def test_the_derivative_and_what_is_printed_are_central_differences(case: str) -> None:
    at = drawn(run(case))[-1]
    size = len(at.vocabulary)
    with mp.workdps(45), flint.ctx.workprec(160):
        stated = printed(at)
        weights = {name: [[number(x) for x in row] for row in getattr(at, name)] for name in "YZ"}
        h = mp.mpf(10) ** -12
        for of, i, j in (("Y", at.context[0], at.following), ("Z", at.query, at.context[-1]), ("Z", at.query, 0)):
            ends = []
            for sign in (1, -1):
                weights[of][i][j] += sign * h
                ends.append(loss(at, weights["Y"], weights["Z"]))
                weights[of][i][j] -= sign * h
            difference = (ends[0] - ends[1]) / (2 * h)
            assert abs(number(derivative(at, of, i, j)) - difference) < 1e-18
            assert abs(number(stated[of][i, j]) - difference) < 1e-18
            assert abs(difference) > 1e-6 or of == "Z"
    assert size > 2


def test_all_entries_and_all_rows_sums_are_compared() -> None:
    entries = sum(2 * len(at.vocabulary) * (len(at.vocabulary) + 1) for at in drawn(run("snap-single")))
    found, stated = both_gradients(run("snap-single"))
    assert len(found) == len(stated) == entries
    sums = [i for i, name in enumerate(found.label) if "its sum" in name]
    assert len(sums) == sum(2 * len(at.vocabulary) for at in drawn(run("snap-single")))
    assert not stated.value[sums].any()
    assert np.abs(found.value).max() > 0.1
    assert LEMMA1.judge(run("snap-single")).evidence is Evidence.CERTIFIED
    assert {at.scale for at in drawn(run("snap-single"))} == {0, 1, 3}


def test_the_sum_of_a_row_is_that_of_its_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lemma1, "derivative", lambda *_: flint.arb(1))
    on = ClassRun(CASES["snap-single"](), ClassConfig(steps=1))
    found, _ = both_gradients(on)
    sums = {value for value, name in zip(found.value.tolist(), found.label, strict=True) if "its sum" in name}
    assert sums == {len(at.vocabulary) for at in drawn(on)}
