"""Run a sweep: compute the missing runs, then write the tables of all."""

import json
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from time import perf_counter
from typing import Any

from marginaudit.orders import InputError, shown_path
from marginaudit.reports.page.files import csv_of, json_text, write_whole
from marginaudit.reports.page.folder import refusing
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.processes import Died
from marginaudit.reports.study.executor import in_workers
from marginaudit.reports.study.grid import Outcome, RunsTask, modules_of, outcomes, tasks_of
from marginaudit.reports.study.merge import Rows, cell_rows, page, parquet_of, placed, run_rows, statement_rows
from marginaudit.reports.study.picture import picture
from marginaudit.reports.study.spec import Spec
from marginaudit.reports.study.store import Store, difference, digest, identity, versions

Progress = Callable[[int], None]
"""Takes the number of runs done."""

MISSING: Outcome = {"status": "missing"}

KILLED: Outcome = {
    "status": "killed",
    "message": "each worker that it was given to ended before it did",
    "results": {},
}

ABOUT, SPEC, RESULTS = "sweep.json", "spec.toml", "parts"

MADE = ("runs.parquet", "runs.csv", "cells.csv", "statements.csv", "sweep.html", "figure.svg", "figure.pdf")
"""The files made from the runs."""

MOST_TIMED = 4
"""Most tasks that are timed for the estimate."""


class Folder:
    """Folder of a sweep. `begin` makes the first writes; ``notice``: see `Store`.

    Raises
    ------
    InputError
        The folder holds foreign files, or (unless ``fresh``) results of other code or versions.
    """

    def __init__(
        self, path: Path, spec: Spec, *, fresh: bool = False, notice: Callable[[str], object] = warnings.warn
    ) -> None:
        self.path, self.spec, self._fresh = path, spec, fresh
        self.results = path / RESULTS
        self.store = Store(self.results, notice=cache(notice))  # report a damaged file once, though it is read again
        self._identity = identity(*modules_of(spec.paper))
        self.tasks = list(tasks_of(spec, digest(self._identity)))
        where = f"--out {shown_path(path)}"
        with refusing(path):
            if path.exists() and not path.is_dir():
                raise InputError(where, got="a file", expected="a folder to write the sweep to")
            about = self._about(where)
        if about is not None and not fresh and (changed := difference(about, self._identity)):
            got, expected = f"results of {changed}", "what computed them, or --fresh to start over"
            raise InputError(where, got=got, expected=expected)

    def _about(self, where: str) -> Mapping[str, Any] | None:
        file = self.path / ABOUT
        if not file.exists():
            if self.path.exists() and any(self.path.iterdir()):
                got = "a folder of files that are no sweep"
                raise InputError(where, got=got, expected="a new folder, an empty one or an earlier sweep's")
            return None
        try:
            document: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return {name: {**document[name]} for name in ("versions", "code")}
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError(shown_path(file), got="a damaged file", expected="an earlier sweep's") from None

    def begin(self) -> None:
        """Create the folder, write the spec and the code's identity, and remove the outputs of another spec."""
        with refusing(self.path):
            if self._fresh:
                shutil.rmtree(self.results, ignore_errors=True)
            file = self.path / SPEC
            if self._fresh or not file.is_file() or file.read_bytes() != self.spec.text.encode("utf-8"):
                for name in MADE:  # stored results stay: specs may share some
                    (self.path / name).unlink(missing_ok=True)
            self.results.mkdir(parents=True, exist_ok=True)
            write_whole(self.path / ABOUT, json_text(self._identity, indent=1))
            write_whole(file, self.spec.text)

    def outcomes(self) -> dict[str, list[Outcome] | None]:
        """Outcomes of each task's runs by key; None for a missing task."""
        return {task.key: self.store.read(task.key) for task in self.tasks}

    def todo(self, *, retry_failed: bool) -> list[RunsTask]:
        """Missing tasks; with ``retry_failed``, tasks with failed or killed runs."""
        found = self.outcomes()
        if retry_failed:
            return [task for task in self.tasks if not all(map(_done, found[task.key] or ()))]
        return [task for task in self.tasks if found[task.key] is None]

    def keep(self, key: str, new: Sequence[Outcome]) -> None:
        """Write the outcomes of a task's runs. Finished runs are kept; recomputed, they must give equal results.

        Raises
        ------
        InputError
            Another process stored different results, or writing fails.
        """
        with refusing(self.path):
            if old := self.store.read(key):
                new = [_kept(*pair, shown_path(self.store.path(key))) for pair in zip(old, new, strict=True)]
            self.store.write(key, new)


def _done(outcome: Outcome) -> bool:
    return bool(outcome["status"] == "done")


def _kept(old: Outcome, new: Outcome, where: str) -> Outcome:
    if old == new or not _done(old):
        return new
    if _done(new):
        name = next(name for name in new["results"] if old["results"][name] != new["results"][name])
        got = f"another {name}: {old['results'][name]}, now {new['results'][name]}"
        raise InputError(where, got=got, expected="the same from the same settings, seed, versions and code")
    return old


def compute_missing(
    folder: Folder, todo: Sequence[RunsTask], jobs: int, scheduler: str | None, progress: Progress
) -> None:
    """Compute tasks locally or on a cluster, without their finished runs.

    If a task kills its workers, all its runs are written as killed.

    Raises
    ------
    InputError
        A worker has other code or different results, or the cluster is missing.
    """
    if not todo:
        return
    before = {task.key: folder.store.read(task.key) or [MISSING] * len(task.runs) for task in todo}
    calls, done = {}, 0
    for task in todo:
        pairs = zip(task.work["settings"], before[task.key], strict=True)
        missing = [one for one, old in pairs if not _done(old)]
        calls[task.key] = partial(outcomes, {**task.work, "settings": missing})
    if scheduler is None:
        results = in_workers(calls, jobs)
    else:
        from marginaudit.reports.study.cluster import on_cluster  # slow import, for Dask alone

        results = on_cluster(calls, scheduler)
    for key, found in results:
        new = repeat(KILLED) if isinstance(found, Died) else iter(found)
        folder.keep(key, [old if _done(old) else next(new) for old in before[key]])
        done += len(before[key])
        progress(done)


def write_tables(folder: Folder) -> tuple[Rows, Rows, list[Path]]:
    """Write tables, page and figure of a complete sweep; return cells, statements and files."""
    found = {key: outcomes or () for key, outcomes in folder.outcomes().items()}
    runs = run_rows(folder.spec, folder.tasks, found)
    cells = cell_rows(folder.spec, runs)
    made_by = {
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
        "code": folder.tasks[0].work["code"],
    }
    told = [{**run, **made_by} for run in runs]
    files: dict[str, str | bytes] = {
        "runs.parquet": parquet_of(folder.spec, told),
        "runs.csv": csv_of(told),
        "cells.csv": csv_of(cells),
    }
    svg = None
    if folder.spec.layout is not None:
        figure = picture(folder.spec, folder.spec.layout, cells)
        svg = rendered(figure, ".svg")
        files |= {"figure.svg": svg, "figure.pdf": rendered(figure, ".pdf")}
    statements = statement_rows(folder.spec.keep, runs, partial(placed, (*folder.spec.cell, "seed")))
    if statements:
        files["statements.csv"] = csv_of(statements)
        files["sweep.html"] = page(folder.spec, statements, runs, svg)
    with refusing(folder.path):
        for name, content in files.items():
            write_whole(folder.path / name, content)
    return cells, statements, [folder.path / name for name in files]


def cells_in_memory(spec: Spec, progress: Progress) -> Rows:
    """Compute the cells of a whole sweep in this process, without files."""
    tasks, found, done = list(tasks_of(spec, digest(identity(*modules_of(spec.paper))))), {}, 0
    for task in tasks:
        found[task.key] = outcomes(task.work)
        done += len(task.runs)
        progress(done)
    return cell_rows(spec, run_rows(spec, tasks, found))


def seconds_of(todo: Sequence[RunsTask]) -> float:
    """Estimated seconds of the tasks in one process, from a few timed in this one after a warm-up."""
    if not todo:
        return 0.0
    chosen = [todo[i * (len(todo) - 1) // max(MOST_TIMED - 1, 1)] for i in range(min(MOST_TIMED, len(todo)))]
    outcomes(chosen[0].work)
    start = perf_counter()
    for task in chosen:
        outcomes(task.work)
    spent, timed = perf_counter() - start, sum(len(task.runs) for task in chosen)
    return spent / timed * sum(len(task.runs) for task in todo)
