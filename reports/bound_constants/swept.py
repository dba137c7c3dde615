"""The runs of a sweep of audits: what each found of each statement, by dataset."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any, TypeAlias

from marginaudit.orders import InputError, file_content, printable, shown_path
from marginaudit.orders.reading import utf_8_text
from marginaudit.reports.bound_constants.constant import constants_of
from marginaudit.reports.bound_constants.entry import Entry
from marginaudit.reports.study.merge import Rows
from marginaudit.reports.study.statements import VERDICT, placed, statement_rows
from marginaudit.reports.sweeps import AUDITED, Result
from marginaudit.reports.verdict import Evidence, Finding, Verdict

RUNS = "runs.csv"

EXPECTED = f"the folder of a `marginaudit sweep` that keeps verdicts, or its {RUNS}"

Results: TypeAlias = Mapping[str, Result]
"""Of one run, by ``CLAIM:word``."""


@dataclass(frozen=True)
class Swept:
    """What a sweep found.

    Attributes
    ----------
    settings : mapping from names to texts
        What is the same in all runs.
    keep : tuple of str
        The results that were kept, ``CLAIM:word``.
    runs : mapping from datasets to `Results`
        The runs that were done. A dataset is named by what the sweep varied, and its seed.
    failed : mapping from datasets to messages
        The runs that were not.
    versions : str
        Of what computed, in words.
    """

    settings: Mapping[str, str]
    keep: tuple[str, ...]
    runs: Mapping[str, Results]
    failed: Mapping[str, str]
    versions: str

    @property
    def claims(self) -> tuple[str, ...]:
        """Those whose verdicts were kept."""
        return tuple(name.removesuffix(VERDICT) for name in self.keep if name.endswith(VERDICT))

    @property
    def statements(self) -> Rows:
        """How often each statement fails, its worst constant and slack, and where: as `statement_rows`."""
        done = [{**found, "dataset": dataset, "status": "done"} for dataset, found in self.runs.items()]
        return statement_rows(self.keep, done, lambda run: str(run["dataset"]))

    def entries(self, tolerance: float | None) -> dict[tuple[str, str], Entry]:
        """What each run found of each claim, by (dataset, claim), for comparison.

        Without a tolerance it is what the error bars allow, where ``CLAIM:repeats_within`` was kept, and what counts
        as equal in a verdict elsewhere. A table has no infinite number: none in its place is an error bar that
        reaches 0.
        """
        words = {claim: [word for word in AUDITED if f"{claim}:{word}" in self.keep] for claim in self.claims}
        return {
            (dataset, claim): _entry({word: run[f"{claim}:{word}"] for word in kept}, tolerance)
            for dataset, run in self.runs.items()
            for claim, kept in words.items()
        }


def _entry(found: dict[str, Any], tolerance: float | None) -> Entry:
    if "repeats_within" in found and found["repeats_within"] is None:
        found["repeats_within"] = inf
    evidence = Evidence(found.pop("evidence", None) or Evidence.FLOAT64)
    finding = Finding(Verdict(found.pop("verdict")), evidence, **found)
    return Entry(finding.verdict, finding.evidence, constants_of(finding, tolerance), {}, None, {})


def read_swept(path: Path) -> Swept:
    """The sweep in a folder, or in its table of runs.

    Raises
    ------
    InputError
        It is none; names the file and the row.
    """
    file = path / RUNS if path.is_dir() else path
    where = shown_path(file)
    text = utf_8_text(file_content(file, EXPECTED), where)
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        return _swept(rows, where)
    except (csv.Error, ValueError, KeyError, TypeError) as error:
        raise InputError(where, got=f"another table ({printable(str(error))})", expected=EXPECTED) from None


def _swept(rows: list[dict[str, str]], where: str) -> Swept:
    names = list(rows[0]) if rows else []
    after = names.index("seed") + 1
    keep = tuple(name for name in names[after : names.index("status")] if name.partition(":")[2] in AUDITED)
    made = {name: {row[name] for row in rows} for name in names[:after]}
    varied = [name for name, values in made.items() if len(values) > 1 or name in ("dataset", "seed")]
    runs: dict[str, Results] = {}
    failed: dict[str, str] = {}
    for line, row in enumerate(rows, start=2):
        dataset = printable(placed(varied, row))
        if dataset in runs or dataset in failed:
            raise InputError(f"{where}: line {line}", got=f"{dataset} again", expected="each run once")
        if row["status"] == "done":
            runs[dataset] = {name: _result(name, row[name], f"{where}: line {line}: {name}") for name in keep}
        else:
            failed[dataset] = f"{row['status']}: {printable(row['message'])}"
    settings = {name: next(iter(values)) for name, values in made.items() if name not in varied}
    found = Swept(settings, keep, runs, failed, ", ".join(sorted({printable(row["versions"]) for row in rows})))
    if not found.claims:
        raise InputError(where, got="no verdicts", expected='them in the spec: keep = ["*:verdict", ..]')
    return found


def _result(name: str, text: str, where: str) -> Result:
    word = name.partition(":")[2]
    if word == "verdict" or (word in ("evidence", "side") and text):
        allowed = {"verdict": tuple(Verdict), "evidence": tuple(Evidence), "side": ("upper", "lower")}[word]
        if text not in allowed:
            raise InputError(where, got=repr(text), expected=", ".join(allowed))
        return text
    if not text:
        return None
    number = float(text)
    if not isfinite(number):
        raise InputError(where, got=text, expected="a finite number or nothing")
    return number
