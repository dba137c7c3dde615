"""Replacing the folder of a report as a whole: written beside it, then moved in by renaming.

Whenever the program is killed, the folder holds the old report or the new one, or none for the moment between two
renames; then the old one lies beside it, and the next `replacing` moves it back. Temporaries lie beside the folder,
named after it; those of programs that ended are removed by the next one. Where the file system has no locks on
folders, nothing is moved back or removed.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from marginaudit.orders import InputError, printable
from marginaudit.reports.page.locks import lock_of, locked

NEW, OLD = ".new", ".old"
EXPECTED = "a folder to write the report to: a new one, an empty one or an earlier report's"

Owned = Callable[[Path], frozenset[str] | None]


@contextmanager
def replacing(folder: Path, owned: Owned) -> Iterator[Path]:
    """A new folder to write into, which takes the folder's place at the end, if nothing is raised until then.

    Parameters
    ----------
    folder : where the report is to be
    owned : tells the relative paths of the files that the report in a folder consists of, None where there is none

    Files and empty folders that its report does not own are carried over; where the new report has a file of that
    name, with ``~`` appended.

    Raises
    ------
    InputError
        At once where the folder, or what is to hold it, cannot be written to, or where it holds files but no report.
    """
    with refusing(folder):
        target = Path(os.path.realpath(folder))
        if (got := _against_writing_in(target.parent)) is not None:
            raise InputError(printable(str(folder)), got=got, expected=EXPECTED)
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(target.parent) as alone:  # while no other program has it half swapped
            if alone:
                _sweep(target)
            if (got := _against_replacing(target)) is not None:
                raise InputError(printable(str(folder)), got=got, expected=EXPECTED)
            if target.exists() and owned(target) is None and any(target.iterdir()):
                got = "a folder of files that are no report"
                raise InputError(printable(str(folder)), got=got, expected=EXPECTED)
            new = _made_beside(target)
            lock = lock_of(new, wait=False)
    try:
        yield new
        with refusing(folder), locked(target.parent):
            _swap(new, target, owned)
    finally:
        with refusing(folder), locked(target.parent):
            _restore(new.with_suffix(OLD), target)
            shutil.rmtree(new, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def refusing(folder: Path) -> Iterator[None]:
    """Within, a failure to write is an InputError that names the folder."""
    try:
        yield
    except OSError as error:
        raise InputError(printable(str(folder)), got=error.strerror or "an error", expected=EXPECTED) from None


def _against_writing_in(parent: Path) -> str | None:
    """What stands against a new entry of this folder, which may be yet to make; None where nothing does."""
    nearest = parent
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    return _against_entering(nearest)


def _against_replacing(target: Path) -> str | None:
    """What stands against another folder in this one's place, or None; under the lock."""
    if not os.path.lexists(target):
        return None
    if (got := _against_entering(target)) is not None:
        return got
    if Path.cwd().is_relative_to(target):
        return "the working directory or one around it"
    if target.is_mount():
        return "a mount point"
    return None


def _against_entering(folder: Path) -> str | None:
    if not folder.is_dir():
        return os.strerror(errno.ENOTDIR)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return os.strerror(errno.EACCES)
    return None


def _swap(new: Path, target: Path, owned: Owned) -> None:
    if target.exists():
        _carry_over(target, new, owned(target) or frozenset())
        shutil.copymode(target, new)
        target.rename(new.with_suffix(OLD))
    new.rename(target)


def _carry_over(old: Path, new: Path, owned: frozenset[str]) -> None:
    places = {old: new}
    for folder, folders, files in os.walk(old):
        for path in (Path(folder, name) for name in sorted([*files, *folders])):
            copy = places[path.parent] / path.name
            if path.is_dir() and not path.is_symlink():
                places[path] = copy if copy.is_dir() else _free(copy)
                if places[path] != copy or not any(path.iterdir()):  # of others only what is the user's within
                    places[path].mkdir(parents=True, exist_ok=True)
                continue
            if path.relative_to(old).as_posix() in owned:
                continue
            copy = _free(copy)
            copy.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, copy, follow_symlinks=False)
            except OSError:  # a file system without hard links
                shutil.copy2(path, copy, follow_symlinks=False)


def _free(path: Path) -> Path:
    while os.path.lexists(path):
        path = path.with_name(path.name + "~")
    return path


def _made_beside(target: Path) -> Path:
    new = Path(tempfile.mkdtemp(prefix=_prefix(target), suffix=NEW, dir=target.parent))
    umask = os.umask(0)
    os.umask(umask)
    new.chmod(0o777 & ~umask)
    return new


def _prefix(target: Path) -> str:
    return f".{target.name}.marginaudit-"


def _sweep(target: Path) -> None:
    """Move back the old folder where a swap was cut short, and remove what ended programs left; under the lock."""
    for path in sorted(target.parent.iterdir()):
        if not path.name.startswith(_prefix(target)):
            continue
        if path.suffix == OLD:
            _restore(path, target)
        elif path.suffix == NEW and (lock := lock_of(path, wait=False)) is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def _restore(old: Path, target: Path) -> None:
    """Move the old folder back where there is no new one in its place, else remove it."""
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(old, ignore_errors=True)
