"""Theorem 3's prediction against every sentence of up to L_max tokens, where the audit's bound speaks."""

from collections.abc import Iterator
from typing import Any

import flint
import pytest

from tests.oracle.audited import Audited, audited
from tests.oracle.checking import experiment, row_faults
from tests.oracle.comparison import Disagreement
from tests.oracle.experiment import BITS, Experiment
from tests.oracle.random_audits import Settings
from tests.oracle.theorem3_statements import eps, largest_wrong, speaks

CLAIM = "ntp.theorem3.prediction"

REPEATED = {
    "name": "repeated",
    "samples": [{"tokens": list("aaabq"), "next": "b"}],
    "next_token": dict(zip("abcdq", "bacdq", strict=True)),
}
"""Under q, c and d are non-comparable: [c, b, b, b, q] is one of the sentences."""

LONG_STEPS = Settings(40, 295, 0.5, 1e3, None, 0)
"""The bound of `sharp.theorem1` is small enough before the oracle's last step."""


@pytest.fixture(scope="module")
def audit() -> Audited:
    return audited(REPEATED, LONG_STEPS)


@pytest.fixture(scope="module")
def truth(audit: Audited) -> Experiment:
    return experiment(REPEATED, audit)


@pytest.fixture(autouse=True)
def _bits() -> Iterator[None]:
    with flint.ctx.workprec(BITS):
        yield


def faults(audit: Audited, truth: Experiment, **changes: Any) -> list[Disagreement]:
    return list(row_faults(CLAIM, dict(audit.rows[CLAIM]) | changes, truth, audit))


def test_the_row_is_that_of_the_worst_sentence(audit: Audited, truth: Experiment) -> None:
    row = audit.rows[CLAIM]
    assert (row["verdict"], faults(audit, truth)) == ("holds", [])
    first = row["informative_from"]
    assert 200 < first < 295
    assert speaks(truth, first)
    assert not speaks(truth, first - 1)
    t = row["worst_step"]
    assert row["measured"] == pytest.approx(float(largest_wrong(truth, truth.states[t])), rel=1e-9, abs=0)
    assert row["bound"] == pytest.approx(float(eps(truth, t)), rel=1e-9, abs=0)


def test_lies_are_noticed(audit: Audited, truth: Experiment) -> None:
    row = audit.rows[CLAIM]
    for changes in (
        {"verdict": "violated", "first_violation": row["worst_step"]},
        {"verdict": "vacuous"},
        {"verdict": "not-applicable"},
        {"measured": row["measured"] * 1.001},
        {"bound": row["bound"] * 1.001},
    ):
        assert faults(audit, truth, **changes), changes
