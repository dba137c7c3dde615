"""W_ov given or trained jointly, and recorded minibatches: compared with the rule that they declare."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.training.departure import StageComparison
from marginaudit.training.ntp.recorded.comparison import compared
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.recorded_weights import Recorded
from tests.training.ntp.recorded.program import Mistake, stage2_gradient

DATA = CASES["example-1"]()
V = DATA.V
ETA = 0.05
RNG = np.random.default_rng(0)
HEAD = RNG.normal(size=(V, V))


def trained(
    data: Dataset = DATA,
    *,
    joint: bool = False,
    batch: NDArray[Any] | None = None,
    momentum: float = 0.0,
    start: float = 0.0,
    normal: bool = True,
    steps: int = 30,
) -> Trajectory:
    """Stage 2 from the given W_ov, which descends too if ``joint``."""
    W_ov, W, v = HEAD.copy(), np.full((V, V), start), np.zeros((V, V))
    heads, kept = [W_ov.copy()], [W.copy()]
    for t in range(steps):
        G, G_ov = stage2_gradient(data, W_ov, W, Mistake(), None if batch is None else batch[t])
        v = momentum * v + (G / (np.linalg.norm(G) or 1) if normal else G)
        W = W - ETA * v
        W_ov = W_ov - 0.1 * G_ov if joint else W_ov
        heads.append(W_ov.copy())
        kept.append(W.copy())
    step = np.arange(steps + 1)
    return Trajectory(Recorded(step, np.array(heads)), Recorded(step, np.array(kept)), None, ETA, batch=batch)


def stage2(trajectory: Trajectory, head: str) -> StageComparison:
    (found,) = compared(DATA, replace(trajectory, head=head))
    assert found.stage == 2
    return found


def test_a_given_head() -> None:
    """All steps are Algorithm 1's, and stage 1 is not compared; without the setting, stage 1 departs."""
    found = stage2(trained(), "given")
    assert (found.departs_at, found.decided, found.rule("Algorithm 1")) == (None, 31, "Algorithm 1")
    assert compared(DATA, trained())[0].departs_at is not None


def test_another_rule_on_a_given_head() -> None:
    found = stage2(trained(momentum=0.9), "given")
    assert found.departs_at is not None
    assert (found.departs_at.step, found.rule("Algorithm 1")) == (2, "momentum (0.9)")


def test_joint_training() -> None:
    found = stage2(trained(joint=True), "joint")
    assert found.departs_at is not None
    words = "W_ov not frozen (as recorded at each step)"
    assert (found.departs_at.step, found.departs_at.cause) == (1, words)
    assert (found.decided, found.later, found.start) == (31, None, "zero")
    assert found.rule("Algorithm 1") == f"Algorithm 1; {words}"


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"momentum": 0.9}, "momentum (0.9)"),
        ({"normal": False}, "gradient not normalised"),
        ({"start": 0.5, "momentum": 0.9}, "momentum (0.9)"),
    ],
)
def test_another_rule_in_joint_training(options: dict[str, Any], cause: str) -> None:
    found = stage2(trained(joint=True, **options), "joint")
    assert found.departs_at is not None
    words = "W_ov not frozen (as recorded at each step)"
    start = "another start than zero; " if "start" in options else ""
    assert found.departs_at.cause == f"{start}{words}"
    assert found.start == ("given" if start else "zero")
    assert found.rule("Algorithm 1") == f"{cause}; {words}"


BATCH = RNG.integers(0, DATA.N, (30, 8))


def test_recorded_minibatches() -> None:
    found = stage2(trained(batch=BATCH), "given")
    assert found.departs_at is not None
    assert found.departs_at.cause == "minibatches as recorded"
    assert found.later is None
    assert found.decided > 25
    assert found.rule("Algorithm 1") == "Algorithm 1; minibatches as recorded"


def test_other_minibatches_than_those_recorded_depart() -> None:
    found = stage2(replace(trained(batch=BATCH), batch=BATCH[::-1]), "given")
    assert found.later is not None
    assert found.later.cause == "a minibatch (other samples at each step)"


def test_both_together() -> None:
    found = stage2(trained(joint=True, batch=BATCH, momentum=0.5), "joint")
    assert found.rule("Algorithm 1") == (
        "momentum (0.5); W_ov not frozen (as recorded at each step) and minibatches as recorded"
    )
