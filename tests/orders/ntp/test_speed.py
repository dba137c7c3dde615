"""Reading and ordering a dataset of the largest size that is foreseen, against the clock."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from marginaudit.orders.ntp import read_dataset

V, N, L = 1000, 20_000, 32


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    n = rng.permutation(V).tolist()
    samples = []
    for _ in range(N):
        tokens = rng.integers(V, size=rng.integers(2, L, endpoint=True)).tolist()
        winner = tokens[int(rng.integers(len(tokens)))]
        samples.append({"tokens": [f"t{x}" for x in tokens], "next": f"t{n[winner]}"})
    document = {
        "vocabulary": [f"t{x}" for x in range(V)],
        "samples": samples,
        "next_token": {f"t{x}": f"t{y}" for x, y in enumerate(n)},
    }
    path = tmp_path_factory.mktemp("large") / "large.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.slow
def test_reading_and_relating_take_less_than_a_second(large: Path) -> None:
    times = []
    for _ in range(3):
        start = time.process_time()
        assert len(read_dataset(large).relations) > 300_000
        times.append(time.process_time() - start)
    assert min(times) < 1.0


@pytest.mark.slow
def test_the_orders_take_ten_microseconds_a_relation(large: Path) -> None:
    dataset = read_dataset(large)
    relations = len(dataset.relations)
    start = time.process_time()
    assert len(dataset.orders) == V
    assert time.process_time() - start < 1e-5 * relations
