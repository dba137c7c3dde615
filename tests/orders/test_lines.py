"""Lines of a file, one at a time: what ends one, where bad bytes are, how much is read."""

from pathlib import Path

import pytest

from marginaudit.orders import InputError
from marginaudit.orders.files import lines


def written(folder: Path, content: bytes) -> Path:
    path = folder / "a.txt"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", []),
        (b"a\n\nb", ["a", "", "b"]),
        (b"\xef\xbb\xbfa\r\nb\rc\r\n", ["a", "b", "c"]),
        ("\ufeffé\u2028\x0b\x85x\n\ufeffy".encode(), ["é\u2028\x0b\x85x", "\ufeffy"]),
    ],
)
def test_lines_end_with_lf_cr_lf_or_cr(content: bytes, found: list[str], tmp_path: Path) -> None:
    assert list(lines(written(tmp_path, content), "a text")) == list(enumerate(found, start=1))


def test_bad_bytes_are_named_by_their_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.txt: line 3: got text that is not UTF-8, expected UTF-8"):
        list(lines(written(tmp_path, b"a\nb\n\xff\nc"), "a text"))


def test_what_is_no_file(tmp_path: Path) -> None:
    for name, got in (("none.txt", "No such file"), (".", "Is a directory")):
        with pytest.raises(InputError, match=rf"got {got}.*, expected a text"):
            list(lines(tmp_path / name, "a text"))


def test_the_part_that_is_read_is_told_up_to_the_whole(tmp_path: Path) -> None:
    told: list[float] = []
    assert len(list(lines(written(tmp_path, b"abcd\n" * 1000), "a text", told.append))) == 1000
    assert told == sorted(set(told))
    assert len(told) > 90
    assert 0.95 < told[-1] <= 1
