"""What is compared: the report of an audit, a sweep of audits, or a file of bound constants."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, file_content, printable, shortened, shown, shown_path
from marginaudit.orders.reading import parsed_json, utf_8_text
from marginaudit.reports.bound_constants.constant import constants_of
from marginaudit.reports.bound_constants.entry import Entry
from marginaudit.reports.bound_constants.store import (
    SUFFIX,
    SWEEPS_SUFFIX,
    DamagedFile,
    keys_in,
    read_bounds,
    read_entry,
    read_sweeps,
)
from marginaudit.reports.bound_constants.swept import RUNS, read_swept
from marginaudit.reports.verdict import Evidence, Finding, Verdict

NUMBERS = ("measured", "slack", "informative_from", "constant", "repeats_within")
"""What is read of a row besides its verdict: numbers or null."""

SHA256 = "sha256 of "
"""Before a dataset's name: the setting that is the hash of its file."""

REPORT = "a report.json of `marginaudit audit`"


@dataclass(frozen=True)
class Side:
    """One of two audits.

    Attributes
    ----------
    where : str
        The file, as the user sees it.
    entries : mapping
        What it says of each statement on each dataset, by (dataset, claim); of a file of bound constants the dataset
        has the test before it.
    settings : mapping from names to plain data
        Versions, settings, and the hashes of the datasets' files.
    """

    where: str
    entries: Mapping[tuple[str, str], Entry]
    settings: Mapping[str, Any]


def read_side(path: Path) -> Side:
    """The audit in a folder, in its report.json, or what a file of bound constants or of a sweep's runs has.

    Raises
    ------
    InputError
        It is none; names the file and the place in it.
    """
    if path.suffix == ".csv" or (path / RUNS).exists():
        swept = read_swept(path)
        return Side(shown_path(path), swept.entries(None), {**swept.settings, "versions": swept.versions})
    file = path / "report.json" if path.is_dir() else path
    where = shown_path(file)
    if file.name.endswith(SWEEPS_SUFFIX):
        return _sweeps(file, where)
    if file.name.endswith(SUFFIX):
        return _store(file, where)
    document = parsed_json(utf_8_text(file_content(file, REPORT), where), where)
    if not isinstance(document, dict) or not isinstance(document.get("verdicts"), list):
        raise InputError(where, got="no list of verdicts", expected=REPORT)
    entries = {}
    for i, row in enumerate(document["verdicts"]):
        place = f"{where}: /verdicts/{i}"
        entry = _entry(row, place)
        key = row["dataset"], row["claim"]
        if key in entries:
            raise InputError(place, got=f"{shown(row['claim'])} on {shown(row['dataset'])} again", expected="it once")
        entries[key] = entry
    return Side(where, entries, _settings(document, where))


def _entry(row: Any, place: str) -> Entry:
    if not isinstance(row, dict):
        raise InputError(place, got=shown(row), expected="a verdict")
    for name in ("claim", "dataset"):
        if not isinstance(row.get(name), str):
            raise InputError(f"{place}/{name}", got=shown(row.get(name)), expected="a text")
    for name, kind in (("verdict", Verdict), ("evidence", Evidence)):
        if row.get(name) not in tuple(kind):
            raise InputError(f"{place}/{name}", got=shown(row.get(name)), expected=", ".join(kind))
    for name in NUMBERS:
        value = row.get(name)
        if value is not None and not _is_number(value):
            raise InputError(f"{place}/{name}", got=shown(value), expected="a number or null")
    if row.get("side") not in (None, "upper", "lower"):
        raise InputError(f"{place}/side", got=shown(row["side"]), expected="upper, lower or null")
    endless = row.get("side") and row.get("repeats_within", 0) is None  # JSON has no infinite number
    finding = Finding(
        verdict=Verdict(row["verdict"]),
        evidence=Evidence(row["evidence"]),
        measured=row.get("measured"),
        slack=row.get("slack"),
        side=row.get("side"),
        constant=row.get("constant"),
        repeats_within=inf if endless else row.get("repeats_within"),
        informative_from=row.get("informative_from"),
    )
    try:
        return Entry(finding.verdict, finding.evidence, constants_of(finding, None), {}, None, {})
    except ValueError as error:  # of a constant or a step that is negative
        raise InputError(place, got=str(error).removeprefix("got "), expected=REPORT) from None


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:  # of an integer beyond float64
        return False


def _settings(document: Mapping[str, Any], where: str) -> dict[str, Any]:
    """What made the report, in one level."""
    found = {"marginaudit": document.get("marginaudit")}
    for name in ("environment", "config"):
        if not isinstance(document.get(name, {}), dict):
            raise InputError(f"{where}: /{name}", got=shown(document[name]), expected=REPORT)
    found |= document.get("environment", {})
    for paper, config in document.get("config", {}).items():
        if not isinstance(config, dict):
            raise InputError(f"{where}: /config/{paper}", got=shown(config), expected=REPORT)
        found |= {f"{paper}: {name}": value for name, value in config.items()}
    datasets = document.get("datasets", [])
    if not isinstance(datasets, list) or not all(isinstance(data, dict) and "name" in data for data in datasets):
        raise InputError(f"{where}: /datasets", got=shown(datasets), expected=REPORT)
    return found | {f"{SHA256}{data['name']}": data.get("sha256") for data in datasets}


@contextmanager
def _damage_told(file: Path, where: str) -> Iterator[None]:
    file_content(file, "a file of bound constants")  # where there is none, the store has nothing in it
    try:
        yield
    except DamagedFile as error:
        got = shortened(printable(str(error).removeprefix(f"{file}: ")), 200)
        raise InputError(where, got=f"a damaged file ({got})", expected="a file of bound constants") from None


def _store(file: Path, where: str) -> Side:
    with _damage_told(file, where):
        read_bounds(file)
        found = {key: entry for key in keys_in([file]) if (entry := read_entry(key)) is not None}
    settings: dict[str, Any] = {}
    for key, entry in found.items():
        name = f"{key.test}: {key.dataset}, {key.claim}"
        settings |= {f"{name}: {part}": value for part, value in {**entry.config, "seed": entry.seed}.items()}
        settings |= {f"{name}: {part}": value for part, value in entry.versions.items()}
    return Side(where, {(f"{key.test}: {key.dataset}", key.claim): entry for key, entry in found.items()}, settings)


def _sweeps(file: Path, where: str) -> Side:
    with _damage_told(file, where):
        found = read_sweeps(file)
    entries: dict[tuple[str, str], Entry] = {}
    settings: dict[str, Any] = {}
    for test, kept in found.items():
        for (dataset, claim), entry in kept.swept.entries(kept.tolerance).items():
            entries[f"{test}: {dataset}", claim] = entry
        made = {**kept.swept.settings, "versions": kept.swept.versions}
        settings |= {f"{test}: {name}": value for name, value in made.items()}
    return Side(where, entries, settings)
