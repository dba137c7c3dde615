"""A folder is replaced as a whole: killed at any file operation, it holds the old report or the new one."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders import InputError
from marginaudit.reports.page.files import json_text
from marginaudit.reports.page.locks import lock_of, locked
from marginaudit.reports.page.replacement import replacing
from marginaudit.reports.page.write import files_of_report

Contents = dict[str, str]
MINE = {"notes.txt": "mine", "figures/mine.svg": "mine", "deep/er/mine": "mine"}
TOUCHES_FILES = ("open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.chmod", "os.scandir", "fcntl")


def contents(folder: Path) -> Contents:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def report(word: str, *names: str) -> Contents:
    """A report whose every file holds the word."""
    files = ["report.json", *names]
    return dict.fromkeys(names, word) | {"report.json": json_text({"marginaudit": word, "files": files})}


OLD = report("old", "report.html", "figures/a.svg", "figures/b.svg")
NEWER = report("new", "report.html", "figures/a.svg", "tables/c.csv")


def write(files: Contents, folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def replace(folder: Path, files: Contents = NEWER) -> None:
    with replacing(folder, files_of_report) as new:
        write(files, new)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A report with a user's own files in it."""
    found = tmp_path / "report"
    write(OLD | MINE, found)
    return found


def test_the_old_report_goes_and_what_is_not_of_it_stays(folder: Path) -> None:
    folder.chmod(0o2750)
    (folder / "link").symlink_to("nowhere")
    (folder / "folder link").symlink_to(folder.parent)
    os.mkfifo(folder / "pipe")
    replace(folder)
    assert contents(folder) == NEWER | MINE
    assert (folder / "link").readlink() == Path("nowhere")
    assert (folder / "folder link").readlink() == folder.parent
    assert (folder / "pipe").is_fifo()
    assert folder.stat().st_mode & 0o7777 == 0o2750
    assert os.listdir(folder.parent) == ["report"]  # noqa: PTH208  (hidden names too)


def test_empty_folders_stay(folder: Path) -> None:
    """As git has them; a folder of the old report's files alone goes with it."""
    for name in (".git/refs/heads", "figures/mine", "tables"):
        (folder / name).mkdir(parents=True)
    write({"old/a.svg": "old"} | report("old", "report.html", "old/a.svg"), folder)
    replace(folder)
    for name in (".git/refs/heads", "figures/mine", "tables"):
        assert (folder / name).is_dir()
    assert not (folder / "old").exists()


def test_what_the_new_report_would_overwrite_gets_another_name(folder: Path) -> None:
    write({"tables/c.csv": "mine", "tables/c.csv~": "mine too"}, folder)
    replace(folder)
    assert contents(folder) == NEWER | MINE | {"tables/c.csv~": "mine", "tables/c.csv~~": "mine too"}


def test_a_folder_where_the_new_report_has_a_file_gets_another_name(folder: Path) -> None:
    mine = {"tables/c.csv/a/b": "mine", "tables/c.csv~": "mine too"}
    write(mine, folder)
    (folder / "report.html").unlink()
    (folder / "report.html").mkdir()
    replace(folder)
    kept = {"tables/c.csv~/a/b": "mine", "tables/c.csv~~": "mine too"}
    assert contents(folder) == NEWER | MINE | kept
    assert (folder / "report.html~").is_dir()
    replace(folder)
    assert contents(folder) == NEWER | MINE | kept
    assert (folder / "report.html~").is_dir()


def test_where_there_are_no_hard_links_and_no_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("fcntl.flock", refuse)
    (folder / "link").symlink_to("nowhere")
    replace(folder)
    assert (folder / "link").readlink() == Path("nowhere")
    assert contents(folder.parent) == {f"report/{name}": text for name, text in (NEWER | MINE).items()}


def test_new_folders_and_links_to_folders(folder: Path) -> None:
    replace(folder.parent / "a/b/c")
    assert contents(folder.parent / "a/b/c") == NEWER
    (folder.parent / "empty").mkdir()
    replace(folder.parent / "empty")
    assert contents(folder.parent / "empty") == NEWER
    (folder.parent / "link").symlink_to(folder)
    replace(folder.parent / "link")
    assert contents(folder) == NEWER | MINE
    assert (folder.parent / "link").is_symlink()


def test_a_new_folder_has_the_umasks_rights_and_the_umask_stays(folder: Path) -> None:
    before = os.umask(0o027)
    try:
        replace(folder.parent / "new")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert (folder.parent / "new").stat().st_mode & 0o777 == 0o750


def test_no_other_program_swaps_while_it_is_looked_whether_there_is_a_report(folder: Path) -> None:
    locked: list[bool] = []

    def owned(where: Path) -> frozenset[str] | None:
        locked.append(lock_of(folder.parent, wait=False) is None)
        return files_of_report(where)

    with replacing(folder, owned) as new:
        assert locked == [True]
        write(NEWER, new)


def test_a_folder_that_is_half_swapped_is_waited_for(folder: Path) -> None:
    """Its place may hold anything until the lock is free, so that what is there stands against nothing before."""
    failed: list[BaseException] = []

    def one() -> None:
        try:
            replace(folder)
        except BaseException as error:
            failed.append(error)

    second = threading.Thread(target=one)
    with locked(folder.parent):
        away = folder.rename(folder.with_name("away"))
        folder.write_text("no folder")
        second.start()
        second.join(0.3)
        assert second.is_alive(), failed
        folder.unlink()
        away.rename(folder)
    second.join()
    assert not failed
    assert contents(folder) == NEWER | MINE


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_an_error_leaves_the_old_report(folder: Path, error: type[BaseException]) -> None:
    def write_and_fail() -> None:
        with replacing(folder, files_of_report) as new:
            write(NEWER, new)
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert contents(folder.parent) == {f"report/{name}": text for name, text in (OLD | MINE).items()}


@pytest.mark.parametrize("failing", [1, 2])
def test_a_failed_renaming_leaves_the_old_report(folder: Path, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    rename, calls = Path.rename, []

    def fails_once(path: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails_once)
    with pytest.raises(InputError, match=r"report: got No space left on device, expected a folder"):
        replace(folder)
    assert contents(folder.parent) == {f"report/{name}": text for name, text in (OLD | MINE).items()}


def killed_at(operation: int, action: Callable[[], None]) -> bool:
    """Whether a child process that does the action was killed, at its so-maniest file operation."""
    child = os.fork()
    if not child:
        left = operation

        def count(event: str, _: Any) -> None:
            nonlocal left
            if event.startswith(TOUCHES_FILES):
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        action()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_killed_at_every_file_operation(folder: Path) -> None:
    """Also killed while it recovers; the next one that runs leaves nothing but its own report."""
    recovered = operation = 0
    new = NEWER
    while killed_at(operation := operation + 1, lambda: replace(folder, new)):
        if not folder.exists():
            recovered += 1
            for again in range(1, 6):
                killed_at(again, lambda: replace(folder, new))
        found = (
            contents(folder)
            if folder.exists()
            else contents(*[p for p in folder.parent.iterdir() if p.suffix == ".old"])
        )
        assert found in (OLD | MINE, NEWER | MINE), operation
        replace(folder, OLD)
        assert contents(folder.parent) == {f"report/{name}": text for name, text in (OLD | MINE).items()}, operation
    assert recovered == 1
    assert operation > 20
    assert contents(folder) == NEWER | MINE


def test_what_an_ended_program_left_is_swept_and_its_lock_is_given_back(folder: Path) -> None:
    left = folder.parent / ".report.marginaudit-ended.new"
    others = ("mine.old/a", "mine.new/b", ".reports.marginaudit-c.new/c")
    write(dict.fromkeys(others, "mine"), folder.parent)
    open_files = os.listdir("/proc/self/fd")  # noqa: PTH208  (the folder of a process that changes)
    left.mkdir()
    replace(folder)
    assert not left.exists()
    assert os.listdir("/proc/self/fd") == open_files  # noqa: PTH208
    assert {name for name in contents(folder.parent) if not name.startswith("report/")} == set(others)


def test_what_a_program_that_runs_writes_is_not_swept(folder: Path) -> None:
    with replacing(folder, files_of_report) as new:
        write(NEWER, new)
        replace(folder, OLD)
    assert contents(folder.parent) == {f"report/{name}": text for name, text in (NEWER | MINE).items()}


def test_many_at_the_same_time(folder: Path) -> None:
    reports = [report(f"{i}", "report.html", f"figures/{i}.svg") for i in range(20)]
    failed: list[BaseException] = []

    def one(files: Contents) -> None:
        try:
            for _ in range(5):
                replace(folder, files)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=one, args=(files,)) for files in reports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert contents(folder) in [files | MINE for files in reports]
    assert os.listdir(folder.parent) == ["report"]  # noqa: PTH208
