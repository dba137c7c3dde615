"""The command line."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.orders import InputError, shown, shown_path
from marginaudit.orders.ntp import CollocationError, Dataset
from marginaudit.reports.command.interrupts import Interrupted, interrupts_kept
from marginaudit.reports.command.options import (
    FilePath,
    Seconds,
    Seed,
    StepCount,
    load,
    load_trainable,
    training_options,
)
from marginaudit.reports.command.streams import open_streams, standard_output, tell
from marginaudit.reports.command.usage import OneOf, told

if TYPE_CHECKING:
    from marginaudit.reports.claim import Claim, Ledger
    from marginaudit.reports.ntp.tables import Name

DATASET = click.argument("dataset", metavar="DATASET")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
CLAIMS = click.option(
    "--claims",
    "claims_file",
    type=FilePath(),
    metavar="FILE",
    help="A Python file of claims of your own; it is run.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="marginaudit", message="%(prog)s %(version)s")
def cli() -> None:
    """Numerical audits of theorems on how transformers train.

    DATASET is a .json or .txt file, or the name of a built-in case: example-1, section-7, free-20.

    Start with `marginaudit audit`: it audits every statement on the papers' own settings.
    """


@cli.command()
@click.argument("datasets", metavar="[DATASET ...]", nargs=-1)
@click.option(
    "--out",
    default="audit-report",
    type=FilePath(),
    show_default=True,
    help="Folder to write.",
)
@click.option("--fail-on", type=OneOf(["violated"]), help="Exit with status 1 if a claim is violated.")
@click.option(
    "--paper",
    type=OneOf(["ntp", "snap", "all"]),
    default="all",
    show_default=True,
    help="The built-in claims on one paper only: arXiv 2409.17335 or arXiv 2305.16380.",
)
@CLAIMS
@click.option(
    "--claim-timeout",
    type=Seconds(),
    default=600.0,
    show_default=True,
    help="Seconds that a claim of your own may take on a dataset; then it is broken.",
)
@click.option(
    "--certify",
    is_flag=True,
    help="Enclose the first steps of stage 2 rigorously; without --steps2 the audit ends with them.",
)
@click.option(
    "--certify-steps",
    type=StepCount(),
    default=900,
    show_default=True,
    help="How many steps --certify encloses.",
)
@training_options(farthest=True)
@JSON
def audit(
    datasets: tuple[str, ...],
    out: Path,
    fail_on: str | None,
    paper: str,
    claims_file: Path | None,
    claim_timeout: float,
    certify: bool,
    certify_steps: int,
    as_json: bool,
    **training: Any,
) -> int:
    """Audit every claim on every DATASET and write a report.

    Without a DATASET it audits the built-in cases.
    """
    from marginaudit.reports.audit.auditing import audit as run_audit
    from marginaudit.reports.audit.auditing import distinct_names
    from marginaudit.reports.command.console import print_line, print_table, progress_bar
    from marginaudit.reports.ntp.run import true_steps
    from marginaudit.reports.page.replacement import refusing, replacing
    from marginaudit.reports.page.write import files_of_report, write_report
    from marginaudit.reports.verdict import Verdict

    config = _config(training | {"certify": certify_steps if certify else 0})
    claims = _ledger(claims_file, paper)
    sources = distinct_names([load(name) for name in datasets or _default_cases()], tell)
    steps = true_steps(config)
    started = {source.dataset.name: number * steps for number, source in enumerate(sources)}
    with replacing(out, files_of_report) as folder, progress_bar(total=len(sources) * steps) as bar:

        def progress(dataset: Dataset, what: str) -> Callable[[int], None]:
            bar.say(f"{dataset.name}: {what}")
            return lambda done: bar.reach(started[dataset.name] + min(done, steps))

        result = run_audit(sources, claims.values(), config, progress, claim_timeout)
        with refusing(out):
            write_report(result, folder, bar.say)
    report = out / "report.html"
    document = result.as_document()
    if as_json:
        _print_json(document)
        tell(f"report: {report}")
    else:
        header = ("claim", "dataset", "verdict", "evidence", "measured", "bound", "slack", "informative_from")
        rows = [[row[column] for column in header] for row in document["verdicts"]]
        print_table("Verdicts", [name.replace("_", " ") for name in header], rows)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in result.counts.items())
        print_line(f"{len(result.rows)} verdicts: {counts}.")
        print_line(f"report: {report}")
    return 1 if fail_on == "violated" and result.counts.get(Verdict.VIOLATED) else 0


def _default_cases() -> tuple[str, ...]:
    from marginaudit.orders.ntp import CASES

    return tuple(CASES)


@cli.command()
@DATASET
@JSON
def classify(dataset: str, as_json: bool) -> int:
    """Show the collocation, every query's classes, the assumptions."""
    from marginaudit.reports.answers import classify_answer, finite

    data = load(dataset).dataset
    answer = finite(classify_answer(data))
    if as_json:
        _print_json(answer)
        return 0
    from marginaudit.reports.command.console import print_table

    pairs = [(x, answer["next_token"].get(x)) for x in data.vocabulary]
    print_table(f"{data.name}: collocation", ("token", "next token"), [(x, "–" if y is None else y) for x, y in pairs])
    classes = ("optimal", "non_optimal", "confused", "non_comparable")
    rows = [[query, *(" ".join(found[c]) for c in classes)] for query, found in answer["queries"].items()]
    print_table("Token classes under each query", ("query", *(c.replace("_", "-") for c in classes)), rows)
    rows = [
        [
            name,
            "holds" if a["holds"] else "fails",
            "" if a["holds"] else json.dumps(a["witness"], ensure_ascii=False),
        ]
        for name, a in answer["assumptions"].items()
    ]
    print_table("Assumptions", ("assumption", "", "witness"), rows)
    return 0


@cli.command()
@DATASET
@click.option(
    "--method",
    type=OneOf(["auto", "exact", "cvxpy"]),
    default="auto",
    show_default=True,
    help="exact: rational arithmetic; cvxpy: the quadratic program; auto: exact where it exists.",
)
@click.option("--only", type=OneOf(["ov", "kq"]), help="Solve one of the two problems.")
@click.option(
    "--certificate",
    type=FilePath(),
    help="Write the exact primal and dual as fractions, for `marginaudit verify`.",
)
@JSON
def solve(dataset: str, method: str, only: str | None, certificate: Path | None, as_json: bool) -> int:
    """Solve the two hard-margin problems, with certificates."""
    from marginaudit.margins import NotExact, SolverFailure
    from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
    from marginaudit.reports.answers import finite, solution_answer

    data = load_trainable(dataset)
    if certificate is not None:
        _check_writable(certificate, "--certificate")
    solvers: dict[str, Callable[..., Any]] = {"ov": solve_ov, "kq": solve_kq}
    try:
        solutions = {which: solver(data, method=method) for which, solver in solvers.items() if only in (None, which)}
        document = None if certificate is None else certificate_document(data, **solutions)
    except NotExact as error:
        expected = "a dataset that has exact solutions, for --method exact and --certificate"
        raise InputError(shown_path(dataset), got=f"a problem without ({error})", expected=expected) from None
    except SolverFailure as error:
        expected = "one on which the solver proves its answer"
        raise InputError(shown_path(dataset), got=f"a dataset without a solution: {error}", expected=expected) from None
    if certificate is not None:
        _write(certificate, document, "--certificate")
    answer = {which: finite(solution_answer(data, solution)) for which, solution in solutions.items()}
    if as_json:
        _print_json(answer)
        return 0
    from marginaudit.reports.command.console import print_line, print_table

    rows = []
    for which, found in answer.items():
        proof = found["certificate"]
        exact = found["norm_squared_exact"]
        norm_squared = exact or found["norm_squared"]
        checks = (proof["gap"], proof["max_violation"], found["direction_radius"])
        rows.append([which, found["status"], found["method"], norm_squared, *checks])
    header = (
        "problem",
        "status",
        "method",
        "‖W*‖²",
        "duality gap",
        "largest violation",
        "direction error at most",
    )
    print_table(f"{data.name}: hard-margin solutions", header, rows)
    for which, found in answer.items():
        if found["note"]:
            print_line(f"{which}: {found['note']}")
    if "kq" in answer:
        _print_weights(answer["kq"])
    return 0


def _print_weights(answer: dict[str, Any]) -> None:
    from marginaudit.reports.command.console import print_table

    exact = answer["weights_exact"]
    rows = [
        [query, key, value, exact[query][key] if exact else ""]
        for query, column in answer["weights"].items()
        for key, value in column.items()
    ]
    print_table("W*_kq: x^T W q", ("query q", "key x", "weight", "exact"), rows)
    forms = [
        [query, "holds" if form["holds"] else "fails", " ".join(form["witness"] or ())]
        for query, form in answer["closed_form"].items()
    ]
    print_table("Proposition 2's closed form", ("query", "", "witness S"), forms)


@cli.command()
@DATASET
@training_options(farthest=False)
@JSON
def train(dataset: str, as_json: bool, **training: Any) -> int:
    """Run two-stage normalized gradient descent.

    A row per recorded step; step 0 is the zero initialisation and has no direction.
    """
    from marginaudit.reports.answers import training_answer
    from marginaudit.reports.command.console import print_table, progress_bar
    from marginaudit.reports.ntp.run import Run, train_against, true_steps
    from marginaudit.training.ntp import MOST_TRUE_STEPS

    config = _config(training)
    data = load_trainable(dataset)
    run = Run(data, config)
    ov, kq = run.solved("ov"), run.solved("kq")
    for name, solution in (("W*_ov", ov), ("W*_kq", kq)):
        if solution is None:
            tell(f"{name}: the solver's answer proves nothing, so its directions are null")
    if config.steps2 > MOST_TRUE_STEPS and run.no_fast_forward is not None:
        raise InputError(
            f"{shown_path(dataset)}: --steps2 {config.steps2}",
            got=f"no fast-forward ({run.no_fast_forward})",
            expected=f"at most {MOST_TRUE_STEPS} steps",
        )
    steps = true_steps(config)
    with progress_bar(total=steps) as bar:
        bar.say(data.name)
        result = train_against(data, config, ov, kq, lambda done: bar.reach(min(done, steps)))
    if result.stopped:
        tell(f"{data.name}: stage 2 ends at step {result.stage2.step[-1]}: {result.stopped}")
    answer = training_answer(result)
    if as_json:
        _print_json(answer)
        return 0
    columns = (
        "step",
        "loss",
        "norm",
        "one_minus_cos",
        "distance",
        "gradient_norm",
        "min_optimal_weight",
        "method",
        "error",
    )
    for stage, title in (("stage1", "Stage 1: W_ov"), ("stage2", "Stage 2: W_kq")):
        shown_columns = [c for c in columns if answer[stage] and c in answer[stage][0]]
        rows = [[row[c] for c in shown_columns] for row in answer[stage]]
        print_table(f"{data.name}, {title}", [c.replace("_", " ") for c in shown_columns], rows)
    return 0


@cli.command()
@click.argument("name", metavar="NAME", type=OneOf(["direction", "proposition2"]))
@click.argument("datasets", metavar="[DATASET ...]", nargs=-1)
@click.option(
    "--format",
    "form",
    type=OneOf(["csv", "latex", "markdown"]),
    help="Write the table as a file of this kind has it; LaTeX needs its package booktabs.",
)
@training_options(farthest=True)
@JSON
def table(name: "Name", datasets: tuple[str, ...], form: str | None, as_json: bool, **training: Any) -> int:
    """Print the table NAME of every DATASET.

    direction: the measured direction errors of both stages against Proposition 1 and Theorem 1. proposition2: its
    closed form against what was solved and trained. Without a DATASET all built-in cases.
    """
    from marginaudit.reports.audit.auditing import distinct_names
    from marginaudit.reports.command.console import print_grid, progress_bar
    from marginaudit.reports.ntp.run import Run, true_steps
    from marginaudit.reports.ntp.tables import GRIDS, TABLES, csv_table, latex, markdown

    if as_json and form is not None:
        raise InputError(f"--format {form}", got="--json beside it", expected="one of the two")
    config = _config(training)
    sources = distinct_names([load(dataset) for dataset in datasets or _default_cases()], tell)
    steps = true_steps(config)
    found = []
    with progress_bar(total=len(sources) * steps) as bar:

        def reach(number: int, done: int) -> None:
            bar.reach(number * steps + min(done, steps))

        for number, source in enumerate(sources):
            bar.say(source.dataset.name)
            run = Run(source.dataset, config, partial(reach, number))
            found.append((source.dataset.name, TABLES[name](run)))
    if as_json:
        _print_json({"datasets": [{"name": dataset, name: answer} for dataset, answer in found]})
        return 0
    if form == "csv":
        _print_text(csv_table(name, found))
        return 0
    grids = [grid for dataset, answer in found for grid in GRIDS[name](dataset, answer)]
    if form is not None:
        _print_text((latex if form == "latex" else markdown)(grids))
    else:
        for grid in grids:
            print_grid(grid)
    return 0


@cli.command()
@DATASET
@click.argument("certificate", metavar="CERTIFICATE", type=FilePath())
@JSON
def verify(dataset: str, certificate: Path, as_json: bool) -> int:
    """Check a CERTIFICATE that `solve --certificate` wrote.

    Exit status 0: confirmed; 1: refused.
    """
    from marginaudit.margins.ntp.verify import Refused
    from marginaudit.reports.command.console import print_line
    from marginaudit.reports.command.verification import confirmed

    try:
        lines = confirmed(dataset, certificate)
    except Refused as reason:
        if as_json:
            _print_json({"confirmed": False, "reason": str(reason), "statements": []})
        tell(f"refused: {reason}")
        return 1
    if as_json:
        _print_json({"confirmed": True, "reason": None, "statements": lines})
    else:
        for line in lines:
            print_line(f"confirmed: {line}")
    return 0


@cli.command()
@click.argument("claim", metavar="CLAIM")
@click.option("--without", metavar="ASSUMPTION", help="Break this assumption of the claim, and meet the others.")
@click.option("--seconds", type=Seconds(), default=60.0, show_default=True, help="Stop after so long.")
@click.option("--seed", type=Seed(), default=0, show_default=True, help="Seed of the random datasets.")
@click.option("--out", type=FilePath(), help="Dataset file to write.  [default: CLAIM.json]")
@CLAIMS
@JSON
def hunt(
    claim: str,
    without: str | None,
    seconds: float,
    seed: int,
    out: Path | None,
    claims_file: Path | None,
    as_json: bool,
) -> int:
    """Look for a small dataset that violates a claim.

    The dataset meets the claim's assumptions, but for the one named by --without. Where the
    violation is an exact one, a certificate for `verify` is written beside the dataset.
    """
    from marginaudit.orders.ntp import dataset_to_document
    from marginaudit.reports.claim import NOT_STATED
    from marginaudit.reports.command.console import print_line, progress_bar
    from marginaudit.reports.hunt import hunt as run_hunt
    from marginaudit.reports.hunt import hunt_answer

    path = out or Path(f"{claim}.json")
    if path.suffix.lower() != ".json":
        raise InputError(f"--out {shown_path(path)}", got=f"the ending {shown(path.suffix)}", expected=".json")
    hunted = _claim(claim, _ledger(claims_file))
    if hunted.assumptions == NOT_STATED:
        raise InputError(f"claim {claim}", got="assumptions that are not stated", expected="assumptions=() for none")
    _check_writable(path, "--out")
    with progress_bar(total=seconds) as bar:
        bar.say(f"hunting {claim}")
        found = run_hunt(hunted, without=without, seconds=seconds, seed=seed, progress=bar.reach)
    if found.dataset is not None:
        _write(path, dataset_to_document(found.dataset), "--out", indent=1)
    proof = found.certificate()
    certificate = path.with_suffix(".certificate.json")
    if proof is not None:
        _write(certificate, proof, "--out", indent=1)
    answer = hunt_answer(found, None if found.dataset is None else str(path))
    answer["certificate"] = None if proof is None else str(certificate)
    if as_json:
        _print_json(answer)
        return 0
    tried = f"{found.tried} datasets of up to {found.largest['V']} tokens, {found.largest['N']} samples, "
    tried += f"length {found.largest['L_max']}"
    if found.dataset is None:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in found.verdicts.items()) or "none evaluated"
        exhausted = "; all datasets of the smallest sizes among them" if found.exhausted else ""
        print_line(f"no counterexample to {claim} in {tried}{exhausted} ({verdicts}).")
    else:
        data = found.dataset
        print_line(f"counterexample to {claim}: {data.V} tokens, {data.N} samples (tried {tried}).")
        print_line(str(answer["detail"]))
        print_line(f"dataset: {path}")
        if proof is not None:
            print_line(f"certificate: {certificate}")
    return 0


@cli.command()
@click.argument("name", metavar="NAME")
@click.option("--out", type=FilePath(), help="File to write: .svg, .pdf or .png.  [default: NAME.svg]")
@JSON
def figure(name: str, out: Path | None, as_json: bool) -> int:
    """Draw one of the papers' figures; `list` names them."""
    from marginaudit.reports.command.console import print_line
    from marginaudit.reports.ntp.figures.gallery import FIGURES
    from marginaudit.reports.page.files import write_whole
    from marginaudit.reports.plots.measured import FORMATS, rendered

    if name == "list":
        if as_json:
            _print_json({"figures": list(FIGURES)})
        else:
            for known in FIGURES:
                print_line(known)
        return 0
    if name not in FIGURES:
        raise InputError(
            f"figure {shown(name)}", got="no figure of that name", expected=f"list, or one of {', '.join(FIGURES)}"
        )
    path = out or Path(f"{name}.svg")
    if path.suffix.lower() not in FORMATS:
        got, expected = f"the ending {shown(path.suffix)}", f"one of {', '.join(FORMATS)}"
        raise InputError(f"--out {shown_path(path)}", got=got, expected=expected)
    _check_writable(path, "--out")
    drawn = rendered(FIGURES[name](), path.suffix.lower())
    with _writing(path, "--out"):
        write_whole(path, drawn)
    if as_json:
        _print_json({"figure": name, "file": str(path)})
    else:
        print_line(f"figure: {path}")
    return 0


@cli.command()
@click.argument("claim", metavar="[CLAIM]", required=False)
@CLAIMS
@JSON
def claims(claim: str | None, claims_file: Path | None, as_json: bool) -> int:
    """List the claims of the ledger, or show one.

    Each with its id, statement, source and assumptions.
    """
    from marginaudit.reports.command.console import print_table

    ledger = _ledger(claims_file)
    entries = [
        {
            "id": entry.id,
            "source": entry.source,
            "kind": entry.judgement.kind,
            "statement": entry.statement,
            "formula": entry.formula,
            "assumptions": list(entry.assumptions),
            "proof_uses": [condition.text for condition in entry.proof_uses],
        }
        for entry in ([_claim(claim, ledger)] if claim is not None else ledger.values())
    ]
    if as_json:
        _print_json(entries[0] if claim is not None else entries)
    elif claim is not None:
        print_table(
            claim, ("", ""), [(key, ", ".join(v) if isinstance(v, list) else v) for key, v in entries[0].items()]
        )
    else:
        rows = [(e["id"], e["statement"], e["source"], ", ".join(e["assumptions"])) for e in entries]
        print_table("Claims", ("id", "statement", "source", "assumptions"), rows)
    return 0


def _ledger(claims_file: Path | None, paper: str = "all") -> "Ledger":
    from marginaudit.reports.audit.user_claims import all_claims

    return all_claims(paper, claims_file, tell)


def _claim(name: str, ledger: "Ledger") -> "Claim":
    if name not in ledger:
        raise InputError(
            f"claim {shown(name)}", got="no claim of that id", expected="an id that `marginaudit claims` lists"
        )
    return ledger[name]


def _config(training: dict[str, Any]) -> Any:
    from marginaudit.reports.ntp.run import FARTHEST, Config

    config = Config(**training)
    steps2 = FARTHEST if config.steps2 is None else config.steps2
    longest = max(config.steps1, steps2)
    for step in config.at or ():
        if step > longest:
            raise InputError(
                f"--at {step}",
                got=f"a step beyond both stages of {config.steps1} and {steps2} steps",
                expected=f"at most {longest}",
            )
    return config


def _write(path: Path, document: Any, option: str, indent: int | None = None) -> None:
    """A JSON file, written whole or not at all."""
    from marginaudit.reports.page.files import json_text, write_whole

    with _writing(path, option):
        write_whole(path, json_text(document, indent=indent))


def _check_writable(path: Path, option: str) -> None:
    """Refuse a file that cannot be written, before there is anything to write to it."""
    from marginaudit.reports.page.files import check_writable

    with _writing(path, option):
        check_writable(path)


@contextmanager
def _writing(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        got = error.strerror or "an error"
        raise InputError(f"{option} {shown_path(path)}", got=got, expected="a file to write") from None


def _print_json(document: Any) -> None:
    from marginaudit.reports.page.files import json_text

    text = json_text(document)
    with standard_output() as output:
        try:
            output.write(text)
        except UnicodeEncodeError:  # standard output is not UTF-8; nothing of the text was written
            output.write(json.dumps(document, allow_nan=False) + "\n")


def _print_text(text: str) -> None:
    """A file's text on standard output as it is; what its encoding lacks is written as an escape."""
    with standard_output() as output:
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="backslashreplace", newline="")
        output.write(text)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input is one line on standard error and exit status 2."""
    sys.exit(_status(arguments))


def _status(arguments: list[str] | None) -> int:
    try:
        open_streams()
        with interrupts_kept():
            try:
                return int(cli.main(args=arguments, prog_name="marginaudit", standalone_mode=False))
            except click.exceptions.NoArgsIsHelpError as error:
                with standard_output() as output:
                    output.write(f"{error.format_message()}\n")
                return 0
            except OSError as error:
                if error.filename is None:  # click's own printing
                    with standard_output():
                        raise
                raise
    except click.ClickException as error:
        tell(f"marginaudit: {told(error, cli)}")
    except (InputError, CollocationError) as error:
        tell(f"marginaudit: {error}")
    except (click.Abort, KeyboardInterrupt, Interrupted):
        tell("marginaudit: interrupted")
        return 130
    except BrokenPipeError:
        return 1
    except MemoryError:
        tell("marginaudit: got too little memory, expected enough for the dataset and the steps")
    except OSError as error:
        tell(f"marginaudit: {shown_path(error.filename)}: got {error.strerror}, expected a file to read or write")
    return 2
