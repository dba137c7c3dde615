"""Random faithful runs on tiny and degenerate datasets, sparse, late or of one stage: none departs, no claim breaks."""

import random
from pathlib import Path

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.ntp import Config
from marginaudit.claims.ntp.recorded_run import RecordedRun
from marginaudit.orders.ntp import Dataset, dataset_from_document
from marginaudit.reports.ntp.paper import PAPER
from tests.oracle.random_audits import random_document
from tests.training.ntp.recorded.program import run


def trainable(rng: random.Random) -> Dataset:
    while True:
        data = dataset_from_document(random_document(rng))
        if len(data.collocation.function) == data.V:
            return data


FAULTS = (81, 83, 119, 120, 254, 313, 320, 23482)
"""Seeds of runs that an earlier version said to depart."""


@pytest.mark.parametrize("seed", [*FAULTS, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1200, 1600))])
def test_no_faithful_run_departs(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    data, dtype = trainable(rng), rng.choice([np.float32, np.float64])
    steps = (rng.choice([1, 5, 30, 150]), rng.choice([1, 5, 30, 150]))
    lr = (rng.choice([0.01, 0.1, 1.0, 30.0]), rng.choice([1e-4, 0.05, 0.5, 5.0]))
    with np.errstate(all="ignore"):
        run(data, dtype, steps, lr, every=rng.choice([1, 1, 3, 7])).save(tmp_path / "run.npz")
    late = rng.random() < 0.3
    with np.load(tmp_path / "run.npz") as file:
        kept = {name: array[len(array) // 2 :] if late and array.ndim else array for name, array in file.items()}
    if rng.random() < 0.3:
        del kept["step2"], kept["W_kq"]
    np.savez(tmp_path / "run.npz", **kept)
    recorded = RecordedRun(data, Config(), None, tmp_path / "run.npz")
    assert recorded.conformity.departs_at is None, recorded.conformity
    broken = {
        claim.id: row.detail for claim in PAPER.claims if (row := claim.judge(recorded)).verdict is Verdict.BROKEN
    }
    assert broken == {}
