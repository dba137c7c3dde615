"""Audit of one claim on one dataset as a row, and the file with the rows of a test file.

The file is a report.json with rows only, one per line, sorted. This module is imported on first use in a test.
"""

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from marginaudit.claims.claim import Claim, Ledger
from marginaudit.claims.instances.paper import INSTANCES, about_instances
from marginaudit.claims.judgements import ALLOWANCE
from marginaudit.claims.paper import Paper
from marginaudit.claims.row import ReportRow
from marginaudit.claims.run import BaseRun
from marginaudit.claims.settings import differences
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Output
from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import all_papers, configs_of, paper_of
from marginaudit.reports.audit.sources import load
from marginaudit.reports.audit.user_claims import all_claims
from marginaudit.reports.compare.reading import read_report
from marginaudit.reports.compare.worse import changes
from marginaudit.reports.page.files import json_text, write_whole

KEPT_RUNS = 4
"""Size of the cache of runs."""


def measured(claim: str | Claim, dataset: Any, config: Any | None, seed: int | None) -> tuple[ReportRow, ReportRow]:
    """Audit a claim on a dataset: the finding, and the row to store.

    The stored settings are those that differ from the defaults, and the dataset's seed if given, beside one of
    the run.

    Raises
    ------
    InputError
        Unknown claim or dataset, a claim on another kind of data, or a config of another paper.
    """
    audited, data = _claim(claim), _dataset(dataset)
    paper = paper_of(data, known_papers())
    if not paper.judges(audited):
        raise InputError(f"claim {audited.id}", got=f"a dataset of {paper.kind.name}", expected="one that it is about")
    if paper is INSTANCES:
        audited = about_instances(audited)
    asked = configs_of(config, {paper.name: paper})[paper.name]
    found = audited.judge(kept_run(data, asked))
    settings = finite(differences(asked, paper.config()))
    if seed is not None:
        settings["dataset_seed" if "seed" in settings else "seed"] = finite(seed)
    return found, _row(found, settings)


def _claim(claim: str | Claim) -> Claim:
    if isinstance(claim, Claim):
        known = known_claims().get(claim.id, claim)  # the ledger's copy has its paper and proofs
        return known if replace(claim, paper=known.paper) == known else claim
    if claim not in known_claims():
        expected = "an id that `marginaudit claims` lists"
        raise InputError(f"claim {claim!r}", got="no claim of that id", expected=expected)
    return known_claims()[claim]


def _dataset(dataset: Any) -> Any:
    """Dataset from an object, a built-in case's name or a path; equal content gives the same object."""
    if not isinstance(dataset, str | PathLike):
        return dataset
    source = load(os.fspath(dataset), (*known_papers(), INSTANCES))
    return LOADED.setdefault((source.place, source.sha256), source.dataset)


def _row(found: ReportRow, settings: dict[str, Any]) -> ReportRow:
    """The row to store; a side without an error bar, as from `Decided`, gets a tolerance of rounding."""
    kept = found.as_document(Output.KEPT) | {"settings": settings}
    if found.side is not None and found.repeats_within is None:
        kept["repeats_within"] = ALLOWANCE
    return ReportRow(**kept)


LOADED: dict[tuple[str, str | None], Any] = {}


@lru_cache(maxsize=1)
def known_papers() -> tuple[Paper, ...]:
    """Built-in and installed papers."""
    return all_papers(lambda text: warnings.warn(text, stacklevel=2))


@lru_cache(maxsize=1)
def known_claims() -> Ledger:
    """Claims of the known papers."""
    return all_claims(known_papers(), None, lambda text: warnings.warn(text, stacklevel=2))


@lru_cache(maxsize=KEPT_RUNS)
def kept_run(dataset: Any, config: Any) -> BaseRun[Any]:
    """Run on a dataset, cached for the next claims."""
    return paper_of(dataset, known_papers()).run(dataset, config)


def read_rows(file: Path) -> Mapping[tuple[str, str], ReportRow]:
    """Rows of a file by key; empty for a missing file.

    Raises
    ------
    InputError
        The file cannot be read or parsed.
    """
    return read_report(file).rows if file.exists() else {}


def update_rows(file: Path, measured: Iterable[tuple[ReportRow, str]]) -> list[str]:
    """Write the measured rows that changed; return the stored rows that were not measured.

    Rows equal within their tolerance are not rewritten, so many updates cannot add up to a large change. The file is
    written atomically.

    Raises
    ------
    InputError
        Two measured rows with the same key differ, or the file is damaged.
    OSError
        The file cannot be written.
    """
    kept = read_rows(file)
    asked: dict[tuple[str, str], ReportRow] = {}
    rows = dict(kept)
    for row, changed in measured:
        if changes(asked.setdefault(row.key, row), row):
            expected = "datasets of different names"
            raise InputError(f"{row.claim} on {row.place}", got="two rows that differ", expected=expected)
        if changed:
            rows[row.key] = row
    if rows != kept:
        lines = ",\n".join(json_text(row.kept()).removesuffix("\n") for _, row in sorted(rows.items()))
        write_whole(file, f'{{"verdicts": [\n{lines}\n]}}\n')
    return [f"{claim} on {place}" for place, claim in kept if (place, claim) not in asked]
