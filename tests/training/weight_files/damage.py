"""Damaged weight files."""

from pathlib import Path

from hypothesis import strategies as st

from marginaudit.orders import InputError
from marginaudit.training.weight_files.checkpoints import read_tensors


def damages(content: bytes) -> st.SearchStrategy[dict[int, int]]:
    """Other bytes at up to eight places of a file."""
    return st.dictionaries(st.integers(0, len(content) - 1), st.integers(0, 255), max_size=8)


def damaged(content: bytes, changed: dict[int, int]) -> bytes:
    """The content with the other bytes."""
    found = bytearray(content)
    for place, byte in changed.items():
        found[place] = byte
    return bytes(found)


def error_of(path: Path) -> str:
    """The error in one line of reading all tensors; "" without one."""
    try:
        for one in read_tensors(path).values():
            one.stored()
    except InputError as error:
        return str(error)
    return ""
