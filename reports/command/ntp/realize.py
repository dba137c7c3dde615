"""`marginaudit realize`."""

import shlex
from collections import Counter
from contextlib import ExitStack
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import click

from marginaudit.claims.settings import whole
from marginaudit.claims.values.json_data import finite
from marginaudit.orders import counted, printable
from marginaudit.orders.ntp.realize.part import document_of
from marginaudit.orders.ntp.realize.reduced_samples import samples_of
from marginaudit.orders.ntp.realize.sentences import UNITS, read_sentences
from marginaudit.orders.ntp.realize.survey import Survey, survey, surveys
from marginaudit.orders.ntp.realize.words import Text, numbered
from marginaudit.orders.running_text import ALICE
from marginaudit.orders.text import shown_path
from marginaudit.reports.command.arguments import JSON
from marginaudit.reports.command.console import Bar, print_line, print_table, progress_bar, upper_bound
from marginaudit.reports.command.options import FilePath, Parsed
from marginaudit.reports.command.output import check_output, print_json, write, write_figure
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.ntp.figures.realizable import realizable_figure
from marginaudit.reports.ntp.realizable import SIZES, answer, sizes
from marginaudit.reports.page.files import csv_of, json_pieces
from marginaudit.reports.plots.measured import FORMATS

MOST = 10**9

AT_LEAST_2 = whole(2, MOST, "count")
AT_LEAST_1 = whole(1, MOST, "count")


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--unit", type=OneOf(UNITS), default="word", show_default=True, help="Kind of token.")
@click.option("--column", help="Column of a .csv file, or key of .jsonl objects.  [default: text]")
@click.option("--prose", is_flag=True, help="Sentences end with . ! ? or an empty line; words (UAX 29) in lower case.")
@click.option(
    "--max-vocabulary",
    type=Parsed(AT_LEAST_2),
    default=1000,
    show_default=True,
    help="Largest vocabulary: the most frequent tokens; all others are <unk>.",
)
@click.option(
    "--max-length", type=Parsed(AT_LEAST_1), default=32, show_default=True, help="Drop samples with more tokens."
)
@click.option("--majority", is_flag=True, help="Keep only samples that also meet Assumption 3.")
@click.option("--out", type=FilePath(), help="Dataset file to write.  [default: FILE's stem, .realizable.json]")
@click.option(
    "--table", type=FilePath(), help="CSV file: results for smaller vocabularies, lengths and prefixes of the text."
)
@click.option("--plot", type=FilePath(), help="Figure of that table: .svg, .pdf or .png.")
@JSON
def realize(
    file: str,
    unit: str,
    column: str | None,
    prose: bool,
    max_vocabulary: int,
    max_length: int,
    majority: bool,
    out: Path | None,
    table: Path | None,
    plot: Path | None,
    as_json: bool,
) -> int:
    """Find the largest part of a text that meets Assumption 1, and measure how far the text is from it.

    FILE is a .txt file with one sentence per line, a .csv or .jsonl file with texts in a column, or `alice`, a built-in
    text.
    """
    out = out or Path(f"{Path(file).stem}.realizable.json")
    check_output(out, "--out", ".json", reads=[file])
    if table is not None:
        check_output(table, "--table", ".csv", reads=[file])
    if plot is not None:
        check_output(plot, "--plot", *FORMATS, reads=[file])
    with ExitStack() as stack, progress_bar(total=1.0) as bar:
        shipped = file == "alice"
        path = stack.enter_context(as_file(ALICE)) if shipped else Path(file)
        bar.say(f"reading {path.name}")
        gone: Counter[str] = Counter()
        sentences = read_sentences(path, gone, unit=unit, column=column, prose=prose or shipped, reach=bar.reach)
        text = numbered(printable(path.stem), sentences, max_length, where=shown_path(path), left_out=gone)
        text = text.of_vocabulary(max_vocabulary)
        bar.say("looking for the largest part")
        found, size = _written(text, out, majority=majority)
        rows = _rows(text, bar, majority=majority) if table or plot else []
    command = f"marginaudit audit {shlex.quote(str(out))}"
    document = answer(found) | {"sentences": text.sentences, "longest": text.longest}
    document["left_out"] = {name: gone[name] for name in ("comments", "characters", "sentences", "samples")}
    document["realizable"] |= {**size, "dataset": str(out), "audit": command}
    if rows:
        document["sizes"] = rows
    if table is not None:
        write(table, csv_of(rows), "--table")
    if plot is not None:
        write_figure(plot, realizable_figure(text.name, rows), "--plot")
    if as_json:
        print_json(finite(document))
        return 0
    _print(text, document, rows)
    print_line(f"left out: {_left_out(gone, max_length)}")
    print_line(f"dataset: {out}")
    print_line(f"both solutions, training and the claims on it: {command}")
    return 0


def _left_out(gone: Counter[str], longest: int) -> str:
    """Counts of what is left out of the samples."""
    found = [
        (gone["comments"], "comment line", ""),
        (gone["characters"], "character", " in no word (marks, symbols)"),
        (gone["sentences"], "sentence", " of fewer than 2 tokens"),
        (gone["samples"], "sample", f" of more than {counted(longest, 'token')}"),
    ]
    return ", ".join(counted(count, one) + what for count, one, what in found if count) or "nothing"


def _written(text: Text, out: Path, *, majority: bool) -> tuple[Survey, dict[str, int]]:
    """Write the largest part of a text; return the survey and the part's size."""
    samples = samples_of(text, majority=majority)
    found = survey(samples)
    document = document_of(found.part, samples, text.vocabulary, f"{text.name}-realizable")
    write(out, json_pieces(document), "--out")
    return found, {"tokens": len(document["vocabulary"]), "distinct": int(found.part.kept.sum())}


def _rows(text: Text, bar: Bar, *, majority: bool) -> list[dict[str, Any]]:
    rows = []
    for varied, value, found in surveys(text, majority=majority):
        rows.append(sizes(varied, value, found))
        bar.say(f"{varied} {value}: done")
    return rows


def _print(text: Text, document: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    part, samples = document["realizable"], document["samples"]
    print_table(
        f"{text.name}: {counted(text.sentences, 'sentence')}",
        ("", "", "of"),
        [
            ("samples that fit one collocation", round(document["collocation_share"] * samples), samples),
            ("queries with well-ordered relations", document["well_ordered"], document["queries"]),
            ("queries without confused tokens", document["unconfused"], document["queries"]),
            ("tokens confused under some query", document["confused"], document["tokens"]),
            ("first words with one next token", document["length_1"]["one"], sum(document["length_1"].values())),
            ("samples in the largest part found", part["lower"], samples),
            ("samples in any part, at most", upper_bound(part["upper"]), samples),
        ],
    )
    print_line(f"largest part: {part['method']}")
    if rows:
        print_table("For smaller vocabularies, samples and texts", SIZES, [list(row.values()) for row in rows])
