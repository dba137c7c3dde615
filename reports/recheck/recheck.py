"""Recheck of a report: rows, texts, data and files, by other ways where there are some."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from marginaudit.claims.settings import CLAIM_TIMEOUT
from marginaudit.claims.verdict import Evidence
from marginaudit.reports.audit.auditing import Progress, environment, quiet
from marginaudit.reports.audit.check_bars import with_checked_bars
from marginaudit.reports.audit.provenance import provenance
from marginaudit.reports.page.files import json_text
from marginaudit.reports.recheck.arithmetic import file_faults, row_faults, verdicts_hash
from marginaudit.reports.recheck.differences import (
    SAME,
    Difference,
    claim_differences,
    dataset_differences,
    leaves,
    place_of,
    row_differences,
)
from marginaudit.reports.recheck.restored import Document, Restored, skipped
from marginaudit.reports.recheck.ways import (
    CURVE,
    DIGITS,
    ENCLOSURE,
    NUMBERS,
    SECOND,
    VERDICT,
    Second,
    by_second_programs,
    certificates,
    enclosures,
    more_digits,
)
from marginaudit.reports.study.audit import audit_datasets
from marginaudit.reports.study.executor import Executor

OTHER_WAYS = (
    *(f"{way}: {NUMBERS}" for way in (SECOND, ENCLOSURE, DIGITS)),
    *(f"{way}: {VERDICT}" for way in (SECOND, DIGITS)),
)
"""Ways other than the same program, surest first."""

WAYS = (*OTHER_WAYS, f"{ENCLOSURE}: {CURVE}", f"{SAME}, rigorously", SAME)

NOT_RECOMPUTED, DIFFERS = "not recomputed", "differs"


@dataclass(frozen=True)
class Recheck:
    """Result of a recheck.

    Attributes
    ----------
    exactly : whether program, libraries and processor are those of the report, so that every digit is compared
    ways : surest way that agrees, `DIFFERS` or `NOT_RECOMPUTED`, by the place of a row
    verified : certificates in words, by dataset and problem
    skipped : (place, reason) of what is not recomputed
    """

    report: Restored
    exactly: bool
    ways: Mapping[str, str]
    differences: Sequence[Difference]
    verified: Mapping[str, str]
    skipped: Sequence[tuple[str, str]]

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows by way."""
        found = Counter(self.ways.values())
        return {way: found[way] for way in (*WAYS, DIFFERS, NOT_RECOMPUTED) if found[way]}

    @property
    def summary(self) -> str:
        """Result in one line."""
        counts = self.counts
        other = sum(counts.get(way, 0) for way in WAYS[:-2])
        agree = sum(counts.get(way, 0) for way in WAYS)
        return (
            f"{agree} of {len(self.ways)} rows agree, {other} of them by another way; {counts.get(DIFFERS, 0)} differ, "
            f"{counts.get(NOT_RECOMPUTED, 0)} not recomputed; differences in all: {len(self.differences)}"
        )

    def as_document(self) -> dict[str, Any]:
        """JSON document of `marginaudit recheck`."""
        return {
            "report": self.report.where,
            "digit_by_digit": self.exactly,
            "counts": self.counts,
            "rows": dict(self.ways),
            "by_another_way": {place: way for place, way in self.ways.items() if way in OTHER_WAYS},
            "verdicts_sha256": verdicts_hash(self.report.document),
            "certificates": dict(self.verified),
            "differences": [asdict(one) for one in self.differences],
            "not_recomputed": [{"place": place, "reason": reason} for place, reason in self.skipped],
        }


def recheck(
    report: Restored,
    executor: Executor,
    programs: Mapping[str, Second],
    progress: Progress = quiet,
    done: Callable[[str, str], None] = lambda *_: None,
) -> Recheck:
    """Recompute a report; ``progress`` and ``done`` as in `marginaudit.reports.study.audit.audit_datasets`."""
    document, exactly = report.document, _made_here(report.document)
    audit = audit_datasets(report.sources, report.claims, report.configs, executor, progress=progress, done=done)
    checked, outcomes = with_checked_bars(audit, CLAIM_TIMEOUT, report.claims_file)
    again, also = (json.loads(json_text(one.as_document())) for one in (audit, checked))
    by_second, failed = by_second_programs(report, programs, progress)
    enclosed = enclosures(report, executor, progress)
    ways = {ENCLOSURE: enclosed, DIGITS: more_digits(report, outcomes), SECOND: by_second}
    differences = [
        *file_faults(report.file, document),
        *(Difference("papers", *leaf) for leaf in leaves(document["papers"], again["papers"])),
        *_texts(document, again, exactly),
        *_rows(report, (again, also), exactly),
        *(difference for found in ways.values() for one in found.values() for difference in one.differences),
    ]
    verified, unproved = {}, []
    for place, one in certificates(report):
        if isinstance(one, str):
            unproved.append((place, one))
        else:
            differences += one.differences
            verified[place] = one.agrees
    apart, known = {one.place for one in differences}, {place_of(row) for row in again["verdicts"]}
    surest = {}
    for row in document["verdicts"]:
        place = place_of(row)
        agree = {f"{way}: {found[place].agrees}" for way, found in ways.items() if place in found}
        if place in known:
            rigorous = {row["evidence"], row["measurement"]} & {Evidence.EXACT, Evidence.CERTIFIED}
            agree.add(f"{SAME}, rigorously" if rigorous else SAME)
        surest[place] = DIFFERS if place in apart else next((way for way in WAYS if way in agree), NOT_RECOMPUTED)
    return Recheck(report, exactly, surest, differences, verified, [*unproved, *failed, *skipped(report)])


def _made_here(document: Document) -> bool:
    """Whether program, libraries and processor are those of the report."""
    made, here = document["made"], provenance()
    if (document["marginaudit"], made["commit"]) != (version("marginaudit"), here["commit"]):
        return False
    return bool(document["environment"] == environment() and made["cpu"] == here["cpu"])


def _texts(document: Document, again: Document, exactly: bool) -> Iterator[Difference]:
    """Differences in claims and datasets."""
    for part, key, compare in (("claims", "id", claim_differences), ("datasets", "name", dataset_differences)):
        known = {one[key]: one for one in again[part]}
        count = Counter(one[key] for one in document[part])
        for one in document[part]:
            place = f"{part[:-1]} {one[key]}"
            if count[one[key]] > 1:
                yield Difference(place, "entries", count[one[key]], 1)
            if one[key] in known:
                yield from compare(place, one, known[one[key]], exactly=exactly)


def _rows(report: Restored, again: Sequence[Document], exactly: bool) -> Iterator[Difference]:
    """Differences of rows from the nearest of the recomputed ones, and in themselves."""
    known = [{place_of(row): row for row in one["verdicts"]} for one in again]
    count = Counter(map(place_of, report.document["verdicts"]))
    for row in report.document["verdicts"]:
        place = place_of(row)
        yield from row_faults(place, row)
        if count[place] > 1:
            yield Difference(place, "rows", count[place], 1)
        if place in known[0]:
            found = [list(row_differences(place, row, rows[place], exactly=exactly)) for rows in known]
            yield from min(found, key=len)
        elif not {row["dataset"], row["claim"]} & report.unknown.keys():
            yield Difference(place, "row", row["verdict"], None)
    for place, row in known[0].items():
        if place not in count:
            yield Difference(place, "row", None, row["verdict"])
