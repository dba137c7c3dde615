"""Recording a training of your own for `marginaudit conform`, from PyTorch, JAX, NumPy or anything else."""

import os
from collections.abc import Iterable, Iterator, Mapping
from operator import index
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders import InputError, shown
from marginaudit.training.recorded_weights import LARGEST_SIZE, LAST_STEP, LEAST_SIZE
from marginaudit.training.weight_files.checkpoints import full_name
from marginaudit.training.weight_files.maps import Rule, parse_map
from marginaudit.training.weight_files.operations import Value
from marginaudit.training.weight_files.run_file import ALL_STEPS, RunFile

MAPPED = ("W_ov", "W_kq", "Y", "Z")
"""Matrices that a map may compute."""


class Recorder:
    """Keeps copies of weights while they are trained, and writes them to an .npz file.

    Parameters
    ----------
    lr1, lr2 : float or None
        The step sizes of both stages, which the file then holds.
    map : rules such as ``"W_kq = k.weight.T @ q.weight"``
        How matrices are computed from a model's tensors, which `tensors` then keeps; saved beside the file.

    >>> recorder = Recorder(lr2=0.05)
    >>> for t in range(3):
    ...     recorder.stage2(t, np.full((4, 4), float(t)))
    >>> recorder.stage2(2, np.zeros((4, 4)))
    Traceback (most recent call last):
    marginaudit.orders.errors.InputError: step2: got step 2 after step 2, expected steps that increase
    """

    def __init__(self, lr1: float | None = None, lr2: float | None = None, *, map: str | Iterable[str] = ()) -> None:
        lines = (map,) if isinstance(map, str) else tuple(map)
        self._rules = parse_map("map", lines, MAPPED) if lines else ()
        self._scalars = {name: _step_size(name, lr) for name, lr in (("lr1", lr1), ("lr2", lr2)) if lr is not None}
        self._steps: dict[str, list[int]] = {}
        self._weights: dict[str, list[NDArray[Any]]] = {}
        self._batches: list[list[int]] = []

    def stage1(self, t: int, W_ov: Any) -> None:
        """Keep W_ov (V, d), [label, embedding], after ``t`` steps of stage 1."""
        self._add("step1", t, W_ov=W_ov)

    def stage2(self, t: int, W_kq: Any) -> None:
        """Keep W_kq (d, d), [key, query], after ``t`` steps of stage 2."""
        self._add("step2", t, W_kq=W_kq)

    def batch(self, t: int, samples: Any) -> None:
        """Keep the minibatch of step ``t`` = 1, 2, .. of stage 2: numbers of its samples in the dataset, one axis."""
        given = samples.tolist() if hasattr(samples, "tolist") else list(samples)
        size = len(self._batches[0]) if self._batches else len(given)
        if _step("batch", t) != len(self._batches) + 1:
            raise InputError("batch", got=f"step {t}", expected=f"step {len(self._batches) + 1}, as every step has one")
        if not given or len(given) != size or not all(isinstance(one, int) and one >= 0 for one in given):
            raise InputError(f"batch at step {t}", got=shown(given), expected="as many whole numbers at each step")
        self._batches.append(given)

    def classes(self, t: int, Y: Any, Z: Any) -> None:
        """Keep the decoder Y, (M, M) or (K, M), and the attention Z (queries, M), after ``t`` steps on class data."""
        self._add("step", t, Y=Y, Z=Z)

    def tensors(self, t: int, model: Any) -> None:
        """Keep the tensors that the map names, after ``t`` steps.

        Parameters
        ----------
        model : a module of PyTorch, or a mapping from names to arrays
            Nested mappings, as those of JAX, have names joined by points.
        """
        if not self._rules:
            raise InputError("Recorder.tensors", got="no map", expected='Recorder(map="W_kq = ..")')
        state = model.state_dict() if hasattr(model, "state_dict") else model
        known = dict(_flattened(state))
        named = {name: full_name(rule.where, name, known) for rule in self._rules for name in rule.parsed.names}
        copies = {full: _copied(full, known[full], axes=(1, 2, 3)) for full in named.values()}
        for rule in self._rules:
            _evaluated(rule, {name: copies[full] for name, full in named.items()})
        self._keep(ALL_STEPS, t, copies)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all.

        Raises
        ------
        InputError
            No step is recorded.
        OSError
            The file cannot be written.
        """
        if not self._steps:
            raise InputError("Recorder.save", got="no recorded step", expected="at least one")
        arrays = {name: np.stack(kept) for name, kept in self._weights.items()}
        batches = {"batch": np.array(self._batches)} if self._batches else {}
        steps = {name: np.array(kept, dtype=np.int64) for name, kept in self._steps.items()}
        whole = Path(path)
        part = whole.with_name(f".{whole.name}.{uuid4().hex[:12]}.part")
        try:
            with part.open("xb") as file:
                np.savez(file, allow_pickle=False, **steps, **arrays, **batches, **self._scalars)
            if self._rules:
                RunFile(whole, tuple(rule.text for rule in self._rules)).save_map()
            part.replace(whole)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def _add(self, name: str, t: int, **weights: Any) -> None:
        if self._rules:
            raise InputError(f"{name} at step {shown(t)}", got="a recorder with a map", expected="Recorder.tensors")
        self._keep(name, t, {array: _copied(array, given) for array, given in weights.items()})

    def _keep(self, name: str, t: int, copies: dict[str, NDArray[Any]]) -> None:
        t, steps = _step(name, t), self._steps.get(name, [])
        if steps and t <= steps[-1]:
            raise InputError(name, got=f"step {t} after step {steps[-1]}", expected="steps that increase")
        if beside := sorted(
            {*self._scalars, *self._steps} - ({"step"} if name == "step" else {"lr1", "lr2", "step1", "step2", name})
        ):
            raise InputError(
                name, got=f"{beside[0]} beside it", expected="Y and Z of class data alone, or none of them"
            )
        for array, copy in copies.items():
            first = self._weights.get(array, [copy])[0]
            if (copy.shape, copy.dtype) != (first.shape, first.dtype):
                got, expected = (f"{known.dtype} of shape {known.shape}" for known in (copy, first))
                raise InputError(f"{array} at step {t}", got=got, expected=f"{expected}, as before")
        for array, copy in copies.items():
            self._weights.setdefault(array, []).append(copy)
        self._steps.setdefault(name, steps).append(t)


def _flattened(state: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Arrays by name, those of nested mappings by names joined by points."""
    for name, value in state.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _evaluated(rule: Rule, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Compute a matrix once, so that tensors that do not fit the rule are an error when they are recorded."""

    def leaf(name: str) -> Value:
        value = arrays[name].astype(np.float64)
        return Value(value, np.zeros_like(value))

    rule.parsed.evaluate(leaf)


def _copied(name: str, given: Any, axes: tuple[int, ...] = (2,)) -> NDArray[Any]:
    """A NumPy copy, detached from autograd and moved to the CPU where needed."""
    expected = f"a float32 or float64 array of {'two axes' if axes == (2,) else 'one to three axes'}"
    got = f"{getattr(given, 'dtype', type(given).__name__)}"
    try:
        for method in ("detach", "cpu"):
            given = getattr(given, method, lambda given=given: given)()
        half = "float16" in str(getattr(given, "dtype", ""))  # bfloat16 too, which NumPy lacks
        if half and hasattr(given, "float"):
            given = given.float()
        if not hasattr(given, "__array__") and hasattr(given, "__dlpack__"):
            given = np.from_dlpack(given)
        copy = np.array(np.asarray(given))  # PyTorch's __array__ makes no copy by itself
        copy = copy.astype(np.float32) if half else copy
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(name, got=f"{got}, of which NumPy makes no array", expected=expected) from error
    if copy.dtype not in (np.float32, np.float64) or copy.ndim not in axes:
        raise InputError(name, got=f"{copy.dtype} of shape {copy.shape}", expected=expected)
    if not np.isfinite(copy).all():
        raise InputError(name, got="NaN or infinity", expected="finite numbers")
    return copy


def _step(name: str, t: Any) -> int:
    try:
        found = index(t)
    except TypeError:
        found = -1
    if not 0 <= found <= LAST_STEP:
        raise InputError(name, got=f"step {shown(t)}", expected="a whole number from 0 to 1e18")
    return found


def _step_size(name: str, given: Any) -> float:
    try:
        found = 0.0 if isinstance(given, str) else float(given)
    except (TypeError, ValueError, RuntimeError):
        found = 0.0
    if not LEAST_SIZE <= found <= LARGEST_SIZE:
        raise InputError(name, got=shown(given), expected="one number, from 1e-100 to 1e100")
    return found
