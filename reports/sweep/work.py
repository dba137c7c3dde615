"""What a worker does: it computes a part, writes it, and says where."""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import all_papers
from marginaudit.reports.error_text import error_text
from marginaudit.reports.identity import digest, identity
from marginaudit.reports.paper import Paper
from marginaudit.reports.sweep.audits import audited
from marginaudit.reports.sweep.part import Outcome, read_part, write_part
from marginaudit.reports.sweeps import Result, Sweeps


class Refused(Exception):  # noqa: N818  (as what it becomes is named elsewhere)
    """What ends the whole sweep: where, what was got, what was expected. It travels between processes."""


def compute(work: Mapping[str, Any], key: str, folder: str) -> str:
    """Compute a part, but for the runs in it that are done, and write it; its path.

    A run that fails is part of the result.

    Raises
    ------
    Refused
        This worker has other code than the client, or found other results than another one.
    OSError
        The part cannot be written.
    """
    try:
        before = read_part(Path(folder), key, len(work["settings"]))
        if before is None:
            after = outcomes(work)
        else:
            todo = [one for one, old in zip(work["settings"], before, strict=True) if old["status"] != "done"]
            found = iter(outcomes({**work, "settings": todo}) if todo else ())
            after = [old if old["status"] == "done" else next(found) for old in before]
        return str(write_part(Path(folder), key, after))
    except InputError as error:
        raise Refused(error.where, error.got, error.expected) from None


def outcomes(work: Mapping[str, Any]) -> list[Outcome]:
    """The outcomes of a part's runs, on one thread; where they cannot be computed together, each by itself.

    What they print goes to standard error.

    Raises
    ------
    InputError
        This process has other code than the one that asks.
    """
    paper, sweeps = _paper(work["paper"])
    if (code := digest(identity(paper_module(paper)))) != work["code"]:
        got, expected = f"versions and code {code[:12]}", f"the client's, {work['code'][:12]}"
        raise InputError("a worker", got=got, expected=expected)
    with threadpool_limits(1), redirect_stdout(sys.stderr):
        return _outcomes(paper, sweeps, work)


def _outcomes(paper: Paper, sweeps: Sweeps, work: Mapping[str, Any]) -> list[Outcome]:
    settings, keep = work["settings"], work["keep"]
    try:
        if work["generator"]:
            data = sweeps.generators[work["generator"]].make(**work["columns"], seed=work["seed"])
        else:
            data = paper.kind.from_document(work["document"], "a part", work["columns"]["dataset"])
        configs = [replace(sweeps.config, **chosen) for chosen in settings]
        rows = rows_of(paper, sweeps)(data, configs, work["seed"], keep)
        return [_done(row, sweeps, keep) for _, row in zip(settings, rows, strict=True)]
    except Exception as error:
        if len(settings) == 1:
            return [{"status": "failed", "message": error_text(error), "results": {}}]
        return [outcome for one in settings for outcome in _outcomes(paper, sweeps, {**work, "settings": [one]})]


def rows_of(
    paper: Paper, sweeps: Sweeps
) -> Callable[[Any, Sequence[Any], int, Sequence[str]], list[dict[str, Result]]]:
    """How the paper's runs become results: its own way, or by an audit."""
    return sweeps.rows or (lambda data, configs, _, keep: audited(paper, data, configs, keep))


def _done(row: Mapping[str, Result], sweeps: Sweeps, keep: Sequence[str]) -> Outcome:
    results = {name: _plain(row[name], sweeps.results[name]) for name in keep}
    return {"status": "done", "message": "", "results": results}


def _plain(value: Result, kind: type[float] | type[str]) -> Result:
    """The value as JSON has it; a number that is not finite is none."""
    if value is None or kind is str:
        return None if value is None else str(value)
    number = float(value)
    return number if math.isfinite(number) else None


@cache
def _paper(name: str) -> tuple[Paper, Sweeps]:
    told: list[str] = []
    paper = next((paper for paper in all_papers(told.append) if paper.name == name), None)
    if paper is None or paper.sweeps is None:
        got = "; ".join([f"no paper {name} with sweeps", *told])
        raise InputError("a worker", got=got, expected="the packages of the client")
    return paper, paper.sweeps


def paper_module(paper: Paper) -> str:
    """The module by which a paper computes its sweeps."""
    rows = None if paper.sweeps is None else paper.sweeps.rows
    return (rows or paper.run).__module__
