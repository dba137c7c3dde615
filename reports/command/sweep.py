"""`marginaudit sweep`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import JOBS
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError, counted
from marginaudit.reports.command.arguments import JSON, ONE_PAPER
from marginaudit.reports.command.console import print_line, print_names, print_table, progress_bar
from marginaudit.reports.command.options import FilePath, Parsed, cores
from marginaudit.reports.command.output import notify, print_json
from marginaudit.reports.study.grid import Outcome, RunsTask
from marginaudit.reports.study.merge import Rows
from marginaudit.reports.study.spec import built_in, find_spec
from marginaudit.reports.study.sweep import Folder, compute_missing, seconds_of, write_tables

MOST_TOLD = 20
"""Most failed runs to list."""

MOST_COLUMNS = 12
"""Most columns of the printed table of cells; wider tables are replaced by counts of verdicts."""


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option("--out", type=FilePath(), help="Folder to write.  [default: sweep-NAME]")
@click.option("--jobs", type=Parsed(JOBS), help="Local processes.  [default: one per core]")
@click.option("--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler: run on its cluster instead.")
@click.option("--plan", is_flag=True, help="Dry run: print the runs to compute and an estimate of the time.")
@click.option("--status", is_flag=True, help="Print the state of the runs and exit.")
@click.option("--retry-failed", is_flag=True, help="Run only failed runs and those that killed their workers.")
@click.option("--fresh", is_flag=True, help="Start over, discarding earlier results.")
@ONE_PAPER
@JSON
def sweep(
    spec: str,
    out: Path | None,
    jobs: int | None,
    scheduler: str | None,
    plan: bool,
    status: bool,
    retry_failed: bool,
    fresh: bool,
    known: tuple[Paper, ...],
    as_json: bool,
) -> int:
    """Run a grid of settings and seeds.

    SPEC is a TOML file or the name of a built-in sweep; `list` prints the names. A repeated call resumes with the
    missing runs. The exit status is 1 if a run failed.
    """
    if spec == "list":
        print_names("sweeps", dict.fromkeys(built_in(known), ""), as_json=as_json)
        return 0
    _refuse_together({"--plan": plan, "--status": status})
    _refuse_together({"--retry-failed": retry_failed, "--fresh": fresh})
    _refuse_together({"--jobs": jobs is not None, "--scheduler": scheduler is not None})
    found = find_spec(spec, known)
    folder = Folder(out or Path(f"sweep-{found.name}"), found, fresh=fresh, notice=notify)
    processes = jobs or cores()
    if status:
        _print_counts(folder, as_json)
        return 0
    todo = folder.tasks if fresh else folder.todo(retry_failed=retry_failed)
    if plan:
        _print_plan(folder, todo, processes, as_json)
        return 0
    folder.begin()
    with progress_bar(total=sum(len(task.runs) for task in todo)) as bar:
        bar.say(found.name)
        compute_missing(folder, todo, processes, scheduler, bar.reach)
    counts = _counts(folder.outcomes(), folder)
    if counts["missing"]:
        got = f"{counted(counts['missing'], 'run')} that never ran"
        raise InputError(f"--retry-failed {folder.path}", got=got, expected="none")
    cells, statements, files = write_tables(folder)
    _print_made(folder, cells, statements, files, as_json)
    if not_done := counts["failed"] + counts["killed"]:
        ended = ", ".join(f"{counts[how]} {how}" for how in ("failed", "killed") if counts[how])
        notify(f"marginaudit: {not_done} of {counted(found.runs, 'run')} could not be done: {ended}")
    return 1 if not_done else 0


def _print_made(folder: Folder, cells: Rows, statements: Rows, files: Sequence[Path], as_json: bool) -> None:
    if as_json:
        of_audits = {"statements": statements} if statements else {}
        runs = _counts(folder.outcomes(), folder)
        print_json({"runs": runs, "cells": cells, **of_audits, "files": [str(path) for path in files]})
        return
    name = folder.spec.name
    if len(cells[0]) > MOST_COLUMNS and statements:
        shown = ["claim", *(verdict for verdict in Verdict if any(row[verdict] for row in statements))]
        print_table(name, shown, [[row[column] for column in shown] for row in statements])
    else:
        print_table(name, list(cells[0]), [list(row.values()) for row in cells])
    _print_counts(folder, as_json)
    for path in files:
        print_line(str(path))


def _refuse_together(given: Mapping[str, bool]) -> None:
    if all(given.values()):
        first, second = given
        raise InputError(first, got=f"{second} beside it", expected="one of the two")


def _counts(outcomes: Mapping[str, Sequence[Outcome] | None], folder: Folder) -> dict[str, int]:
    missing = sum(len(task.runs) for task in folder.tasks if outcomes[task.key] is None)
    found = Counter(outcome["status"] for some in outcomes.values() for outcome in some or ())
    return {name: found[name] for name in ("done", "failed", "killed")} | {"missing": missing}


def _print_counts(folder: Folder, as_json: bool) -> None:
    outcomes = folder.outcomes()
    counts = _counts(outcomes, folder)
    failures = [
        {"settings": settings, "seed": task.work["seed"], "status": outcome["status"], "message": outcome["message"]}
        for task in folder.tasks
        for settings, outcome in zip(task.work["settings"], outcomes[task.key] or (), strict=False)
        if outcome["status"] != "done"
    ]
    if as_json:
        print_json({"runs": counts, "not_done": failures})
        return
    ended = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    print_line(f"{counted(folder.spec.runs, 'run')}: {ended}.")
    for failure in failures[:MOST_TOLD]:
        print_line(f"{failure['status']}, seed {failure['seed']}: {failure['message']}")
    if len(failures) > MOST_TOLD:
        print_line(f".. and {len(failures) - MOST_TOLD} more; runs.csv has all.")


def _print_plan(folder: Folder, todo: Sequence[RunsTask], processes: int, as_json: bool) -> None:
    """Print the number of runs to compute and the estimated time."""
    runs, tasks, to_run = folder.spec.runs, len(folder.tasks), sum(len(task.runs) for task in todo)
    seconds = seconds_of(todo) / processes
    if as_json:
        counts = {"runs": runs, "parts": tasks, "to_run": to_run}
        print_json({**counts, "jobs": processes, "seconds": seconds, "out": str(folder.path)})
        return
    print_line(f"{to_run} of {counted(runs, 'run')} to compute, in {counted(tasks, 'part')}, to {folder.path}.")
    print_line(f"about {seconds:.0f} s on {counted(processes, 'process', 'processes')}.")
