"""The audit of one claim on one dataset as a row, and the file that keeps a test file's rows.

The file is a report.json with nothing but rows, one a line, sorted. Imported when a test first asks for it.
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
"""Most runs kept for the next claims."""


def measured(claim: str | Claim, dataset: Any, config: Any | None, seed: int | None) -> tuple[ReportRow, ReportRow]:
    """Audit a claim on a dataset: the verdict, and the row to keep of it.

    That row's settings are those that differ from the default, and the seed if there is one.

    Raises
    ------
    InputError
        There is no such claim or dataset, the claim is about another kind of data, or the config is another paper's.
    """
    audited, data = _claim(claim), _dataset(dataset)
    paper = paper_of(data, known_papers())
    if not paper.judges(audited):
        raise InputError(f"claim {audited.id}", got=f"a dataset of {paper.kind.name}", expected="one that it is about")
    asked = configs_of(config, {paper.name: paper})[paper.name]
    found = audited.judge(kept_run(data, asked))
    settings = finite(differences(asked, paper.config()))
    if seed is not None:
        settings["seed"] = finite(seed)
    return found, _row(found, settings)


def _claim(claim: str | Claim) -> Claim:
    if isinstance(claim, Claim):
        known = known_claims().get(claim.id, claim)  # a paper's own, of which it knows what is proved
        return known if replace(claim, paper=known.paper) == known else claim
    if claim not in known_claims():
        expected = "an id that `marginaudit claims` lists"
        raise InputError(f"claim {claim!r}", got="no claim of that id", expected=expected)
    return known_claims()[claim]


def _dataset(dataset: Any) -> Any:
    """A dataset, or the one of a built-in case's name or a path, the same object for the same content."""
    if not isinstance(dataset, str | PathLike):
        return dataset
    source = load(os.fspath(dataset), known_papers())
    return LOADED.setdefault((source.place, source.sha256), source.dataset)


def _row(found: ReportRow, settings: dict[str, Any]) -> ReportRow:
    """The row to keep; a judgement that gives a side but no error bar, as `Decided` may, repeats to rounding."""
    kept = found.as_document(Output.KEPT) | {"settings": settings}
    if found.side is not None and found.repeats_within is None:
        kept["repeats_within"] = ALLOWANCE
    return ReportRow(**kept)


LOADED: dict[tuple[str, str | None], Any] = {}


@lru_cache(maxsize=1)
def known_papers() -> tuple[Paper, ...]:
    """The papers, built in and installed."""
    return all_papers(lambda text: warnings.warn(text, stacklevel=2))


@lru_cache(maxsize=1)
def known_claims() -> Ledger:
    """Their claims."""
    return all_claims(known_papers(), None, lambda text: warnings.warn(text, stacklevel=2))


@lru_cache(maxsize=KEPT_RUNS)
def kept_run(dataset: Any, config: Any) -> BaseRun[Any]:
    """The run of a dataset, which the next claims use again."""
    return paper_of(dataset, known_papers()).run(dataset, config)


def read_rows(file: Path) -> Mapping[tuple[str, str], ReportRow]:
    """All rows of a file by their keys; none where there is no file.

    Raises
    ------
    InputError
        It cannot be read, or holds something else.
    """
    return read_report(file).rows if file.exists() else {}


def update_rows(file: Path, measured: Iterable[tuple[ReportRow, str]]) -> list[str]:
    """Write the measured rows that changed, and return the kept rows that were not measured.

    A row that is the same within its tolerance stays as it was, so that many updates do not add up to a large change.
    The file is written whole or not at all.

    Raises
    ------
    InputError
        Two measured rows of one key differ, or the file is damaged.
    OSError
        It cannot be written.
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
