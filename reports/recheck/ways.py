"""Other ways to recompute: verified certificates, enclosures in ball arithmetic, more digits, a second program."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from marginaudit.claims.settings import settings_of
from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.margins import CertificateError, NotExact, SolverFailure
from marginaudit.orders import InputError, shown_path
from marginaudit.reports.audit.auditing import Progress
from marginaudit.reports.audit.check_bars import BITS, Outcomes
from marginaudit.reports.audit.plugins import failures_in_one_line, module_of_file
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.page.files import json_text, write_whole
from marginaudit.reports.recheck.differences import Difference, curve_differences, leaves, near, place_of, row_bar
from marginaudit.reports.recheck.restored import Document, Restored
from marginaudit.reports.study.audit import audit_datasets
from marginaudit.reports.study.executor import Executor

ENCLOSED_STEPS = 300
"""First steps that are enclosed."""

ENCLOSURE, DIGITS, VERIFIED, SECOND = "enclosure", f"{BITS} bits", "verify", "second program"

NUMBERS, VERDICT, CURVE = "numbers", "verdict", "entries of the curve"
"""What a way agrees about."""

Second: TypeAlias = "Callable[[Document, Document, Mapping[str, Document]], Iterable[tuple[str, bool | None, str]]]"
"""A second program of a paper: from a dataset's entry of report.json, the settings, and the rows by claim to (claim,
agrees, what): True for an agreement about ``what`` (`NUMBERS`, `VERDICT`), None for unknown, False with the fault."""


class Found(NamedTuple):
    """Result of a way: what it agrees about, "" for nothing, and differences."""

    agrees: str
    differences: Sequence[Difference]


def certificates(report: Restored) -> Iterator[tuple[str, Found | str]]:
    """Dataset with problem, and the solution's certificate checked by `verify`; a reason where there is none."""
    entries = {data["name"]: data for data in report.document["datasets"]}
    for source in report.sources:
        name = source.dataset.name
        for problem in source.paper.problems:
            stated = entries[name].get(problem)
            if isinstance(stated, Mapping):
                data = entries[name]["data"]
                yield f"{name}: {problem}", _certificate(f"{name}: {problem}", source, problem, stated, data)


def _certificate(place: str, source: Source, problem: str, stated: Document, data: Document | None) -> Found | str:
    """Check a certificate by the data in the report, which the checker reads itself."""
    try:
        solved = source.paper.solve(source.dataset, source.place, "auto", [problem])
        document = solved.certificate()
    except (NotExact, SolverFailure, InputError) as reason:
        return f"no exact certificate: {reason}"
    answer = {key: value for key, value in solved.answer[problem].items() if key in ("status", "norm_squared_exact")}
    own = {key: stated.get(key) for key in answer}
    differing = [Difference(place, *found, None, VERIFIED) for found in leaves(own, answer)]
    with tempfile.TemporaryDirectory() as folder:
        write_whole(path := Path(folder) / "certificate.json", json_text(document))
        write_whole(of_report := Path(folder) / "data.json", json_text(data))
        try:
            file = source.place if data is None else str(of_report)
            return Found(source.paper.verify(source.dataset, file, path)[0], differing)
        except (CertificateError, InputError) as refusal:
            return Found("", [Difference(place, "certificate", "optimal", f"refused: {refusal}", None, VERIFIED)])


def enclosures(report: Restored, executor: Executor, progress: Progress) -> dict[str, Found]:
    """Rows measured on enclosed steps, by claims without their proofs, beside the numbers of the report."""
    configs = {
        paper: replace(config, certify=min(ENCLOSED_STEPS, config.steps2 or ENCLOSED_STEPS), steps2=None)
        for paper, config in report.configs.items()
        if "certify" in settings_of(type(config))
    }
    sources = [one for one in report.sources if one.paper.name in configs]
    claims = [replace(claim) for claim in report.claims if any(one.paper.judges(claim) for one in sources)]
    if not sources or not claims:
        return {}
    audit = audit_datasets(sources, claims, configs, executor, progress=progress)
    stated = {place_of(row): row for row in report.document["verdicts"]}
    found = {}
    for row in audit.rows:
        place, curve = f"{row.dataset}: {row.claim.id}", row.finding.curve
        if row.finding.evidence is Evidence.CERTIFIED and curve and place in stated and stated[place]["curve"]:
            found[place] = _enclosed(place, stated[place], vars(curve))
    return found


def _enclosed(place: str, row: Document, curve: Document) -> Found:
    common, differing = curve_differences(place, row["curve"], curve, ENCLOSURE)
    at, value = row["worst_step"], row["measured"]
    if value is None or at not in curve["step"]:
        return Found(CURVE if common else "", differing)
    entry = curve["step"].index(at)
    bar = curve["measured_bar"][entry] + row_bar(row, "measured")
    return Found(NUMBERS if near(value, curve["measured"][entry], bar) else CURVE, differing)


def more_digits(report: Restored, outcomes: Outcomes) -> dict[str, Found]:
    """Rows of users' claims about instances, whose measures were rerun in more digits."""
    verdicts = {place_of(row): row["verdict"] for row in report.document["verdicts"]}
    found = {}
    for (claim, dataset), one in outcomes.items():
        place = f"{dataset}: {claim}"
        wrong = one.outcome == "wrong" and verdicts.get(place) != Verdict.BROKEN
        differing = [Difference(place, "error bar", "as in the claim", str(one), None, DIGITS)] if wrong else []
        found[place] = Found({"confirmed": NUMBERS, "wrong": VERDICT}.get(one.outcome, ""), differing)
    return found


def second_programs(file: Path) -> Mapping[str, Second]:
    """``SECOND`` of a Python file: second programs by name of the paper.

    Raises
    ------
    InputError
        The file does not run, or has none.
    """
    module = module_of_file(file, f"second_of_{file.stem}", "a Python file with SECOND")
    found = getattr(module, "SECOND", None)
    if not isinstance(found, Mapping) or not all(map(callable, found.values())):
        expected = "SECOND = {'ntp': function, ..}, second programs by name of a paper"
        raise InputError(shown_path(file), got="no SECOND", expected=expected)
    return found


def by_second_programs(
    report: Restored, programs: Mapping[str, Second], progress: Progress
) -> tuple[dict[str, Found], list[tuple[str, str]]]:
    """Rows as second programs find them, from the report alone; and datasets with the reason why one failed."""
    found: dict[str, Found] = {}
    failed: list[tuple[str, str]] = []
    for data in report.document["datasets"]:
        program, name = programs.get(data["paper"]), data["name"]
        if program is None or data["data"] is None or name in report.unknown:
            continue
        progress(name, SECOND)
        rows = {row["claim"]: row for row in report.document["verdicts"] if row["dataset"] == name}
        try:
            with failures_in_one_line(SECOND):
                for claim, agrees, what in program(data, report.document["config"][data["paper"]], rows):
                    found[place_of(rows[claim])] = _second(rows[claim], agrees, what)
        except InputError as error:
            failed.append((name, str(error)))
    return found, failed


def _second(row: Document, agrees: bool | None, what: str) -> Found:
    if agrees is not False:
        return Found(what if agrees else "", ())
    stated = f"{row['verdict']}, measured {row['measured']}, bound {row['bound']}"
    return Found("", [Difference(place_of(row), "row", stated, what, None, SECOND)])
