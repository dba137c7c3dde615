"""`marginaudit hunt`."""

from dataclasses import replace
from pathlib import Path

import click

from marginaudit.claims.claim import NOT_STATED
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import SECONDS, SEED
from marginaudit.orders import InputError, counted
from marginaudit.reports.command.arguments import CLAIMS, JSON, ONE_PAPER, ledger, one_claim
from marginaudit.reports.command.console import print_line, progress_bar
from marginaudit.reports.command.options import FilePath, Parsed
from marginaudit.reports.command.output import check_output, print_json, write_json
from marginaudit.reports.hunt import Hunt, hunt_answer
from marginaudit.reports.hunt import hunt as run_hunt
from marginaudit.reports.page.reproduce import settings_given
from marginaudit.reports.shell import joined


@click.command()
@click.argument("claim", metavar="CLAIM")
@click.option("--without", metavar="ASSUMPTION", help="Drop this assumption: datasets violate it and meet the others.")
@click.option("--seconds", type=Parsed(SECONDS), default=60, show_default=True, help="Time limit in seconds.")
@click.option("--seed", type=Parsed(SEED), default=0, show_default=True, help="Seed of the random datasets.")
@click.option("--out", type=FilePath(), help="Dataset file to write.  [default: CLAIM.json]")
@CLAIMS
@ONE_PAPER
@JSON
def hunt(
    claim: str,
    without: str | None,
    seconds: float,
    seed: int,
    out: Path | None,
    claims_file: Path | None,
    known: tuple[Paper, ...],
    as_json: bool,
) -> int:
    """Search for a small dataset that violates a claim.

    The dataset meets the claim's assumptions except the one in --without. An exact violation also gets a certificate
    for `verify`, written next to the dataset.
    """
    hunted = one_claim(claim, ledger(claims_file, known))
    claim = hunted.id
    path = out or Path(f"{claim}.json")
    check_output(path, "--out", ".json", reads=[claims_file])
    if hunted.assumptions == NOT_STATED:
        raise InputError(f"claim {claim}", got="assumptions that are not stated", expected="assumptions=() for none")
    paper = next((paper for paper in (*known, INSTANCES) if paper.judges(hunted)), None)
    if paper is None:
        raise InputError(
            f"claim {claim}", got="a claim about all instances together", expected="one about each by itself"
        )
    with progress_bar(total=seconds) as bar:
        bar.say(f"hunting {claim}")
        found = run_hunt(hunted, paper, without=without, seconds=seconds, seed=seed, progress=bar.reach)
    if found.dataset is not None:
        write_json(path, found.paper.kind.to_document(found.dataset), "--out", indent=1)
    proof = found.certificate()
    certificate = path.with_suffix(".certificate.json")
    if proof is not None:
        write_json(certificate, proof, "--out", indent=1)
    answer = hunt_answer(found, None if found.dataset is None else str(path))
    answer["certificate"] = None if proof is None else str(certificate)
    if as_json:
        print_json(answer)
        return 0
    if found.dataset is None:
        print_line(f"no counterexample to {claim} {_in_what(found)}.")
        if found.tried and not found.decided:
            print_line("Every dataset tried was inconclusive: no evidence for or against the claim.")
    else:
        tried = _tried(found)
        sizes = ", ".join(f"{name} {getattr(found.dataset, name)}" for name in found.largest)
        print_line(f"counterexample to {claim}: {sizes} (tried {tried}).")
        print_line(str(answer["detail"]))
        options = settings_given(found.paper, replace(found.paper.config(), **found.settings))
        print_line(f"dataset: {path}{', audited with ' if options else ''}{joined(options)}")
        if proof is not None:
            print_line(f"certificate: {certificate}")
    return 0


def _tried(found: Hunt) -> str:
    sizes = ", ".join(f"{name} {size}" for name, size in found.largest.items())
    return f"{counted(found.tried, 'dataset')} of up to {sizes}"


def _in_what(found: Hunt) -> str:
    """The search space covered without a counterexample, with the reason if no dataset could be tried."""
    looked_at = f"{counted(found.looked_at, 'generated dataset')}"
    if found.exhausted:
        looked_at += ", including all enumerated small ones"
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in found.verdicts.items())
    if found.tried:
        return f"in {_tried(found)} ({verdicts}), of {looked_at}"
    s = "" if found.met > 1 else "s"
    breaks, other = (f"break{s} {found.without} and ", "other ") if found.without else ("", "")
    wanted = f"{breaks}meet{s} its {other}assumptions"
    if not found.met:
        return f"in {looked_at}: none {wanted}"
    why = f"could not be evaluated there ({verdicts})" if verdicts else "does not apply there"
    return f"in {looked_at}: {found.met} {wanted}, but the claim {why}"
