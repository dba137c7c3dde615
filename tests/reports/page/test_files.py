"""A file is written whole or not at all."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from marginaudit.reports.page import files
from marginaudit.reports.page.files import check_writable, json_pieces, json_text, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_failed_writing_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "half"
        raise OSError(28, "no room")

    (tmp_path / "a.json").write_text("old")
    with pytest.raises(OSError, match="no room"):
        write_whole(tmp_path / "a.json", pieces())
    assert ((tmp_path / "a.json").read_text(), names(tmp_path)) == ("old", ["a.json"])


def test_a_file_is_written_whole_with_the_umasks_rights(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.txt"
    write_whole(path, "é")
    write_whole(path, b"\xff")
    assert path.read_bytes() == b"\xff"
    plain = tmp_path / "plain"
    plain.write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="irectory"):
        write_whole(tmp_path / "folder", "x")
    assert [found.name for found in path.parent.iterdir()] == ["x.txt"]
    assert sorted(found.name for found in tmp_path.iterdir()) == ["folder", "new", "plain"]


def test_trying_a_file_leaves_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "a.json")
    assert names(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "folder" / "a.json")


@pytest.mark.parametrize("many", range(6))
def test_long_json_is_the_same_in_pieces(many: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "ENTRIES", 2)
    entries = [{"é\x9b": [i, "a, b"]} for i in range(many)]
    document = {"name": "x", "entries": entries, "next": {"a": None}}
    pieces = list(json_pieces(document | {"entries": iter(entries)}))
    assert "".join(pieces) == json_text(document)
    assert sum("a, b" in piece for piece in pieces) == (many + 1) // 2
    write_whole(tmp_path / "a.json", iter(pieces))
    assert (tmp_path / "a.json").read_text() == json_text(document)
