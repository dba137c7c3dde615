"""Audits by several processes, and of what was audited before: the same to the last byte, or not used."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from marginaudit.claims.ntp import Config
from marginaudit.claims.paper import Paper
from marginaudit.claims.snap import ClassConfig
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.reports.audit.auditing import Audit, audited
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.audit.sources import Source, load
from marginaudit.reports.page.pictures import drawn, rendered_as
from marginaudit.reports.page.write import write_report
from marginaudit.reports.study import audit as study
from marginaudit.reports.study import task as tasks
from marginaudit.reports.study.audit import (
    AuditTask,
    Document,
    audit_datasets,
    ignored,
    judged,
    largest_first,
)
from marginaudit.reports.study.store import Store, user_cache
from marginaudit.reports.study.task import packed
from tests.command_line import SHORT, SVOP, Command, dataset_file, files_of, strict_json
from tests.papers import changed
from tests.reports.processes import alive, children, until
from tests.third_paper.paper import PAPER as THIRD

CLAIMS = tuple(LEDGER[name] for name in ("ntp.theorem1.norm", "ntp.prop2.closed-form", "ntp.theorem2.floor"))
AUDIT = ("audit", "data.json", "--claim", "ntp.prop*", *SHORT, "--out", "report")
TWO = ("example-1", "section-7")


def task_of(**changes: Any) -> AuditTask:
    source = Source(CASES["example-1"](), PAPERS[0], "example-1")
    return replace(AuditTask(source, CLAIMS, Config(steps1=5, steps2=5), (), 1.0), **changes)


def told(*_: object) -> Any:
    return ignored


def test_the_largest_dataset_begins_first() -> None:
    tasks = [task_of(source=load(name, PAPERS)) for name in ("example-1", "free-20", "section-7")]
    assert [task.name for task in largest_first(tasks)] == ["free-20", "section-7", "example-1"]


def audit_two(folder: Path | None = None, jobs: int = 2, **changes: Any) -> Audit:
    sources = [load(name, PAPERS) for name in TWO]
    configs = {"ntp": Config(steps1=5, steps2=5)}
    options: dict[str, Any] = {"jobs": jobs, "progress": told, "done": told, "store": Store(folder)}
    return audit_datasets(sources, CLAIMS, configs, **options | changes)


def test_what_is_kept_is_what_was_found(tmp_path: Path) -> None:
    """Also by another process; curves are drawn, and gone."""
    found = judged(task_of(), told)
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(tasks.computed(packed(task_of()))))
    here = audited(task_of().source, CLAIMS, task_of().config, told)
    back = study.audited_again(here.source, json.loads(json.dumps(found)))
    assert back.findings == {name: replace(finding, curve=None) for name, finding in here.findings.items()}
    assert back.document == json.loads(json.dumps(here.document))
    assert back.shown == drawn(here, (), ignored)


def test_a_paper_goes_by_its_name_and_one_of_that_name_alone_is_refused() -> None:
    task = task_of(claims=())
    assert len(packed(task)) < 10_000
    with pytest.raises(pickle.PicklingError, match="the paper ntp is not installed"):
        packed(replace(task, source=replace(task.source, paper=copy(PAPERS[0]))))


@pytest.mark.parametrize(
    "change",
    [
        lambda task: replace(task, config=replace(task.config, lr2=0.1)),
        lambda task: replace(task, claims=task.claims[:2]),
        lambda task: replace(task, claims=task.claims[::-1]),
        lambda task: replace(task, exports=("pdf",)),
        lambda task: replace(task, source=replace(task.source, place="other")),
        lambda task: replace(task, source=replace(task.source, sha256="0")),
        lambda task: replace(task, source=replace(task.source, dataset=replace(task.source.dataset, name="x"))),
        lambda task: replace(task, source=replace(task.source, dataset=CASES["section-7"]())),
        lambda _: AuditTask(load("snap-single", PAPERS), PAPERS[1].claims, ClassConfig(), (), 1.0),
    ],
    ids=["setting", "claims", "order of claims", "exports", "origin", "bytes", "name", "data", "paper"],
)
def test_whatever_changes_has_another_key(change: Callable[[AuditTask], AuditTask]) -> None:
    assert task_of().key != change(task_of()).key is not None


def test_figures_and_other_code_have_keys_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys() -> list[str | None]:
        ntp, snap = PAPERS
        pairs = [(snap, "snap-3"), (snap, "snap-4"), (ntp, "snap-3")]
        figures = [study.key_of(paper, exports, figure=name) for paper, name in pairs for exports in ((), ("pdf",))]
        return [task_of().key, *figures]

    before = keys()
    assert len(set(before)) == 7
    assert study.key_of(PAPERS[1], ("latex",), figure="snap-3") in before
    monkeypatch.setattr(study, "identity", lambda *_: {"versions": {"numpy": "0"}, "code": {}})
    assert not set(before) & set(keys())


def test_what_users_claims_have_judged_is_not_kept() -> None:
    mine = replace(LEDGER["ntp.theorem1.norm"], id="mine")
    assert task_of(claims=(*CLAIMS, mine)).key is None
    about_others = replace(mine, paper="snap", assumptions=("symmetric_classes",))
    assert task_of(claims=(*CLAIMS, about_others)).key == task_of().key


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the datasets that are judged."""
    dataset_file(Path(), SVOP)
    names: list[str] = []

    def counted(task: AuditTask, progress: Any) -> Document:
        names.append(task.source.dataset.name)
        return judged(task, progress)

    monkeypatch.setattr(study, "judged", counted)
    return names


def test_a_repeated_audit_judges_nothing(command: Command, computed: list[str]) -> None:
    assert command(*AUDIT).status == 0
    Path("report").rename("first")
    assert command(*AUDIT).status == 0
    assert computed == ["svop"]
    assert files_of("first") == files_of("report")
    assert command(*AUDIT, "--fresh").status == 0
    assert computed == ["svop", "svop"]


def test_an_entry_of_the_cache_that_was_edited_is_named_and_judged_anew(command: Command, computed: list[str]) -> None:
    first = command.json(*AUDIT)
    [entry] = (
        path for path in user_cache(fresh=False, notice=told).path("").parent.iterdir() if "svop" in path.read_text()
    )
    entry.write_text(entry.read_text().replace('"holds"', '"violated"'))
    answer = command(*AUDIT, "--json")
    assert strict_json(answer.out)["verdicts"] == first["verdicts"]
    assert computed == ["svop", "svop"]
    assert [line for line in answer.err.splitlines() if str(entry) in line] == [
        f"{entry}: damaged, edited or copied since it was written, so to be computed anew"
    ]


def test_what_is_broken_is_not_kept(command: Command, computed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As a want of memory may be over."""
    healthy = study.judged

    def short_of_memory(task: AuditTask, progress: Any) -> Document:
        found = healthy(task, progress)
        first = next(iter(found["findings"]))
        found["findings"][first]["verdict"] = Verdict.BROKEN
        return found

    monkeypatch.setattr(study, "judged", short_of_memory)
    assert strict_json(command(*AUDIT, "--json").out)["verdicts"][0]["verdict"] == "broken"
    monkeypatch.setattr(study, "judged", healthy)
    assert strict_json(command(*AUDIT, "--json").out)["verdicts"][0]["verdict"] != "broken"
    assert computed == ["svop", "svop"]


def third_audit(folder: Path | None, made: list[str], exports: Sequence[str] = (), *, fresh: bool = False) -> Audit:
    """An audit of the third paper, which notes that its figure is drawn."""

    figure = THIRD.figures_of("paper")["third-1"]

    def draw() -> Figure:
        made.append("figure")
        found: Figure = figure.draws()
        return found

    paper = changed(THIRD, figures=[replace(figure, draws=draw)])
    source = Source(paper.kind.cases["three-numbers"](), paper, "three-numbers")
    store = Store(folder, fresh=fresh)
    configs = {paper.name: paper.config()}
    return audit_datasets(
        [source], paper.claims, configs, jobs=1, progress=told, done=told, exports=exports, store=store
    )


def test_figures_and_pages_of_proofs_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def pages(papers: Sequence[Paper]) -> dict[str, str]:
        made.append("pages")
        return {"b": "β", "a": ""}

    monkeypatch.setattr(study, "proof_pages", pages)
    first, again = (third_audit(tmp_path / "kept", made) for _ in range(2))
    assert made == ["pages", "figure"]
    assert first.figures == again.figures
    assert list(again.figures["third-1"]) == [".svg"]
    assert list((again.proofs or {}).items()) == [("b", "β"), ("a", "")]
    Path("report").mkdir()
    write_report(again, Path("report"), lambda _: None)
    assert Path("report/figures/third-1.svg").read_bytes() == first.figures["third-1"][".svg"]
    assert Path("report/proofs/b.html").read_text(encoding="utf-8") == "β"
    third_audit(tmp_path / "kept", made, fresh=True)
    assert made == ["pages", "figure"] * 2
    assert list(third_audit(tmp_path / "kept", made, ["pdf"]).figures["third-1"]) == [".svg", ".pdf"]
    assert made == ["pages", "figure"] * 2 + ["figure"]
    monkeypatch.setattr(study, "proof_sources", lambda _: {"proofs": "other"})
    third_audit(tmp_path / "kept", made)
    assert made[5:] == ["pages"]


def test_a_papers_own_figure_is_the_same_from_another_process() -> None:
    paper = PAPERS[1]
    figure = paper.figures_of("paper")["snap-8"]
    here = {ending: data.decode("latin-1") for ending, data in rendered_as(figure.draws(), ()).items()}
    assert tasks.computed(packed(study.FigureTask(paper, figure, ()))) == here


def test_figures_are_drawn_by_the_workers_of_the_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Theorem 4 applies to neither: its figures are not shown."""
    here, compute = os.getpid(), study.FigureTask.compute

    def elsewhere(task: study.FigureTask) -> Mapping[str, str]:
        assert not task.figure.name.startswith("snap-") or os.getpid() != here
        return compute(task)

    monkeypatch.setattr(study.FigureTask, "compute", elsewhere)
    names, said = ["snap-symmetric", "syn-small"], []
    found = audit_datasets(
        [load(name, PAPERS) for name in names],
        [LEDGER[name] for name in ("snap.lemma7.gap", "snap.theorem4.rates")],
        {"snap": ClassConfig()},
        jobs=2,
        progress=told,
        done=lambda *what: said.append(what),
        store=Store(tmp_path),
    )
    assert sorted(found.figures) == ["snap-8", "statements of snap"]
    assert sorted(said) == [(name, "audited") for name in names]


def test_without_a_folder_figures_are_left_to_the_report(tmp_path: Path) -> None:
    made: list[str] = []
    found = third_audit(None, made)
    assert (found.figures, found.proofs, made) == ({}, None, [])
    Path("report").mkdir()
    write_report(found, Path("report"), lambda _: None)
    assert made == ["figure"]


def test_what_cannot_be_sent_is_judged_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a claim that holds a lock."""
    processes = []

    def unpicklable(task: AuditTask) -> bytes:
        raise TypeError("cannot pickle '_thread.lock' object")

    def judging(task: AuditTask, progress: Any) -> Document:
        processes.append(os.getpid())
        return {"findings": {}, "document": {}, "pictures": [], "records": {}}

    monkeypatch.setattr(study, "packed", unpicklable)
    monkeypatch.setattr(study, "judged", judging)
    assert [one.name for one in audit_two().audited] == list(TWO)
    assert processes == [os.getpid()] * 2


def test_what_ends_its_process_is_named_and_the_rest_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By forks, which do what stands in place of `judged`."""
    monkeypatch.setattr("marginaudit.reports.study.pool.forkable", lambda: True)
    monkeypatch.setattr(study, "judged", lambda task, _: dying(task))

    def dying(task: AuditTask) -> Document:
        if task.source.dataset.name == "section-7":
            os._exit(3)
        return judged(task, told)

    with pytest.raises(InputError, match=r"^the audit of section-7: got processes that were ended at their work"):
        audit_two(tmp_path / "kept")
    assert Store(tmp_path / "kept").read(task_of().key) is not None


MINE = """
import os
import time
from pathlib import Path

from marginaudit.claims import Claim, Decided, Finding, Verdict


def judge(run):
    {code}
    return Finding(Verdict.HOLDS, measured=1.0, detail=run.dataset.name)


ONE = Decided(judge, "one")
CLAIMS = (Claim(id="mine", source="m", statement="m", formula="m", assumptions=(), judgement=ONE),)
"""
SMALL = ("--steps1", "5", "--steps2", "5", "--claim", "mine", "--claim", "ntp.theorem1.*", "--claims", "mine.py")


@pytest.mark.slow
def test_one_process_and_two_write_the_same_bytes(command: Command) -> None:
    """With a claim of the user's, on both papers' datasets."""
    Path("mine.py").write_text(MINE.format(code="pass"), encoding="utf-8")
    for jobs in (1, 2):
        arguments = (*TWO, "snap-single", *SMALL, "--out", f"jobs-{jobs}", "--jobs", jobs)
        assert command("audit", *arguments).status == 0
    one = files_of("jobs-1")
    assert b'"mine"' in one["report.json"]
    two = {name: data.replace(b"jobs-2 --jobs 2", b"jobs-1 --jobs 1") for name, data in files_of("jobs-2").items()}
    for found in (one, two):  # the page has the command, and both hashes follow from it
        found["report.json"] = re.sub(rb'"report.(html|json)": "\w+"', b"", found["report.json"])
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_audit(number: signal.Signals) -> None:
    code = "Path(f'{os.getpid()}.begun').touch(); time.sleep(60)"
    Path("mine.py").write_text(MINE.replace("{code}", code), encoding="utf-8")
    arguments = ["audit", *TWO, *SMALL, "--out", "report", "--jobs", "2"]
    command = [sys.executable, "-m", "marginaudit", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            until(lambda: len(list(Path().glob("*.begun"))) == 2)
            begun = children(process.pid)
            assert len(begun) >= 2
            process.send_signal(number)
            _, said = process.communicate(timeout=100)
        finally:
            process.kill()
    if number == signal.SIGINT:
        assert (process.returncode, said.splitlines()[-1]) == (130, "marginaudit: interrupted")
    until(lambda: not any(map(alive, begun)))
    assert not Path("report").exists()
