"""Writing of a report's folder: files are renamed into place, report.json, their manifest, last.

A killed program leaves whole files, old or new; the next report replaces them. Files of other origin and edited files
are kept: a report that would overwrite them is refused.
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
    """SHA-256 of each file listed in the folder's report.json, itself excluded; None without a report."""
    try:
        document = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "marginaudit" not in document:
        return None
    hashes = document.get("sha256")
    if not isinstance(hashes, dict):
        return None
    return {  # only files inside the folder: a foreign report.json may name any file
        name: digest
        for name, digest in hashes.items()
        if isinstance(digest, str) and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
    }


def check_folder(folder: Path) -> None:
    """Refuse a folder unfit for a report.

    Raises
    ------
    InputError
        The folder is not writable, holds files but no report, or an edited file of its report.
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
    """Replace an earlier report's files by those of a new one.

    Parameters
    ----------
    files : mapping of str to bytes
        By relative path, `MANIFEST` included; its ``sha256`` holds the hashes of the others.

    Raises
    ------
    InputError
        The folder is not writable, or a foreign file has the path of a new one; the folder is then unchanged.
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
        with suppress(OSError):  # folder not empty
            (folder / name).parent.rmdir()
    (staged / MANIFEST).replace(folder / MANIFEST)


def _written(folder: Path) -> set[str]:
    """Files of earlier reports in the folder, including those of killed processes, without the manifest.

    Raises
    ------
    InputError
        A file of the report was edited, or the folder holds files but no report.
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
    """SHA-256 of a file; None if missing."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _refused(folder: Path, got: str) -> InputError:
    return InputError(printable(str(folder)), got=printable(got), expected=EXPECTED)


@contextmanager
def refusing(folder: Path) -> Iterator[None]:
    """Context that turns a failed write into an InputError naming the folder."""
    try:
        yield
    except OSError as error:
        raise InputError(printable(str(folder)), got=error.strerror or "an error", expected=EXPECTED) from None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Exclusive flock on a folder; no lock on file systems without flock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
