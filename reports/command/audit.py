"""`marginaudit audit`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.claims.settings import CLAIM_TIMEOUT, EXPORTS, JOBS, SECONDS
from marginaudit.orders import InputError, counted, printable, shown_path
from marginaudit.reports.command.arguments import (
    CHOSEN,
    CLAIMS,
    DATASETS,
    HEAD,
    JSON,
    MAP,
    ONLY_MINE,
    TRAJECTORIES,
    AsksPapers,
    ledger,
    mapped,
    matching,
    papers,
    save_maps,
)
from marginaudit.reports.command.options import FilePath, Parsed, configs, cores, settings_options
from marginaudit.reports.command.output import notify, print_json
from marginaudit.reports.command.usage import OneOf

if TYPE_CHECKING:
    from marginaudit.claims.claim import Claim, Ledger
    from marginaudit.claims.paper import Paper
    from marginaudit.reports.audit.auditing import Audit, Progress
    from marginaudit.reports.audit.check_bars import Outcomes
    from marginaudit.reports.audit.sources import Source
    from marginaudit.reports.command.console import Bar
    from marginaudit.reports.command.description import Asked
    from marginaudit.reports.logbook.registry import Registry

LONG = 60.0
"""Expected seconds above which a remark announces them."""

MOST_VERDICTS = 40
"""Most verdicts printed without --verdicts."""


class PaperName(OneOf):
    """Name or file of a paper."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Replace a file by the name of its paper."""
        of_file = (paper.name for paper in papers() if value and value == paper.file)
        return next(of_file, "") or super().convert(value, param, ctx)


def _of_papers(known: "tuple[Paper, ...]") -> list[click.Option]:
    names = ", ".join(f"{paper.name} is {paper.source}" for paper in known)
    one_paper = click.Option(
        ["--paper", "name"],
        type=PaperName([*(paper.name for paper in known), "all"]),
        metavar="NAME|FILE",
        show_default="all",
        help=f"The claims and built-in cases of one paper only: {names}; or of a Python file with a PAPER of your own, "
        "which is executed.",
    )
    return [one_paper, *settings_options("audit", known)]


@click.command(cls=AsksPapers, of_papers=_of_papers)
@DATASETS
@click.option(
    "--out",
    default="audit-report",
    type=FilePath(),
    show_default=True,
    help="Folder to write; an earlier report in it is replaced, unless a file of it was edited.",
)
@click.option("--fail-on", type=OneOf(["violated"]), help="Exit with status 1 if a claim is violated.")
@click.option(
    "--export",
    "exports",
    type=OneOf(EXPORTS),
    multiple=True,
    metavar="FORMAT",
    help="Also write the tables as latex (with references.bib), markdown or parquet, the figures as pdf, or a Trackio "
    "logbook with a page per claim. May be given again.",
)
@click.option(
    "--registry",
    "registry_file",
    type=FilePath(),
    metavar="FILE",
    help='Claims of the logbook, as {"ID": [{"text": "..", "status": ".."}, ..]}: a page for each text.  [default: '
    "a page for each statement]",
)
@click.option("--paper-id", metavar="ID", help="The paper's id in the registry, and in the logbook's tags.")
@TRAJECTORIES
@MAP
@HEAD
@CHOSEN
@CLAIMS
@ONLY_MINE
@click.option(
    "--claim-timeout",
    type=Parsed(SECONDS),
    default=CLAIM_TIMEOUT,
    show_default=True,
    help="Time limit in seconds of a claim of your own on a dataset; beyond it the verdict is broken.",
)
@click.option(
    "--jobs",
    type=Parsed(JOBS),
    help="Datasets judged at a time, each in its own process.  [default: one per core]",
)
@click.option(
    "--controls",
    is_flag=True,
    help="Also audit a planted false twin of each claim that has no control, to show that a mistake would be noticed. "
    "Its verdicts are not cached.",
)
@click.option(
    "--check-bars",
    is_flag=True,
    help="Rerun the measures of your claims about instances in 256 bits. A row with a wrong error bar is broken, and "
    "the exit status is 1.",
)
@click.option("--verdicts", "everything", is_flag=True, help=f"Print every verdict, also of more than {MOST_VERDICTS}.")
@click.option("--fresh", is_flag=True, help="Ignore cached results.")
@JSON
@click.pass_obj
def audit(
    typed: list[str] | None,
    /,
    datasets: tuple[str, ...],
    name: str | None,
    patterns: tuple[str, ...],
    claims_file: Path | None,
    only_mine: bool,
    trajectories: tuple[tuple[str, Path], ...],
    rules: tuple[str, ...],
    head: str | None,
    exports: tuple[str, ...],
    registry_file: Path | None,
    paper_id: str | None,
    out: Path,
    fail_on: str | None,
    claim_timeout: float,
    jobs: int | None,
    controls: bool,
    check_bars: bool,
    everything: bool,
    fresh: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Audit every claim on every DATASET and write a report.

    Without a DATASET it audits the built-in cases. A DATASET that ends in .toml is an audit's description; options
    override it. Results are cached in ~/.cache/marginaudit (XDG_CACHE_HOME), and reused for equal data, settings,
    versions and code.
    """
    from marginaudit.reports.audit.planted import with_controls
    from marginaudit.reports.audit.sources import papers_of
    from marginaudit.reports.command.console import print_line, progress_bar
    from marginaudit.reports.command.description import Asked, completed
    from marginaudit.reports.page.folder import check_folder, manifest
    from marginaudit.reports.study.audit import PageTasks, audit_datasets, write_audit
    from marginaudit.reports.study.executor import Executor
    from marginaudit.reports.study.store import user_cache

    arguments = Asked(
        datasets, name, patterns, claims_file, only_mine, mapped(trajectories, rules, head), exports, given
    )
    asked = completed(arguments, papers())
    registry = _registry(registry_file, paper_id, asked.exports)
    sources, claims, config = _planned(asked)
    claims = with_controls(claims) if controls else claims
    save_maps(run for _, run in asked.trajectories)
    check_folder(out)
    before = manifest(out) or {}
    for one in sources:
        if remark := one.paper.remark(one.dataset, one.place):
            (notify if as_json else print_line)(remark)
    steps = {one.dataset.name: one.paper.steps(config[one.paper.name]) for one in sources}
    for one in sources:
        if remark := _expected(one, config[one.paper.name]):
            notify(remark)
    store = user_cache(fresh=fresh, notice=notify)
    executor, pages = Executor(jobs or cores(), store), PageTasks(papers_of(sources))
    with progress_bar(total=sum(steps.values())) as bar:
        progress, done = _callbacks(bar, steps)
        result = audit_datasets(
            sources,
            claims,
            config,
            executor,
            progress=progress,
            done=done,
            exports=asked.exports,
            claim_timeout=claim_timeout,
            pages=pages,
        )
        result, outcomes = _checked(result, asked, claim_timeout) if check_bars else (result, {})
        result = _with_provenance(result, typed, asked)
        write_audit(result, out, executor, progress=progress, exports=asked.exports, registry=registry, pages=pages)
    _print(result, out, before, as_json=as_json, everything=everything)
    for (claim, dataset), found in outcomes.items():
        if found.outcome != "confirmed":
            notify(f"{claim} on {printable(dataset)}: {found}")
    wrong = any(found.outcome == "wrong" for found in outcomes.values())
    return 1 if wrong or (fail_on == "violated" and any(row.fails for row in result.rows)) else 0


def _checked(result: "Audit", asked: "Asked", seconds: float) -> "tuple[Audit, Outcomes]":
    """Check the error bars of the claims' file.

    Raises
    ------
    InputError
        No file of claims is given.
    """
    from marginaudit.reports.audit.check_bars import with_checked_bars

    if asked.claims_file is None:
        raise InputError("--check-bars", got="no claims of yours", expected="--claims FILE beside it")
    return with_checked_bars(result, seconds, asked.claims_file)


def _expected(source: "Source", config: Any) -> str:
    """Remark on an audit that takes long; "" on others."""
    seconds, option = (0.0, "") if source.trajectory else source.paper.expected(source.dataset, config)
    if seconds <= LONG:
        return ""
    minutes = counted(round(seconds / 60), "minute")
    return f"{printable(source.dataset.name)}: about {minutes}, unless cached; {option} makes it shorter"


def _registry(file: Path | None, paper_id: str | None, exports: Sequence[str]) -> "Registry":
    """Claims of the logbook.

    Raises
    ------
    InputError
        No logbook is exported, or the file is no registry.
    """
    from marginaudit.reports.logbook.registry import Registry, read_registry

    given = "--registry" if file is not None else "--paper-id" if paper_id is not None else ""
    if given and "logbook" not in exports:
        raise InputError(given, got="no logbook to write", expected="--export logbook beside it")
    return Registry(paper_id) if file is None else read_registry(file, paper_id)


def _planned(asked: "Asked") -> "tuple[list[Source], list[Claim], dict[str, Any]]":
    """Load the datasets, the claims about them, and the config of each paper by name.

    Raises
    ------
    InputError
        A dataset, claim or config fails to load, or no claim is about the datasets.
    """
    from marginaudit.reports.audit.auditing import distinct_names
    from marginaudit.reports.audit.sources import papers_of, papers_with, some_judged, with_trajectories
    from marginaudit.reports.audit.user_claims import with_own
    from marginaudit.reports.command.description import asked_for

    audited = tuple(paper for paper in papers() if asked.name in (None, "all", paper.name))
    own = _own_claims(asked)
    with asked_for(asked.by_datasets):
        loaded = _loaded(asked.datasets, audited, own)
    only_mine = asked.only_mine or _about_instances_alone(asked, own, loaded)
    with asked_for(asked.by_file):
        if not only_mine:
            known, of_file = ledger(None, papers_with(asked.patterns, loaded, audited)), ""
            if own is not None and asked.claims_file is not None:
                known = with_own(known, own, asked.claims_file)
        elif own is None or asked.claims_file is None:
            raise InputError("--only-mine", got="no claims of yours", expected="--claims FILE beside it")
        else:
            known, of_file = own, shown_path(asked.claims_file)
    of_paper = f"paper {asked.name}" if asked.name not in (None, "all") else ""
    claims = matching(asked.patterns, known, asked.by_patterns, of_file or of_paper)
    sources = distinct_names(loaded or _built_in(claims, audited, own), notify)
    if asked.patterns or only_mine:
        some_judged(claims, sources, asked.by_patterns if asked.patterns else "--only-mine")
    config = configs("audit", papers_of(sources), papers(), asked.settings)
    sources = distinct_names(with_trajectories(sources, asked.trajectories, config), notify)
    return sources, claims, config


def _own_claims(asked: "Asked") -> "Ledger | None":
    """Claims of the file alone, with its instances."""
    from marginaudit.reports.audit.user_claims import claims_of_file
    from marginaudit.reports.command.description import asked_for

    if asked.claims_file is None:
        return None
    with asked_for(asked.by_file):
        return claims_of_file(asked.claims_file, papers())


def _loaded(names: Sequence[str], audited: "tuple[Paper, ...]", own: "Ledger | None") -> "list[Source]":
    """Datasets by name of an instance of the claims' file, of a case, or by path."""
    from marginaudit.claims.instances.paper import INSTANCES
    from marginaudit.reports.audit.sources import load, once_each

    own_data = {} if own is None else {source.place: source for source in _instances(own, list(own.values()))}
    known = audited if own is None else (*audited, INSTANCES)
    return [own_data[name] if name in own_data else load(name, known) for name in once_each(names)]


def _instances(own: "Ledger", claims: "Sequence[Claim]") -> "list[Source]":
    """Instances of the claims' file, after all together if a claim is about them."""
    from marginaudit.claims.instances.paper import INSTANCES
    from marginaudit.claims.instances.together import ALL_INSTANCES, together
    from marginaudit.reports.audit.sources import made_in_python

    every = [made_in_python(one, ALL_INSTANCES, one.name) for one in together(own.instances.values(), claims)]
    return every + [made_in_python(one, INSTANCES, name) for name, one in own.instances.items()]


def _about_instances_alone(asked: "Asked", own: "Ledger | None", loaded: "Sequence[Source]") -> bool:
    """Whether only claims about instances are audited: the file has no others, and no other data are given."""
    from marginaudit.claims.instances.paper import INSTANCES
    from marginaudit.claims.instances.together import ALL_INSTANCES

    if own is None or asked.name is not None:
        return False
    return all(claim.paper == INSTANCES.name for claim in own.values()) and all(
        source.paper in (INSTANCES, ALL_INSTANCES) for source in loaded
    )


def _built_in(claims: "Sequence[Claim]", audited: "tuple[Paper, ...]", own: "Ledger | None") -> "list[Source]":
    """Data of an audit without a DATASET: instances of the claims' file, and built-in cases.

    Raises
    ------
    InputError
        There are none.
    """
    from marginaudit.claims.instances.paper import INSTANCES
    from marginaudit.reports.audit.sources import cases_of

    about = [claim for claim in claims if claim.paper == INSTANCES.name]
    found = [one for one in _instances(own, about) if any(map(one.paper.judges, about))] if own is not None else []
    spoken_of = [paper for paper in audited if any(paper.judges(claim) for claim in claims)]
    if about and not found and not spoken_of:
        expected = "INSTANCES, or a function marked @instance, in its file"
        raise InputError(f"claim {about[0].id}", got="no instance to judge it on", expected=expected)
    return found + cases_of(spoken_of, notify) if spoken_of or not found else found


def _callbacks(bar: "Bar", steps: dict[str, int]) -> "tuple[Progress, Callable[[str, str], None]]":
    """Callbacks that update a progress bar: steps done, and finished datasets. ``steps`` is by dataset."""
    reached = dict.fromkeys(steps, 0)

    def reach(dataset: str, count: int) -> None:
        reached[dataset] = min(count, steps[dataset])
        bar.reach(sum(reached.values()))

    def progress(dataset: str, what: str) -> Callable[[int], None]:
        bar.say(f"{dataset}: {what}")
        return partial(reach, dataset)

    def done(dataset: str, how: str) -> None:
        bar.say(f"{dataset}: {how}")
        if len(steps) > 1:
            bar.log(f"{dataset}: {how}")
        reach(dataset, steps[dataset])

    return progress, done


def _with_provenance(result: "Audit", typed: Sequence[str] | None, asked: "Asked") -> "Audit":
    from marginaudit.reports.audit.provenance import provenance
    from marginaudit.reports.shell import joined

    command = None if typed is None else joined(["marginaudit", *typed])
    own_papers = [Path(paper.file) for paper in result.papers if paper.file]
    files = [file for file in (asked.description, asked.claims_file, *own_papers) if file is not None]
    own = None if asked.claims_file is None else str(asked.claims_file)
    return replace(result, made=provenance(command, files), claims_file=own)


def _print(result: "Audit", out: Path, before: dict[str, Any], *, as_json: bool, everything: bool) -> None:
    """Print the verdicts and the report's path; note removed exports of the previous report."""
    from marginaudit.reports.command.console import print_line
    from marginaudit.reports.command.verdicts import print_verdicts
    from marginaudit.reports.page.exports import EXPORTED

    if gone := sorted(name for name in before if name.endswith(EXPORTED) and not (out / name).exists()):
        notify(f"{shown_path(str(out))}: {', '.join(gone)} of the previous report: not exported this time, so removed")
    if as_json:
        print_json(result.as_document())
        notify(f"report: {out / 'report.html'}")
        return
    print_verdicts(result, one_by_one=everything or len(result.rows) <= MOST_VERDICTS)
    print_line(f"report: {out / 'report.html'}")
