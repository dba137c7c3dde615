"""Page of one claim: outcome, words, numbers, code and its output, control, counterexample, figures."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marginaudit.claims.row import evidence_text
from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import counted, on_a_line
from marginaudit.reports.logbook.cells import Cell, fenced, table
from marginaudit.reports.logbook.figure import svg
from marginaudit.reports.logbook.mapping import Document, Result, Rule

MOST_ROWS = 24
"""Most datasets in a table of numbers; the others are counted."""

MOST_FIGURES = 2

LONGEST_DETAIL = 1_200

LEFT_OUT = ("curve", "counterexample", "headroom", "kind", "quantifier")
"""Columns of a row that the raw output leaves out, as other cells have them."""


@dataclass(frozen=True)
class Answered:
    """One statement of a report that answers a claim.

    Attributes
    ----------
    claim : its entry
    rows : its rows
    controls : entries of its controls, each with its rows
    mended : entries of its re-derived statements, each with its rows
    result : its outcome
    dataset : entry of the dataset of the deciding row, if the report has it
    """

    claim: Document
    rows: Sequence[Document]
    controls: Sequence[tuple[Document, Sequence[Document]]]
    mended: Sequence[tuple[Document, Sequence[Document]]]
    result: Result
    dataset: Document | None = None


def unanswered(text: str, reason: str) -> list[Cell]:
    """Cells of a claim that nothing answers."""
    body = f"**Outcome: inconclusive.** Not checked, because {reason}.\n\n> {on_a_line(text)}"
    return [Cell("Outcome: inconclusive", body)]


def claim_cells(answered: Sequence[Answered], text: str, command: str | None) -> list[Cell]:
    """Cells of a claim, numbers before code, figures last.

    ``text`` is the registry's, "" without one; ``command`` made the report.
    """
    several = len(answered) > 1
    cells: list[Cell] = []
    for one in answered:
        name = f" ({one.claim['id']})" if several else ""
        cells.append(_outcome(one, text if not cells else "", name))
        cells.append(Cell(f"Numbers{name}", _numbers(one)))
    for one in answered:
        name = f" ({one.claim['id']})" if several else ""
        cells += _code(one, name, command)
        cells.append(Cell(f"Control{name}", _control(one)))
        if one.mended:
            cells.append(Cell(f"Re-derived{name}", _mended(one)))
        cells += _conditions(one, name)
        if (smallest := _counterexample(one)) is not None:
            cells.append(Cell(f"Smallest counterexample{name}", smallest))
    return cells + _figures(answered)


def _outcome(one: Answered, text: str, name: str) -> Cell:
    """Outcome, the sentence quoted, and how it was read."""
    claim, outcome = one.claim, one.result.outcome.value
    lines = [f"**Outcome: {outcome}.** {on_a_line(one.result.reason)}", ""]
    if text:
        lines += [f"> {on_a_line(text)}", "", "(the claim as registered)", ""]
    quoted = claim["quotation"]
    if quoted:
        lines += [f"> {on_a_line(quoted)}", "", f"({_where(claim)})", ""]
    else:
        lines += [f"Source: {_where(claim)}. No words of it are quoted.", ""]
    facts = {
        "How it was read": claim["reading"] or "as it stands",
        "Statement audited": claim["statement"],
        "Formula": f"${on_a_line(claim['formula'])}$" if claim["formula"] else "",
        "Assumptions checked": ", ".join((*claim["assumptions"], *claim["setting"])) or "none",
        "Scale": claim["scale"] or "not stated",
        "For every dataset": _standing(claim),
        "True instead": claim["instead"] or "",
        "Authors' possible answer": claim["defence"] or "",
    }
    lines += [f"- {key}: {on_a_line(value)}" for key, value in facts.items() if value]
    return Cell(f"Outcome: {outcome}{name}", "\n".join(lines))


def _where(claim: Document) -> str:
    place = claim["place"]
    return on_a_line(claim["source"] if not place or place in claim["source"] else f"{claim['source']}; {place}")


def _standing(claim: Document) -> str:
    proof = f" by {claim['proof']}" if claim["proof"] else ""
    wrong = f": {claim['wrong']}" if claim["wrong"] else ""
    severity = f", {claim['severity']}" if claim["severity"] else ""
    return f"{claim['standing']}{severity}{proof}{wrong}"


def _numbers(one: Answered) -> str:
    """The deciding row in sentences, then a table of all rows."""
    row, lines = one.result.row, list[str]()
    if row is not None:
        stated = f"Paper says: {on_a_line(one.claim['statement'])} Here: {says(row)}"
        lines += [f"Decided on {row['dataset']}:", "", *(f"- {line}" for line in (stated, *_sentences(row))), ""]
    header = ("Dataset", "Verdict", "Evidence", "Paper says", "Measured", "Error bar", "Slack", "At", "Applies from")
    shown = sorted(one.rows, key=lambda row: row["verdict"] == Verdict.NOT_APPLICABLE)[:MOST_ROWS]
    lines.append(table(header, [_cells(row) for row in shown]))
    if len(shown) < len(one.rows):
        lines += ["", f"{len(one.rows) - len(shown)} more rows are in report.json."]
    return "\n".join(lines)


def _sentences(row: Document) -> list[str]:
    found = [f"Measured: {number(row, 'measured')}", f"Error bar: {bar(row)}", f"Bound: {number(row, 'bound')}"]
    if row["slack"] is not None:
        found.append(f"Slack (above 1 there is room): {row['slack']!r}")
    if row["worst_step"] is not None:
        found.append(f"At the worst step: {row['worst_step']}")
    if row["first_violation"] is not None:
        found.append(f"First violation: {row['first_violation']}")
    if row["samples"] is not None:
        found.append(f"Sampled: n = {row['samples']}, seed {row['seed']}, confidence {row['confidence']}")
    found.append(f"Evidence: {evidence_text(row)}")
    found.append(f"Detail: {on_a_line(row['detail'])[:LONGEST_DETAIL]}")
    return found


def _cells(row: Document) -> tuple[str, ...]:
    if row["verdict"] == Verdict.NOT_APPLICABLE:
        return row["dataset"], row["verdict"], row["evidence"], row["failed_assumption"] or "", *[""] * 5
    slack = "" if row["slack"] is None else f"{row['slack']:.6g}"
    at = "" if row["worst_step"] is None else f"{row['worst_step']}"
    start = "" if row["informative_from"] is None else f"{row['informative_from']}"
    numbers = says(row), number(row, "measured"), bar(row), slack, at, start
    return row["dataset"], row["verdict"], evidence_text(row), *numbers


def says(row: Document) -> str:
    """The relation that the statement asserts of the measured number."""
    if row["bound"] is None and not row["bound_exact"]:
        return row["needs"] or "no number"
    sign = {"upper": "at most", "lower": "at least", None: "equal to"}[row["side"]]
    return f"{'tends to' if row['kind'] == 'limit' else sign} {number(row, 'bound')}"


def number(row: Document, name: str) -> str:
    """A number of a row: the fraction if exact, and ten digits.

    >>> number({"measured": 0.25, "measured_exact": "1/4"}, "measured")
    '1/4 = 0.25'
    """
    value, exact = row[name], row[f"{name}_exact"]
    if value is None:
        return exact or "none"
    return f"{exact} = {value:.10g}" if exact and exact != f"{value:.10g}" else f"{value:.10g}"


def bar(row: Document) -> str:
    """Error bar of the measured number."""
    if row["measured_exact"]:
        return "0, exact"
    curve = row["curve"]
    if curve and curve["measured_bar"] and row["worst_step"] in curve["step"]:
        bar_there = curve["measured_bar"][curve["step"].index(row["worst_step"])]
        return "infinite" if bar_there is None else f"{bar_there:.3g}"
    if row["repeats_within"] is None:
        return "in the detail"
    return f"the slack, or the constant, is known to a relative {row['repeats_within']:.2g}"


def _code(one: Answered, name: str, command: str | None) -> list[Cell]:
    cells = []
    if code := one.claim["code"]:
        body = fenced(code["text"], f"python title={on_a_line(code['file']).replace(' ', '-')}")
        cells.append(Cell(f"Code as run{name}", body, cuts=True))
    row = one.result.row
    if row is not None:
        if one.dataset is not None:
            data = fenced(json.dumps(one.dataset["data"], ensure_ascii=False), "json")
            body = f"{sizes}\n\n{data}" if (sizes := _sizes(one.dataset)) else data
            cells.append(Cell(f"Data: {on_a_line(row['dataset'])}{name}", body, cuts=True))
        raw = {key: value for key, value in row.items() if key not in LEFT_OUT}
        lines = [f"$ {command}"] if command else []
        lines += [json.dumps(raw, ensure_ascii=False, indent=1), *_points(row["curve"])]
        cells.append(Cell(f"Raw output{name}", fenced("\n".join(lines), "output"), cuts=True))
    return cells


def _sizes(dataset: Document) -> str:
    """Sizes and settings of the run on a dataset, by their names in report.json."""
    numbers = {name: value for name, value in dataset.items() if type(value) in (int, float)}
    return ", ".join(f"{name} = {value:.10g}" for name, value in numbers.items())


def _points(curve: Mapping[str, Any] | None) -> list[str]:
    """Entries of a curve as lines of text."""
    if curve is None:
        return []
    known = ("step", "measured", "measured_bar", "upper", "upper_bar", "lower", "lower_bar")
    names = [name for name in known if curve[name] is not None]
    lines = [",".join(names)]
    for at in range(len(curve["step"])):
        lines.append(",".join("" if curve[name][at] is None else repr(curve[name][at]) for name in names))
    return lines


def _control(one: Answered) -> str:
    """The planted twins, and what each showed."""
    if not one.controls:
        told = "No control was audited: no planted false twin shows that this audit would notice a false statement."
        return told + (" The outcome rests on a proof." if one.result.rule in (Rule.PROVED, Rule.PROVED_HERE) else "")
    lines = []
    for claim, rows in one.controls:
        noticed = [row for row in rows if row["verdict"] == Verdict.VIOLATED and row["premise"] == "met"]
        told = "violated, as it should be" if noticed else "NOT noticed"
        lines.append(f"- Planted twin `{claim['id']}`, false on purpose: {told}. {on_a_line(claim['statement'])}")
        if row := next(iter(noticed or rows), None):
            measured, stated = number(row, "measured"), says(row)
            if stated.endswith(measured):
                measured, stated = f"{row['measured']!r}", f"{stated.removesuffix(measured)}{row['bound']!r}"
            shown = f"measured {measured}, it says {stated}; {row['verdict']}, {evidence_text(row)}"
            lines.append(f"  On {row['dataset']}: {shown}")
    return "\n".join(lines)


def _mended(one: Answered) -> str:
    """The re-derived statements and their verdicts."""
    lines = []
    for claim, rows in one.mended:
        found = Counter(f"{row['verdict']} ({evidence_text(row)})" for row in rows)
        verdicts = ", ".join(f"{verdict} on {counted(number, 'dataset')}" for verdict, number in found.items())
        lines.append(f"- `{claim['id']}`: {on_a_line(claim['statement'])}")
        lines.append(f"  {verdicts or 'not audited'}; for every dataset: {_standing(claim)}")
    return "\n".join(lines)


def _conditions(one: Answered, name: str) -> list[Cell]:
    """Datasets that break a claim, if not refuted, without one of its assumptions."""
    if not one.claim["without"] or one.claim["standing"] == Status.REFUTED:
        return []
    lines = ["The condition matters: without it alone, this dataset violates the claim (`marginaudit hunt --without`)."]
    for assumption, data in one.claim["without"].items():
        text = json.dumps(data, ensure_ascii=False)
        shown = text if len(text) <= LONGEST_DETAIL else "in report.json"
        lines += ["", f"Without `{assumption}`:", fenced(shown, "json")]
    return [Cell(f"Without a condition{name}", "\n".join(lines))]


def _counterexample(one: Answered) -> str | None:
    """The smallest known dataset that violates the claim, whole."""
    data = one.claim["counterexample"]
    row = next((row for row in one.rows if row["verdict"] == Verdict.VIOLATED and row["counterexample"]), None)
    data = data or (row and row["counterexample"])
    if data:
        settings = f"\n\nSettings: {one.claim['settings']}" if one.claim["settings"] else ""
        return fenced(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False), "json") + settings
    witness = next((row["witness"] for row in one.rows if row["verdict"] == Verdict.VIOLATED and row["witness"]), None)
    return fenced(json.dumps(witness, ensure_ascii=False), "json") if witness else None


def _figures(answered: Sequence[Answered]) -> list[Cell]:
    found: list[Cell] = []
    for one in answered:
        for row in filter(None, (one.result.row, *one.rows)):
            drawn = svg(row["curve"]) if row["curve"] and len(found) < MOST_FIGURES else ""
            title = f"Measured and bound: {row['claim']} on {row['dataset']}"
            if drawn and title not in {cell.title for cell in found}:
                raw = "\n".join(_points(row["curve"])[:3])
                found.append(Cell(title, f"{fenced(drawn, 'html')}\n{fenced(raw, 'raw')}", kind="figure"))
                break
    return found
