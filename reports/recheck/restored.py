"""Datasets, claims and settings of a report, restored from report.json."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from marginaudit.claims.claim import Claim, Ledger
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.instances.together import ALL_INSTANCES, together
from marginaudit.claims.paper import Paper
from marginaudit.orders import InputError, file_content, shown, shown_path
from marginaudit.orders.reading import parsed_json, utf_8_text, validated
from marginaudit.reports.audit.planted import planted_twin
from marginaudit.reports.audit.schema import report_type
from marginaudit.reports.audit.sources import IN_PYTHON, Source, load, made_in_python

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Restored:
    """A report, and what an audit of the same data needs.

    Attributes
    ----------
    where : the file, for messages
    file : path of report.json
    unknown : reason by name of a dataset, or id of a claim, that is not restored
    claims_file : file of users' claims, if given
    """

    where: str
    file: Path
    document: Document
    sources: Sequence[Source]
    claims: Sequence[Claim]
    configs: Mapping[str, Any]
    unknown: Mapping[str, str]
    claims_file: Path | None = None


def restored(path: Path, papers: Sequence[Paper], known: Ledger, claims_file: Path | None = None) -> Restored:
    """Read a report.json, or its folder; ``known`` are the claims of the papers and of ``claims_file``.

    Raises
    ------
    InputError
        The file is no report, its data or settings are of no use, or nothing of it is known here.
    """
    file = path / "report.json" if path.is_dir() else path
    where = shown_path(file)
    document = _document(file, where)
    unknown: dict[str, str] = {}
    claims = []
    for stated in document["claims"]:
        claim = _claim(stated, known)
        if claim is None:
            unknown[stated["id"]] = "no claim of this id is known here; --claims or --paper takes the file that has it"
        else:
            claims.append(claim)
    by_name = {paper.name: paper for paper in (*papers, INSTANCES, ALL_INSTANCES)}
    sources = []
    for at, data in enumerate(document["datasets"]):
        found = _source(data, by_name, known, claims, f"{where}: /datasets/{at}/data")
        if isinstance(found, str):
            unknown[data["name"]] = found
        else:
            sources.append(found)
    if not sources or not claims:
        reason = next(iter(unknown.values()), "it has no verdicts")
        raise InputError(where, got=f"nothing to recompute ({reason})", expected="a report of known data and claims")
    used = {source.paper.name: source.paper for source in sources}
    configs = {name: _config(paper, document["config"].get(name, {}), where) for name, paper in used.items()}
    return Restored(where, file, document, sources, claims, configs, unknown, claims_file)


def _document(file: Path, where: str) -> Document:
    """Parse a report.json, and check it by its schema."""
    from pydantic import TypeAdapter, ValidationError  # slow import

    text = utf_8_text(file_content(file, "a report of `marginaudit audit`"), where)
    document = validated(dict[str, Any], parsed_json(text, where), where)
    try:
        TypeAdapter(report_type()).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(map(str, first["loc"]))
        raise InputError(f"{where}: /{place}", got=shown(first["input"]), expected=first["msg"]) from None
    return document


def _claim(stated: Document, known: Ledger) -> Claim | None:
    """A known claim, or the planted twin of one."""
    if stated["id"] in known or stated["control_of"] not in known:
        return known.get(stated["id"])
    twin = planted_twin(known[stated["control_of"]])
    return twin if twin is not None and twin.id == stated["id"] else None


def _config(paper: Paper, settings: Document, where: str) -> Any:
    try:
        return paper.config(**settings)
    except TypeError:
        expected = ", ".join(vars(paper.config())) or "none"
        raise InputError(f"{where}: /config/{paper.name}", got=", ".join(settings), expected=expected) from None


def _source(
    stated: Document, papers: Mapping[str, Paper], known: Ledger, claims: Sequence[Claim], where: str
) -> Source | str:
    """Dataset of a report: a built-in case or file as it is here, else from the data in the report; or a reason."""
    paper, name, origin = papers.get(stated["paper"]), stated["name"], stated["origin"]
    if paper is None:
        return f"paper {stated['paper']} is not known here; --paper takes its file"
    if stated.get("trajectory") is not None:
        return "a recorded run, whose weights a report does not have"
    if paper is ALL_INSTANCES:
        every = together(known.instances.values(), claims)
        return made_in_python(every[0], paper, origin) if every else "its instances are in a file for --claims"
    if paper is INSTANCES and name in known.instances:
        return made_in_python(known.instances[name], paper, origin)
    if origin in paper.kind.cases or _is_file(origin, stated["sha256"]):
        source = load(origin, [paper])
        own = source.dataset.name == name
        return source if own else replace(source, dataset=replace(source.dataset, name=name))
    if stated["data"] is None:
        return f"its data are too long for a report, and its file {origin} is not here"
    dataset = paper.kind.from_document(stated["data"], where, name)
    if origin == IN_PYTHON or paper is INSTANCES:
        return made_in_python(dataset, paper, origin)
    return Source(dataset, paper, origin, stated["sha256"])


def _is_file(origin: str, sha256: str | None) -> bool:
    """Whether the audited file is here, unchanged."""
    try:
        return hashlib.sha256(Path(origin).read_bytes()).hexdigest() == sha256
    except (OSError, ValueError):
        return False


def skipped(report: Restored) -> Iterator[tuple[str, str]]:
    """Places and reasons of what is not recomputed."""
    yield from report.unknown.items()
    for source in report.sources:
        kept = source.place in source.paper.kind.cases or source.place == IN_PYTHON
        if not kept and source.paper not in (INSTANCES, ALL_INSTANCES) and not _is_file(source.place, source.sha256):
            yield source.dataset.name, "its file is not here, or changed: the data of the report are taken"
    known = {claim.id for claim in report.claims}
    for paper in {source.paper.name: source.paper for source in report.sources}.values():
        if left := [claim.id for claim in paper.claims if claim.id not in known]:
            yield paper.name, f"{len(left)} of its {len(paper.claims)} statements are not in the report"
