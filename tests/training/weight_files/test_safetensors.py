"""Reading of .safetensors files: `checkpoints/kinds.safetensors` was written by safetensors 0.8."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders import InputError
from marginaudit.training.weight_files.checkpoints import read_tensors
from marginaudit.training.weight_files.tensors import decoded
from tests.training.weight_files.damage import damaged, damages, error_of
from tests.training.weight_files.written import bfloat16, write_safetensors

FILE = Path(__file__).parent / "checkpoints" / "kinds.safetensors"


def test_every_type() -> None:
    found = read_tensors(FILE)
    exact = np.arange(8).reshape(2, 4) / 3
    assert {name: (one.shape, one.dtype) for name, one in found.items()} == {
        "f64": ((2, 4), "float64"),
        "f32": ((2, 4), "float32"),
        "f16": ((2, 4), "float16"),
        "bf16": ((2, 4), "bfloat16"),
        "i64": ((3,), "int64"),
        "step": ((1,), "int64"),
        "flag": ((2,), "bool"),
    }
    read = {name: decoded(one.stored(), one.dtype) for name, one in found.items()}
    np.testing.assert_array_equal(read["f64"], exact)
    np.testing.assert_array_equal(read["f32"], exact.astype(np.float32))
    np.testing.assert_array_equal(read["f16"], exact.astype(np.float16))
    np.testing.assert_allclose(read["bf16"], exact, rtol=2.0**-8)
    assert len({*read["bf16"].ravel()}) == 8
    assert (read["i64"].tolist(), read["step"].tolist(), read["flag"].tolist()) == ([0, 1, 2], [7], [1, 0])


def test_bfloat16_is_rounded_to_8_digits(tmp_path: Path) -> None:
    written = np.random.default_rng(0).normal(size=(30, 4))
    (tensor,) = read_tensors(write_safetensors(tmp_path / "W.safetensors", {"W": bfloat16(written)})).values()
    fraction, exponent = np.frexp(written)
    np.testing.assert_array_equal(
        decoded(tensor.stored(), tensor.dtype), np.ldexp(np.rint(np.ldexp(fraction, 8)), exponent - 8)
    )


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"dtype": "F8_E4M3"}, "W: got tensors of 'F8_E4M3', expected one of F64, F32"),
        ({"shape": [2, 5]}, r"W: got bytes 0 to 32 of 32, expected 40 bytes, for its shape \(2, 5\) of float32"),
        ({"shape": [-2, -4]}, "W: got bytes 0 to 32 of 32"),
        ({"data_offsets": [8, 40]}, "W: got bytes 8 to 40 of 32, expected 32 bytes"),
        ({"data_offsets": [-8, 24]}, "W: got bytes -8 to 24"),
        ({"data_offsets": 3}, r"bad\.safetensors: got a damaged header, expected a \.safetensors file"),
        ({"shape": "24"}, "got a damaged header"),
        ({"more": 1}, "got a damaged header"),
    ],
)
def test_what_is_refused(entry: dict[str, object], said: str, tmp_path: Path) -> None:
    header = json.dumps({"W": {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]} | entry}).encode()
    path = tmp_path / "bad.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(32))
    with pytest.raises(InputError, match=said):
        read_tensors(path)["W"].stored()


GOOD = FILE.read_bytes()


@given(changed=damages(GOOD), end=st.integers(len(GOOD) // 2, len(GOOD)))
def test_damaged_files_end_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, changed: dict[int, int], end: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.safetensors"
    path.write_bytes(damaged(GOOD, changed)[:end])
    assert error_of(path).isprintable()
