"""A part of a sweep: a few runs on one dataset and seed, computed together and kept in one file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, shown_path
from marginaudit.reports.identity import digest
from marginaudit.reports.page.files import json_text, write_whole
from marginaudit.reports.page.locks import locked
from marginaudit.reports.sweep.spec import Spec

Outcome = Mapping[str, Any]
"""Of one run: ``status`` done, failed or killed, ``message``, and ``results`` by name where it is done."""


@dataclass(frozen=True)
class Part:
    """A few runs.

    Attributes
    ----------
    work : plain JSON data: all that a worker has to know, the code's digest included
    runs : (number of the dataset, of the config, of the seed) of each
    """

    work: Mapping[str, Any]
    runs: tuple[tuple[int, int, int], ...]

    @cached_property
    def key(self) -> str:
        """What its file is named after: a hash of settings, seed, data, versions and code."""
        return digest(self.work)


def parts_of(spec: Spec, code: str) -> Iterator[Part]:
    """All parts of a sweep, in the order of its grid; ``code`` is the digest of versions and code."""
    together = spec.sweeps.together
    for i, made in enumerate(spec.data):
        for k, seed in enumerate(spec.seeds):
            for start in range(0, len(spec.configs), together):
                numbers = range(start, min(start + together, len(spec.configs)))
                work = {
                    "paper": spec.paper.name,
                    "columns": dict(made.columns),
                    "generator": made.generator,
                    "document": made.document,
                    "seed": seed,
                    "settings": [spec.settings(spec.configs[j]) for j in numbers],
                    "keep": list(spec.keep),
                    "code": code,
                }
                yield Part(work, tuple((i, j, k) for j in numbers))


def path_of(folder: Path, key: str) -> Path:
    """Where a part lies."""
    return folder / f"{key}.json"


def read_part(folder: Path, key: str, runs: int) -> list[Outcome] | None:
    """The outcomes of a part's runs, or None where it has not been computed.

    Raises
    ------
    InputError
        The file is not what a worker wrote.
    """
    path = path_of(folder, key)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        document = json.loads(text)
        found: list[Outcome] = document["runs"]
        if document["key"] == key and len(found) == runs and document["sum"] == digest(found):
            return found
    raise InputError(shown_path(path), got="a damaged part", expected="one that a worker wrote; remove it")


def write_part(folder: Path, key: str, outcomes: Sequence[Outcome]) -> Path:
    """Write a part whole; what is done already stays, and has to be the same.

    Raises
    ------
    InputError
        Another worker found other results for the same key.
    OSError
        It cannot be written.
    """
    path = path_of(folder, key)
    with locked(folder):
        before = read_part(folder, key, len(outcomes))
        after = (
            list(outcomes) if before is None else [_kept(*pair, path) for pair in zip(before, outcomes, strict=True)]
        )
        if after != before:
            content = json_text({"key": key, "runs": after, "sum": digest(after)})
            write_whole(path, content)
    return path


def _kept(old: Outcome, new: Outcome, path: Path) -> Outcome:
    if old["status"] != "done" or new["status"] != "done":
        return old if old["status"] == "done" else new
    if old != new:
        names = [name for name in new["results"] if old["results"].get(name) != new["results"][name]]
        got = (
            f"another {names[0]}: {old['results'].get(names[0])}, now {new['results'][names[0]]}" if names else "others"
        )
        expected = "the same from the same settings, seed, versions and code"
        raise InputError(shown_path(path), got=got, expected=expected)
    return old
