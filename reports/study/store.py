"""Store of pickled results, one file with a checksum per key; a key hashes data, settings, versions and code.

The folder belongs to the user: the checksum detects damaged and copied files, and is no signature. A file is unpickled
only if its checksum matches, and only into this program's dataclasses and enumerations, arrays and plain data.
"""

import hashlib
import io
import json
import os
import pickle
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from marginaudit.orders import shown_path
from marginaudit.reports.audit.auditing import environment
from marginaudit.reports.page.files import write_whole

MOST_KEPT = 100
"""Most results in a cache, of up to 3 MB each; the oldest are removed."""


@dataclass(frozen=True)
class Store:
    """Folder of results by key.

    Attributes
    ----------
    folder : Path or None
        None to store nothing.
    cache : bool
        Best effort: ignore write errors and evict the oldest results above `MOST_KEPT`.
    fresh : bool
        Never read.
    notice : callback with one line per file that fails its checksum
    """

    folder: Path | None
    cache: bool = False
    fresh: bool = False
    notice: Callable[[str], object] = field(default=warnings.warn, compare=False)

    def path(self, key: str) -> Path:
        """File of a key."""
        return (self.folder or Path()) / f"{key}.pickle"

    def read(self, key: str | None) -> Any:
        """Read the result of a key; None if missing, damaged or of foreign classes."""
        if self.folder is None or self.fresh or key is None:
            return None
        try:
            data = self.path(key).read_bytes()
        except OSError:
            return None
        content = data[CHECKSUM:]
        if data == _entry(key, content):
            with suppress(pickle.UnpicklingError):
                return _ResultUnpickler(io.BytesIO(content)).load()
        what = "damaged, edited or copied since it was written, so to be computed anew"
        self.notice(f"{shown_path(self.path(key))}: {what}")
        return None

    def write(self, key: str | None, value: Any) -> None:
        """Write a result atomically: a concurrent reader sees the old or the new file.

        Raises
        ------
        OSError
            Writing fails, except in a cache.
        """
        if self.folder is None or key is None:
            return
        with suppress(*[OSError] * self.cache):
            write_whole(self.path(key), _entry(key, _pickled(value)))
            if self.cache:
                files = sorted(self.folder.glob("*.pickle"), key=lambda path: path.stat().st_mtime, reverse=True)
                for old in files[MOST_KEPT:]:
                    old.unlink(missing_ok=True)


NO_STORE = Store(None)

CHECKSUM = hashlib.sha256().digest_size


def _entry(key: str, content: bytes) -> bytes:
    """Content of a file: checksum of key and result, then the result."""
    return hashlib.sha256(key.encode("utf-8") + b"\n" + content).digest() + content


def _pickled(value: Any) -> bytes:
    """Pickle a value without memo, so that equal values give equal bytes."""
    file = io.BytesIO()
    pickler = _ResultPickler(file, pickle.HIGHEST_PROTOCOL)
    pickler.fast = True
    pickler.dump(value)
    return file.getvalue()


class _ResultPickler(pickle.Pickler):
    """Pickler that stores members of enumerations by value; Python 3.11.2 stores a call of `getattr`."""

    def reducer_override(self, value: Any) -> Any:
        """How to store a value."""
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


ARRAYS = {("numpy", "ndarray"), ("numpy", "dtype"), ("numpy._core.numeric", "_frombuffer")}


class _ResultUnpickler(pickle.Unpickler):
    """Unpickler restricted to the classes of results."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("marginaudit.") or (module, name) in ARRAYS:
            found = super().find_class(module, name)
            if (module, name) in ARRAYS or is_dataclass(found) or (isinstance(found, type) and issubclass(found, Enum)):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a result")


def user_cache(of: str = "audits", *, fresh: bool = False, notice: Callable[[str], object]) -> Store:
    """Cache of audits, or of other results, in the user's XDG cache folder; stores nothing without a home folder.

    ``notice``: see `Store`.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path("~/.cache").expanduser()
        except RuntimeError:
            return Store(None)
    return Store(base / "marginaudit" / of, cache=True, fresh=fresh, notice=notice)


def versions() -> dict[str, str]:
    """Versions of this program, Python and the numerical libraries."""
    return {"marginaudit": version("marginaudit"), **environment(), "numba": version("numba")}


@cache
def code(*modules: str) -> dict[str, str]:
    """SHA-256 by path of this program's and a paper's files: a module's package, or the Python files beside it."""
    found = {}
    for name in ("marginaudit", *(module for module in modules if not module.startswith("marginaudit."))):
        if file := import_module(name).__file__:
            folder = Path(file).parent
            for path in folder.rglob("*") if (folder / "__init__.py").exists() else folder.glob("*.py"):
                place = path.relative_to(folder if name == "marginaudit" else folder.parent).as_posix()
                if path.is_file() and "__pycache__" not in path.parts:
                    found[place] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def identity(*modules: str) -> dict[str, dict[str, str]]:
    """Library versions and code hashes in a cache key."""
    return {"versions": versions(), "code": code(*modules)}


def digest(document: Any) -> str:
    """SHA-256 of plain JSON data, in hexadecimal.

    >>> digest({"b": 1, "a": [0.1]}) == digest({"a": [0.1], "b": 1})
    True
    """
    text = json.dumps(document, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def difference(old: Mapping[str, Mapping[str, str]], new: Mapping[str, Mapping[str, str]]) -> str:
    """Differences between two identities in words; "" for none.

    >>> same = {"versions": {"numpy": "2.1"}, "code": {"orders/text.py": "0"}}
    >>> difference(same, same | {"versions": {"numpy": "2.2"}})
    'numpy 2.1, now 2.2'
    """

    def changed(kind: str) -> list[str]:
        return [name for name in sorted({*old[kind], *new[kind]}) if old[kind].get(name) != new[kind].get(name)]

    before, after = old["versions"], new["versions"]
    found = [f"{name} {before.get(name, 'none')}, now {after.get(name, 'none')}" for name in changed("versions")]
    if files := changed("code"):
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        found.append(f"other code in {', '.join(files[:3])}{more}")
    return "; ".join(found)
