"""Report as a self-contained page: no network, formulas as MathML, plots as SVG, readable without its script."""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup, escape

from marginaudit.claims.by_proof import own_proof
from marginaudit.claims.claim import IN_DOLLARS, Claim
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.paper import Paper
from marginaudit.claims.predicates import in_words
from marginaudit.claims.quotation import Form
from marginaudit.claims.row import CARRIED_OVER
from marginaudit.claims.table import Captioned
from marginaudit.claims.values.json_data import witness_text
from marginaudit.claims.values.numbers import bound, brief, powers
from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.orders import counted, on_a_line, printable
from marginaudit.reports.audit.auditing import Audit, Row
from marginaudit.reports.counterexample import counterexample_shown, smallest_counterexample
from marginaudit.reports.page import svg
from marginaudit.reports.page.formulas import displayed, mathml
from marginaudit.reports.page.headline import banners, columns, headline, standings
from marginaudit.reports.page.proofs import with_links
from marginaudit.reports.page.reproduce import claims_command, command, dataset_argument
from marginaudit.reports.page.theorems import FORMS, accused, failing, form, statement_names, theorem, whose
from marginaudit.reports.page.typeset import title_html, typeset_html
from marginaudit.reports.plots.style import PAGE, STANDINGS, VERDICTS
from marginaudit.reports.tally import cause

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_LINES = 100
"""Most lines of a table on the page."""

MOST_NAMED = 3
"""Most datasets named in the label of a control."""

LEGEND: dict[str, Any] = {
    "glyphs": dict(zip(Evidence, "∎□=⊂≈∼", strict=True)),
    "bound": bound,
    "worst_first": [verdict.value for verdict in Verdict],
    "colours": {name.value: colour for colours in (VERDICTS, STANDINGS) for name, colour in colours.items()},
    "page_colours": PAGE,
}
"""Template variables that are the same in every report."""

WIDEST_BESIDE_OTHERS = 600
"""Largest width in pixels of a picture shown in a row with others."""

Pictures = Sequence[tuple[str, bytes]]
"""SVG files with their captions."""


def page(
    audit: Audit,
    pictures: Pictures,
    graphs: Pictures,
    beside: Mapping[str, Pictures],
    plots: Mapping[str, Sequence[tuple[str, str]]],
    proofs: Mapping[str, str],
    formulas: Mapping[str, str],
) -> str:
    """HTML of a report.

    Parameters
    ----------
    graphs : graph of statements of each paper
    beside : pictures shown beside claims, by id
    plots : pictures linked from claims, by id: dataset and path
    proofs : linked pages of proofs
    formulas : `formula_html` of claims, by id; that of others is made

    Every text from a dataset is escaped, control characters included.
    """
    document = audit.preamble()
    claims = list(_claims(audit, document, beside, plots, formulas))
    papers = [_paper(paper, document, claims) for paper in audit.papers]
    template = _environment(audit).get_template("report.html")
    html = template.render(
        **_script(),
        **LEGEND,
        version=document["marginaudit"],
        made=_visible(document["made"]),
        environment=document["environment"],
        datasets=[_visible(data) for data in document["datasets"]],
        read=_visible(_read(document)),
        papers=papers,
        banners=_visible(banners(audit)),
        headline=headline(claims, audit.controls_in_words),
        forms={name: meaning for name, meaning in FORMS.items() if any(claim["form"] == name for claim in claims)},
        columns=columns(paper["standings"] for paper in papers),
        proofs=proofs,
        counts=[(verdict.value, count) for verdict, count in audit.counts.items()],
        carried=audit.carried_over,
        carried_over=CARRIED_OVER,
        certified=audit.certified_in_words,
        evidences=sorted(Counter(row.finding.evidence.value for row in audit.rows).items()),
        pictures=_inline(pictures),
        statements=_inline(graphs),
        reliances=[claim for claim in audit.claims if claim.standing.relied_on_by],
    )
    return without_dead_links(html)


def _read(document: Mapping[str, Any]) -> list[list[Any]]:
    """Names and hashes of data and files; the instances of a file of claims stand in that file."""
    files = document["made"]["files"]
    data = [
        [one["origin"], one["sha256"]]
        for one in document["datasets"]
        if one["paper"] != INSTANCES.name or one["origin"] != one["name"]
    ]
    return [*data, *map(list, files.items())]


def without_dead_links(html: str) -> str:
    """Drop links to anchors missing from the page, such as claims that were not audited.

    >>> without_dead_links('<p id="a"><a href="#a">a</a> <a class="mono" href="#b">b</a></p>')
    '<p id="a"><a href="#a">a</a> <a class="mono">b</a></p>'
    """
    places = set(re.findall(r'\bid="([^"]+)"', html))
    return re.sub(r'(<a\b[^>]*?) href="#([^"]+)"', lambda link: link[0] if link[2] in places else link[1], html)


def _environment(audit: Audit) -> "Environment":
    """Template environment of the page and the papers, with formatting filters."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined

    of_papers = PrefixLoader({paper.name: PackageLoader(paper.package) for paper in audit.papers if _sections(paper)})
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("marginaudit.reports.page"), of_papers]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sources = {printable(source.dataset.name): source for source in audit.sources}
    environment.filters |= {
        "argument": lambda name: dataset_argument(sources[name]),
        "number": brief,
        "compact": witness_text,
        "pretty": partial(witness_text, indent=1),
        "norm": norm_text,
        "powers": powers,
        "words": counted,
        "breakable": breakable,
        "with_links": with_links,
        "title": lambda text: Markup(title_html(text)),
        "typeset": lambda text: Markup(typeset_html(text)),
    }
    return environment


def _script() -> dict[str, Any]:
    """The page's script, and its hash for the content security policy."""
    text = (files("marginaudit.reports.page") / "templates" / "script.js").read_text(encoding="utf-8")
    return {"script": Markup(text), "script_hash": base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}


def _paper(paper: Paper, document: Mapping[str, Any], claims: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Template variables of a paper's section."""
    own = [claim for claim in claims if claim["paper"] == paper.name]
    of_theorems: dict[str, list[dict[str, Any]]] = {}
    for claim in own:
        of_theorems.setdefault(claim["theorem"], []).append(claim)
    datasets = [_visible(data) for data in document["datasets"] if data["paper"] == paper.name]
    theorems: list[dict[str, Any]] = [
        {
            "name": name,
            "source": paper.source if any(claim["of_paper"] for claim in of_theorem) else f"on {paper.own_claims}",
            "anchor": f"{paper.name}:{_slug(name) or of_theorem[0]['id']}",
            "claims": of_theorem,
        }
        for name, of_theorem in of_theorems.items()
    ]
    certificates = f"certificates-{paper.name}"
    title = re.search(r"\btitle = \{(.*)\}", paper.bibtex)
    number = re.search(r"arXiv ([0-9]{4}\.[0-9]{4,5}(v[0-9]+)?)", paper.source)
    return {
        "name": paper.name,
        "source": paper.source,
        "title": title[1] if title else paper.source,
        "url": f"https://arxiv.org/abs/{number[1]}" if number else "",
        "of_no_version": paper.ours and number is not None and number[2] is None,
        "config": document["config"][paper.name],
        "sections": f"{paper.name}/sections.html" if _sections(paper) else "facts.html",
        "datasets": datasets,
        "certificates": f'id="{certificates}"' in _sections(paper) and certificates,
        "theorems": theorems,
        "matrices": _matrices(theorems),
        "findings": _findings(own),
        "standings": standings(own),
        "tables": [
            (table, [_table(one) for data in datasets for one in table.captioned(data["name"], data[table.name])])
            for table in paper.tables
        ],
    }


def _matrices(theorems: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Tables of verdicts: datasets, and the claims in order that have a row on each, with the anchor of the theorem."""
    claims = [(theorem["anchor"], claim) for theorem in theorems for claim in theorem["claims"]]
    same = groupby(claims, lambda one: [row["dataset"] for row in one[1]["rows"]])
    return [{"datasets": names, "claims": list(of_names)} for names, of_names in same]


def _findings(claims: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Failing statements by cause, gravest first: the statement named with the cause, and the others that share it.

    ``printed``: whether one of them is printed or from the reader's own text; otherwise all go beyond the print.
    """
    of_causes: dict[str, list[dict[str, Any]]] = {}
    for claim in claims:
        if claim["violated"] and claim["claim"].form is not Form.CONTROL:
            of_causes.setdefault(cause(claim["claim"]), []).append(claim)
    found: list[dict[str, Any]] = []
    for name, sharing in of_causes.items():
        sharing.sort(key=lambda claim: (claim["id"] != name, not claim["accused"], claim["gravity"]))
        found.append({"lead": sharing[0], "others": sharing[1:], "printed": any(claim["accused"] for claim in sharing)})
    return sorted(found, key=lambda finding: (not finding["printed"], finding["lead"]["gravity"]))


def _claims(
    audit: Audit,
    document: Mapping[str, Any],
    beside: Mapping[str, Pictures],
    plots: Mapping[str, Sequence[tuple[str, str]]],
    formulas: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    """Template variables of all statements and their rows, in the order of the ledgers."""
    known = {row.claim.id: row.claim for row in audit.rows} | {c.id: c for paper in audit.papers for c in paper.claims}
    names = statement_names(audit)
    in_python = document["made"]["command"] is None
    of_claim: dict[tuple[str, str], list[Row]] = {}
    for row in audit.rows:
        of_claim.setdefault((row.claim.id, row.paper.name), []).append(row)
    for audited in of_claim.values():
        claim, paper, standing = audited[0].claim, audited[0].paper, audited[0].standing
        rows = _rows(audit, audited, in_python=in_python)
        smallest = smallest_counterexample(paper, claim)
        yield {
            "id": claim.id,
            "paper": paper.name,
            "theorem": on_a_line(theorem(claim, known)),
            "name": names[claim.id],
            "form": form(claim, paper),
            "whose": whose(claim, paper),
            "heading": failing(claim, paper),
            "of_paper": paper.has(claim),
            "source": on_a_line(claim.source),
            "kind": on_a_line(claim.judgement.kind),
            "assumptions": [_assumption(claim, name) for name in claim.assumptions],
            "statement": on_a_line(claim.statement),
            "words": _visible(asdict(claim.source_words)),
            "wrong": _visible(claim.standing.wrong),
            "instead": Markup(prose(claim.instead)),
            "standing": standing,
            "claim": claim,
            "accused": accused(claim, paper),
            "gravity": standing.gravity,
            "defence": _visible(claim.defence or claim.standing.defence),
            "formulas": counterexample_shown(paper, claim) if paper.has(claim) and smallest is None else None,
            "smallest": None if smallest is None else paper.kind.in_words(smallest),
            "smallest_file": None if smallest is None else _data_url(paper.kind.to_document(smallest)),
            "mathml": Markup(formulas[claim.id] if claim.id in formulas else formula_html(claim)),
            "shown_by": "" if in_python and not paper.has(claim) else claims_command(claim, paper, audit.claims_file),
            "rows": rows,
            "violated": [row for row in rows if row["verdict"] == Verdict.VIOLATED and row["premise"] == "met"],
            "pictures": _inline(beside.get(claim.id, ())),
            "plots": plots.get(claim.id, ()),
        }


def formula_html(claim: Claim) -> str:
    """MathML of a claim's formula, "" without one."""
    return displayed(claim.formula, on_a_line(claim.statement)) if claim.formula else ""


def _rows(audit: Audit, audited: Sequence[Row], *, in_python: bool) -> list[dict[str, Any]]:
    """Template variables of a statement's rows."""
    sources = {one.name: one.source for one in audit.audited}
    rows = []
    for number, row in enumerate(audited, start=1):
        found, proof = row.as_document() | {"curve": None}, own_proof(str(row.claim.standing.proof), row.paper.evidence)
        config = audit.configs[row.paper.name]
        more = {
            "below": _visible(found["detail"]).removeprefix(proof).lstrip(),
            "place": f"{row.claim.id}:{number}",
            **_label(row, audited),
            "command": command(row, sources[row.dataset], config, audit.claims_file, in_python),
        }
        rows.append(_visible(found) | more)
    return rows


def _label(row: Row, audited: Sequence[Row]) -> dict[str, str]:
    """Text of a row's verdict and the verdict of its colour: a control is a success if a row of it is violated."""
    verdict = row.finding.verdict
    if not row.is_control or verdict not in (Verdict.VIOLATED, Verdict.HOLDS, Verdict.VACUOUS):
        return {"label": verdict.value, "tone": verdict.value}
    if row.violated:
        return {"label": "control: notices the mistake", "tone": Verdict.HOLDS.value}
    noticed = [one.dataset for one in audited if one.violated]
    if not noticed:
        return {"label": "control: not noticed", "tone": Verdict.VIOLATED.value}
    rest = f" and {len(noticed) - MOST_NAMED} more" if len(noticed) > MOST_NAMED else ""
    said = "true" if verdict is Verdict.HOLDS else verdict.value
    label = f"control: noticed on {', '.join(noticed[:MOST_NAMED])}{rest}; {said} on {row.dataset}"
    return {"label": _visible(label), "tone": Verdict.HOLDS.value}


def _assumption(claim: Claim, name: str) -> str:
    """Name of an assumption, with the words of the claim's own function."""
    words = in_words(claim.predicates[name]) if name in claim.predicates else ""
    return on_a_line(f"{name} ({words})" if words else name)


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", text).strip("-").lower()


def _data_url(document: Mapping[str, Any]) -> str:
    return f"data:application/json,{quote(json.dumps(document, ensure_ascii=False))}"


def _sections(paper: Paper) -> str:
    """Template of the paper's own sections; "" if missing, and the page shows the paper's `facts`."""
    template = files(paper.package) / "templates" / "sections.html" if paper.package else None
    return template.read_text(encoding="utf-8") if template is not None and template.is_file() else ""


def _table(one: Captioned) -> dict[str, Any]:
    """Template variables of a table: first lines, and number of the others."""
    rows, notes = one.rows, list(one.notes)
    if (more := len(rows) - MOST_LINES) > 0:
        notes.append(f"{counted(more, 'more line is', 'more lines are')} in tables/*.csv.")
    shown = {"caption": one.caption, "header": one.header, "rows": rows[:MOST_LINES], "notes": notes}
    return {name: _visible(value) for name, value in shown.items()} | {"words": one.words}


def prose(text: str) -> str:
    """Text as HTML, with formulas between dollar signs as MathML.

    >>> prose("a < b")
    'a &lt; b'
    """
    parts = IN_DOLLARS.split(text)  # alternately texts and formulas
    return "".join(
        mathml(part, "inline", part) if i % 2 else str(escape(printable(part))) for i, part in enumerate(parts)
    )


def _inline(pictures: Pictures) -> list[tuple[str, Any, bool]]:
    """Inline SVGs with their names and a flag for full width."""
    return [
        (printable(name), Markup(drawn := svg.inline(picture)), svg.width(drawn) > WIDEST_BESIDE_OTHERS)
        for name, picture in pictures
    ]


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable(str(key)): _visible(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_visible(item) for item in value]
    return value


def breakable(name: str) -> Any:
    """Id that wraps only after a dot or hyphen.

    >>> breakable("ntp.lemma4")
    Markup('ntp.<wbr>lemma4')
    """
    return Markup(re.sub(r"([.-])", r"\1<wbr>", str(escape(name))))


def norm_text(solution: Mapping[str, Any] | None) -> str:
    """||W||^2 of a solution, exact if known exactly; else the solution's status."""
    if solution is None or solution["norm_squared"] is None:
        return "–" if solution is None else str(solution["status"])
    return str(solution["norm_squared_exact"] or brief(solution["norm_squared"]))
