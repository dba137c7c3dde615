"""Checkpoints of PyTorch, read without it: those in `checkpoints/` were written by torch 2.14."""

import contextlib
import pickle
import re
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from marginaudit.orders import InputError
from marginaudit.training.weight_files import checkpoint
from marginaudit.training.weight_files.checkpoints import read_tensors
from marginaudit.training.weight_files.tensors import Tensor, decoded
from tests.training.weight_files.damage import damaged, damages, error_of

FOLDER = Path(__file__).parent / "checkpoints"


def values(tensor: Tensor) -> Any:
    return decoded(tensor.stored(), tensor.dtype).tolist()


def test_every_kind_of_tensor() -> None:
    found = read_tensors(FOLDER / "kinds.pt")
    assert {name: (one.shape, one.dtype) for name, one in found.items()} == {
        "bf16": ((2, 4), "bfloat16"),
        "f16": ((2, 4), "float16"),
        "f64": ((2, 4), "float64"),
        "turned": ((2, 3), "float32"),
        "long": ((3,), "int64"),
        "parameter": ((2, 2), "float32"),
        "empty": ((0, 3), "float32"),
        "flag": ((1,), "bool"),
    }
    assert values(found["turned"]) == [[1, 5, 9], [2, 6, 10]]  # a view of a larger storage
    assert values(found["long"]) == [0, 1, 2]
    assert values(found["parameter"]) == [[1, 1], [1, 1]]
    exact = np.array(values(found["f64"]))
    for name, digits in (("bf16", 8), ("f16", 11)):
        fraction, exponent = np.frexp(exact)
        rounded = np.ldexp(np.rint(np.ldexp(fraction, digits)), exponent - digits)
        np.testing.assert_array_equal(values(found[name]), rounded)


def test_names_of_nested_containers_are_joined() -> None:
    found = read_tensors(FOLDER / "iter-1.pth")
    assert "model.q.weight" in found
    assert "optimizer.state.0.exp_avg" in found
    first = read_tensors(FOLDER / "iter-0.pth")
    q, before = (np.array(values(one["model.q.weight"])) for one in (found, first))
    np.testing.assert_allclose(
        q, before * (1 - 0.1 * 0.01) - 0.1, atol=1e-6
    )  # AdamW's first step, on positive gradients


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.write_text, (self.path, "executed")


def zipped(path: Path, content: bytes, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", content)
        for name, data in members.items():
            archive.writestr(f"archive/data/{name}", data)
    return path


def test_a_hostile_pickle_is_refused_and_not_executed(tmp_path: Path) -> None:
    harm = tmp_path / "harm"
    content = pickle.dumps({"model": {"W": Hostile(harm)}})
    path = zipped(tmp_path / "bad.pth", content)
    with pytest.raises(InputError, match=r"bad\.pth: got a pickle that calls pathlib\.Path\.write_text|_local"):
        read_tensors(path)
    assert not harm.exists()
    pickle.loads(content)
    assert harm.exists()


@pytest.mark.parametrize(
    "name", ["posix.system", "builtins.eval", "builtins.getattr", "torch.load", "torch.hub.load", "os.popen"]
)
def test_other_functions_are_refused(name: str, tmp_path: Path) -> None:
    module, _, function = name.rpartition(".")
    content = f"c{module}\n{function}\n(S'true'\ntR.".encode()
    with pytest.raises(InputError, match=f"got a pickle that calls {name}, expected a checkpoint of tensors"):
        read_tensors(zipped(tmp_path / "bad.pth", content))


@pytest.mark.parametrize("name", ["collections\nCounter", "collections\nOrderedDict", "torch\nSize"])
def test_a_pickle_sets_no_attributes_of_what_it_finds(name: str, tmp_path: Path) -> None:
    """BUILD with {"update": None} as the state of a class."""
    before = {one: dict(vars(one)) for one in (Counter, OrderedDict, checkpoint, Tensor)}
    content = f"c{name}\nN(S'update'\nNd\x86b.".encode("latin1")
    with contextlib.suppress(InputError):
        read_tensors(zipped(tmp_path / "bad.pth", content))
    assert {one: dict(vars(one)) for one in before} == before


def test_a_pickle_cannot_change_a_tensor(tmp_path: Path) -> None:
    with zipfile.ZipFile(FOLDER / "iter-0.pth") as archive:
        content = archive.read("iter-0/data.pkl")
    for state in (b"}S'stored'\nNs", b"N}S'stored'\nNs\x86"):
        changed = re.sub(rb"(tq.R)(q.)", rb"\1\2" + state.replace(b"\n", b"\\n") + b"b", content, count=1)
        assert changed != content
        with pytest.raises(InputError, match="got a damaged file"):
            read_tensors(zipped(tmp_path / "bad.pth", changed))


def test_tensors_outside_their_storage_are_refused(tmp_path: Path) -> None:
    """The shape (2, 4) of each tensor is changed to (2, 5) in the pickle."""
    with zipfile.ZipFile(FOLDER / "iter-0.pth") as archive:
        content, data = archive.read("iter-0/data.pkl"), archive.read("iter-0/data/0")
    changed = content.replace(b"K\x02K\x04\x86", b"K\x02K\x05\x86")
    assert changed != content
    found = read_tensors(zipped(tmp_path / "long.pth", changed, **{"0": data, "1": data}))
    with pytest.raises(InputError, match=r"got a tensor of shape \(2, 5\) in 8 numbers, expected a tensor inside"):
        found["model.q.weight"].stored()
    found = read_tensors(zipped(tmp_path / "short.pth", content, **{"0": data[:-4], "1": data}))
    with pytest.raises(InputError, match=r"got a tensor of shape \(2, 4\) in 7 numbers"):
        found["model.q.weight"].stored()


def test_a_missing_storage_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(FOLDER / "iter-0.pth") as archive:
        content = archive.read("iter-0/data.pkl")
    found = read_tensors(zipped(tmp_path / "lost.pth", content))
    with pytest.raises(InputError, match=r"lost\.pth: got a damaged file .KeyError: .*data/0"):
        found["model.q.weight"].stored()


GOOD = (FOLDER / "iter-1.pth").read_bytes()


@given(changed=damages(GOOD))
def test_damaged_files_end_in_one_line(tmp_path_factory: pytest.TempPathFactory, changed: dict[int, int]) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.pth"
    path.write_bytes(damaged(GOOD, changed))
    assert error_of(path).isprintable()
