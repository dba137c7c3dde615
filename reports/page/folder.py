"""A report's folder: each file is put in place by renaming, report.json last, as the manifest of what is the report's.

A program that is killed leaves whole files, the old ones or the new, and the next report takes their place. Files
that no report has written stay, and so does what was edited since: a report that would overwrite them is refused.
"""

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from marginaudit.orders import InputError, printable
from marginaudit.reports.page.locks import locked

MANIFEST = "report.json"
STAGED = ".marginaudit-"
"""A folder within, where the files are written before any of them is put in place, begins with this."""

HASHES = "hashes.json"
"""Of the staged files: by them a file that a killed program has put in place is known."""

EXPECTED = "a folder to write the report to: a new one, an empty one or an earlier report's"


def manifest(folder: Path) -> dict[str, str] | None:
    """SHA-256 of each file that the folder's report.json lists, itself left out; None where there is no report."""
    document = _json(folder / MANIFEST)
    if not isinstance(document, dict) or "marginaudit" not in document:
        return None
    hashes = document.get("sha256")
    return _within(hashes) if isinstance(hashes, dict) else None


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
        if nearest != folder:
            return
        hashes = manifest(folder)
        if hashes is None and any(not path.name.startswith(STAGED) for path in folder.iterdir()):
            raise _refused(folder, "a folder of files that are no report")
        known = _known(folder)
        for name in hashes or ():
            if (folder / name).exists() and _hash_of(folder / name) not in known[name]:
                raise _refused(folder, f"{name}, edited since the report was written")


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put the files of a report in place of those of the report before.

    Parameters
    ----------
    files : mapping of str to bytes
        By relative path; `MANIFEST` is one of them, and has the hashes of the others as its ``sha256``.

    Raises
    ------
    InputError
        The folder cannot be written to, or a file of another's stands in the way; nothing is changed then.
    """
    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder) as alone:
            check_folder(folder)
            known, left = _known(folder), list(folder.glob(f"{STAGED}*"))
            for name, content in files.items():
                same = _hash_of(folder / name) in {*known[name], hashlib.sha256(content).hexdigest()}
                if name != MANIFEST and os.path.lexists(folder / name) and not same:
                    raise _refused(folder, f"{name}, which no report has written")
            staged = Path(tempfile.mkdtemp(prefix=STAGED, dir=folder))
            try:
                _stage(staged, files)
            except BaseException:
                shutil.rmtree(staged, ignore_errors=True)
                raise
            _put_in_place(folder, staged, files, known)
            for path in (staged, *left) if alone else (staged,):
                shutil.rmtree(path, ignore_errors=True)


def _stage(staged: Path, files: Mapping[str, bytes]) -> None:
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != MANIFEST}
    (staged / HASHES).write_text(json.dumps(hashes), encoding="utf-8")
    for name, content in files.items():
        path = staged / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _put_in_place(folder: Path, staged: Path, files: Mapping[str, bytes], known: Mapping[str, set[str]]) -> None:
    """The manifest comes last, once the files are gone that only the report before had."""
    for name in files:
        if name != MANIFEST:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (staged / "files" / name).replace(folder / name)
    for name, hashes in known.items():
        if name not in files and _hash_of(folder / name) in hashes:
            (folder / name).unlink()
            with suppress(OSError):  # not empty
                (folder / name).parent.rmdir()
    (staged / "files" / MANIFEST).replace(folder / MANIFEST)


def _known(folder: Path) -> dict[str, set[str]]:
    """Hashes by file: of the report, and of what killed programs were putting in place."""
    known: dict[str, set[str]] = defaultdict(set)
    for hashes in (manifest(folder), *(_json(staged / HASHES) for staged in folder.glob(f"{STAGED}*"))):
        for name, digest in _within(hashes).items() if isinstance(hashes, dict) else ():
            known[name].add(digest)
    return known


def _within(hashes: Mapping[str, Any]) -> dict[str, str]:
    """The hashes of files inside the folder: a report.json that somebody else wrote may name any."""
    return {
        name: digest
        for name, digest in hashes.items()
        if isinstance(digest, str) and not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
    }


def _json(path: Path) -> Any:
    with suppress(OSError, ValueError, RecursionError):
        return json.loads(path.read_bytes())
    return None


def _hash_of(path: Path) -> str | None:
    """None where it is no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _refused(folder: Path, got: str) -> InputError:
    return InputError(printable(str(folder)), got=printable(got), expected=EXPECTED)


@contextmanager
def refusing(folder: Path) -> Iterator[None]:
    """Within, a failure to write is an InputError that names the folder."""
    try:
        yield
    except OSError as error:
        raise InputError(printable(str(folder)), got=error.strerror or "an error", expected=EXPECTED) from None
