"""Reading .npz files of trajectories: mapped, and refused in one line."""

import io
import mmap
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.training.ntp.recorded.trajectory import read_trajectory

DATA = CASES["example-1"]()


def npz(arrays: dict[str, Any], *, compressed: bool = False) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


def good(**changes: Any) -> dict[str, Any]:
    W = np.arange(48, dtype=np.float32).reshape(3, 4, 4)
    arrays = {"step1": np.array([0, 1, 5]), "W_ov": W, "step2": np.array([1, 2, 3]), "W_kq": W, "lr1": 0.1, "lr2": 0.05}
    return {name: array for name, array in (arrays | changes).items() if array is not None}


GOOD = npz(good())


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_arrays_of_the_file_mapped_where_they_are_not_compressed(
    compressed: bool, order: Any, tmp_path: Path
) -> None:
    path = tmp_path / "run.npz"
    W_kq = np.asarray(good()["W_kq"] / np.float64(3), dtype=">f8", order=order)
    path.write_bytes(npz(good(W_kq=W_kq), compressed=compressed))
    found = read_trajectory(path, DATA)
    assert found.stage1 is not None
    assert found.stage2 is not None
    assert (found.lr1, found.lr2) == (0.1, 0.05)
    assert found.stage1.step.tolist() == [0, 1, 5]
    np.testing.assert_array_equal(found.stage1.weights, good()["W_ov"])
    np.testing.assert_array_equal(found.stage2.weights, W_kq)
    assert (found.stage1.roundoff, found.stage2.roundoff) == (2.0**-24, 2.0**-53)
    assert isinstance(found.stage1.weights.base, mmap.mmap) is not compressed


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"W_kq": np.zeros((3, 4, 5))}, r"W_kq: got shape \(3, 4, 5\), expected \(n, 4, 4\) with n >= 1 for this"),
        ({"W_kq": np.zeros((0, 4, 4))}, r"W_kq: got shape \(0, 4, 4\)"),
        ({"W_ov": np.zeros(())}, r"W_ov: got shape \(\)"),
        ({"W_ov": np.zeros((3, 4, 4), int)}, "W_ov: got int64, expected float16, float32 or float64"),
        ({"W_ov": np.zeros((3, 4, 4), np.complex64)}, "W_ov: got complex64"),
        ({"W_ov": np.where(np.arange(48).reshape(3, 4, 4) == 20, np.nan, 0.0)}, r"W_ov\[1\]: got NaN or infinity"),
        ({"step2": np.array([1, 1, 2])}, "step2: got step 1 after step 1, expected steps from 0 to 1e18 that increase"),
        ({"step2": np.array([-1, 1, 2])}, "step2: got step -1, expected steps"),
        ({"step2": np.array([1, 2, 2 * 10**18])}, "step2: got step 2000000000000000000 after step 2"),
        ({"step2": np.array([1, 2])}, r"step2: got int64 of shape \(2,\), expected 3 integers, one for each record"),
        ({"step2": np.array([1.0, 2.0, 3.0])}, "step2: got float64 of shape"),
        ({"step2": None}, "got W_kq without step2, expected both"),
        ({"W_ov": None}, "got step1 without W_ov, expected both"),
        ({"step1": None, "W_ov": None, "step2": None, "W_kq": None}, "got no stage, expected step1 with W_ov, step2"),
        ({"lr1": np.array([1.0])}, r"lr1: got \[1.0\], expected one number, from 1e-100 to 1e100"),
        ({"lr2": -1.0}, "lr2: got -1.0"),
        ({"lr2": np.nan}, "lr2: got nan"),
        ({"lr2": True}, "lr2: got True"),
        ({"lr2": np.zeros((2, 2))}, r"lr2: got shape \(2, 2\)"),
        ({"W_OV": np.zeros(3)}, "got an array 'W_OV', expected only step1, W_ov, step2"),
        ({"lr1": np.array([print], dtype=object)}, "lr1: got pickled objects, expected numbers"),
    ],
)
def test_what_is_no_trajectory_of_the_dataset_is_refused(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    path.write_bytes(npz(good(**changes)))
    with pytest.raises(InputError, match=said) as refused:
        read_trajectory(path, DATA)
    assert str(refused.value).startswith(str(path))


@pytest.mark.parametrize("content", [b"", b"no zip", pickle.dumps([1]), GOOD[: len(GOOD) // 2], GOOD[:-1], GOOD[100:]])
def test_what_is_no_npz_file_or_truncated_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"expected an \.npz file"):
        read_trajectory(path, DATA)


def test_data_shorter_than_the_header_says_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(io.BytesIO(GOOD)) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"(3, 4, 4)", b"(9, 4, 4)"))
    with pytest.raises(InputError, match="got 192 bytes, expected 576"):
        read_trajectory(path, DATA)


@given(
    changed=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=8),
    end=st.integers(len(GOOD) // 2, len(GOOD)),
    compressed=st.booleans(),
)
def test_damaged_files_end_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, changed: list[tuple[int, int]], end: int, compressed: bool
) -> None:
    content = bytearray(npz(good(), compressed=compressed) if compressed else GOOD)
    for place, byte in changed:
        content[place % len(content)] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(content[:end])
    said = ""
    try:
        found = read_trajectory(path, DATA)
    except InputError as error:
        said = str(error)
    else:
        assert all(np.isfinite(stage.weights).all() for stage in (found.stage1, found.stage2) if stage is not None)
    assert said.isprintable()
