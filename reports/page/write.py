"""Writing of an audit's folder: page, data, trajectories and figures."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from marginaudit.claims.paper import RunRecords
from marginaudit.claims.row import names
from marginaudit.claims.verdict import Output
from marginaudit.orders import printable
from marginaudit.reports.audit.auditing import Audit, Progress, quiet
from marginaudit.reports.logbook.logbook import UNREGISTERED, logbook
from marginaudit.reports.logbook.registry import Registry
from marginaudit.reports.logbook.second import second_computations
from marginaudit.reports.page.exports import CURVES, csv_table, curves, exported, tables_of
from marginaudit.reports.page.files import file_stem, json_text
from marginaudit.reports.page.folder import MANIFEST, write_folder
from marginaudit.reports.page.html import page
from marginaudit.reports.page.pictures import drawn, rendered_as


@dataclass(frozen=True)
class PaperContent:
    """Parts of a report that depend on the papers alone.

    Attributes
    ----------
    figures : files of the audit's `illustrations`, by name and ending
    graphs : SVG of each graph of statements, with the source of its paper
    proofs : HTML of the pages of proofs, by name
    formulas : `formula_html` of the papers' claims, by id
    """

    figures: Mapping[str, Mapping[str, bytes]]
    graphs: Sequence[tuple[str, bytes]]
    proofs: Mapping[str, str]
    formulas: Mapping[str, str]


def one_by_one(*calls: Callable[[], Any]) -> list[Any]:
    """Results of calls."""
    return [call() for call in calls]


def write_report(
    audit: Audit,
    of_papers: PaperContent,
    folder: Path,
    progress: Progress = quiet,
    exports: Collection[str] = (),
    registry: Registry = UNREGISTERED,
    together: Callable[..., list[Any]] = one_by_one,
) -> None:
    """Write report.html, report.json, verdicts.csv, tables/, figures/, trajectories/ and proofs/ into a folder.

    ``exports``: names of `marginaudit.claims.settings.EXPORTS`; ``registry``: the claims of the logbook; ``together``
    calls functions and returns their results.

    Raises
    ------
    InputError
        The folder is not writable, or holds files that belong to no earlier report.
    """
    write_folder(folder, _files(audit, of_papers, folder, progress, exports, registry, together))


def _files(
    audit: Audit,
    of_papers: PaperContent,
    folder: Path,
    progress: Progress,
    exports: Collection[str],
    registry: Registry,
    together: Callable[..., list[Any]],
) -> dict[str, bytes]:
    files: dict[str, str | bytes] = {}
    pictures: list[tuple[str, bytes]] = []
    beside: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    plots: dict[str, list[tuple[str, str]]] = defaultdict(list)
    stems, runs = stems_of(audit), list[RunRecords]()
    taken = _illustrations(audit)
    for one in audit.audited:
        if (shown := one.shown) is None:
            progress(one.name, "figures")
            shown = drawn(one, exports)
        stem = stems[one.name]
        for picture in shown.pictures:
            name = _free(f"{stem}{picture.suffix}", taken)
            if picture.on_page == "shown" or picture.claim not in beside:
                of_page = (f"{one.name}: {picture.caption}", picture.files[".svg"])
                (beside[picture.claim] if picture.claim else pictures).append(of_page)
            else:
                plots[picture.claim].append((printable(one.name), f"figures/{name}.svg"))
            files |= {f"figures/{name}{ending}": content for ending, content in picture.files.items()}
        files |= {f"trajectories/{stem}-{part}.csv": text for part, text in shown.records.items()}
        runs.append(RunRecords(one.name, one.document, shown.records))

    for paper in audit.papers if any(source.trajectory for source in audit.sources) else ():
        for name, figure in paper.figures_of("runs").items():
            files_of, free = rendered_as(figure.draws(runs), exports), _free(f"{stems[runs[0].name]}-{name}", taken)
            beside[figure.beside].append((f"{runs[0].name}: {figure.caption}", files_of[".svg"]))
            files |= {f"figures/{free}{ending}": content for ending, content in files_of.items()}
    for _, figure in audit.illustrations:
        found = of_papers.figures[figure.name]
        beside[figure.beside].append((figure.name, found[".svg"]))
        files |= {f"figures/{figure.name}{ending}": content for ending, content in found.items()}

    (document, tables), html = together(
        partial(_document_and_tables, audit, folder, exports, registry),
        partial(page, audit, pictures, of_papers.graphs, beside, plots, of_papers.proofs, of_papers.formulas),
    )
    files |= tables
    files |= {f"proofs/{name}.html": text for name, text in of_papers.proofs.items()}
    files["report.html"] = html
    written = {name: text.encode("utf-8") if isinstance(text, str) else text for name, text in files.items()}
    document["files"] = sorted([*files, MANIFEST])
    document["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(written.items())}
    return written | {MANIFEST: json_text(document, indent=2).encode("utf-8")}


def _document_and_tables(
    audit: Audit, folder: Path, exports: Collection[str], registry: Registry
) -> tuple[dict[str, Any], dict[str, str | bytes]]:
    """Content of report.json without the files, and the files made from it and from the curves."""
    document = audit.as_document()
    files: dict[str, str | bytes] = {"verdicts.csv": (verdicts := csv_table(names(Output.CSV), document["verdicts"]))}
    for table, of_datasets in tables_of(audit.papers, document):
        files[f"tables/{table.name}.csv"] = csv_table(table.columns, table.rows(of_datasets))
    files[CURVES] = curves(row.finding for row in audit.rows)
    files |= exported(audit.papers, document, exports)
    if "logbook" in exports:
        files |= logbook(document, registry, second_computations(folder, verdicts))
    return document, files


def stems_of(audit: Audit) -> dict[str, str]:
    """Unique file name of each dataset."""
    taken = _illustrations(audit)
    return {one.name: _free(file_stem(one.name), taken) for one in audit.audited}


def _illustrations(audit: Audit) -> set[str]:
    return {
        name.lower() for paper in audit.papers for name, one in paper.figures_of("paper", "text").items() if one.beside
    }


def _free(stem: str, taken: set[str]) -> str:
    """Reserve a file name, numbered if taken, regardless of case."""
    name = next(name for i in count(1) if (name := stem if i == 1 else f"{stem}-{i}").lower() not in taken)
    taken.add(name.lower())
    return name
