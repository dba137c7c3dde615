"""`marginaudit relax`."""

from itertools import groupby
from pathlib import Path
from typing import Any

import click

from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.solving import trainable
from marginaudit.claims.ntp.theorems import CLAIMS
from marginaudit.claims.settings import each, whole
from marginaudit.margins.ntp import require_dense
from marginaudit.orders.ntp import Dataset
from marginaudit.orders.ntp.embed import KINDS
from marginaudit.reports.audit.sources import load
from marginaudit.reports.command.arguments import CHOSEN, DATASET, JSON, AsksPapers, matching
from marginaudit.reports.command.console import cell, print_line, print_table, print_texts, progress_bar, width
from marginaudit.reports.command.options import FilePath, Parsed, configs, settings_options
from marginaudit.reports.command.output import check_output, print_json, write, write_figure
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.ntp.figures.relaxed import relaxed_figure
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.ntp.relaxed import SHARES, Arm, Seen, seen_on, statement
from marginaudit.reports.ntp.training import require_closed_form
from marginaudit.reports.page.files import csv_of
from marginaudit.reports.plots.measured import FORMATS

MOST = 1000

COUNT = whole(1, MOST, "count")

DIMENSIONS = each(COUNT, "d,d,..", "dimension", dict.fromkeys)

ROW = (
    "kind",
    "dimension",
    "seed",
    "share",
    "coherence",
    "ov",
    "kq",
    "kq_radius",
    "stage2_error",
    "stage2_bar",
    "stage2_slack",
    "certified",
)
"""Columns of the printed table, one row per embedding."""

ARM = ROW[:3]
"""Columns shared by the rows of an arm."""

SHOWN = ("claim", "one_hot", "coherence", "without_violation", "kind", "dimension", "seed", "broken_on", "ends")

LEAST_WIDTH = 118
"""Least terminal width for one table of both column groups."""


@click.command(cls=AsksPapers, of_papers=lambda _: settings_options("train", [PAPER]))
@DATASET
@click.option(
    "--kind",
    "kinds",
    type=OneOf(list(KINDS)),
    multiple=True,
    help="Random embeddings: unit vectors, or normal entries. May be given again.  [default: unit]",
)
@click.option("--dims", type=Parsed(DIMENSIONS), help="Dimensions of the random embeddings.  [default: V/2, V and 4V]")
@click.option("--seeds", type=Parsed(COUNT), default=2, show_default=True, help="Embeddings per kind and dimension.")
@click.option("--table", type=FilePath(), help="CSV file with one row per embedding.")
@click.option("--plot", type=FilePath(), help="Figure of direction error and slack: .svg, .pdf or .png.")
@click.option("--enclose", is_flag=True, help="Compute directions in ball arithmetic if their error bars are wide.")
@CHOSEN
@JSON
def relax(
    dataset: str,
    kinds: tuple[str, ...],
    dims: tuple[int, ...] | None,
    seeds: int,
    table: Path | None,
    plot: Path | None,
    enclose: bool,
    patterns: tuple[str, ...],
    as_json: bool,
    **given: Any,
) -> int:
    """Judge the statements without Assumption 2, from one-hot to non-orthonormal embeddings.

    Interpolates from one-hot tokens to random embeddings, and to the DATASET's own embedding if it has one.
    """
    if table is not None:
        check_output(table, "--table", ".csv", reads=[dataset])
    if plot is not None:
        check_output(plot, "--plot", *FORMATS, reads=[dataset])
    claims = matching(patterns, CLAIMS)
    config = configs("train", [PAPER], [PAPER], given)
    source = load(dataset, [PAPER])
    data = trainable(source.dataset, source.origin)
    require_dense(data, "W_ov", "none of which is zero")
    require_closed_form(config[PAPER.name], "the embeddings are not orthonormal", source.origin)
    arms = arms_of(data, kinds or ("unit",), dims, seeds, config[PAPER.name], certify=enclose)
    rows: list[dict[str, Any]] = []
    seen: dict[str, list[Seen]] = {claim.id: [] for claim in claims}
    with progress_bar(total=len(arms) * len(claims)) as bar:
        for number, arm in enumerate(arms):
            arm_name = f"{arm.kind} embedding, d = {arm.dimension}"
            bar.say(arm_name)
            rows += [arm.row(share) for share in (0.0, *SHARES)]
            for done, claim in enumerate(claims):
                bar.say(f"{arm_name}: {claim.id}")
                seen[claim.id].append(seen_on(arm, claim))
                bar.reach(number * len(claims) + done + 1)
            arm.forget()
    statements = [statement(claim, seen[claim.id]) for claim in claims]
    name = arms[0].dataset.name
    if table is not None:
        write(table, csv_of(rows), "--table")
    if plot is not None:
        write_figure(plot, relaxed_figure(name, rows), "--plot")
    if as_json:
        print_json({"dataset": name, "rows": rows, "statements": statements})
        return 0
    _print_embeddings(name, rows)
    _print_statements(statements)
    return 0


def arms_of(
    dataset: Dataset, kinds: tuple[str, ...], dims: tuple[int, ...] | None, seeds: int, config: Config, *, certify: bool
) -> list[Arm]:
    """One arm per kind, dimension and seed, and one for the dataset's own embedding."""
    V = dataset.V
    chosen = dims or tuple(dict.fromkeys((max(1, V // 2), V, 4 * V)))
    given = dataset.embedding
    ends: list[tuple[str, int, int | None, Any]] = [] if given is None else [("given", given.shape[1], None, given)]
    ends += [(kind, d, seed, KINDS[kind](V, d, seed)) for kind in kinds for d in chosen for seed in range(seeds)]
    return [Arm(dataset, *end, config, certify) for end in ends]


def _print_embeddings(name: str, rows: list[dict[str, Any]]) -> None:
    title = f"{name}: without orthonormal tokens"
    if width() >= LEAST_WIDTH:
        print_table(title, _header(ROW), [[_cell(row[column]) for column in ROW] for row in rows])
        return
    own = ROW[len(ARM) :]
    for arm, of_arm in groupby(rows, key=lambda row: [row[column] for column in ARM]):
        shared = ", ".join(f"{column} {value}" for column, value in zip(ARM, arm, strict=True) if value is not None)
        print_table(f"{title}, {shared}", _header(own), [[_cell(row[column]) for column in own] for row in of_arm])


def _print_statements(statements: list[dict[str, Any]]) -> None:
    title = "Least coherence at which each statement was violated, over all arms"
    if width() >= LEAST_WIDTH:
        print_table(title, _header(SHOWN), [[_cell(found[column]) for column in SHOWN] for found in statements])
        return
    print_line(f"{title}:")
    print_line("")
    for found in statements:
        known = [column for column in SHOWN[1:] if found[column] is not None]
        print_texts(found["claim"], {column.replace("_", " "): str(cell(_cell(found[column]))) for column in known})


def _header(columns: tuple[str, ...]) -> list[str]:
    return [column.replace("_", " ") for column in columns]


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{count} {verdict}" for verdict, count in value.items())
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
