"""Files of Y and Z on sequence classes: what they hold, and what is refused in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.orders import InputError
from marginaudit.orders.snap import SequenceClasses
from marginaudit.training.snap.recorded import trajectory as recorded
from marginaudit.training.snap.recorded.step import steps
from marginaudit.training.snap.recorded.trajectory import read_class_trajectory
from marginaudit.training.weight_files.run_file import RunFile

DATA = SequenceClasses.from_weights("two", 9, [("m", "p", {"a": 3, "the": 4}), ("n", "q", {"the": 1})])


def good(**changes: Any) -> dict[str, Any]:
    arrays = {
        "step": np.array([0, 1, 5]),
        "Y": np.zeros((3, 9, 9), dtype=np.float32),
        "Z": np.arange(54, dtype=np.float32).reshape(3, 2, 9),
    }
    return {name: array for name, array in (arrays | changes).items() if array is not None}


def written(folder: Path, arrays: dict[str, Any]) -> Path:
    np.savez(folder / "run.npz", **arrays)
    return folder / "run.npz"


def test_z_by_query_and_token_with_the_rounding_of_the_file(tmp_path: Path) -> None:
    found = read_class_trajectory(written(tmp_path, good()), DATA)
    assert DATA.tokens == ("a", "the", "p", "q", "m", "n")
    assert found.logits.names == (("p", "a"), ("p", "the"), ("q", "the"))
    assert found.z.value.tolist() == [[0, 1, 10], [18, 19, 28], [36, 37, 46]]
    assert (found.z.error[1] / found.z.value[1]).tolist() == [2.0**-24] * 3
    assert (found.spans.tolist(), found.z_dot.value.tolist()) == ([2], [[4.5, 4.5, 4.5]])
    assert (found.precision, found.starts_at_zero) == ("float32", False)


def test_a_product_has_the_rounding_of_both_factors(tmp_path: Path) -> None:
    """z and the steps of Z, entries of whose factors are much larger than its own."""
    random = np.random.default_rng(0)
    a = np.array([1e4, -1e4]) + random.normal(size=(3, 2, 2))
    b = 1 + random.normal(size=(3, 2, 9)) * 1e-4
    single = {"a": a.astype(np.float32), "b": b.astype(np.float32)}
    run = RunFile(written(tmp_path, good(step=np.arange(3), Z=None, **single)), ("Y = Y", "Z = a @ b"))
    found = read_class_trajectory(run, DATA)
    apart = np.abs(found.z.value - (a @ b)[:, [0, 0, 1], [0, 1, 1]])
    assert (apart <= found.z.error).all()
    assert apart.max() > found.z.error.max() / 20
    changes = [step.Z for _, step in steps(*recorded.read_weights(run, DATA))]
    assert len(changes) == 2
    for change, exact in zip(changes, np.diff(a @ b, axis=0), strict=True):
        assert (np.abs(change.by - exact) <= change.written).all()


@pytest.mark.parametrize("rows", [9, 2])
def test_entropy_and_margins(rows: int, tmp_path: Path) -> None:
    """At Z = 0 attention of m is 3/7 and 4/7, and f_m = (.6, .8)."""
    Y = np.zeros((1, rows, 9))
    if rows == 9:
        Y[0, [0, 1], 4] = 5.0, 10.0
    else:
        Y[0, :, 4] = 11.0, 10.0
    arrays = good(step=np.array([0]), Y=Y, Z=np.zeros((1, 2, 9)))
    found = read_class_trajectory(written(tmp_path, arrays), DATA)
    assert found.starts_at_zero
    assert not read_class_trajectory(written(tmp_path, arrays | {"step": np.array([1])}), DATA).starts_at_zero
    c = np.array([3, 4]) / 7
    np.testing.assert_allclose(found.entropy, [[-(c * np.log(c)).sum(), 0.0]], atol=1e-14)
    np.testing.assert_allclose(found.margins, [[11.0, -10.0 / 8]])


def test_long_files_are_looked_at_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = good(step=np.arange(9), Y=np.zeros((9, 2, 9)), Z=np.zeros((9, 2, 9)))
    path = written(tmp_path, arrays)
    for name, most, expected in (("MOST_RECORDS", 3, [0, 4, 8]), ("MOST_NUMBERS", 1, [0, 8])):
        with monkeypatch.context() as patched:
            patched.setattr(recorded, name, most)
            found = read_class_trajectory(path, DATA)
            assert (found.step.tolist(), len(found.kept)) == (expected, len(expected))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Z": np.zeros((3, 1, 9))}, r"Z: got shape \(3, 1, 9\), expected \(n, 2, 9\) with n >= 1 for this dataset"),
        ({"Y": np.zeros((3, 8, 9))}, r"Y: got shape \(3, 8, 9\), expected \(n, 9, 9\) or \(n, 2, 9\) with n >= 1"),
        ({"Z": np.zeros((2, 2, 9))}, r"step: got int64 of shape \(3,\), expected 2 integers"),
        ({"Z": np.full((3, 2, 9), np.nan)}, r"Z\[0\]: got NaN or infinity"),
        ({"Y": np.full((3, 9, 9), np.inf)}, r"Y\[0\]: got NaN or infinity"),
        ({"Z": np.full((3, 2, 9), -1e7)}, r"Z: got 1e\+07, expected sizes up to 1e\+06"),
        ({"step": np.array([0, 5, 5])}, "step: got step 5 after step 5, expected steps from 0 to 1e18 that increase"),
        ({"Y": None, "step": None}, "got Z without step, expected both"),
        ({"W_ov": np.zeros(3)}, "got an array 'W_ov', expected only step, Y, Z"),
        ({"Z": np.zeros((3, 2, 9), dtype=np.int64)}, "Z: got int64, expected float16, float32 or float64"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read_class_trajectory(written(tmp_path, good(**changes)), DATA)
