"""What computes: the code and the versions on which every part's name depends."""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from marginaudit.reports.audit.auditing import environment

PACKAGES = ("marginaudit.orders", "marginaudit.margins", "marginaudit.training", "marginaudit.reports")


def versions() -> dict[str, str]:
    """Of this program, of Python and of the libraries that compute."""
    return {"marginaudit": version("marginaudit"), **environment(), "numba": version("numba")}


@cache
def code(module: str) -> dict[str, str]:
    """SHA-256 of this program's files and of those in the folder of a paper's module, by path."""
    found = {}
    for name in (*PACKAGES, module):
        if name == module and name.startswith("marginaudit."):
            continue
        file = sys.modules.get(name, import_module(name)).__file__
        if file is None:
            continue
        folder = Path(file).parent
        for path in sorted(folder.rglob("*")):
            place = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            if path.is_file() and "__pycache__" not in path.parts:
                found[place] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def identity(module: str) -> dict[str, dict[str, str]]:
    """Versions and code, of a sweep whose paper computes by that module."""
    return {"versions": versions(), "code": code(module)}


def digest(document: Any) -> str:
    """SHA-256 of plain JSON data, in hexadecimal.

    >>> digest({"b": 1, "a": [0.1]}) == digest({"a": [0.1], "b": 1})
    True
    """
    text = json.dumps(document, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def difference(old: Mapping[str, Mapping[str, str]], new: Mapping[str, Mapping[str, str]]) -> str:
    """In what two identities differ, in words; "" for nothing.

    >>> same = {"versions": {"numpy": "2.1"}, "code": {"orders/text.py": "0"}}
    >>> difference(same, same | {"versions": {"numpy": "2.2"}})
    'numpy 2.1, now 2.2'
    """
    names = _changed(old["versions"], new["versions"])
    found = [f"{name} {old['versions'].get(name, 'none')}, now {new['versions'].get(name, 'none')}" for name in names]
    files = _changed(old["code"], new["code"])
    if files:
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        found.append(f"other code in {', '.join(files[:3])}{more}")
    return "; ".join(found)


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> Sequence[str]:
    return [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
