"""Summary of a sweep of audits by statement: how often it fails, where first, and the worst numbers."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from marginaudit.reports.page.small import small_page
from marginaudit.reports.study.merge import Rows
from marginaudit.reports.study.spec import Spec
from marginaudit.reports.verdict import Verdict

VERDICT, SIDE = ":verdict", ":side"

Place: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Takes a run and returns its name."""

NUMBERS = ("constant", "slack")

SHARE = 0.05
"""Share of the audits that have a worse number than the quantile shown."""


def statement_rows(keep: Sequence[str], runs: Rows, place: Place) -> Rows:
    """A row for each claim whose verdict was kept.

    How many audits gave each verdict, and the first run that gave the worst. Of constants and slacks, where they and
    the side of their bound were kept: the worst with its run, that of `SHARE`, and the median. Those of a lower bound
    are worst where they are least for a constant and largest for a slack, which is bound over measured; those of an
    upper bound the other way round. A claim with bounds on both sides has none.
    """
    done = [run for run in runs if run["status"] == "done"]
    claims = [name.removesuffix(VERDICT) for name in keep if name.endswith(VERDICT)]
    return [_row(done, claim, place) for claim in claims]


def _row(done: Rows, claim: str, place: Place) -> dict[str, Any]:
    counts = Counter(run[claim + VERDICT] for run in done)
    worst = next((verdict.value for verdict in Verdict if counts[verdict.value]), None)
    first = next((run for run in done if run[claim + VERDICT] == worst), None)
    row: dict[str, Any] = {"claim": claim, "audits": len(done)}
    row |= {verdict.value: counts[verdict.value] for verdict in Verdict}
    row |= {"worst": worst, "worst in": None if first is None else place(first)}
    sides = {run.get(claim + SIDE) for run in done} - {None}
    for name in NUMBERS:
        known = [run for run in done if run.get(f"{claim}:{name}") is not None] if len(sides) == 1 else []
        row |= _worst(known, claim, name, place, largest=(name == "constant") == (sides == {"upper"}))
    return row


def _worst(known: Rows, claim: str, name: str, place: Place, *, largest: bool) -> dict[str, Any]:
    columns = [f"{name} worst", f"{name} worst in", f"{name} worst but 5%", f"{name} median"]
    if not known:
        return dict.fromkeys(columns)
    values = np.array([run[f"{claim}:{name}"] for run in known], dtype=np.float64)
    at = int(values.argmax() if largest else values.argmin())
    level = 1 - SHARE if largest else SHARE
    share = np.quantile(values, level, method="higher" if largest else "lower")
    found = (float(values[at]), place(known[at]), float(share), float(np.median(values)))
    return dict(zip(columns, found, strict=True))


def placed(varied: Iterable[str], run: Mapping[str, Any]) -> str:
    """Name of a run: the columns that were varied.

    >>> placed(("V", "seed"), {"V": 4, "N": 16, "seed": 2})
    'V = 4, seed = 2'
    """
    return ", ".join(f"{name} = {run[name]}" for name in varied)


def page(spec: Spec, statements: Rows, runs: Rows, figure: bytes | None) -> str:
    """A sweep of audits as one self-contained page; ``figure`` is an SVG of this program's."""
    from markupsafe import Markup

    text = "" if figure is None else figure.decode("utf-8")
    verdicts = [verdict.value for verdict in Verdict if any(row[verdict.value] for row in statements)]
    order = [verdict.value for verdict in Verdict]
    ranked = sorted(statements, key=lambda row: [-row[verdict] for verdict in order[:2]])
    return small_page(
        "marginaudit.reports.study",
        "sweep.html",
        name=spec.name,
        spec=spec.text,
        runs=len(runs),
        done=sum(run["status"] == "done" for run in runs),
        failing=sum(row["violated"] > 0 for row in statements),
        verdicts=verdicts,
        statements=ranked,
        numbers=[row for row in ranked if row["slack worst"] is not None or row["constant worst"] is not None],
        figure=Markup(text[text.index("<svg") :]) if text else None,
    )
