"""Tables of a sweep: runs, cells, and statements for audits; byte-identical for any workers and order."""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf, isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from markupsafe import Markup

from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError, file_content, shown, shown_path
from marginaudit.orders.reading import csv_rows, utf_8_text
from marginaudit.reports.page.small import small_page
from marginaudit.reports.study.grid import Outcome, RunsTask
from marginaudit.reports.study.spec import Spec

Rows = list[dict[str, Any]]


def run_rows(spec: Spec, tasks: Iterable[RunsTask], outcomes: Mapping[str, Sequence[Outcome]]) -> Rows:
    """One row per run, grouped by cell: data, settings, seed, results and outcome."""
    found = {run: outcome for task in tasks for run, outcome in zip(task.runs, outcomes[task.key], strict=True)}
    rows = []
    for i, made in enumerate(spec.data):
        for j, config in enumerate(spec.configs):
            for k, seed in enumerate(spec.seeds):
                outcome = found[i, j, k]
                results = {name: outcome["results"].get(name) for name in spec.keep}
                ended = {"status": outcome["status"], "message": outcome["message"]}
                rows.append({**made.columns, **spec.settings(config), "seed": seed, **results, **ended})
    return rows


def cell_rows(spec: Spec, runs: Rows) -> Rows:
    """One row per cell: the varied columns, the number of seeds, and a summary of each result over the seeds.

    Numbers are summarised by mean, sample standard deviation and count, words by their frequencies.
    """
    import pandas as pd

    cells = [runs[start : start + len(spec.seeds)] for start in range(0, len(runs), len(spec.seeds))]
    rows = [{name: cell[0][name] for name in spec.cell} for cell in cells]
    for row, cell in zip(rows, cells, strict=True):
        row["seeds"] = sum(run["status"] == "done" for run in cell)
    for name in spec.keep:
        if spec.sweeps.results[name] is float:
            table = pd.DataFrame([[run[name] for run in cell] for cell in cells], dtype="float64")
            with np.errstate(over="ignore", invalid="ignore"):  # an overflow is shown as empty
                means, deviations = table.mean(axis=1).tolist(), table.std(axis=1, ddof=1).tolist()
            known = table.count(axis=1).tolist()
            for row, *found in zip(rows, means, deviations, known, strict=True):
                row |= dict(zip(mean_sd_and_count(spec, name), finite(found), strict=True))
        else:
            for row, cell in zip(rows, cells, strict=True):
                counts = Counter(run[name] for run in cell if run[name] is not None)
                row[name] = ", ".join(f"{counts[word]} {word}" for word in sorted(counts))
    return rows


def read_cells(spec: Spec, folder: Path) -> Rows:
    """Read the cells written by a sweep of the spec.

    Raises
    ------
    InputError
        The file is missing, has other cells, or an invalid number.
    """
    path = folder / "cells.csv"
    where = shown_path(path)
    text = utf_8_text(file_content(path, "the cells that a sweep wrote"), where)
    cells = [{**made.columns, **spec.settings(config)} for made in spec.data for config in spec.configs]
    try:
        (_, header), *rows = (found for found in csv_rows(io.StringIO(text, newline=""), "") if found[1])
        records = [(line, dict(zip(header, row, strict=True))) for line, row in rows]
        same = [[row[name] for name in spec.cell] for _, row in records] == [
            [str(cell[name]) for name in spec.cell] for cell in cells
        ]
    except (ValueError, KeyError):
        same = False
    if not same or not {name for name, *_ in _numbers_of(spec)} <= set(header):
        raise InputError(where, got="other cells", expected=f"those of {spec.name}")
    for (line, row), cell in zip(records, cells, strict=True):
        cell |= row | {name: cell[name] for name in spec.cell}
        for name, kind, least in _numbers_of(spec):
            cell[name] = _number(row[name], kind, least, f"{where}: line {line}: {name}")
    return [{name: cell[name] for name in header} for cell in cells]


def _numbers_of(spec: Spec) -> Iterator[tuple[str, type[int] | type[float], float]]:
    """Numeric columns of cells.csv, with type and lower limit."""
    yield "seeds", int, 0
    for name in spec.keep:
        if spec.sweeps.results[name] is float:
            yield from zip(mean_sd_and_count(spec, name), (float, float, int), (-inf, 0, 0), strict=True)


def _number(text: str, kind: type[int] | type[float], least: float, where: str) -> float | None:
    if kind is float and not text:
        return None
    with suppress(ValueError, OverflowError):
        found = kind(text)
        if isfinite(found) and found >= least:
            return found
    expected = f"a {'whole' if kind is int else 'finite'} number{' of at least 0' if least == 0 else ''}"
    raise InputError(where, got=shown(text), expected=expected)


def mean_sd_and_count(spec: Spec, name: str) -> list[str]:
    """Columns of a numeric result in the table of cells."""
    return [word if spec.keep == (name,) else f"{name} {word}" for word in ("mean", "sd", "count")]


def parquet_of(spec: Spec, rows: Rows) -> bytes:
    """Rows as a Parquet file without date or machine."""
    from pandas import DataFrame

    kinds = {name: "float64" if spec.sweeps.results[name] is float else "string" for name in spec.keep}
    return DataFrame(rows).astype(kinds).to_parquet(index=False)


VERDICT, SIDE = ":verdict", ":side"

Place: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Takes a run and returns its name."""

SHARE = 0.05
"""Share of the audits that have a worse number than the quantile shown."""


def statement_rows(keep: Sequence[str], runs: Rows, place: Place) -> Rows:
    """One row per claim with kept verdicts.

    A row counts the audits by verdict and names the first run with the worst one. For constants and slacks that were
    kept together with the side of their bound, it has the worst value with its run, the quantile `SHARE` and the
    median; empty if a violated audit lacks the number. The worst slack is the least (see `Finding`). The worst
    constant is the least of a lower bound and the largest of an upper one; two-sided bounds have no worst constant.
    """
    done = [run for run in runs if run["status"] == "done"]
    claims = [name.removesuffix(VERDICT) for name in keep if name.endswith(VERDICT)]
    return [_row(done, claim, place) for claim in claims]


def _row(done: Rows, claim: str, place: Place) -> dict[str, Any]:
    counts = Counter(run[claim + VERDICT] for run in done)
    worst = next((verdict.value for verdict in Verdict if counts[verdict.value]), None)
    first = next((run for run in done if run[claim + VERDICT] == worst), None)
    row: dict[str, Any] = {"claim": claim, "audits": len(done)}
    row |= {verdict.value: counts[verdict.value] for verdict in Verdict}
    row |= {"worst": worst, "worst in": None if first is None else place(first)}
    sides = {run.get(claim + SIDE) for run in done} - {None}
    numbers = {
        "constant": [run.get(f"{claim}:constant") if len(sides) == 1 else None for run in done],
        "slack": [run.get(f"{claim}:slack") for run in done],
    }
    fails = [run[claim + VERDICT] == Verdict.VIOLATED for run in done]
    for name, values in numbers.items():
        columns = (f"{name} worst", f"{name} worst in", f"{name} worst but 5%", f"{name} median")
        known = [(run, value) for run, value in zip(done, values, strict=True) if value is not None]
        if not known or any(fail and value is None for fail, value in zip(fails, values, strict=True)):
            row |= dict.fromkeys(columns)
        else:
            largest = name == "constant" and sides == {"upper"}
            row |= dict(zip(columns, _worst(known, place, largest=largest), strict=True))
    return row


def _worst(
    known: Sequence[tuple[Mapping[str, Any], float]], place: Place, *, largest: bool
) -> tuple[float, str, float, float]:
    """Worst value over the runs with the run's name, quantile `SHARE`, and median."""
    values = [value for _, value in known]
    at = int(np.argmax(values) if largest else np.argmin(values))
    share = np.quantile(values, 1 - SHARE, method="higher") if largest else np.quantile(values, SHARE, method="lower")
    return float(values[at]), place(known[at][0]), float(share), float(np.median(values))


def placed(varied: Iterable[str], run: Mapping[str, Any]) -> str:
    """Name of a run: its values of the varied columns.

    >>> placed(("V", "seed"), {"V": 4, "N": 16, "seed": 2})
    'V = 4, seed = 2'
    """
    return ", ".join(f"{name} = {run[name]}" for name in varied)


def page(spec: Spec, statements: Rows, runs: Rows, figure: bytes | None) -> str:
    """Self-contained page of a sweep of audits; ``figure`` is an SVG made by this program."""
    text = "" if figure is None else figure.decode("utf-8")
    verdicts = [verdict.value for verdict in Verdict if any(row[verdict.value] for row in statements)]
    order = [verdict.value for verdict in Verdict]
    ranked = sorted(statements, key=lambda row: [-row[verdict] for verdict in order[:2]])
    return small_page(
        "marginaudit.reports.study",
        "sweep.html",
        name=spec.name,
        spec=spec.text,
        runs=len(runs),
        done=sum(run["status"] == "done" for run in runs),
        failing=sum(row["violated"] > 0 for row in statements),
        verdicts=verdicts,
        statements=ranked,
        numbers=[row for row in ranked if row["slack worst"] is not None or row["constant worst"] is not None],
        figure=Markup(text[text.index("<svg") :]) if text else None,
    )
