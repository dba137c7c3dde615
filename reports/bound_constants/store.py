"""The JSON file beside a test file: ``{test: {claim: {dataset: entry}}}``."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from marginaudit.reports.bound_constants.entry import Entry, entry_from_document
from marginaudit.reports.page.files import json_text, write_whole

SUFFIX = ".bounds.json"

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


class DamagedFile(ValueError):  # noqa: N818  (names what was found)
    """The file is none of this form; the message says where, in one line."""


def bounds_file(module: Path) -> Path:
    """The JSON file of a test file.

    >>> bounds_file(Path("tests/test_mine.py")).as_posix()
    'tests/test_mine.bounds.json'
    """
    return module.with_suffix(SUFFIX)


def read_bounds(file: Path) -> Bounds:
    """All that a file has; nothing where there is none.

    Raises
    ------
    DamagedFile
        It cannot be read, or is no such file.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedFile(f"{file}: got {error}, expected a file of bound constants") from None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise DamagedFile(f"{file}: line {error.lineno}: got {error.msg}, expected JSON") from None
    if not (_nested(document) and all(map(_nested, document.values()))):
        raise DamagedFile(f"{file}: got another JSON document, expected {{test: {{claim: {{dataset: entry}}}}}}")
    found: Bounds = document
    return found


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


def files_of(modules: Iterable[Path]) -> list[Path]:
    """The JSON files of some test files, and those beside them whose test file is gone."""
    found = set()
    for module in modules:
        found.add(bounds_file(module))
        for file in module.parent.glob(f"*{SUFFIX}"):
            if not file.with_name(file.name.removesuffix(SUFFIX) + module.suffix).exists():
                found.add(file)
    return sorted(found)
