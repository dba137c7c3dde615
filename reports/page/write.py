"""Writing an audit's folder: the page, the data behind it, trajectories and figures."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from itertools import count
from pathlib import Path

from marginaudit.claims.paper import Figure, RunRecords
from marginaudit.claims.row import names
from marginaudit.claims.verdict import Output
from marginaudit.orders import printable
from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.page.exports import csv_table, exported, tables_of
from marginaudit.reports.page.files import file_stem, json_text
from marginaudit.reports.page.folder import MANIFEST, write_folder
from marginaudit.reports.page.html import page
from marginaudit.reports.page.pictures import drawn, rendered_as
from marginaudit.reports.page.proofs import proof_pages
from marginaudit.reports.statements import graph_figures


def write_report(audit: Audit, folder: Path, progress: Callable[[str], None], exports: Collection[str] = ()) -> None:
    """Write report.html, report.json, verdicts.csv, tables/, figures/, trajectories/ and proofs/ into a folder.

    ``exports`` are `marginaudit.claims.settings.EXPORTS`.

    Raises
    ------
    InputError
        The folder cannot be written to, or holds something that is not of an earlier report.
    """
    write_folder(folder, _files(audit, progress, exports))


def _files(audit: Audit, progress: Callable[[str], None], exports: Collection[str]) -> dict[str, bytes]:
    files: dict[str, str | bytes] = {}
    pictures: list[tuple[str, bytes]] = []
    beside: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    plots: dict[str, list[tuple[str, str]]] = defaultdict(list)
    stems, runs = stems_of(audit), list[RunRecords]()
    taken = _illustrations(audit)
    for one in audit.audited:
        shown = one.shown or drawn(one, exports, progress)
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
        progress(f"figure {figure.name}")
        found = _of_paper(audit, figure, exports)
        beside[figure.beside].append((figure.name, found[".svg"]))
        files |= {f"figures/{figure.name}{ending}": content for ending, content in found.items()}

    document = audit.as_document()
    files["verdicts.csv"] = csv_table(names(Output.CSV), document["verdicts"])
    for table, of_datasets in tables_of(audit.papers, document):
        files[f"tables/{table.name}.csv"] = csv_table(table.columns, table.rows(of_datasets))
    files |= exported(audit.papers, document, exports)
    proofs = proof_pages(audit.papers) if audit.proofs is None else audit.proofs
    files |= {f"proofs/{name}.html": text for name, text in proofs.items()}
    graphs = [(paper.source, _of_paper(audit, figure, ())[".svg"]) for paper, figure in graph_figures(audit.papers)]
    files["report.html"] = page(audit, document, pictures, graphs, beside, plots, proofs)
    written = {name: text.encode("utf-8") if isinstance(text, str) else text for name, text in files.items()}
    document["files"] = sorted([*files, MANIFEST])
    document["sha256"] = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(written.items())}
    return written | {MANIFEST: json_text(document, indent=2).encode("utf-8")}


def _of_paper(audit: Audit, figure: Figure, exports: Collection[str]) -> Mapping[str, bytes]:
    """A paper's own figure, drawn unless the audit has it."""
    return audit.figures.get(figure.name) or rendered_as(figure.draws(), exports)


def stems_of(audit: Audit) -> dict[str, str]:
    """A unique file name for each dataset."""
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
