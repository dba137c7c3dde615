"""A report's folder: each file is put in place by renaming, report.json last, as the manifest of what is the report's.

A program that is killed leaves whole files, the old ones or the new, and the next report takes their place. Files
that no report has written stay, and so does what was edited since: a report that would overwrite them is refused.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from marginaudit.orders import InputError, printable

MANIFEST = "report.json"
STAGED = ".marginaudit-"
"""Prefix of the temporary folder in which files are staged; what a killed process moved is in its manifest."""

EXPECTED = "a folder to write the report to: a new one, an empty one or an earlier report's"


def manifest(folder: Path) -> dict[str, str] | None:
    """SHA-256 of each file that the folder's report.json lists, itself left out; None where there is no report."""
    try:
        document = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "marginaudit" not in document:
        return None
    hashes = document.get("sha256")
    if not isinstance(hashes, dict):
        return None
    return {  # inside the folder: a report.json that somebody else wrote may name any file
        name: digest
        for name, digest in hashes.items()
        if isinstance(digest, str) and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
    }


def check_folder(folder: Path) -> None:
    """Refuse a folder that no report can be written to.

    Raises
    ------
    InputError
        It cannot be written to, holds files but no report, or a file of its report was edited.
    """
    with refusing(folder):
        with suppress(FileNotFoundError):
            folder.lstat()
        nearest = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not nearest.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if nearest == folder:
            _written(folder)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace the files of an earlier report by those of a new one.

    Parameters
    ----------
    files : mapping of str to bytes
        By relative path; `MANIFEST` is one of them, and has the hashes of the others as its ``sha256``.

    Raises
    ------
    InputError
        The folder cannot be written to, or a file of another's stands in the way; nothing is changed then.
    """
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != MANIFEST}
    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):
            written, left = _written(folder), list(folder.glob(f"{STAGED}*"))
            for name in sorted(hashes.keys() - written):
                if os.path.lexists(folder / name) and _hash_of(folder / name) != hashes[name]:
                    raise _refused(folder, f"{name}, which no report has written")
            staged = Path(tempfile.mkdtemp(prefix=STAGED, dir=folder))
            try:
                for name, content in files.items():
                    path = staged / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
            except BaseException:
                shutil.rmtree(staged, ignore_errors=True)
                raise
            _put_in_place(folder, staged, hashes, written)
            for path in (staged, *left):
                shutil.rmtree(path, ignore_errors=True)


def _put_in_place(folder: Path, staged: Path, names: Collection[str], written: set[str]) -> None:
    """Move the staged files into place, remove stale ones, and write the manifest last."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).replace(folder / name)
    for name in written.difference(names):
        (folder / name).unlink()
        with suppress(OSError):  # not empty
            (folder / name).parent.rmdir()
    (staged / MANIFEST).replace(folder / MANIFEST)


def _written(folder: Path) -> set[str]:
    """Files of earlier reports in the folder, those of killed processes included, without the manifest.

    Raises
    ------
    InputError
        A file of the report was edited, or there are files but no report.
    """
    report = manifest(folder)
    known = [found for staged in folder.glob(f"{STAGED}*") if (found := manifest(staged)) is not None]
    if report is None and not known and any(not path.name.startswith(STAGED) for path in folder.iterdir()):
        raise _refused(folder, "a folder of files that are no report")
    if report is not None:
        known.append(report)
    written = set()
    for name in sorted({name for hashes in known for name in hashes}):
        if _hash_of(folder / name) in {hashes.get(name) for hashes in known} - {None}:
            written.add(name)
        elif report is not None and name in report and (folder / name).exists():
            raise _refused(folder, f"{name}, edited since the report was written")
    return written


def _hash_of(path: Path) -> str | None:
    """SHA-256 of a file; None where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _refused(folder: Path, got: str) -> InputError:
    return InputError(printable(str(folder)), got=printable(got), expected=EXPECTED)


@contextmanager
def refusing(folder: Path) -> Iterator[None]:
    """Context that turns a failed write into an InputError with the folder."""
    try:
        yield
    except OSError as error:
        raise InputError(printable(str(folder)), got=error.strerror or "an error", expected=EXPECTED) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Exclusive flock on a folder; without effect on a file system that has none."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
