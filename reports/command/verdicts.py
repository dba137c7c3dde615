"""The verdicts of an audit on a terminal: as many columns as it has room for, and why statements are not applicable."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from marginaudit.orders import shortened
from marginaudit.reports.audit.room import slack
from marginaudit.reports.command.console import print_summary, print_table, width
from marginaudit.reports.grid import brief
from marginaudit.reports.page.numbers import bound
from marginaudit.reports.verdict import Verdict

WIDE = 118
"""Columns of a terminal in which a verdict's numbers have room beside it."""

COLUMNS = ("claim", "dataset", "verdict", "evidence", "measured", "bound", "slack", "informative_from")

LONGEST_REASON = 100

Row = Mapping[str, Any]


def print_verdicts(rows: Sequence[Row]) -> None:
    """A row a verdict, or a row a claim in fewer than `WIDE` columns; then why statements are not applicable.

    Parameters
    ----------
    rows : sequence of mappings
        The ``verdicts`` of report.json.
    """
    if width() >= WIDE:
        header = [name.replace("_", " ") for name in COLUMNS]
        print_table("Verdicts", header, [[_shown(row, name) for name in COLUMNS] for row in rows])
    else:
        of_claims: dict[str, list[Row]] = {}
        for row in rows:
            of_claims.setdefault(row["claim"], []).append(row)
        print_table("Verdicts", ("claim", "verdicts", "worst"), [_in_short(*found) for found in of_claims.items()])
    reasons = why_not_applicable(rows)
    if reasons:
        print_summary("Why not applicable", ("verdicts", "why", "datasets"), reasons)


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


def _shown(row: Row, name: str) -> Any:
    if name == "bound":
        return Text(bound(row), justify="right")
    return slack(row) if name == "slack" else row[name]


def _in_short(claim: str, rows: Sequence[Row]) -> tuple[str, str, str]:
    counts = Counter(row["verdict"] for row in rows)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if verdict in counts)
    worst = min(rows, key=lambda row: list(Verdict).index(row["verdict"]))
    room = slack(worst)
    return claim, told, worst["dataset"] + ("" if room is None else f", slack {brief(room)}")
