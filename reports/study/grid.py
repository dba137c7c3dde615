"""The grid of a sweep: tasks of a few runs each, and their outcomes."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from threadpoolctl import threadpool_limits

from marginaudit.claims.answers.sweeps import AUDITED, Result, Sweeps
from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import with_settings
from marginaudit.claims.values.error_text import error_text
from marginaudit.claims.values.json_data import finite
from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import all_papers
from marginaudit.reports.study.spec import Spec
from marginaudit.reports.study.store import digest, identity

Outcome = Mapping[str, Any]
"""Outcome of a run: ``status`` done, failed or killed, ``message``, and ``results`` by name if done."""


@dataclass(frozen=True)
class RunsTask:
    """Batch of runs on one dataset and seed.

    Attributes
    ----------
    work : the worker's input as plain JSON data, with the digest of the code
    runs : (number of the dataset, of the config, of the seed) of each
    """

    work: Mapping[str, Any]
    runs: tuple[tuple[int, int, int], ...]

    @cached_property
    def key(self) -> str:
        """Hash of settings, seed, data, versions and code."""
        return digest(self.work)


@cache
def installed_papers() -> tuple[Mapping[str, Paper], list[str]]:
    """Papers by name, and notices of failed imports."""
    notices: list[str] = []
    return {paper.name: paper for paper in all_papers(notices.append)}, notices


def tasks_of(spec: Spec, code: str) -> Iterator[RunsTask]:
    """All tasks of a sweep, in the order of its grid; ``code`` is the digest of versions and code."""
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
                yield RunsTask(work, tuple((i, j, k) for j in numbers))


def outcomes(work: Mapping[str, Any]) -> list[Outcome]:
    """Compute the outcomes of a task's runs on one thread: as one batch, or one by one if the batch fails.

    Their output goes to standard error.

    Raises
    ------
    InputError
        This process has other code than the caller.
    """
    papers, notices = installed_papers()
    paper = papers.get(work["paper"])
    if paper is None or paper.sweeps is None:
        got = "; ".join([f"no paper {work['paper']} with sweeps", *notices])
        raise InputError("a worker", got=got, expected="the packages of the client")
    if (code := digest(identity(*modules_of(paper)))) != work["code"]:
        got, expected = f"versions and code {code[:12]}", f"the client's, {work['code'][:12]}"
        raise InputError("a worker", got=got, expected=expected)
    with threadpool_limits(1), redirect_stdout(sys.stderr):
        return _outcomes(paper, paper.sweeps, work)


def _outcomes(paper: Paper, sweeps: Sweeps, work: Mapping[str, Any]) -> list[Outcome]:
    settings, keep = work["settings"], work["keep"]
    try:
        if work["generator"]:
            data = sweeps.generators[work["generator"]].make(**work["columns"], seed=work["seed"])
        else:
            data = paper.kind.from_document(work["document"], "a dataset", work["columns"]["dataset"])
        seeded = with_settings(sweeps.config, {"seed": work["seed"]})
        configs = [replace(seeded, **chosen) for chosen in settings]
        rows = rows_of(paper, sweeps)(data, configs, work["seed"], keep)
        return [_done(row, sweeps, keep) for _, row in zip(settings, rows, strict=True)]
    except Exception as error:
        if len(settings) == 1:
            return [{"status": "failed", "message": error_text(error), "results": {}}]
        return [outcome for one in settings for outcome in _outcomes(paper, sweeps, {**work, "settings": [one]})]


def rows_of(
    paper: Paper, sweeps: Sweeps
) -> Callable[[Any, Sequence[Any], int, Sequence[str]], list[dict[str, Result]]]:
    """Function from configs to results: the paper's own, or an audit."""
    return sweeps.rows or (lambda data, configs, _, keep: audited(paper, data, configs, keep))


def audited(paper: Paper, data: Any, configs: Sequence[Any], keep: Sequence[str]) -> list[dict[str, Result]]:
    """Kept results of `marginaudit audit` for each config."""
    names = {name.partition(":")[0] for name in keep}
    claims = [claim for claim in paper.claims if claim.id in names]
    found = []
    for config in configs:
        run = paper.run(data, config, lambda _: None)
        rows = [claim.judge(run) for claim in claims]
        found.append({f"{row.claim}:{word}": getattr(row, word) for row in rows for word in AUDITED})
    return found


def _done(row: Mapping[str, Result], sweeps: Sweeps, keep: Sequence[str]) -> Outcome:
    kept = ((name, row[name], sweeps.results[name]) for name in keep)
    results = {name: None if value is None else finite(kind(value)) for name, value, kind in kept}
    return {"status": "done", "message": "", "results": results}


def modules_of(paper: Paper) -> tuple[str, str]:
    """Modules of a paper and of its sweeps."""
    rows = None if paper.sweeps is None else paper.sweeps.rows
    return type(paper).__module__, (rows or paper.run).__module__
