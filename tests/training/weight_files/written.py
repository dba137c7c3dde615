"""Writing of .safetensors files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "uint16": "BF16", "int64": "I64"}
"""Types in the header; uint16 stands for the bits of bfloat16."""


def bfloat16(array: NDArray[Any]) -> NDArray[np.uint16]:
    """Bits of an array rounded to bfloat16, to nearest even."""
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def write_safetensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> Path:
    """Write tensors to a file."""
    header, content = {}, b""
    for name, array in tensors.items():
        data = np.ascontiguousarray(array).tobytes()
        offsets = [len(content), len(content) + len(data)]
        header[name] = {"dtype": TYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": offsets}
        content += data
    text = json.dumps(header).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)
    return path
