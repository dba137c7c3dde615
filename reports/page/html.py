"""The report as one self-contained page: no script, no network, mathematics as MathML, plots as SVG."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from marginaudit.orders import printable
from marginaudit.reports.audit.auditing import Audit, Row
from marginaudit.reports.claim import Claim
from marginaudit.reports.counterexample import counterexample_shown, smallest_counterexample
from marginaudit.reports.grid import Grid
from marginaudit.reports.page import svg
from marginaudit.reports.page.statements import LINKS, panels
from marginaudit.reports.paper import Paper
from marginaudit.reports.plots.style import LINES, STANDINGS, VERDICTS
from marginaudit.reports.standing import Status
from marginaudit.reports.verdict import Verdict

MOST_LINES = 100
"""Lines of a table that the page shows."""

WORST_FIRST = [verdict.value for verdict in Verdict]


Pictures = Sequence[tuple[str, bytes]]
"""SVG files, each with what it shows."""


def page(audit: Audit, document: Mapping[str, Any], pictures: Pictures, beside: Mapping[str, Pictures]) -> str:
    """The HTML of a report; ``beside`` are the pictures that stand beside claims, by id.

    Every text from a dataset is escaped, and its control characters are written out.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader(
            [
                PackageLoader("marginaudit.reports.page"),
                PrefixLoader({paper.name: PackageLoader(paper.package) for paper in audit.papers if _sections(paper)}),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters |= {"number": number, "compact": _compact, "pretty": _pretty, "norm": _norm}
    rows = [_visible(row.as_document()) for row in audit.rows]
    cells = {(row.claim.id, row.dataset): shown for row, shown in zip(audit.rows, rows, strict=True)}
    by_claim: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_claim.setdefault(row["claim"], []).append(row)
    claims: list[dict[str, Any]] = [
        {
            "id": claim.id,
            "anchor": re.sub(r"[^A-Za-z0-9.-]+", "-", claim.id),
            "source": claim.source,
            "kind": claim.judgement.kind,
            "assumptions": claim.assumptions,
            "statement": claim.statement,
            "instead": claim.instead,
            "standing": claim.standing,
            "words": _visible(asdict(claim.source_words)),
            "counterexample": counterexample_shown(paper, claim) if paper.has(claim) else None,
            "smallest": None
            if (known := smallest_counterexample(paper, claim)) is None
            else paper.kind.in_words(known),
            "mathml": Markup(_mathml(claim.formula)),
            "rows": by_claim[claim.id],
            "pictures": _inline(beside.get(claim.id, ())),
            "cells": [cells.get((claim.id, one.name)) for one in audit.audited],
        }
        for claim, paper in _claims(audit.rows)
    ]
    claims.sort(key=lambda claim: min(WORST_FIRST.index(row["verdict"]) for row in claim["rows"]))
    return environment.get_template("report.html").render(
        title="What the audit found",
        version=document["marginaudit"],
        environment=document["environment"],
        datasets=[_visible(data) for data in document["datasets"]],
        papers=[
            {
                "name": paper.name,
                "source": paper.source,
                "config": document["config"][paper.name],
                "sections": f"{paper.name}/sections.html" if _sections(paper) else "facts.html",
                "datasets": (of_paper := [_visible(d) for d in document["datasets"] if d["paper"] == paper.name]),
                "tables": [
                    (table, [_grid(grid) for data in of_paper for grid in table.grids(data["name"], data[table.name])])
                    for table in paper.tables
                ],
            }
            for paper in audit.papers
        ],
        claims=claims,
        counts=[(verdict.value, count) for verdict, count in audit.counts.items()],
        standings=[(status.value, count) for status in Status if (count := _standing(claims, status))],
        evidences=sorted(Counter(row["evidence"] for row in rows).items()),
        violations=[
            (claim, violated)
            for claim in claims
            if (violated := [row for row in claim["rows"] if row["verdict"] == Verdict.VIOLATED])
        ],
        colours={name.value: colour for colours in (VERDICTS, STANDINGS) for name, colour in colours.items()},
        pictures=_inline(pictures),
        statements=panels(audit.papers),
        links=LINKS,
        line_colours=LINES,
        reliances=[reliance for paper in audit.papers for reliance in paper.reliances],
    )


def _standing(claims: Sequence[Mapping[str, Any]], status: Status) -> int:
    return sum(claim["standing"].status is status for claim in claims)


def _sections(paper: Paper) -> bool:
    """Whether the paper has sections of its own on the page; else the page says of its datasets what `facts` says."""
    return bool(paper.package) and (files(paper.package) / "templates" / "sections.html").is_file()


def _grid(grid: Grid) -> dict[str, Any]:
    """A table with its first lines."""
    shown: dict[str, Any] = _visible({"title": grid.title, "header": grid.header, "notes": grid.notes})
    more = len(grid.rows) - MOST_LINES
    if more > 0:
        shown["notes"].append(f"{more} more lines are in tables/*.csv.")
    return shown | {"rows": _visible(grid.rows[:MOST_LINES]), "words": grid.words, "long": grid.long}


def _claims(rows: Sequence[Row]) -> list[tuple[Claim, Paper]]:
    return list({row.claim.id: (row.claim, row.paper) for row in rows}.values())


def _mathml(formula: str) -> str:
    from latex2mathml.converter import convert

    return convert(formula, display="block")


def _inline(pictures: Pictures) -> list[tuple[str, Any]]:
    from markupsafe import Markup

    return [(printable(name), Markup(svg.inline(picture))) for name, picture in pictures]


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(key)): _visible(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(item) for item in value]
    return value


def number(value: float | None) -> str:
    """A number as a reader wants it: few digits, a dash for none.

    >>> number(None), number(900), number(0.00123456), number(2.4e14)
    ('–', '900', '0.001235', '2.4e+14')
    """
    if value is None:
        return "–"
    if isinstance(value, int) and abs(value) < 10_000_000:
        return str(value)
    return f"{value:.4g}"


def _norm(solution: Mapping[str, Any] | None) -> str:
    if solution is None or solution["norm_squared"] is None:
        return "–" if solution is None else str(solution["status"])
    return str(solution["norm_squared_exact"] or number(solution["norm_squared"]))


def _compact(witness: Any) -> str:
    return json.dumps(witness, ensure_ascii=False)


def _pretty(witness: Any) -> str:
    return json.dumps(witness, ensure_ascii=False, indent=1)
