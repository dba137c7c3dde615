"""A report's folder: killed at any file operation, its files are whole, and the next report takes their place."""

import hashlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders import InputError
from marginaudit.reports.page.folder import write_folder

Contents = dict[str, str]
MINE = {"notes.txt": "mine", "figures/mine.svg": "mine", "deep/er/mine": "mine"}
TOUCHES_FILES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir", "tempfile", "fcntl")


def contents(folder: Path) -> Contents:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


def report(word: str, *names: str) -> Contents:
    """A report whose every file holds the word."""
    hashes = {name: hashlib.sha256(word.encode()).hexdigest() for name in names}
    document = {"marginaudit": word, "files": [*names, "report.json"], "sha256": hashes}
    return dict.fromkeys(names, word) | {"report.json": json.dumps(document)}


OLD = report("old", "report.html", "figures/a.svg", "figures/b.svg", "old/a.svg")
NEWER = report("new", "report.html", "figures/a.svg", "tables/c.csv")


def write(files: Contents, folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def replace(folder: Path, files: Contents = NEWER) -> None:
    write_folder(folder, {name: text.encode() for name, text in files.items()})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A report with a user's own files in it."""
    found = tmp_path / "report"
    write(OLD | MINE, found)
    return found


def test_the_old_report_goes_and_what_is_not_of_it_stays(folder: Path) -> None:
    (folder / "link").symlink_to("nowhere")
    (folder / ".git/refs/heads").mkdir(parents=True)
    replace(folder)
    assert contents(folder) == NEWER | MINE
    assert (folder / "link").is_symlink()
    assert (folder / ".git/refs/heads").is_dir()
    assert not (folder / "old").exists()
    assert os.listdir(folder.parent) == ["report"]  # noqa: PTH208  (hidden names too)


@pytest.mark.parametrize(
    ("made", "got"),
    [
        ({"tables/c.csv": "mine"}, "tables/c.csv, which no report has written"),
        ({"tables/c.csv/a": "mine"}, "tables/c.csv, which no report has written"),
        ({"figures/a.svg": "edited"}, "figures/a.svg, edited since the report was written"),
        ({"report.json": "{}"}, "a folder of files that are no report"),
    ],
)
def test_what_another_has_written_is_refused_and_stays(folder: Path, made: Contents, got: str) -> None:
    write(made, folder)
    before = contents(folder)
    with pytest.raises(InputError, match=f"report: got {got}, expected a folder to write the report to"):
        replace(folder)
    assert contents(folder) == before


def test_a_manifest_reaches_no_file_outside(folder: Path) -> None:
    outside = folder.parent / "outside.txt"
    outside.write_text("mine")
    document = json.loads(OLD["report.json"])
    digest = hashlib.sha256(b"mine").hexdigest()
    document["sha256"] |= {"../outside.txt": digest, str(outside): digest, "figures": 3}
    write({"report.json": json.dumps(document)}, folder)
    replace(folder)
    assert outside.read_text() == "mine"


def test_a_full_disk_leaves_the_old_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"report: got No space left on device, expected a folder"):
        replace(folder)
    assert contents(folder) == OLD | MINE


def killed_at(operation: int, action: Callable[[], None]) -> bool:
    """Whether a child process that does the action was killed, at that file operation."""
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
    """Each file is whole, the manifest is that of one report, and another report takes the place of all."""
    other = report("other", "report.html", "figures/a.svg", "figures/z.svg")
    operation, mixed = 0, 0
    while killed_at(operation := operation + 1, lambda: replace(folder)):
        found = {name: text for name, text in contents(folder).items() if not name.startswith(".marginaudit-")}
        assert found.items() <= {*OLD.items(), *NEWER.items(), *MINE.items()}, operation
        assert found["report.json"] != NEWER["report.json"] or found == NEWER | MINE, operation
        mixed += found not in (OLD | MINE, NEWER | MINE)
        replace(folder, other)
        assert contents(folder) == other | MINE, operation
        replace(folder, OLD)
        assert contents(folder) == OLD | MINE, operation
    assert mixed > 3
    assert contents(folder) == NEWER | MINE


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
