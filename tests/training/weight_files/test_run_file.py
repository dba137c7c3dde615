"""Runs from files and folders of other programs: steps, maps, precision, rounding, memory."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders import InputError
from marginaudit.training.recorded_weights import Recorded
from marginaudit.training.weight_files.checkpoints import Stacked
from marginaudit.training.weight_files.run_file import RunFile, Target, Weights, read_weights
from marginaudit.training.weight_files.tensors import Tensor
from tests.training.weight_files.written import bfloat16, write_safetensors

V = 4
TARGETS = {"W_ov": Target("step1", ((V, V),)), "W_kq": Target("step2", ((V, V),))}
RULE = "W_kq = k.weight.T @ q.weight / sqrt(2)"
RNG = np.random.default_rng(0)


def read(path: Path, *rules: str) -> Weights:
    return read_weights(RunFile(path, rules), TARGETS, ("lr1", "lr2"))


def W_kq(path: Path, *rules: str) -> Recorded:
    return read(path, *rules).records["W_kq"]


def factors(steps: int = 3) -> list[dict[str, NDArray[Any]]]:
    return [{f"model.{name}.weight": RNG.normal(size=(2, V)) for name in "kq"} for _ in range(steps)]


def product(one: dict[str, NDArray[Any]]) -> NDArray[Any]:
    return np.asarray(one["model.k.weight"].T @ one["model.q.weight"] / 2**0.5)


LAYOUTS: dict[str, Callable[[int], str]] = {
    "files": lambda t: f"iter-{t:06d}.safetensors",
    "steps among other numbers": lambda t: f"run2-step={t}-v3.safetensors",
    "last number": lambda t: f"a1_{t}.safetensors",
    "folders": lambda t: f"checkpoint-{t}/model.safetensors",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_folder_of_checkpoints_by_step(name: str, tmp_path: Path) -> None:
    written = factors()
    for t, one in zip((100, 9, 0), written, strict=True):
        write_safetensors(tmp_path / LAYOUTS[name](t), one)
    write_safetensors(tmp_path / "last.safetensors", written[0])
    (tmp_path / "log-7.txt").write_text("no checkpoint")
    found = W_kq(tmp_path, RULE)
    assert found.step.tolist() == [0, 9, 100]
    assert found.weights.shape == (3, V, V)
    for i, one in enumerate(reversed(written)):
        np.testing.assert_allclose(found.weights[i], product(one), rtol=1e-14)


def test_shards_and_trainer_files_of_a_checkpoint(tmp_path: Path) -> None:
    (one,) = factors(1)
    for k, (name, tensor) in enumerate(one.items(), 1):
        write_safetensors(tmp_path / f"checkpoint-7/model-0000{k}-of-00002.safetensors", {name: tensor})
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"):
        (tmp_path / "checkpoint-7" / name).write_bytes(b"never opened")
    found = W_kq(tmp_path, RULE)
    assert found.step.tolist() == [7]
    np.testing.assert_allclose(found.weights[0], product(one), rtol=1e-14)


def test_arrays_with_a_step_axis(tmp_path: Path) -> None:
    k, q, ov = RNG.normal(size=(5, 2, V)), RNG.normal(size=(5, 2, V)), RNG.normal(size=(V, V))
    arrays = {"step": np.arange(5), "k": k, "q": q, "head": ov}
    np.savez(tmp_path / "run.npz", allow_pickle=False, **arrays)
    write_safetensors(tmp_path / "run.safetensors", arrays)
    for name in ("run.npz", "run.safetensors"):
        found = read(tmp_path / name, "W_kq = k.T @ q", "W_ov = head").records
        assert found["W_kq"].step.tolist() == [0, 1, 2, 3, 4]
        for i in range(5):
            np.testing.assert_allclose(found["W_kq"].weights[i], k[i].T @ q[i], rtol=1e-13)
            np.testing.assert_array_equal(found["W_ov"].weights[i], ov)


def test_an_array_with_a_step_axis_is_read_once() -> None:
    """Of a checkpoint of PyTorch each reading is one of the whole array."""
    reads, array = [], RNG.normal(size=(5, V, V))

    def stored() -> NDArray[Any]:
        reads.append(1)
        return array

    source = Stacked("run", {"W": Tensor(array.shape, "float64", stored)}, np.arange(5))
    np.testing.assert_array_equal([source.values(i, "W")[0] for i in range(5)], array)
    assert len(reads) == 1


def test_recorders_names_need_no_map(tmp_path: Path) -> None:
    W = RNG.normal(size=(3, V, V)).astype(np.float32)
    arrays: dict[str, NDArray[Any]] = {"step2": np.arange(3), "W_kq": W, "lr2": np.array(0.5)}
    write_safetensors(tmp_path / "run.safetensors", arrays)
    found = read(tmp_path / "run.safetensors")
    np.testing.assert_array_equal(found.records["W_kq"].weights, W)
    assert found.scalars == {"lr1": None, "lr2": 0.5}
    write_safetensors(tmp_path / "ckpts" / "step-4.safetensors", {"W_kq": W[0]})
    found = read(tmp_path / "ckpts")
    np.testing.assert_array_equal(found.records["W_kq"].weights[0], W[0])
    assert found.records["W_kq"].step.tolist() == [4]


HALVES = {"bfloat16": (bfloat16, 8), "float16": (lambda W: W.astype(np.float16), 11)}


@pytest.mark.parametrize("name", HALVES)
def test_half_precision_is_read_as_what_it_is(name: str, tmp_path: Path) -> None:
    """By the names of `Recorder`, as a tensor, and in a product, also where the digits would not show it."""
    half, digits = HALVES[name]
    W, k, q = RNG.normal(size=(2, V, V)), RNG.normal(size=(2, V)), np.ones((2, V))
    by_name = {"step2": np.arange(2), "W_kq": half(W)}
    write_safetensors(tmp_path / "named.safetensors", by_name)
    write_safetensors(tmp_path / "ones.safetensors", by_name | {"W_kq": half(np.ones_like(W))})
    write_safetensors(tmp_path / "mapped" / "1.safetensors", {"k": half(k), "q": half(q)})
    write_safetensors(tmp_path / "mixed" / "1.safetensors", {"k": k, "q": half(q)})
    rule = "W_kq = k.T @ q"
    for found in (
        W_kq(tmp_path / "named.safetensors"),
        W_kq(tmp_path / "ones.safetensors"),
        W_kq(tmp_path / "mapped", rule),
        W_kq(tmp_path / "mixed", rule),
    ):
        assert (found.precision, found.digits) == (name, digits)
    np.testing.assert_allclose(W_kq(tmp_path / "named.safetensors").weights, W, rtol=2.0**-digits)
    exact = k.T @ q
    found = W_kq(tmp_path / "mapped", rule)
    bar = found.roundoff * np.abs(found.weights[0]) + found.excess(0)
    apart = np.abs(found.weights[0] - exact)
    assert (apart <= bar).all()
    assert apart.max() > bar.max() / 100


def test_float32_weights_that_hold_half_precision_are_recognised_through_a_product(tmp_path: Path) -> None:
    k, q = (RNG.normal(size=(2, V)).astype(np.float16).astype(np.float32) for _ in range(2))
    write_safetensors(tmp_path / "1.safetensors", {"k": k, "q": q})
    assert W_kq(tmp_path, "W_kq = k.T @ q").precision == "float16"


def test_half_precision_in_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "run.npz", step2=np.arange(2), W_kq=np.ones((2, V, V), np.float16))
    assert W_kq(tmp_path / "run.npz").precision == "float16"


def test_a_map_saved_beside_the_file_is_used(tmp_path: Path) -> None:
    written = factors()
    for t, one in enumerate(written):
        write_safetensors(tmp_path / "ckpts" / f"{t}.safetensors", one)
    run = RunFile(tmp_path / "ckpts", (RULE,))
    digest = run.digest()
    assert run.save_map() == tmp_path / "ckpts.map"
    assert run.save_map() is None
    assert (tmp_path / "ckpts.map").read_text() == f"{RULE}\n"
    np.testing.assert_allclose(W_kq(tmp_path / "ckpts").weights[1], product(written[1]), rtol=1e-14)
    assert RunFile(tmp_path / "ckpts").digest() == digest
    (tmp_path / "ckpts.map").write_text("# comment\n\nW_kq = k.weight.T @ q.weight\n")
    np.testing.assert_allclose(W_kq(tmp_path / "ckpts").weights[1], product(written[1]) * 2**0.5, rtol=1e-14)
    assert RunFile(tmp_path / "ckpts").digest() != digest
    assert not list(tmp_path.glob(".*"))


def test_the_map_of_the_current_folder_is_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = factors(1)
    monkeypatch.chdir(write_safetensors(tmp_path / "ckpts" / "0.safetensors", one).parent)
    assert RunFile(Path(), (RULE,)).save_map() == tmp_path / "ckpts.map"
    np.testing.assert_allclose(W_kq(Path()).weights[0], product(one), rtol=1e-14)


def test_the_digest_depends_on_head_and_quantity(tmp_path: Path) -> None:
    path = write_safetensors(tmp_path / "1.safetensors", {"W_kq": np.zeros((V, V))})
    runs = [RunFile(path), RunFile(path, head="given"), RunFile(path, quantity="W_kq[0]"), RunFile(path, ("W_kq = W",))]
    assert len({run.digest() for run in runs}) == 4


def test_checkpoints_are_read_one_at_a_time(tmp_path: Path) -> None:
    """Of 60 checkpoints with 2 MB of other tensors each, about one is in memory."""
    for t in range(60):
        others = {
            "optimizer": np.full((250, 1000), float(t)),
            "W_kq": np.full((V, V), float(t)),
        }
        write_safetensors(tmp_path / f"{t}.safetensors", others)
    tracemalloc.start()
    try:
        found = W_kq(tmp_path, "W_kq = W_kq * optimizer[0, 0] / 2")
        assert [found.weights[i][0, 0] for i in range(60)] == [t * t / 2 for t in range(60)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


def refused(path: Path, *rules: str) -> str:
    with pytest.raises(InputError) as error:
        read(path, *rules)
    assert str(error.value).isprintable()
    return str(error.value)


SUGGESTIONS: list[tuple[dict[str, tuple[int, ...]], str]] = [
    ({"attn.k.weight": (8, V), "attn.q.weight": (8, V)}, '--map "W_kq = attn.k.weight.T @ attn.q.weight"'),
    (
        {"self_attn.k_proj.weight": (8, V), "self_attn.q_proj.weight": (8, V)},
        "self_attn.k_proj.weight.T @ self_attn.q_proj",
    ),
    ({"W_K": (8, V), "W_Q": (8, V)}, '--map "W_kq = W_K.T @ W_Q"'),
    ({"key.weight": (8, V), "query.weight": (8, V)}, '--map "W_kq = key.weight.T @ query.weight"'),
    ({"c_attn.weight": (12, V)}, '--map "W_kq = c_attn.weight[4:8].T @ c_attn.weight[0:4]"'),
    (
        {"wte.weight": (V, 3), "k.weight": (8, 3), "q.weight": (8, 3)},
        '--map "W_kq = wte.weight @ k.weight.T @ q.weight @ wte.weight.T"',
    ),
    (
        {"k.weight": (8, V), "q.weight": (8, V), "v.weight": (6, V), "lm_head.weight": (V, 6)},
        '--map "W_ov = lm_head.weight @ v.weight; W_kq = k.weight.T @ q.weight"',
    ),
    ({"att": (V, V)}, 'W_kq = att"'),
]


@pytest.mark.parametrize(("shapes", "expected"), SUGGESTIONS)
def test_without_a_map_names_shapes_and_a_map_that_fits(
    shapes: dict[str, tuple[int, ...]], expected: str, tmp_path: Path
) -> None:
    tensors = {name: RNG.normal(size=shape) for name, shape in shapes.items()}
    write_safetensors(tmp_path / "1.safetensors", tensors)
    said = refused(tmp_path)
    listing = ", ".join(f"{name} {'x'.join(map(str, shape))}" for name, shape in shapes.items())
    assert f"got {listing}, expected W_ov or W_kq, or a map such as " in said
    assert expected in said
    assert read(tmp_path, said.partition(' --map "')[2].removesuffix('"')).records


def test_where_no_map_fits_there_is_no_suggestion(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "1.safetensors", {f"layer{i}": RNG.normal(size=(3, 3)) for i in range(20)})
    said = refused(tmp_path)
    assert 'layer11 3x3 and 8 more, expected W_ov or W_kq, or a map such as --map "W_kq = .."' in said


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("W_kq", "--map: got 'W_kq', expected a rule such as \"W_kq = k.weight.T @ q.weight\", of W_ov or W_kq"),
        ("W_qk = q", "--map: got 'W_qk', expected a rule such as"),
        ("W_kq = v.weight", "got no tensor 'v.weight', expected one of model.k.weight, model.q.weight, other.q.weight"),
        ("W_kq = q.weight", "got 'q.weight', which is model.q.weight and other.q.weight, expected one of its tensors"),
        ("W_kq = k.weight", "W_kq: got shape (1, 2, 4), expected (n, 4, 4) with n >= 1 for this dataset"),
        ("W_kq = 3", "W_kq: got shape (1,), expected (n, 4, 4)"),
        ("", "--map: got no rule, expected a rule such as"),
    ],
)
def test_what_a_map_refuses(rule: str, expected: str, tmp_path: Path) -> None:
    (one,) = factors(1)
    write_safetensors(tmp_path / "1.safetensors", one | {"other.q.weight": np.zeros((2, V))})
    assert expected in refused(tmp_path, rule)


def test_several_rules_in_one_map(tmp_path: Path) -> None:
    """Semicolons separate rules, but not within a quoted name; they are saved one a line, and errors name the rule."""
    tensors = {"a;b": RNG.normal(size=(V, V)), "c": RNG.normal(size=(V, V))}
    write_safetensors(tmp_path / "run" / "1.safetensors", tensors)
    one_map = RunFile(tmp_path / "run", ('W_kq = "a;b" ; W_ov = c.T;',))
    for run in (one_map, RunFile(tmp_path / "run", ('W_kq = "a;b"', "W_ov = c.T"))):
        found = read_weights(run, TARGETS).records
        np.testing.assert_array_equal(found["W_kq"].weights[0], tensors["a;b"])
        np.testing.assert_array_equal(found["W_ov"].weights[0], tensors["c"].T)
        assert run.digest() == one_map.digest()
    saved = one_map.save_map()
    assert saved is not None
    assert saved.read_text(encoding="utf-8") == 'W_kq = "a;b"\nW_ov = c.T\n'
    assert one_map.save_map() is None
    saved.write_text("# W_kq = c; none\nW_kq = c; W_ov = c @ c[0:3]\n", encoding="utf-8")
    assert "run.map:2: W_ov: got a product of 4x4 and 3x4" in refused(tmp_path / "run")
    for rules in (("W_kq = c; W_ov = c @ c[0:3]",), ("W_kq = c", "W_ov = c @ c[0:3]")):
        assert "--map: W_ov: got a product of 4x4 and 3x4" in refused(tmp_path / "run", *rules)
    assert "--map: W_vo: got 'W_vo', expected a rule" in refused(tmp_path / "run", "W_kq = c; W_vo = c")


def test_two_rules_of_a_matrix_are_refused(tmp_path: Path) -> None:
    write_safetensors(tmp_path / "1.safetensors", {"W": np.zeros((V, V))})
    assert "--map: W_kq: got two rules of W_kq, expected one of each" in refused(tmp_path, "W_kq = W", "W_kq = W.T")


def test_what_a_folder_refuses(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "empty: got no checkpoint, expected names with a step, such as iter-100.pth" in refused(tmp_path / "empty")
    one, changed = {"W": np.zeros((V, V))}, {"W": np.zeros((3, 3))}
    for name in ("twice/1.safetensors", "twice/01.safetensors", "single.safetensors", "changing/1.safetensors"):
        write_safetensors(tmp_path / name, one)
    write_safetensors(tmp_path / "changing" / "2.safetensors", changed)
    write_safetensors(tmp_path / "lost" / "1.safetensors", one)
    write_safetensors(tmp_path / "lost" / "2.safetensors", {"X": one["W"]})
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "1.pth").write_bytes(b"no checkpoint")
    rule = "W_kq = W"
    assert "twice: got 1.safetensors beside 01.safetensors, expected one checkpoint of each" in refused(
        tmp_path / "twice", rule
    )
    assert "single.safetensors: got no step, in the file or its name, expected names with a step" in refused(
        tmp_path / "single.safetensors", rule
    )
    assert "2.safetensors: got 3 x 3, expected 4 x 4, as in the first checkpoint" in refused(
        tmp_path / "changing", rule
    )
    assert "2.safetensors: got no tensor 'W', expected one of X" in refused(tmp_path / "lost", rule)
    assert "1.pth: got no .npz file, or a damaged one, expected an .npz file" in refused(tmp_path / "bad", rule)
    write_safetensors(tmp_path / "nan" / "1.safetensors", {"W": np.full((V, V), np.nan)})
    assert "nan: W_kq[0]: got NaN or infinity, expected finite numbers" in refused(tmp_path / "nan", rule)
