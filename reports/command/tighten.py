"""`marginaudit tighten`."""

import math
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import click

from marginaudit.claims.claim import Claim
from marginaudit.claims.instances.instance import Instance, plain
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.judgements import WorstCase
from marginaudit.claims.paper import Paper
from marginaudit.claims.series import position
from marginaudit.claims.settings import SECONDS
from marginaudit.claims.values.json_data import finite
from marginaudit.orders import InputError, counted, printable, shortened
from marginaudit.reports.audit.auditing import distinct_names
from marginaudit.reports.audit.sources import load, once_each
from marginaudit.reports.command.arguments import (
    CLAIMS,
    DATASETS,
    JSON,
    ONE_PAPER,
    AsksPapers,
    ledger,
    one_claim,
    papers,
)
from marginaudit.reports.command.console import Bar, print_line, print_table, progress_bar
from marginaudit.reports.command.options import FilePath, Parsed, configs, cores, settings_options
from marginaudit.reports.command.output import check_output, notify, print_json, write_figure, write_json
from marginaudit.reports.plots.measured import FORMATS
from marginaudit.reports.processes import Died
from marginaudit.reports.study.executor import Executor, Task
from marginaudit.reports.study.store import user_cache
from marginaudit.reports.tighten.fit import Tightened, tightened
from marginaudit.reports.tighten.measure import (
    DRAWN,
    DesignPoint,
    Measured,
    bounded,
    cases,
    hunt_task,
    levels_of,
    measure_task,
)

POWERS = ("factor", "from", "to", "measured", "interval", "bound", "decades", "supported")

RUNS_SHARE = 0.75
"""Share of the time for runs; the rest is for hunts."""

HUNT_SECONDS = 5.0
"""Longest hunt per dropped assumption."""

LONGEST_REASON = 120
"""Longest reason in the output."""

MEANING = (
    "A power is the slope of log(measured) against log(factor). For the clock it is the mean of the runs' slopes over "
    "their common steps. For the other factors it comes from one regression over all runs, with a constant per "
    "generator. The bound's powers come from the same fits to its values. An interval is Student's t at 95 % for "
    "independent runs, widened by the largest shift that error bars allow; it is valid for the datasets and steps of "
    "this design only. If the slopes over the two halves of the clock's logarithm differ by more than error bars "
    "explain, as with a power of log t, no power is supported, and the interval covers the slopes of both halves of "
    "all runs. Decades: growth of the room in powers of ten, from the factor's least value to its largest."
)


@click.command(cls=AsksPapers, of_papers=partial(settings_options, "tighten"))
@click.argument("claim", metavar="CLAIM")
@DATASETS
@click.option("--out", type=FilePath(), help="File of the figure: .svg, .pdf or .png.  [default: CLAIM.svg]")
@click.option(
    "--seconds",
    type=Parsed(SECONDS),
    default=300,
    show_default=True,
    help="Time limit in seconds. A repeated call resumes with the missing runs.",
)
@CLAIMS
@ONE_PAPER
@JSON
def tighten(
    claim: str,
    datasets: tuple[str, ...],
    out: Path | None,
    seconds: float,
    claims_file: Path | None,
    known: tuple[Paper, ...],
    as_json: bool,
    **given: Any,
) -> int:
    """Measure how loose a bound is, overall and in each factor.

    Evaluates the claim on every DATASET, and on random datasets and settings that vary one at a time; a setting given
    as an option is fixed. Writes a figure, and next to it the dataset nearest to the bound.

    A claim on worst cases, about instances, gets the exact worst case for each n, and a guess of its formula in n.

    Three quarters of the time limit are for these runs, on all cores; the first, a smallest of those not yet done, is
    completed even beyond the limit. The rest is for counterexample searches with one assumption dropped, at most five
    seconds each.
    """
    started = monotonic()
    claims = ledger(claims_file, known)
    chosen = one_claim(claim, claims)
    if isinstance(chosen.judgement, WorstCase) and INSTANCES.judges(chosen):
        if out is not None:
            raise InputError("--out", got=str(out), expected="none: a claim on worst cases gets no figure")
        configs("tighten", [INSTANCES], papers(), given)  # refuses all
        instances = [*claims.instances.values(), *(load(one, [INSTANCES]).dataset for one in once_each(datasets))]
        return _worst_cases(chosen, instances, started + seconds, as_json)
    bounded(chosen)
    paper = next((paper for paper in known if paper.judges(chosen)), None)
    if paper is None:
        instead = f"; marginaudit hunt {chosen.id} searches its box" if chosen.box else ""
        expected = f"one about a paper's datasets or worst cases{instead}"
        raise InputError(f"claim {chosen.id}", got="a claim about instances", expected=expected)
    config = configs("tighten", [paper], papers(), given)[paper.name]
    path = out or Path(f"{chosen.id}.svg")
    beside = path.with_suffix(".nearest.json")
    check_output(path, "--out", *FORMATS, reads=[claims_file, *datasets])
    check_output(beside, "--out", reads=[claims_file, *datasets])
    sources = distinct_names([load(dataset, [paper]) for dataset in once_each(datasets)], notify)
    designed = cases(paper, config, [source.dataset for source in sources])
    with progress_bar(total=len(designed) + len(chosen.assumptions)) as bar:
        bar.say(f"measuring {chosen.id}")
        runs, left_out, missing = _measured(chosen, paper, designed, started + RUNS_SHARE * seconds, bar)
        sides = {side: tightened(side, runs) for side in runs[0].sides}
        bar.say(f"hunting {chosen.id} without each assumption")
        broken = _without_each(chosen, paper, started + seconds, len(designed), bar)
    from marginaudit.reports.tighten.picture import picture

    nearest = min(sides.values(), key=lambda found: found.room).nearest
    case = next(run.case for run in runs if run.case.dataset.name == nearest.dataset)
    write_figure(path, picture(chosen.id, sides, runs), "--out")
    write_json(beside, paper.kind.to_document(case.dataset), "--out", indent=1)
    answer = {
        "claim": chosen.id,
        "statement": chosen.statement,
        "varied": _varied(paper, config),
        "verdicts": Counter(run.finding.verdict.value for run in runs),
        "left_out": left_out,
        "missing": missing,
        "sides": {side: finite(asdict(found)) for side, found in sides.items()},
        "without": broken,
        "interval": MEANING,
        "figure": str(path),
        "nearest": str(beside),
    }
    if as_json:
        print_json(answer)
    else:
        _print(answer, sides)
    return 0


def _worst_cases(claim: Claim, instances: Sequence[Instance], deadline: float, as_json: bool) -> int:
    """Exact worst cases by n, the best constants in place of the bound, and a guess of their formula."""
    from marginaudit.reports.tighten.in_steps import in_steps

    found = in_steps(claim, instances, deadline)
    if as_json:
        print_json({"claim": claim.id, "statement": claim.statement, "series": [plain(one) for one in found]})
        return 0
    print_line(claim.statement)
    for one in found:
        words = ", ".join(f"{name} = {value}" for name, value in one.parameters.items()) or "all parameters vary with n"
        rows = [
            (
                of.n,
                "ends differ" if of.worst_case is None else str(of.worst_case),
                "–" if of.factor is None else of.factor,
            )
            for of in one.constants
        ]
        print_table(f"Worst cases: {words}", ("n", "exact worst case", "times the bound"), rows)
        if one.missing:
            print_line(f"no time was left for n = {', '.join(map(str, one.missing))}; see --seconds.")
        if one.guess is None:
            print_line("no formula in n was found that a further n confirms.")
        else:
            last = one.checked_at
            print_line(f"guess: {one.guess}, made from n < {last} and right at n = {last}; not proved for every n.")
    return 0


def _measured(
    claim: Claim, paper: Paper, designed: Sequence[DesignPoint], deadline: float, bar: Bar
) -> tuple[list[Measured], dict[str, int], int]:
    """Measure the claim on every case, the fastest first, reusing cached results; one new run is always completed.

    Returns the measurements, counts by verdict of runs to which the claim does not apply, and the number of missing
    runs.

    Raises
    ------
    InputError
        The claim applies to no finished run, or every run killed its workers.
    """
    tasks = {measure_task(claim, paper, case): case for case in designed}

    def size(task: Task) -> tuple[float, int]:
        case = tasks[task]
        return paper.expected(case.dataset, case.config)[0], len(pickle.dumps(case.dataset))

    fastest_first = sorted(tasks, key=size)
    results: dict[Task, Any] = {}
    executor = Executor(cores(), user_cache("tighten", notice=notify))
    for task, result, _ in executor.results(fastest_first, until=deadline, least=1):
        if not isinstance(result, Died):
            results[task] = result
        bar.reach(len(results))
    if not results:
        raise InputError(
            f"claim {claim.id}", got="runs whose processes were killed", expected="one that ends by itself"
        )
    every = [(case, results[task]) for task, case in tasks.items() if task in results]
    found = [replace(one, case=case) for case, one in every if isinstance(one, Measured)]
    silent = [one for _, one in every if not isinstance(one, Measured)]
    counts, missing = Counter(one.verdict.value for one in silent), len(tasks) - len(results)
    if not found:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        got = f"no step of {counted(len(every), 'run')} to which it applies ({verdicts}: {printable(silent[-1].detail)}"
        more = f", or a longer --seconds for {counted(missing, 'further run')}" if missing else ""
        raise InputError(f"claim {claim.id}", got=f"{shortened(got, LONGEST_REASON)})", expected=f"one at least{more}")
    return found, dict(counts), missing


def _without_each(claim: Claim, paper: Paper, deadline: float, done: int, bar: Bar) -> dict[str, Any]:
    """Result of the hunt with each assumption dropped, by assumption; None if time ran out."""
    names, jobs = claim.assumptions if paper.space else (), cores()
    rounds = math.ceil(len(names) / jobs)
    each = min(HUNT_SECONDS, (deadline - monotonic()) / max(rounds, 1))
    tasks = {hunt_task(claim, paper, name, each): name for name in names} if each > 0 else {}
    found = {}
    for task, result, _ in Executor(jobs).results([*tasks], until=deadline):
        found[tasks[task]] = None if isinstance(result, Died) else result
        bar.reach(done + len(found))
    return {name: found.get(name) for name in names}


def _varied(paper: Paper, config: Any) -> dict[str, Any]:
    """Parameters and settings varied by each design."""
    return {
        design.generator: {
            name: list(values) for name, values in levels_of(design, paper, config).items() if len(values) > 1
        }
        for design in (paper.sweeps.designs if paper.sweeps else ())
    }


def _print(answer: Mapping[str, Any], sides: Mapping[Any, Tightened]) -> None:
    for generator, levels in answer["varied"].items():
        values = "; ".join(f"{name} {', '.join(map(str, found))}" for name, found in levels.items())
        print_line(f"varied one at a time, {DRAWN} datasets each: {generator}: {values}.")
    counts, left = (
        ", ".join(f"{count} {verdict}" for verdict, count in answer[of].items()) for of in ("verdicts", "left_out")
    )
    print_line(f"measured on {counted(answer['verdicts'].total(), 'run')}: {counts}{left and f'; left out: {left}'}.")
    if missing := answer["missing"]:
        print_line(
            f"{counted(missing, 'run')} missing: time limit reached (--seconds). Run the command again to resume."
        )
    for side, found in sides.items():
        _print_side(side, found)
    for name, hunted in answer["without"].items():
        print_line(f"without {name}: {_hunted(hunted)}.")
    print_line(MEANING)
    print_line(f"figure: {answer['figure']}; nearest dataset: {answer['nearest']}")


def _hunted(hunted: Mapping[str, Any] | None) -> str:
    if hunted is None:
        return "unknown: no time left for a search (--seconds)"
    if hunted["breaks"] is not None:
        return f"counterexample {' '.join(f'{of}={value}' for of, value in hunted['breaks'].items())}"
    if not hunted["tried"]:
        return "unknown: no dataset found that breaks this assumption alone and to which the claim applies"
    if not hunted["decided"]:
        return f"unknown: inconclusive on all {counted(hunted['tried'], 'dataset')} tried"
    return f"no counterexample on {counted(hunted['decided'], 'dataset')}"


def powers(found: Tightened) -> list[tuple[Any, ...]]:
    """Table rows, one per factor, with columns `POWERS`."""
    return [
        (
            one.factor,
            *("–" if math.isnan(end) else position(end) for end in one.range),
            _short(one.measured),
            "–" if one.interval is None else f"{one.interval[0]:.2f} to {one.interval[1]:.2f}",
            _short(one.bound),
            _short(one.decades),
            f"no: {one.no_support}" if one.no_support else "yes",
        )
        for one in found.exponents
    ]


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def _print_side(side: str, found: Tightened) -> None:
    near = found.nearest
    where = "".join(
        [f" at {found.clock} = {near.step:g}" if near.step is not None else "", f", {near.label}" * bool(near.label)]
    )
    settings = "".join(f", {name} {value:g}" for name, value in near.settings.items())
    informative = "" if found.informative is None else f" ({found.informative:.4g} where the bound is informative)"
    word = "smallest" if side == "upper" else "largest"
    print_line(f"{side} bound: the {word} valid constant is {found.constant:.4g} times the stated one{informative}.")
    print_line(f"nearest: {near.dataset}{settings}{where} ({near.verdict}).")
    if found.unknown:
        print_line(f"left out: {counted(found.unknown, 'entry', 'entries')} with infinite error bars.")
    window = found.window
    over = "at the nearest entry of each run" if window is None else f"{found.clock} = {window[0]:g} to {window[1]:g}"
    where = "where the bound is informative" if found.window_informative else "where the statement applies"
    if found.exponents:
        print_table(f"Powers {where}: {over}", POWERS, powers(found))
    else:
        print_line("No powers: no entry is positive beyond its error bar.")
