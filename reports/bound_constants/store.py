"""The JSON files beside a test file: ``{test: {claim: {dataset: entry}}}``, and ``{test: sweep}``."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from marginaudit.reports.bound_constants.entry import Entry, entry_from_document
from marginaudit.reports.bound_constants.kept_sweep import KeptSweep, kept_from_document
from marginaudit.reports.page.files import json_text, write_whole

SUFFIX, SWEEPS_SUFFIX = ".bounds.json", ".sweeps.json"

Bounds: TypeAlias = dict[str, dict[str, dict[str, Any]]]


class Key(NamedTuple):
    """Where an entry is.

    Attributes
    ----------
    file : str
        The path of the JSON file.
    test : str
        The test's name in its file, with its class and parameters.
    claim, dataset : str
        The claim's id and the dataset's name.
    """

    file: str
    test: str
    claim: str
    dataset: str


SweepKey: TypeAlias = tuple[str, str]
"""Where a sweep is: the path of the JSON file, and the test."""


class DamagedFile(ValueError):  # noqa: N818  (names what was found)
    """The file is none of this form; the message says where, in one line."""


def bounds_file(module: Path, suffix: str = SUFFIX) -> Path:
    """The JSON file of a test file.

    >>> bounds_file(Path("tests/test_mine.py")).as_posix()
    'tests/test_mine.bounds.json'
    """
    return module.with_suffix(suffix)


def read_bounds(file: Path) -> Bounds:
    """All that a file has; nothing where there is none.

    Raises
    ------
    DamagedFile
        It cannot be read, or is no such file.
    """
    document = _json(file)
    if not (_nested(document) and all(map(_nested, document.values()))):
        raise DamagedFile(f"{file}: got another JSON document, expected {{test: {{claim: {{dataset: entry}}}}}}")
    found: Bounds = document
    return found


def read_sweeps(file: Path) -> dict[str, KeptSweep]:
    """The sweeps of a file by test; nothing where there is none.

    Raises
    ------
    DamagedFile
        It cannot be read, or is no such file.
    """
    document = _json(file)
    try:
        return {test: kept_from_document(kept) for test, kept in document.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedFile(f"{file}: {error!r} in a damaged file, expected {{test: sweep}}") from None


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except json.JSONDecodeError as error:
        raise DamagedFile(f"{file}: line {error.lineno}: got {error.msg}, expected JSON") from None
    except (OSError, ValueError, RecursionError) as error:  # ValueError of another encoding, and of endless digits
        raise DamagedFile(f"{file}: got {error}, expected a file of bound constants") from None


def _nested(document: object) -> bool:
    return isinstance(document, dict) and all(isinstance(value, dict) for value in document.values())


def read_entry(key: Key) -> Entry | None:
    """The entry that a file has, or None.

    Raises
    ------
    DamagedFile
        As `read_bounds`, or the entry is none.
    """
    document = read_bounds(Path(key.file)).get(key.test, {}).get(key.claim, {}).get(key.dataset)
    if document is None:
        return None
    try:
        return entry_from_document(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        where = " / ".join(key[1:])
        raise DamagedFile(f"{key.file}: {where}: {error!r} in a damaged entry; remove it") from None


def write_entries(entries: dict[Key, Any]) -> None:
    """Merge documents of entries into their files, each of which is written whole or not at all.

    Raises
    ------
    DamagedFile
        As `read_bounds`.
    OSError
        A file cannot be written.
    """
    for file in sorted({key.file for key in entries}):
        bounds = read_bounds(Path(file))
        for key, document in entries.items():
            if key.file == file:
                bounds.setdefault(key.test, {}).setdefault(key.claim, {})[key.dataset] = document
        write_whole(Path(file), json_text(_ordered(bounds), indent=1))


def write_sweeps(documents: Mapping[SweepKey, Any]) -> None:
    """Put documents of sweeps, by (file, test), into their files, each of which is written whole or not at all.

    Raises
    ------
    DamagedFile
        As `read_sweeps`.
    OSError
        A file cannot be written.
    """
    for file in sorted({file for file, _ in documents}):
        kept = {test: sweep.as_document() for test, sweep in read_sweeps(Path(file)).items()}
        kept |= {test: document for (place, test), document in documents.items() if place == file}
        write_whole(Path(file), lines_of_json(dict(sorted(kept.items()))) + "\n")


def lines_of_json(document: Any, indent: int = 0) -> str:
    """A JSON document with what holds no further level on one line.

    >>> print(lines_of_json({"a": {"b": [1, 2.5], "c": [3]}, "d": []}))
    {
     "a": {
      "b": [1, 2.5],
      "c": [3]
     },
     "d": []
    }
    """
    inside = document.values() if isinstance(document, dict) else document
    if not isinstance(document, dict | list) or not any(isinstance(value, dict | list) for value in inside):
        return json_text(document).removesuffix("\n")
    start = "\n" + " " * (indent + 1)
    if isinstance(document, dict):
        lines = [f"{lines_of_json(name)}: {lines_of_json(value, indent + 1)}" for name, value in document.items()]
    else:
        lines = [lines_of_json(value, indent + 1) for value in document]
    opening, closing = "{}" if isinstance(document, dict) else "[]"
    return opening + start + f",{start}".join(lines) + "\n" + " " * indent + closing


def _ordered(bounds: Bounds) -> Bounds:
    return {
        test: {claim: dict(sorted(entries.items())) for claim, entries in sorted(claims.items())}
        for test, claims in sorted(bounds.items())
    }


def keys_in(files: Iterable[Path]) -> Iterator[Key]:
    """Where the files have entries; a damaged file has none."""
    for file in files:
        try:
            bounds = read_bounds(file)
        except DamagedFile:
            continue
        for test, claims in bounds.items():
            for claim, entries in claims.items():
                for dataset in entries:
                    yield Key(str(file), test, claim, dataset)


def all_keys(modules: Iterable[Path]) -> Iterator[tuple[str, ...]]:
    """Where the files of some test files have entries and sweeps, and those beside them whose test file is gone."""
    modules = list(modules)
    yield from keys_in(_files_of(modules, SUFFIX))
    for file in _files_of(modules, SWEEPS_SUFFIX):
        with suppress(DamagedFile):
            yield from ((str(file), test) for test in read_sweeps(file))


def write_all(documents: Mapping[tuple[str, ...], Any]) -> None:
    """Write documents of entries and of sweeps, by where they are; raises as `write_entries` and `write_sweeps`."""
    write_entries({Key(*key): document for key, document in documents.items() if len(key) == len(Key._fields)})
    write_sweeps({(key[0], key[1]): document for key, document in documents.items() if len(key) == 2})


def _files_of(modules: Iterable[Path], suffix: str) -> list[Path]:
    found = set()
    for module in modules:
        found.add(bounds_file(module, suffix))
        for file in module.parent.glob(f"*{suffix}"):
            if not file.with_name(file.name.removesuffix(suffix) + module.suffix).exists():
                found.add(file)
    return sorted(found)
