"""Limits at long steps: the cycle of docs/proofs.md 9.6, and what lies on either side of its onset."""

from collections.abc import Iterator
from typing import Any

import flint
import numpy as np
import pytest

from tests.oracle.experiment import BITS, Experiment, Settings
from tests.oracle.limit_statements import STATEMENTS, long_run, relative_rates, tends_to_zero
from tests.oracle.problem import problem

CYCLING = {"next_token": {"o": "a", "a": "b", "b": "o"}, "samples": [{"tokens": list("ooaab"), "next": "a"}]}
STEPS = range(900)


@pytest.fixture(autouse=True)
def _bits() -> Iterator[None]:
    with flint.ctx.workprec(BITS):
        yield


def experiment(eta: float, document: dict[str, Any] = CYCLING) -> Experiment:
    return Experiment(problem(document), Settings(900, 900, 0.1, eta), 30)


@pytest.mark.parametrize(("eta", "true"), [(0.3, True), (2.0, True), (4.8, True), (5.0, False), (8.0, False)])
@pytest.mark.parametrize("name", ["sharp.rate", "sharp.floor"])
def test_long_steps_end_in_a_cycle(name: str, eta: float, true: bool) -> None:
    e = experiment(eta)
    assert STATEMENTS[f"{name}.any-step"](e, STEPS).true is true
    restricted = STATEMENTS[name](e, STEPS)
    assert bool(restricted.silent) == (4 * eta * (2 / 3) ** 0.5 > 1)
    assert restricted.silent or restricted.true is True


def test_the_rate_in_the_cycle() -> None:
    e = experiment(8.0)
    run = long_run(e)
    assert run is not None
    assert relative_rates(e, run)[-1] == pytest.approx(0.898593 - 1, abs=1e-5)


def test_on_the_ray_the_limit_is_0() -> None:
    e = experiment(5.0, {"next_token": {"a": "b", "b": "a"}, "samples": [{"tokens": ["a", "b"], "next": "a"}]})
    answer = STATEMENTS["sharp.rate.any-step"](e, STEPS)
    assert (answer.true, bool(answer.perhaps)) == (True, True)


def test_out_of_reach_is_unknown() -> None:
    e = experiment(8.0)
    e.settings = Settings(900, 900, 0.1, 1e-4)
    assert long_run(e) is None


def test_what_tends_to_zero() -> None:
    ends = np.array([1.0, 2.0, 4.0, 8.0])
    assert tends_to_zero(1 / ends) is True
    assert tends_to_zero(1e-8 * ends) is True
    assert tends_to_zero(0.01 + 0 * ends) is False
    assert tends_to_zero(0.01 * ends**-0.2) is None
