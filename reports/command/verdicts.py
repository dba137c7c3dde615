"""An audit on a terminal: verdicts in as many columns as fit, failures, and counts."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from marginaudit.orders import counted, shortened
from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.audit.auditing import Row as AuditRow
from marginaudit.reports.command.console import print_line, print_summary, print_table, width
from marginaudit.reports.grid import bound, brief
from marginaudit.reports.page.theorems import failing, statement_names
from marginaudit.reports.row import CARRIED_OVER, evidence_text, slack
from marginaudit.reports.row import names as columns_of
from marginaudit.reports.standing import Severity
from marginaudit.reports.verdict import Output, Verdict

WIDE, WIDER = 118, 150
"""Terminal widths from which on verdicts are shown with numbers, and with the names of statements."""

SEVERITIES = (*Severity, None)
"""Worst first."""

LONGEST_REASON = 100

Row = Mapping[str, Any]


def print_verdicts(audit: Audit, *, one_by_one: bool) -> None:
    """The verdicts if asked for, reasons why statements are not applicable, failures, and counts.

    A row a verdict, or a row a claim in fewer than `WIDE` columns.
    """
    rows = [row.as_document() for row in audit.rows]
    names = statement_names(audit)
    if one_by_one:
        _print_rows(rows, names)
    reasons = why_not_applicable(rows)
    if reasons:
        print_summary("Why not applicable", ("verdicts", "why", "datasets"), reasons)
    worst_first = sorted(audit.rows, key=lambda row: SEVERITIES.index(row.standing.severity))
    fails = what_fails(
        [row.as_document() for row in worst_first],
        names,
        {row.claim.id: row.claim.standing.wrong for row in audit.rows},
        {row.claim.id: _how(row) for row in audit.rows},
    )
    if fails:
        print_line("What fails")
        for line in fails:
            print_line(line)
        print_line("")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in audit.counts.items())
    runs = f"; {audit.carried_over} {CARRIED_OVER}" if audit.carried_over else ""
    print_line(f"{counted(len(rows), 'verdict')}: {counts}{runs}.")


def _print_rows(rows: Sequence[Row], names: Mapping[str, str]) -> None:
    if width() < WIDE:
        of_claims: dict[str, list[Row]] = {}
        for row in rows:
            of_claims.setdefault(row["claim"], []).append(row)
        print_table("Verdicts", ("claim", "verdicts", "worst"), [_in_short(*found) for found in of_claims.items()])
        return
    columns = list(columns_of(Output.TABLE))
    if width() >= WIDER and any(names.values()):
        columns.insert(1, "statement")
    header = [name.replace("_", " ") for name in columns]
    print_table("Verdicts", header, [[_shown(row, name, names) for name in columns] for row in rows])


def _how(row: AuditRow) -> str:
    """Label of a violated statement with its severity."""
    also = failing(row.claim, row.paper)
    word = f"a{also[1:]}" if also.startswith("Also") else Verdict.VIOLATED.value
    return f"{word}, {row.standing.severity.value}," if row.standing.severity else word


def what_fails(
    rows: Sequence[Row], names: Mapping[str, str], wrong: Mapping[str, str], how: Mapping[str, str]
) -> list[str]:
    r"""A line a statement, with its datasets; on the next line what is wrong with it, or why it is broken.

    >>> rows = [
    ...     {"claim": "p.lemma4", "dataset": "a", "verdict": "violated", "detail": ""},
    ...     {"claim": "p.lemma4", "dataset": "b", "verdict": "violated", "detail": ""},
    ...     {"claim": "mine", "dataset": "a", "verdict": "broken", "detail": "ValueError: no (mine.py, line 3)."},
    ... ]
    >>> names, how = {"p.lemma4": "Lemma 4", "mine": ""}, {"p.lemma4": "violated, on ordinary data,"}
    >>> print("\n".join(what_fails(rows, names, {"p.lemma4": "1 is not 2."}, how)))
    p.lemma4 (Lemma 4): violated, on ordinary data, on a, b
      1 is not 2.
    mine: broken on a
      ValueError: no (mine.py, line 3).
    """
    datasets: dict[tuple[str, str, str], list[str]] = {}
    for verdict in (Verdict.VIOLATED, Verdict.BROKEN):
        for row in rows:
            if row["verdict"] == verdict and row.get("premise") != "carried over":
                reason = row["detail"] if verdict is Verdict.BROKEN else wrong[row["claim"]]
                said = verdict.value if verdict is Verdict.BROKEN else how[row["claim"]]
                datasets.setdefault((row["claim"], said, reason), []).append(row["dataset"])
    lines = []
    for (claim, said, reason), found in datasets.items():
        name = f" ({names[claim]})" if names[claim] else ""
        lines.append(f"{claim}{name}: {said} on {', '.join(found)}")
        if reason:
            lines.append(f"  {reason}")
    return lines


def why_not_applicable(rows: Sequence[Row]) -> list[tuple[int, str, str]]:
    """How many verdicts each reason explains, the reason, and the datasets; the most common reason first.

    >>> rows = [
    ...     {"dataset": "a", "verdict": "not-applicable", "detail": 'Assumption injective fails: {"key": 1}.'},
    ...     {"dataset": "b", "verdict": "not-applicable", "detail": "Assumption injective fails: null."},
    ...     {"dataset": "b", "verdict": "not-applicable", "detail": 'N is above 1: {"N": 2}.'},
    ...     {"dataset": "b", "verdict": "holds", "detail": ""},
    ... ]
    >>> why_not_applicable(rows)
    [(2, 'assumption injective fails', 'a, b'), (1, 'N is above 1', 'b')]
    """
    counts: Counter[str] = Counter()
    datasets: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["verdict"] == Verdict.NOT_APPLICABLE:
            names = re.findall(r"\bAssumption ([\w-]+) fails\b", row["detail"])
            why = (
                f"assumption {' and '.join(names)} fails"
                if names
                else shortened(row["detail"].partition(": {")[0], LONGEST_REASON)
            )
            counts[why] += 1
            datasets.setdefault(why, {})[row["dataset"]] = None
    return [(count, why, ", ".join(datasets[why])) for why, count in counts.most_common()]


def _shown(row: Row, name: str, names: Mapping[str, str]) -> Any:
    if name == "bound":
        return Text(bound(row), justify="right")
    if name == "evidence":
        return evidence_text(row)
    if name == "statement":
        return names[row["claim"]]
    return slack(row) if name == "slack" else row[name]


def _in_short(claim: str, rows: Sequence[Row]) -> tuple[str, str, str]:
    counts = Counter(row["verdict"] for row in rows)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if verdict in counts)
    carried = sum(row["premise"] != "met" for row in rows)
    told += f"; {carried} carried over" if carried else ""
    worst = min(rows, key=lambda row: list(Verdict).index(row["verdict"]))
    room = slack(worst)
    return claim, told, worst["dataset"] + ("" if room is None else f", slack {brief(room)}")
