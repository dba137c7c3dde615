"""`marginaudit audit`."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from marginaudit.orders import shown_path
from marginaudit.reports.audit.auditing import CLAIM_TIMEOUT, distinct_names
from marginaudit.reports.audit.ledger import chosen
from marginaudit.reports.audit.provenance import provenance
from marginaudit.reports.audit.sources import cases_of, load, once_each, papers_of, some_judged, with_trajectories
from marginaudit.reports.command.arguments import (
    CHOSEN,
    CLAIMS,
    DATASETS,
    JSON,
    ONLY_MINE,
    TRAJECTORIES,
    ledger,
    matching,
    only_of,
    papers,
)
from marginaudit.reports.command.console import print_line, progress_bar
from marginaudit.reports.command.description import asked_for, described, only_description
from marginaudit.reports.command.options import FilePath, Parsed, configs, settings_options, usual_jobs
from marginaudit.reports.command.output import print_json
from marginaudit.reports.command.streams import tell
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.command.verdicts import MOST_VERDICTS, print_verdicts
from marginaudit.reports.page.exports import EXPORTED, FORMATS
from marginaudit.reports.page.folder import check_folder, manifest
from marginaudit.reports.settings import JOBS, SECONDS
from marginaudit.reports.shell import joined

PAPERS = papers()


class PaperName(OneOf):
    """The name of a paper, or the file of one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take the name of the file's paper."""
        return next((paper.name for paper in PAPERS if value and value == paper.file), "") or super().convert(
            value, param, ctx
        )


@click.command()
@DATASETS
@click.option(
    "--out",
    default="audit-report",
    type=FilePath(),
    show_default=True,
    help="Folder to write; in an earlier report's, a file that was changed is kept with ~ at its name's end.",
)
@click.option("--fail-on", type=OneOf(["violated"]), help="Exit with status 1 if a claim is violated.")
@click.option(
    "--export",
    "exports",
    type=OneOf(FORMATS),
    multiple=True,
    metavar="FORMAT",
    help="Also write the tables as latex (with references.bib), markdown or parquet, or the figures as pdf. May be "
    "given again.",
)
@click.option(
    "--paper",
    "name",
    type=PaperName([*(paper.name for paper in PAPERS), "all"]),
    metavar="NAME|FILE",
    show_default="all",
    help="The claims and built-in cases of one paper only: "
    + ", ".join(f"{paper.name} is {paper.source}" for paper in PAPERS)
    + "; or of a Python file with a PAPER of your own, which is run.",
)
@TRAJECTORIES
@CHOSEN
@CLAIMS
@ONLY_MINE
@click.option(
    "--claim-timeout",
    type=Parsed(SECONDS),
    default=CLAIM_TIMEOUT,
    show_default=True,
    help="Seconds that a claim of your own may take on a dataset; then it is broken.",
)
@click.option(
    "--jobs",
    type=Parsed(JOBS),
    help="Datasets that are judged at a time, in as many processes.  [default: one a core, and one more]",
)
@click.option("--verdicts", "everything", is_flag=True, help=f"Print every verdict, also of more than {MOST_VERDICTS}.")
@click.option("--fresh", is_flag=True, help="Audit anew what was audited before.")
@settings_options("audit", PAPERS)
@JSON
@click.pass_obj
def audit(
    typed: list[str] | None,
    /,
    datasets: tuple[str, ...],
    out: Path,
    fail_on: str | None,
    exports: tuple[str, ...],
    name: str | None,
    trajectories: tuple[tuple[str, Path], ...],
    patterns: tuple[str, ...],
    claims_file: Path | None,
    only_mine: bool,
    claim_timeout: float,
    jobs: int | None,
    everything: bool,
    fresh: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Audit every claim on every DATASET and write a report.

    Without a DATASET it audits the built-in cases. A DATASET that ends in .toml is an audit's description; options go
    before what it says. What was audited before with the same data, settings, versions and code is not
    audited again; it is kept in ~/.cache/marginaudit (XDG_CACHE_HOME).
    """
    from marginaudit.reports.page.write import write_report
    from marginaudit.reports.study.audit import audit_datasets
    from marginaudit.reports.study.store import user_cache

    where, by_file, by_data = "--claim", "", ""
    if (path := only_description(datasets)) is not None:
        where = where if patterns else f"{shown_path(path)}: claims"
        found = described(path, PAPERS, FORMATS)
        by_file = f"{shown_path(path)}: claims_file" if found.claims_file and not claims_file else ""
        by_data = f"{shown_path(path)}: datasets" if found.datasets else ""
        datasets, name, claims_file = found.datasets, name or found.paper, claims_file or found.claims_file
        patterns, exports = patterns or found.claims, exports or found.exports
        not_given = {key for key, value in given.items() if value is None or value is False}
        given |= {key: found.settings.get(key) for key in not_given}
    audited = chosen(PAPERS, name or "all")
    with asked_for(by_file):
        known = only_of(claims_file) if only_mine else ledger(claims_file, audited)
    of_paper = f"paper {name}" if name not in (None, "all") else ""
    claims = matching(patterns, known, where, shown_path(claims_file) if only_mine and claims_file else of_paper)
    spoken_of = [paper for paper in audited if any(paper.judges(claim) for claim in claims)]
    with asked_for(by_data):
        loaded = [load(name, audited) for name in once_each(datasets)] if datasets else cases_of(spoken_of, tell)
    sources = distinct_names(loaded, tell)
    if patterns or only_mine:
        some_judged(claims, sources, where if patterns else "--only-mine")
    config = configs("audit", papers_of(sources), PAPERS, given)
    sources = distinct_names(with_trajectories(sources, trajectories, config), tell)
    for source in sources:
        if remark := source.paper.remark(source.dataset, source.place):
            tell(remark)
    steps = [source.paper.steps(config[source.paper.name]) for source in sources]
    reached = dict.fromkeys((source.dataset.name for source in sources), 0)
    length = {source.dataset.name: count for source, count in zip(sources, steps, strict=True)}
    check_folder(out)
    before = manifest(out) or {}
    with progress_bar(total=sum(steps)) as bar:

        def reach(dataset: str, steps: int) -> None:
            reached[dataset] = min(steps, length[dataset])
            bar.reach(sum(reached.values()))

        def progress(dataset: str, what: str) -> Callable[[int], None]:
            bar.say(f"{dataset}: {what}")
            return partial(reach, dataset)

        def done(dataset: str, how: str) -> None:
            bar.say(f"{dataset}: {how}")
            if len(sources) > 1:
                bar.log(f"{dataset}: {how}")
            reach(dataset, length[dataset])

        result = audit_datasets(
            sources,
            claims,
            config,
            jobs=jobs or usual_jobs(),
            progress=progress,
            done=done,
            exports=exports,
            claim_timeout=claim_timeout,
            store=user_cache(fresh=fresh),
        )
        command = None if typed is None else joined(["marginaudit", *typed])
        own_papers = [Path(paper.file) for paper in papers_of(sources) if paper.file]
        files = [file for file in (path, claims_file, *own_papers) if file is not None]
        own = None if claims_file is None else str(claims_file)
        result = replace(result, made=provenance(command, files), claims_file=own)
        write_report(result, out, bar.say, exports)
    if gone := sorted(name for name in before if name.endswith(EXPORTED) and not (out / name).exists()):
        tell(f"{shown_path(str(out))}: {', '.join(gone)} of the report before: not exported this time, and removed")
    report = out / "report.html"
    if as_json:
        print_json(result.as_document())
        tell(f"report: {report}")
    else:
        print_verdicts(result, everything=everything)
        print_line(f"report: {report}")
    return 1 if fail_on == "violated" and any(row.fails for row in result.rows) else 0
