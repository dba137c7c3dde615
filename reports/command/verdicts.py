"""Terminal output of an audit: verdicts in as many columns as fit, failures, and counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from marginaudit.claims.quotation import Form
from marginaudit.claims.row import CARRIED_OVER, evidence_text
from marginaudit.claims.row import names as columns_of
from marginaudit.claims.standing import Fault
from marginaudit.claims.values.numbers import bound, brief
from marginaudit.claims.verdict import Output, Verdict
from marginaudit.orders import counted, shortened
from marginaudit.reports.audit.auditing import Audit, Row
from marginaudit.reports.command.console import print_line, print_summary, print_table, width
from marginaudit.reports.page.theorems import accused, failing, statement_names
from marginaudit.reports.tally import cause, counts, others_in_words

WIDE, WIDER = 118, 150
"""Least terminal widths for a table of verdicts with numbers, and also with names of statements."""

LONGEST_REASON = 100

RowDocument = Mapping[str, Any]


def print_verdicts(audit: Audit, *, one_by_one: bool) -> None:
    """Print the verdicts (if ``one_by_one``), reasons for not-applicable verdicts, failures, and counts.

    The table has one row per verdict, or one per claim in terminals narrower than `WIDE`.
    """
    rows = [row.as_document() for row in audit.rows]
    names = statement_names(audit)
    if one_by_one:
        _print_rows(rows, names)
    reasons = why_not_applicable(rows)
    if reasons:
        print_summary("Why not applicable", ("verdicts", "why", "datasets"), reasons)
    violated = sorted((row for row in audit.rows if row.fails), key=_accused_first)
    broken = [row for row in audit.rows if row.finding.verdict is Verdict.BROKEN]
    if violated or broken:
        print_line("What fails")
        for line in [*what_fails(violated, names), *what_is_broken(broken, names)]:
            print_line(line)
        print_line("")
    totals = ", ".join(f"{count} {verdict}" for verdict, count in audit.counts.items())
    runs = f"; {audit.carried_over} {CARRIED_OVER}" if audit.carried_over else ""
    if totals:
        print_line(f"{counted(sum(audit.counts.values()), 'verdict')}: {totals}{runs}.")
    if violated:
        print_line(what_fails_in_words(violated))
    if audit.certified_in_words:
        print_line(f"{audit.certified_in_words}.")
    if audit.controls_in_words:
        print_line(f"{audit.controls_in_words}.")


def _accused_first(row: Row) -> tuple[Any, ...]:
    return not accused(row.claim, row.paper), row.standing.gravity


def _print_rows(rows: Sequence[RowDocument], names: Mapping[str, str]) -> None:
    if width() < WIDE:
        of_claims: dict[str, list[RowDocument]] = {}
        for row in rows:
            of_claims.setdefault(row["claim"], []).append(row)
        print_table("Verdicts", ("claim", "verdicts", "worst"), [_in_short(*found) for found in of_claims.items()])
        return
    columns = list(columns_of(Output.TABLE))
    if width() >= WIDER and any(names.values()):
        columns.insert(1, "statement")
    header = [name.replace("_", " ") for name in columns]
    print_table("Verdicts", header, [[_shown(row, name, names) for name in columns] for row in rows])


def what_fails(rows: Sequence[Row], names: Mapping[str, str]) -> list[str]:
    """Lines per cause: the mistake, then one line per statement that shares it, with its datasets."""
    of_causes: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        of_causes.setdefault(cause(row.claim), {}).setdefault(row.claim.id, []).append(row)
    lines = []
    for name, of_claims in of_causes.items():
        ids = sorted(of_claims, key=lambda claim: claim != name)
        wrong = of_claims[ids[0]][0].claim.standing.wrong
        lines += [wrong] if wrong else []
        for claim in ids:
            row, datasets = of_claims[claim][0], ", ".join(found.dataset for found in of_claims[claim])
            how = [failing(row.claim, row.paper), *([row.standing.severity.value] if row.standing.severity else [])]
            shown = f" ({names[claim]})" if names[claim] else ""
            lines.append(f"  {claim}{shown}: violated ({', '.join(how)}) on {datasets}")
    return lines


def what_is_broken(rows: Sequence[Row], names: Mapping[str, str]) -> list[str]:
    """Two lines per broken statement and reason: statement with datasets, then the reason."""
    datasets: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        datasets.setdefault((row.claim.id, row.finding.detail), []).append(row.dataset)
    lines = []
    for (claim, reason), found in datasets.items():
        lines.append(f"{claim}{f' ({names[claim]})' if names[claim] else ''}: broken on {', '.join(found)}")
        lines.append(f"  {reason}")
    return lines


def what_fails_in_words(rows: Sequence[Row]) -> str:
    """Counts of violated statements: printed ones with their causes, then others."""
    found = counts({row.claim.id: (row.claim, row.standing) for row in rows}.values())
    false = ", ".join(f"{found[fault.value]} {fault.value}" for fault in Fault if found[fault.value])
    parts = []
    if found["printed"]:
        printed = counted(found["printed"], "printed statement")
        parts.append(f"{printed} from {counted(found['causes'], 'cause')} ({false})")
    if others := others_in_words(found):
        parts.append(others)
    return f"Violated: {'; '.join(parts)}."


def why_not_applicable(rows: Sequence[RowDocument]) -> list[tuple[int, str, str]]:
    """Count, text and datasets of each reason, most common first.

    >>> rows = [
    ...     {"dataset": "a", "failed_assumption": "injective", "detail": 'Assumption injective fails: {"key": 1}.'},
    ...     {"dataset": "b", "failed_assumption": "injective", "detail": "Assumption injective fails: null."},
    ...     {"dataset": "b", "failed_assumption": "", "detail": 'N is above 1: {"N": 2}.'},
    ... ]
    >>> why_not_applicable([{"verdict": "not-applicable", **row} for row in rows] + [{"verdict": "holds"}])
    [(2, 'assumption injective fails', 'a, b'), (1, 'N is above 1', 'b')]
    """
    counts: Counter[str] = Counter()
    datasets: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["verdict"] == Verdict.NOT_APPLICABLE:
            failed, reason = row["failed_assumption"], row["detail"].partition(": {")[0]
            why = f"assumption {failed} fails" if failed else shortened(reason, LONGEST_REASON)
            counts[why] += 1
            datasets.setdefault(why, {})[row["dataset"]] = None
    return [(count, why, ", ".join(datasets[why])) for why, count in counts.most_common()]


def _shown(row: RowDocument, name: str, names: Mapping[str, str]) -> Any:
    if name == "bound":
        return Text(bound(row), justify="right")
    if name == "evidence":
        return evidence_text(row)
    if name == "statement":
        return names[row["claim"]]
    if name == "verdict" and row["form"] == Form.CONTROL:
        return f"{row[name]} (control)"
    return row[name]


def _in_short(claim: str, rows: Sequence[RowDocument]) -> tuple[str, str, str]:
    counts = Counter(row["verdict"] for row in rows)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if verdict in counts)
    carried = sum(row["premise"] != "met" for row in rows)
    verdicts += f"; {carried} carried over" if carried else ""
    verdicts += " (control)" if rows[0]["form"] == Form.CONTROL else ""
    worst = min(rows, key=lambda row: list(Verdict).index(row["verdict"]))
    room = worst["slack"]
    return claim, verdicts, worst["dataset"] + ("" if room is None else f", slack {brief(room)}")
