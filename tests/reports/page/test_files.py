"""A file is written whole, and what killed programs left of it goes with the next writing."""

import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest

from marginaudit.reports.page import files
from marginaudit.reports.page.files import check_writable, json_pieces, json_text, replace_whole, write_whole
from marginaudit.reports.page.locks import lock_of


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_program_left_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    pid = os.fork()
    if pid == 0:
        tempfile.mkstemp(dir=tmp_path, prefix=".a.json.", suffix=".part")
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    others = [
        ".a.json.mine",
        ".axjson.abcdefgh.part",
        ".a.json.abcdefgh.partly",
        ".b.json.abcdefgh.part",
        "a.json.part",
    ]
    for name in others:
        (tmp_path / name).touch()
    assert len(names(tmp_path)) == len(others) + 1
    write_whole(file, "new")
    assert file.read_text() == "new"
    assert names(tmp_path) == sorted([*others, "a.json"])


def test_folders_above_a_file_are_made(tmp_path: Path) -> None:
    for _ in range(2):
        write_whole(tmp_path / "deep" / "er" / "a.json", "new")
    assert (tmp_path / "deep" / "er" / "a.json").read_text() == "new"


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


def test_what_is_to_be_read_back_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: sizes.append(os.fstat(descriptor).st_size))
    replace_whole(tmp_path / "a", b"12345", read_back=True)
    assert (sizes, (tmp_path / "a").read_bytes()) == ([5], b"12345")
    replace_whole(tmp_path / "a", b"1")
    assert sizes == [5], "not asked"
    monkeypatch.setattr(Path, "read_bytes", lambda path: b"other")
    replace_whole(tmp_path / "a", b"67")
    with pytest.raises(OSError, match="other bytes than were written"):
        replace_whole(tmp_path / "a", b"890", read_back=True)
    assert ((tmp_path / "a").read_text(), names(tmp_path)) == ("67", ["a"])


def test_what_another_program_is_writing_stays(tmp_path: Path) -> None:
    under_way = tmp_path / ".a.json.abcdefgh.part"
    under_way.touch()
    lock = lock_of(under_way, wait=False)
    assert lock is not None
    write_whole(tmp_path / "a.json", "new")
    assert names(tmp_path) == [under_way.name, "a.json"]
    os.close(lock)
    write_whole(tmp_path / "a.json", "newer")
    assert names(tmp_path) == ["a.json"]


def test_a_lock_that_another_has_leaves_no_file_open(tmp_path: Path) -> None:
    held = lock_of(tmp_path, wait=False)
    assert held is not None
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    assert lock_of(tmp_path, wait=False) is None
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208
    os.close(held)


def test_a_file_under_way_is_locked_until_it_is_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks: list[int | None] = []

    rename = Path.replace

    def replace(temporary: Path, target: Path) -> None:
        locks.append(lock_of(temporary, wait=False))
        rename(temporary, target)

    monkeypatch.setattr(Path, "replace", replace)
    write_whole(tmp_path / "a.json", "new")
    assert locks == [None]


def test_a_temporary_that_was_taken_for_a_left_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program sweeps between the file's making and its lock."""
    made: list[str] = []
    mkstemp = tempfile.mkstemp

    def swept_once(*args: Any, **options: Any) -> tuple[int, str]:
        handle, name = mkstemp(*args, **options)
        if not made:
            Path(name).unlink()
        made.append(name)
        return handle, name

    monkeypatch.setattr(tempfile, "mkstemp", swept_once)
    write_whole(tmp_path / "a.json", "new")
    assert len(made) == 2
    assert (tmp_path / "a.json").read_text() == "new"


def test_a_left_temporary_that_another_program_removes_first_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / ".a.json.abcdefgh.part"
    left.touch()

    def swept_by_another(path: Path, *, wait: bool) -> int | None:
        lock = lock_of(path, wait=wait)
        if path == left:
            path.unlink()
        return lock

    monkeypatch.setattr(files, "lock_of", swept_by_another)
    write_whole(tmp_path / "a.json", "new")
    assert names(tmp_path) == ["a.json"]


def test_a_temporary_that_is_gone_does_not_hide_why_writing_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removed(temporary: Path, target: Path) -> None:
        temporary.unlink()
        raise OSError(28, f"no room for {target.name}")

    monkeypatch.setattr(Path, "replace", removed)
    with pytest.raises(OSError, match=r"no room for a\.json"):
        write_whole(tmp_path / "a.json", "new")
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_listed_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object) -> bool:
        return False

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "access", unreadable)
    monkeypatch.setattr(Path, "iterdir", refuse)
    write_whole(tmp_path / "a.json", "new")
    assert (tmp_path / "a.json").read_text() == "new"


@pytest.mark.parametrize("kind", ["open", "fcntl.flock"])
def test_without_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    left = tmp_path / ".a.json.abcdefgh.part"
    left.touch()

    def refuse(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(f"os.{kind}" if kind == "open" else kind, refuse)
        assert lock_of(left, wait=True) is None
    monkeypatch.setattr("marginaudit.reports.page.files.lock_of", lambda *_, **__: None)
    write_whole(tmp_path / "a.json", "new")
    assert names(tmp_path) == [left.name, "a.json"]


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
