"""Sweeps from beginning to end: what is missing is computed, and the tables are made of all parts."""

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter

from marginaudit.orders import InputError
from marginaudit.reports.identity import digest, identity, versions
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.page.folder import refusing
from marginaudit.reports.plots.measured import rendered
from marginaudit.reports.sweep.cluster import on_cluster
from marginaudit.reports.sweep.folder import Folder
from marginaudit.reports.sweep.local import on_this_machine
from marginaudit.reports.sweep.merge import Rows, cell_rows, csv_of, parquet_of, run_rows
from marginaudit.reports.sweep.page import page
from marginaudit.reports.sweep.part import Outcome, Part, parts_of, write_part
from marginaudit.reports.sweep.picture import picture
from marginaudit.reports.sweep.spec import Spec
from marginaudit.reports.sweep.statements import placed, statement_rows
from marginaudit.reports.sweep.work import Refused, outcomes, paper_module

Progress = Callable[[int], None]
"""Takes the number of runs done."""

KILLED = "each worker that it was given to ended before it did"

MOST_TIMED = 4
"""Parts that are computed to say how long the others will take."""


def compute_missing(folder: Folder, todo: Sequence[Part], jobs: int, scheduler: str | None, progress: Progress) -> None:
    """Compute parts on this machine, or on a cluster; those that kill their workers are written as killed.

    Raises
    ------
    InputError
        A worker has other code, or found other results than another one; or there is no cluster.
    OSError
        A part cannot be written.
    """
    where, done = folder.parts.absolute(), 0
    ended = on_this_machine(todo, where, jobs) if scheduler is None else on_cluster(todo, where, scheduler)
    try:
        with closing(ended):
            for part, written in ended:
                if not written:
                    killed: Outcome = {"status": "killed", "message": KILLED, "results": {}}
                    write_part(where, part.key, [killed] * len(part.runs))
                done += len(part.runs)
                progress(done)
    except Refused as refused:
        where_, got, expected = refused.args
        raise InputError(where_, got=got, expected=expected) from None


def write_tables(folder: Folder) -> tuple[Rows, Rows, list[Path]]:
    """Make the tables, the page and the figure of all parts, none of which is missing: cells, statements, files."""
    found = {key: outcomes or () for key, outcomes in folder.outcomes().items()}
    runs = run_rows(folder.spec, folder.all, found)
    cells = cell_rows(folder.spec, runs)
    made_by = {
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
        "code": folder.all[0].work["code"],
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
    """The cells of a whole sweep, computed in this process without a file."""
    parts, found, done = _parts(spec), {}, 0
    for part in parts:
        found[part.key] = outcomes(part.work)
        done += len(part.runs)
        progress(done)
    return cell_rows(spec, run_rows(spec, parts, found))


def seconds_of(todo: Sequence[Part]) -> float:
    """About how long parts take in one process, from a few of them computed here, the first one before it counts."""
    if not todo:
        return 0.0
    chosen = [todo[i * (len(todo) - 1) // max(MOST_TIMED - 1, 1)] for i in range(min(MOST_TIMED, len(todo)))]
    outcomes(chosen[0].work)
    start = perf_counter()
    for part in chosen:
        outcomes(part.work)
    spent, timed = perf_counter() - start, sum(len(part.runs) for part in chosen)
    return spent / timed * sum(len(part.runs) for part in todo)


def _parts(spec: Spec) -> list[Part]:
    return list(parts_of(spec, digest(identity(paper_module(spec.paper)))))
