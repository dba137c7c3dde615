"""An audit whose datasets are judged in several processes, but for those of which there is a part that was kept."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, counted, printable
from marginaudit.reports.audit.auditing import CLAIM_TIMEOUT, Audit, Progress
from marginaudit.reports.audit.sources import Source, papers_of
from marginaudit.reports.claim import Claim
from marginaudit.reports.page.proofs import proof_pages
from marginaudit.reports.page.shown import rendered_as
from marginaudit.reports.paper import Paper
from marginaudit.reports.parts import kept
from marginaudit.reports.parts.part import Found, Part, compute, compute_packed, packed
from marginaudit.reports.plots.plotting import load_drawing
from marginaudit.reports.workers import forkable, submitted, workers

Done = Callable[[str, str], None]
"""Is told of each dataset that is through: its name, and how it was come by."""


def audit_in_parts(
    sources: Sequence[Source],
    claims: Sequence[Claim],
    configs: Mapping[str, Any],
    *,
    jobs: int,
    progress: Progress,
    done: Done,
    exports: Sequence[str] = (),
    claim_timeout: float = CLAIM_TIMEOUT,
    keep_in: Path | None = None,
    fresh: bool = False,
) -> Audit:
    """Judge every dataset, ``jobs`` at a time, with the result of `audit` to the last digit, ready to be written.

    Parameters
    ----------
    progress : told what is under way, of datasets that are judged in this process
    keep_in : where parts are kept; None to keep none
    fresh : whether no part that was kept before is used

    Raises
    ------
    InputError
        A process ended at its work.
    """
    ledger = tuple(claims)
    parts = {
        source.dataset.name: Part(source, ledger, configs[source.paper.name], tuple(exports), claim_timeout)
        for source in sources
    }
    keys = {name: None if keep_in is None else kept.key_of(part) for name, part in parts.items()}
    found: dict[str, Found] = {}
    for name, key in keys.items():
        if keep_in is not None and key is not None and not fresh and (one := kept.read(keep_in, key, parts[name])):
            found[name] = one
    waiting = {name: part for name, part in parts.items() if name not in found}
    with _sent(waiting, jobs) as running:  # before anything is told: what shows it may have a thread of its own
        if running:
            progress(counted(len(running), "dataset"), "under way")
        for name in found:
            done(name, "as it was audited before (--fresh audits it anew)")
        proofs = None if keep_in is None else _proofs(papers_of(sources), keep_in, fresh)
        for name, one in _computed(waiting, running, progress):
            found[name] = one
            if keep_in is not None and (key := keys[name]) is not None:
                kept.write(keep_in, key, one)
            done(name, "audited")
    whole = Audit(ledger, configs, tuple(found[source.dataset.name].of(source) for source in sources))
    if keep_in is None:
        return whole
    return replace(whole, figures=_figures(whole, exports, progress, keep_in, fresh), proofs=proofs)


def _proofs(papers: Sequence[Paper], keep_in: Path, fresh: bool) -> dict[str, str]:
    """The papers' pages of proofs: those that were kept, or those that are now."""
    key = kept.key_of_proofs(papers)
    files = None if fresh else kept.read_files(keep_in, key)
    if files is None:
        files = {name: page.encode() for name, page in proof_pages(papers).items()}
        kept.write_files(keep_in, key, files)
    return {name: page.decode() for name, page in files.items()}


def _figures(
    audit: Audit, exports: Sequence[str], progress: Progress, keep_in: Path, fresh: bool
) -> dict[str, Mapping[str, bytes]]:
    """The papers' own figures that the report has: those that were kept, and those that are now."""
    found: dict[str, Mapping[str, bytes]] = {}
    for paper, name, _ in audit.illustrations:
        key = kept.key_of_figure(paper, name, exports)
        files = None if fresh else kept.read_files(keep_in, key)
        if files is None:
            progress(f"figure {name}", "drawing")
            files = rendered_as(paper.figures[name](), exports)
            kept.write_files(keep_in, key, files)
        found[name] = files
    return found


@contextmanager
def _sent(parts: Mapping[str, Part], jobs: int) -> Iterator[dict[Future[Found], str]]:
    """The parts that other processes compute within, with their names; none of one part, or for one process."""
    sent = _packed(parts) if min(jobs, len(parts)) > 1 else {}
    if not sent:
        yield {}
        return
    if forkable():
        load_drawing()
        for paper in papers_of(part.source for part in parts.values()):
            paper.load()
    with workers(min(jobs, len(sent))) as pool:
        running: dict[Future[Found], str] = {}
        try:
            for name, data in sent.items():
                running[submitted(pool, compute_packed, data)] = name
            yield running
        except BrokenProcessPool:
            raise _died(list(running.values())) from None


def _computed(
    parts: Mapping[str, Part], running: dict[Future[Found], str], progress: Progress
) -> Iterator[tuple[str, Found]]:
    """What is found of each part, in the order in which they are through: of those under way, then of the others."""
    here = [name for name in parts if name not in running.values()]
    for future in as_completed(list(running)):
        yield running[future], future.result()
        running.pop(future)
    for name in here:
        yield name, compute(parts[name], progress)


def _packed(parts: Mapping[str, Part]) -> dict[str, bytes]:
    """Those that can be sent to other processes."""
    found = {}
    for name, part in parts.items():
        try:
            found[name] = packed(part)
        except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError):
            continue
    return found


def _died(names: Sequence[str]) -> InputError:
    where = printable(", ".join(names[:3])) + (f" or {len(names) - 3} more" if len(names) > 3 else "")
    got = "a process that was ended at its work, by the system or by a claim's code"
    return InputError(f"the audit of {where}", got=got, expected="one that ends by itself; --jobs 1 needs less memory")
