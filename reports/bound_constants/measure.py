"""The audit of one claim on one dataset, as an entry to keep. Imported when a test first asks for it."""

import os
import warnings
from dataclasses import fields
from functools import lru_cache
from importlib.metadata import version
from os import PathLike
from typing import Any

from marginaudit.orders import InputError
from marginaudit.reports.audit.auditing import environment
from marginaudit.reports.audit.ledger import all_papers, paper_of
from marginaudit.reports.audit.sources import load
from marginaudit.reports.audit.user_claims import all_claims
from marginaudit.reports.bound_constants.constant import constants_of
from marginaudit.reports.bound_constants.entry import Entry
from marginaudit.reports.claim import Claim, Ledger
from marginaudit.reports.paper import Paper
from marginaudit.reports.run import BaseRun
from marginaudit.reports.verdict import Finding

KEPT_RUNS = 4
"""So many datasets, with their training, are kept for the next claim."""


def find_claim(claim: str | Claim) -> Claim:
    """A claim, or the built-in or installed one of an id.

    Raises
    ------
    InputError
        There is none.
    """
    if isinstance(claim, Claim):
        return claim
    ledger = _ledger()
    if claim not in ledger:
        raise InputError(
            f"claim {claim!r}", got="no claim of that id", expected="an id that `marginaudit claims` lists"
        )
    return ledger[claim]


@lru_cache(maxsize=1)
def _papers() -> tuple[Paper, ...]:
    return all_papers(lambda text: warnings.warn(text, stacklevel=2))


@lru_cache(maxsize=1)
def _ledger() -> Ledger:
    return all_claims(_papers(), None, lambda text: warnings.warn(text, stacklevel=2))


def find_dataset(dataset: Any) -> Any:
    """A dataset, or the one of a built-in case's name or a path.

    Raises
    ------
    InputError
        There is none.
    """
    if not isinstance(dataset, str | PathLike):
        return dataset
    name = os.fspath(dataset)
    try:
        status = os.stat(name)  # noqa: PTH116  (the empty name is no path)
    except (OSError, ValueError):
        return _loaded(name, ())
    return _loaded(name, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=KEPT_RUNS)
def _loaded(name: str, stamp: tuple[int, ...]) -> Any:
    """The dataset of a name, read again when its file is another one."""
    return load(name, _papers()).dataset


@lru_cache(maxsize=KEPT_RUNS)
def _run(dataset: Any, config: Any) -> BaseRun[Any]:
    return paper_of(dataset, _papers()).run(dataset, config)


def run_of(dataset: Any, config: Any | None) -> BaseRun[Any]:
    """The dataset's run, kept for the next claim."""
    return _run(dataset, config or paper_of(dataset, _papers()).config())


def entry_of(finding: Finding, dataset: Any, config: Any | None, tolerance: float | None, seed: int | None) -> Entry:
    """What is to be kept of a finding."""
    usual = paper_of(dataset, _papers()).config()
    asked = usual if config is None else config
    return Entry(
        verdict=finding.verdict,
        evidence=finding.evidence,
        constants=constants_of(finding, tolerance),
        config={
            field.name: _plain(asked, field.name)
            for field in fields(asked)
            if getattr(asked, field.name) != getattr(usual, field.name)
        },
        seed=seed,
        versions={"marginaudit": version("marginaudit")} | environment(),
    )


def _plain(config: Any, name: str) -> Any:
    value = getattr(config, name)
    return list(value) if isinstance(value, tuple) else value
