"""Runs that train W_K and W_Q apart, with 1/sqrt(m), a bias, slices and other optimizers than Algorithm 1's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES
from marginaudit.training.departure import StageComparison
from marginaudit.training.ntp.recorded.comparison import compared
from marginaudit.training.ntp.recorded.factored import factored
from marginaudit.training.ntp.recorded.gradients import Stage2Loss
from marginaudit.training.ntp.recorded.rules import Stage
from marginaudit.training.ntp.recorded.trajectory import read_trajectory
from marginaudit.training.weight_files.run_file import RunFile
from tests.training.ntp.recorded.program import Mistake, stage2_gradient

DATA = CASES["example-1"]()
V = DATA.V
ETA = 0.05
M = 3
HEAD = np.random.default_rng(1).normal(size=(V, V))
RULE = "W_kq = k.T @ (q + b[:, None]) / sqrt(3)"
Tensors = dict[str, NDArray[Any]]


def gradients(at: Tensors) -> Tensors:
    """Of the loss in k, q and b, by the chain rule written out."""
    root = at["k"].dtype.type(np.sqrt(M))
    W = at["k"].T @ (at["q"] + at["b"][:, None]) / root
    G, _ = stage2_gradient(DATA, HEAD.astype(W.dtype), W, Mistake())
    of_q = at["k"] @ G / root
    return {"k": (at["q"] + at["b"][:, None]) @ G.T / root, "q": of_q, "b": of_q.sum(axis=1)}


def orthogonalised(one: NDArray[Any]) -> NDArray[Any]:
    """U V^T of a matrix's singular vectors; a bias is normalised."""
    U, _, Vt = np.linalg.svd(one.reshape(len(one), -1), full_matrices=False)
    return np.asarray((U @ Vt).reshape(one.shape))


def trained(path: Path, optimizer: str, steps: int = 40, dtype: Any = np.float64) -> Path:
    """A run of k, q, b by one of several optimizers, in an .npz file."""
    rng = np.random.default_rng(0)
    at: Tensors = {name: rng.normal(size=shape) * 0.3 for name, shape in (("k", (M, V)), ("q", (M, V)), ("b", (M,)))}
    at = {name: one.astype(dtype) for name, one in at.items()}
    kept = [at]
    first, second = ({name: np.zeros_like(one) for name, one in at.items()} for _ in range(2))
    for t in range(1, steps + 1):
        G = gradients(at)
        size = np.sqrt(sum(float((one**2).sum()) for one in G.values()))
        change: Tensors = {}
        for name, one in G.items():
            match optimizer:
                case "normalised":
                    change[name] = ETA * one / dtype(size)
                case "plain":
                    change[name] = dtype(ETA) * one
                case "each tensor":
                    change[name] = ETA * one / np.linalg.norm(one)
                case "momentum":
                    first[name] = 0.9 * first[name] + one / size
                    change[name] = ETA * first[name]
                case "AdamW":
                    first[name] = 0.9 * first[name] + 0.1 * one
                    second[name] = 0.999 * second[name] + 0.001 * one**2
                    hat, root = first[name] / (1 - 0.9**t), np.sqrt(second[name] / (1 - 0.999**t))
                    change[name] = 0.01 * (hat / (root + 1e-8) + 0.01 * at[name])
                case "schedule":
                    change[name] = ETA * (1 - t / 80) * one / size
                case "Muon":
                    first[name] = 0.95 * first[name] + one
                    change[name] = ETA * orthogonalised(first[name])
                case _:
                    change[name] = rng.normal(size=one.shape) * ETA
        at = {name: (at[name] - change[name]).astype(dtype) for name in at}
        kept.append(at)
    arrays: dict[str, Any] = {name: np.array([one[name] for one in kept]) for name in at}
    arrays["b"] = arrays["b"][:, :, np.newaxis]  # arrays of three axes have one of the steps
    np.savez(path, allow_pickle=False, step=np.arange(steps + 1), head=HEAD, **arrays)
    return path


def stage2(path: Path, rule: str = RULE) -> StageComparison:
    rule = rule.replace("b[:, None]", "b")
    trajectory = read_trajectory(RunFile(path, (rule, "W_ov = head")), DATA).with_step_sizes(None, ETA)
    assert trajectory.head == "given"
    (found,) = compared(DATA, trajectory)
    return found


WORDS = "trained as k.T @ (q + b) / sqrt(3)"


@pytest.mark.parametrize(
    ("optimizer", "rule"),
    [
        ("normalised", "Algorithm 1"),
        ("plain", "gradient not normalised"),
        ("each tensor", "each tensor's gradient normalised by itself, and step size 0.05"),
        ("momentum", "momentum (0.9)"),
        ("AdamW", "AdamW (step size 0.01, weight decay 0.01)"),
        ("Muon", "Muon (step size about 0.05)"),
        ("schedule", "a schedule of step sizes (0.04938 at step 1, "),
    ],
)
def test_the_rule_of_the_tensors(optimizer: str, rule: str, tmp_path: Path) -> None:
    found = stage2(trained(tmp_path / "run.npz", optimizer))
    assert found.departs_at is not None
    assert (found.start, found.departs_at.step) == ("given", 0)
    assert found.departs_at.cause == f"another start than zero; {WORDS}"
    told = found.rule("Algorithm 1")
    assert told is not None
    assert told.startswith(rule), told
    assert told.endswith(f"; {WORDS}")
    if found.later is not None:
        assert found.later.bar < 1e-12
    if optimizer == "normalised":
        assert (found.later, found.decided) == (None, 41)


def test_the_bound_of_the_tensors_gradient(tmp_path: Path) -> None:
    """In float32, against float64: covered, and at most 1,000 times too wide."""
    path = trained(tmp_path / "run.npz", "plain", dtype=np.float32)
    record = read_trajectory(RunFile(path, (RULE.replace("b[:, None]", "b"), "W_ov = head")), DATA).stage2
    assert record is not None
    found = factored(Stage(Stage2Loss(DATA), ETA, 2.0**-24, W_ov=HEAD), record)
    assert found is not None
    stage, trained_parts, _ = found
    value, bound = stage.gradient(np.asarray(trained_parts.weights[5], np.float64))
    with np.load(path) as arrays:
        at = {name: arrays[name][5] for name in ("k", "q", "b")}
    single = gradients(at | {"b": at["b"][:, 0]})
    assert single["k"].dtype == np.float32
    for name, exact, most in zip(stage.parts, stage.split(value), stage.split(bound), strict=True):
        apart = np.abs(single[name].reshape(exact.shape) - exact)
        assert (apart <= most).all()
        assert most.max() < 1000 * max(apart.max(), 2.0**-24 * np.abs(exact).max())


def test_slices_of_one_tensor(tmp_path: Path) -> None:
    """Queries and keys in one matrix, of whose other rows nothing is known."""
    with np.load(trained(tmp_path / "run.npz", "AdamW")) as arrays:
        kept = dict(arrays)
    fused = np.concatenate([kept["q"] + 0 * kept["b"], kept["k"], np.zeros_like(kept["k"])], axis=1)
    del kept["q"], kept["k"]
    np.savez(tmp_path / "fused.npz", allow_pickle=False, qkv=fused, **kept)
    found = stage2(tmp_path / "fused.npz", "W_kq = qkv[3:6].T @ (qkv[0:3] + b) / sqrt(3)")
    words = "trained as qkv[3:6].T @ (qkv[0:3] + b) / sqrt(3)"
    assert found.rule("Algorithm 1") == f"AdamW (step size 0.01, weight decay 0.01); {words}"


def test_in_float32(tmp_path: Path) -> None:
    found = stage2(trained(tmp_path / "run.npz", "plain", dtype=np.float32))
    assert found.rule("Algorithm 1") == f"gradient not normalised; {WORDS}"


def test_other_steps_have_no_rule(tmp_path: Path) -> None:
    found = stage2(trained(tmp_path / "run.npz", "random"))
    assert found.later is not None
    assert found.later.cause is None
    assert found.rule("Algorithm 1") is None
    assert found.declared == ""


def test_a_wrong_map_has_no_rule(tmp_path: Path) -> None:
    """1/3 in place of 1/sqrt(3): the steps of the tensors are others."""
    found = stage2(trained(tmp_path / "run.npz", "normalised"), "W_kq = k.T @ (q + b) / 3")
    assert found.rule("Algorithm 1") is None
