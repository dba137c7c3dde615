"""Trackio logbook of a report, from report.json alone; written as plain files, without Trackio."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.instances.together import ALL_INSTANCES
from marginaudit.claims.quotation import Form
from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import counted, on_a_line
from marginaudit.reports.logbook.cells import Cell, fenced, page, slug, table
from marginaudit.reports.logbook.claim_page import Answered, claim_cells, unanswered
from marginaudit.reports.logbook.mapping import Document, Outcome, Result, Rule, outcome_of
from marginaudit.reports.logbook.registry import Registry, answering

FOLDER = "logbook/.trackio"
"""Folder of the logbook in that of the report; `trackio logbook` runs in its parent."""

SUMMARY, CONCLUSION = "executive-summary", "conclusion"

CHALLENGE = "icml2026-repro"
"""Tag of the logbooks of papers with an id."""

COLOURS = {Outcome.VERIFIED: "#067647", Outcome.FALSIFIED: "#b42318", Outcome.TOY: "#b54708"}


UNREGISTERED = Registry()

NO_SECONDS: Mapping[str, str] = {}


class ClaimPage:
    """A claim of the logbook: its page, the statements that answer it, and the outcome of all."""

    def __init__(self, number: int, name: str, text: str, answered: Sequence[Answered], missing: str) -> None:
        self.slug = f"claim-{number}-{slug(name)}"
        self.title = f"Claim {number}: {name}"
        self.text, self.answered, self.missing = text, answered, missing
        best: Result | None = min((one.result for one in answered), key=_precedence, default=None)
        self.outcome = best.outcome if best else Outcome.INCONCLUSIVE
        self.refuted_elsewhere = best is not None and best.rule is Rule.PROVED_HERE
        self.reason = best.reason if best else f"Not checked, because {missing}."

    def cells(self, command: str | None) -> list[Cell]:
        """Cells of its page."""
        if not self.answered:
            return unanswered(self.text, self.missing)
        return claim_cells(self.answered, self.text, command)


def _precedence(result: Result) -> int:
    """One false part makes a claim false; one undecided part leaves it undecided."""
    order = Outcome.FALSIFIED, Outcome.INCONCLUSIVE, Outcome.TOY, Outcome.VERIFIED
    return order.index(result.outcome)


def logbook(
    document: Mapping[str, Any], registry: Registry = UNREGISTERED, seconds: Mapping[str, str] = NO_SECONDS
) -> dict[str, str]:
    """Files of the logbook by path, of the document of report.json.

    A page for each text of the registry; without one, for each statement of the papers. ``seconds``: second
    computations by ``dataset: claim``.
    """
    pages = list(_of_registry(document, registry, seconds) if registry.texts else _of_statements(document, seconds))
    made, title = document["made"], _title(document)
    texts = {SUMMARY: page("Executive summary", _summary(document, pages), made["date"], SUMMARY)}
    for one in pages:
        texts[one.slug] = page(one.title, one.cells(made["command"]), made["date"], one.slug)
    texts[CONCLUSION] = page("Conclusion", [_conclusion(document, pages)], made["date"], CONCLUSION)
    names = {SUMMARY: "Executive summary", **{one.slug: one.title for one in pages}, CONCLUSION: "Conclusion"}
    rows = [f"| [{on_a_line(name).replace('|', '/')}](#/{key}) |" for key, name in names.items()]
    index = "\n".join([f"# Reproduction: {title}", "", "## Pages", "", "| Page |", "| --- |", *rows, ""])
    tags = [CHALLENGE, f"paper-{registry.id}"] if registry.id else []
    metadata = {"space_id": None, "created_at": made["date"], "tags": tags}
    files = {f"{FOLDER}/metadata.json": json.dumps(metadata, indent=2) + "\n"}
    files[f"{FOLDER}/logbook/pages/index.md"] = index
    return files | {f"{FOLDER}/logbook/pages/{key}/page.md": text for key, text in texts.items()}


def _title(document: Mapping[str, Any]) -> str:
    names = [paper["title"] or paper["source"] for paper in document["papers"]]
    sources = [claim["source"] for claim in document["claims"] if claim["form"] == Form.PRINTED]
    own = [name for name in names if name not in (INSTANCES.source, ALL_INSTANCES.source)]
    return on_a_line("; ".join(own or sources[:1] or names))


def _of_statements(document: Mapping[str, Any], seconds: Mapping[str, str]) -> Iterator[ClaimPage]:
    """A page for each statement of a paper: the printed ones, and those of a claims' file that are no controls."""
    ours = _ours(document)
    own = [
        claim
        for claim in document["claims"]
        if claim["form"] == Form.PRINTED or (claim["form"] == Form.OWN and claim["paper"] not in ours)
    ]
    for number, claim in enumerate(own, start=1):
        yield ClaimPage(number, claim["id"], "", [_answered(document, claim, seconds)], "")


def _of_registry(document: Mapping[str, Any], registry: Registry, seconds: Mapping[str, str]) -> Iterator[ClaimPage]:
    claims = [c for c in document["claims"] if c["form"] in (Form.PRINTED, Form.OWN) and not c["control_of"]]
    for number, text in enumerate(registry.texts, start=1):
        found = answering(text, claims)
        printed = [claim for claim in found if claim["form"] == Form.PRINTED] or found
        answered = [_answered(document, claim, seconds) for claim in printed]
        missing = "no statement of this audit is about it"
        if answered and not any(_is_checked(one) for one in answered):
            detail = on_a_line(answered[0].rows[0]["detail"]) if answered[0].rows else missing
            missing = detail.removeprefix("Not checked, because ").rstrip(".")
            answered = []
        yield ClaimPage(number, " ".join(text.split()[:8]), text, answered, missing)


def _is_checked(one: Answered) -> bool:
    return any(row["verdict"] not in (Verdict.NOT_CHECKED, Verdict.NOT_APPLICABLE) for row in one.rows)


def _answered(document: Mapping[str, Any], claim: Document, seconds: Mapping[str, str]) -> Answered:
    rows = _rows(document, claim)
    twins = [one for one in document["claims"] if one["control_of"] == claim["id"]]
    controls = [(twin, _rows(document, twin)) for twin in twins]
    proved = claim["standing"] == Status.PROVED and claim["paper"] in _ours(document)
    mended = [(one, _rows(document, one)) for one in document["claims"] if _mends(one, claim)]
    repaired = next((one["statement"] for one, found in mended if _stands(found)), "")
    found = [row for _, of_twin in controls for row in of_twin]
    of_claim = {row["dataset"]: seconds.get(f"{row['dataset']}: {row['claim']}", "") for row in rows}
    result = outcome_of(claim, rows, found, of_claim, proved=proved, repaired=repaired)
    deciding = result.row["dataset"] if result.row else None
    dataset = next((one for one in document["datasets"] if one["name"] == deciding), None)
    return Answered(claim, rows, controls, mended, result, dataset)


def _rows(document: Mapping[str, Any], claim: Document) -> list[Document]:
    return [row for row in document["verdicts"] if row["claim"] == claim["id"]]


def _stands(rows: Sequence[Document]) -> bool:
    verdicts = {Verdict(row["verdict"]) for row in rows}
    return Verdict.HOLDS in verdicts and Verdict.VIOLATED not in verdicts


def _mends(one: Document, claim: Document) -> bool:
    return Form(one["form"]) is Form.REDERIVED and bool(one["corrects"] == claim["id"])


def _ours(document: Mapping[str, Any]) -> set[str]:
    """Papers whose own statements and proofs are this project's."""
    return {paper["name"] for paper in document["papers"] if paper["ours"]}


def _counts(pages: Sequence[ClaimPage]) -> str:
    found = Counter(one.outcome for one in pages)
    return ", ".join(f"{found[outcome]} {outcome.value}" for outcome in Outcome if found[outcome]) or "no claim"


def _summary(document: Mapping[str, Any], pages: Sequence[ClaimPage]) -> list[Cell]:
    """Scope, cost and the outcome of each claim, pinned; then the counts as a picture."""
    made = document["made"]
    seconds = [row["seconds"] for row in document["verdicts"] if row["seconds"] is not None]
    cost = f"{sum(seconds):.3g} s of one core" if seconds else "not stated (a reproducible report has no durations)"
    versions = ", ".join(f"{name} {number}" for name, number in document["environment"].items())
    datasets = ", ".join(on_a_line(data["name"]) for data in document["datasets"])
    lines = [
        f"**{counted(len(pages), 'claim')}: {_counts(pages)}.**",
        "",
        f"- Scope: {counted(len(document['verdicts']), 'verdict')} on {counted(len(document['datasets']), 'dataset')}: "
        f"{datasets}.",
        f"- Cost: {cost}, on {on_a_line(made['cpu'])}; no GPU.",
        f"- Made by marginaudit {document['marginaudit']}, commit {made['commit'] or 'unknown'}; {versions}.",
        f"- Command: `{on_a_line(made['command'] or 'from Python')}`",
        "- Outcomes follow from verdicts by one table of rules; planted twins (controls) are never findings.",
    ]
    if elsewhere := sum(one.refuted_elsewhere for one in pages):
        are = counted(elsewhere, "is", "are")
        lines.append(f"- Of the verified claims, {are} false on other datasets, as their pages say.")
    lines.append("")
    rows = [(f"[{one.title}](#/{one.slug})", one.outcome.value, _short(one.reason)) for one in pages]
    lines.append(table(("Claim", "Outcome", "Reason"), rows))
    bars = _bars(pages)
    counts = "\n".join(f"{one.slug},{one.outcome.value}" for one in pages)
    picture = Cell("Outcomes", f"{fenced(bars, 'html')}\n{fenced(counts, 'raw')}", kind="figure", pinned=True)
    return [Cell("Executive summary", "\n".join(lines), pinned=True), picture]


def _short(reason: str) -> str:
    text = on_a_line(reason)
    return text if len(text) <= 260 else f"{text[:260].rsplit(' ', 1)[0]} .."


def _bars(pages: Sequence[ClaimPage]) -> str:
    found, lines = Counter(one.outcome for one in pages), []
    for at, outcome in enumerate(Outcome):
        width = 300 * found[outcome] / max(len(pages), 1)
        colour = COLOURS.get(outcome, "#667085")
        lines.append(f'<text x="0" y="{24 * at + 16}">{outcome.value}: {found[outcome]}</text>')
        lines.append(f'<rect x="120" y="{24 * at + 4}" width="{width:.0f}" height="16" fill="{colour}"/>')
    style = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13"'
    return f'<svg {style} viewBox="0 0 440 100">{"".join(lines)}</svg>'


def _conclusion(document: Mapping[str, Any], pages: Sequence[ClaimPage]) -> Cell:
    lines = [f"{counted(len(pages), 'claim')}: {_counts(pages)}.", ""]
    for outcome, heading in HEADINGS.items():
        of_outcome = [one for one in pages if one.outcome is outcome]
        if of_outcome:
            lines += [
                f"## {heading}",
                "",
                *(f"- [{one.title}](#/{one.slug}): {_short(one.reason)}" for one in of_outcome),
                "",
            ]
    beyond = [one["id"] for one in document["claims"] if one["form"] in (Form.REDERIVED, Form.VARIANT)]
    if beyond:
        lines += [f"Beyond the print, in report.json: {', '.join(beyond)}.", ""]
    return Cell("Conclusion", "\n".join(lines))


HEADINGS = {
    Outcome.FALSIFIED: "Falsified, with the repaired statement on the page",
    Outcome.INCONCLUSIVE: "Left open, with the reason",
    Outcome.TOY: "Shown only at reduced scale or without a control",
    Outcome.VERIFIED: "Verified",
}
