"""The recorder: what it takes from a training loop, and the file that it writes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.orders import InputError
from marginaudit.record import Recorder
from marginaudit.training.recorded_weights import Recorded


class Tensor:
    """Of another library: its array is had by dlpack alone, once it is detached and on the processor."""

    def __init__(self, array: Any, *, detached: bool = False, near: bool = False) -> None:
        self._array, self._detached, self._near = array, detached, near

    def detach(self) -> "Tensor":
        return Tensor(self._array, detached=True, near=self._near)

    def cpu(self) -> "Tensor":
        return Tensor(self._array, detached=self._detached, near=True)

    def __dlpack__(self, **how: Any) -> Any:
        assert self._detached
        assert self._near
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class Sparse:
    """Of which its library makes no array of NumPy."""

    dtype = "bfloat16"

    def __array__(self, *how: Any) -> Any:
        raise TypeError("unsupported")


def test_the_file_holds_copies_of_what_was_recorded(tmp_path: Path) -> None:
    recorder, classes, W = Recorder(lr1=0.1, lr2=0.05), Recorder(), np.zeros((3, 2), np.float32)
    for t in (0, 1, 5):
        W += 1
        recorder.stage1(t, W)
        recorder.stage2(t, Tensor(W))
        classes.classes(t, W, -W)
    recorder.save(tmp_path / "run")
    classes.save(tmp_path / "classes")
    assert {path.name for path in tmp_path.iterdir()} == {"run", "classes"}
    of_classes = {name: np.load(tmp_path / "classes", allow_pickle=False)[name] for name in ("step", "Y", "Z")}
    with np.load(tmp_path / "run", allow_pickle=False) as found:
        assert set(found) == {"step1", "W_ov", "step2", "W_kq", "lr1", "lr2"}
        assert (float(found["lr1"]), float(found["lr2"])) == (0.1, 0.05)
        for arrays, steps, name in ((found, "step1", "W_ov"), (found, "step2", "W_kq"), (of_classes, "step", "Y")):
            assert arrays[steps].tolist() == [0, 1, 5]
            assert arrays[name].dtype == np.float32
            assert arrays[name][:, 2, 1].tolist() == [1, 2, 3]


class Half:
    """Of a precision that NumPy has not; its library makes float32 of it."""

    dtype = "torch.bfloat16"

    def __init__(self, array: Any) -> None:
        self._array = array

    def float(self) -> Any:
        return self._array


def test_half_precision_is_kept_as_float32(tmp_path: Path) -> None:
    """And is read as what it is, by its digits."""
    recorder, W = Recorder(), np.random.default_rng(0).normal(size=(2, 2)).astype(np.float16)
    digits, exponent = np.frexp(W.astype(np.float32))
    W_ov = np.ldexp(np.rint(256 * digits) / 256, exponent)
    recorder.stage1(0, Half(W_ov))
    recorder.stage2(0, W)
    recorder.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as found:
        for name, kept, precision, u in (("W_ov", W_ov, "bfloat16", 2.0**-8), ("W_kq", W, "float16", 2.0**-11)):
            assert found[name].dtype == np.float32
            assert np.array_equal(found[name], [kept])
            read = Recorded(np.array([0]), found[name])
            assert (read.precision, read.roundoff) == (precision, u)
    assert Recorded(np.array([0]), np.eye(2)[np.newaxis]).precision == "float32"


def test_bad_weights_and_steps_are_refused_when_they_are_recorded(tmp_path: Path) -> None:
    recorder = Recorder()
    with pytest.raises(InputError, match=r"Recorder.save: got no recorded step"):
        recorder.save(tmp_path / "run.npz")
    for t in (-1, 0.2, 10**20, "1"):
        with pytest.raises(InputError, match=r"step2: got step .*, expected a whole number from 0 to 1e18"):
            recorder.stage2(t, np.zeros((2, 2)))  # type: ignore[arg-type]
    for lr in (-1, "a", np.nan, [1, 2]):
        with pytest.raises(InputError, match=r"lr2: got .*, expected one number, from 1e-100 to 1e100"):
            Recorder(lr2=lr)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="step: got lr1 beside it, expected Y and Z of class data alone"):
        Recorder(lr1=1).classes(0, np.zeros((2, 2)), np.zeros((2, 2)))
    recorder.stage2(3, np.zeros((2, 2)))
    for weights, said in (
        (np.zeros(4), r"W_kq: got float64 of shape \(4,\), expected a float32 or float64 array of two axes"),
        (np.zeros((2, 2), int), "W_kq: got int64 of shape"),
        (np.full((2, 2), np.nan), "W_kq: got NaN or infinity, expected finite numbers"),
        (Sparse(), "W_kq: got bfloat16, of which NumPy makes no array, expected a float32 or float64 array"),
        (np.zeros((2, 3)), r"W_kq at step 4: got float64 of shape \(2, 3\), expected float64 of shape \(2, 2\)"),
        (np.zeros((2, 2), np.float32), "W_kq at step 4: got float32"),
    ):
        with pytest.raises(InputError, match=said):
            recorder.stage2(4, weights)
    with pytest.raises(InputError, match="step2: got step 3 after step 3"):
        recorder.stage2(3, np.zeros((2, 2)))


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.stage1(0, np.zeros((2, 2)))
    (tmp_path / "run.npz").mkdir()
    with pytest.raises(OSError, match="directory"):
        recorder.save(tmp_path / "run.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]
