"""Audits by several processes, and of what was audited before: the same to the last byte, or not used."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from marginaudit.claims.claim import Claim
from marginaudit.claims.ntp import Config
from marginaudit.claims.paper import Paper
from marginaudit.claims.row import ReportRow
from marginaudit.claims.snap import ClassConfig
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.reports.audit import auditing
from marginaudit.reports.audit.auditing import Audit, Audited, audited, quiet
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.audit.sources import Source, load
from marginaudit.reports.page.pictures import drawn, rendered_as
from marginaudit.reports.page.proofs import proof_pages
from marginaudit.reports.python import audit
from marginaudit.reports.study import audit as study
from marginaudit.reports.study import executor as executing
from marginaudit.reports.study.audit import audit_datasets, audit_task, write_audit
from marginaudit.reports.study.executor import Executor, Task, in_workers
from marginaudit.reports.study.store import NO_STORE, Store, user_cache
from tests.command_line import SHORT, SVOP, Command, dataset_file, files_of, strict_json
from tests.papers import changed
from tests.reports.processes import alive, children, until
from tests.third_paper.paper import PAPER as THIRD

CLAIMS = tuple(LEDGER[name] for name in ("ntp.theorem1.norm", "ntp.prop2.closed-form", "ntp.theorem2.floor"))
AUDIT = ("audit", "data.json", "--claim", "ntp.prop*", *SHORT, "--out", "report")
TWO = ("example-1", "section-7")


SOURCE = Source(CASES["example-1"](), PAPERS[0], "example-1")
CONFIG = Config(steps1=5, steps2=5)


def task_of(**changes: Any) -> Task:
    return audit_task(**{"source": SOURCE, "claims": CLAIMS, "config": CONFIG, "exports": (), **changes})


def key_of(**changes: Any) -> str | None:
    key = task_of(**changes).key
    return key() if key else None


def test_the_largest_dataset_starts_first_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []

    def noted(source: Source, *given: Any, **named: Any) -> Audited:
        begun.append(source.dataset.name)
        return audited(source, *given, **named)

    monkeypatch.setattr(study, "audited", noted)
    monkeypatch.setattr(executing, "in_workers", lambda calls, *_: [(task, call()) for task, call in calls.items()])
    for jobs, order in ((1, [*TWO]), (2, [*TWO][::-1])):
        begun.clear()
        found = audit_two(jobs=jobs)
        assert (begun, [one.name for one in found.audited]) == (order, [*TWO])


def audit_two(folder: Path | None = None, jobs: int = 2, **changes: Any) -> Audit:
    sources = [load(name, PAPERS) for name in TWO]
    configs = {"ntp": Config(steps1=5, steps2=5)}
    return audit_datasets(sources, CLAIMS, configs, Executor(jobs, Store(folder)), exports=(), **changes)


def test_what_is_kept_is_what_was_found(tmp_path: Path) -> None:
    """Also by another process, with its curves."""
    here = audited(SOURCE, CLAIMS, CONFIG, quiet)
    Store(tmp_path).write("k", task_of().compute())
    for back in (Store(tmp_path).read("k"), dict(in_workers({"k": task_of().compute}, 1))["k"]):
        assert back.findings == here.findings
        assert [row.curve is None for row in back.findings.values()] == [False, True, True]
        assert back.document == here.document
        assert back.shown == drawn(here, ())


def test_one_job_and_two_give_the_same_report(tmp_path: Path) -> None:
    """With its curves, runs, tables and files, whether or not what judged them is in this process."""
    data = [CASES[name]() for name in TWO]
    one, two = (audit(data, CLAIMS, {"steps1": 5, "steps2": 5}, jobs=jobs) for jobs in (1, 2))
    assert one == two
    assert [run_here is None for found in (one, two) for run_here in (row.run_here for row in found.audited)] == [
        *(False, False),
        *(True, True),
    ]
    assert one.as_document() == two.as_document()
    for name in TWO:
        first, second = (rendered_as(found.plot("ntp.theorem1.norm", name), ()) for found in (one, two))
        assert first == second
    assert one.table("direction").equals(two.table("direction"))
    assert [vars(run)["config"] for run in two.runs] == [one.configs["ntp"]] * 2
    folders = [found.save(tmp_path / f"jobs-{jobs}", "pdf").parent for jobs, found in enumerate((one, two), start=1)]
    assert files_of(folders[0]) == files_of(folders[1])


def test_the_page_is_made_beside_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another process, while a worker of its own makes the tables."""
    monkeypatch.setattr(executing, "forkable", lambda: True)
    monkeypatch.setattr("marginaudit.reports.page.write.page", lambda *_: f"made by {os.getpid()}")
    found = audit_two(jobs=1)
    for jobs in (1, 2):
        write_audit(found, tmp_path / str(jobs), Executor(jobs))
        here = (tmp_path / str(jobs) / "report.html").read_text(encoding="utf-8") == f"made by {os.getpid()}"
        assert here == (jobs == 1)


def test_formulas_are_kept_for_later_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, executor = audit_two(jobs=1), Executor(1, Store(tmp_path / "kept"))
    write_audit(found, tmp_path / "first", executor)
    monkeypatch.setattr("marginaudit.reports.page.html.displayed", None)
    write_audit(found, tmp_path / "second", executor)
    first, second = ((tmp_path / name / "report.html").read_bytes() for name in ("first", "second"))
    assert (first == second, b'<div class="formula"><span><math' in first) == (True, True)


def test_workers_that_start_afresh_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the papers and their claims in pickles."""
    monkeypatch.setattr(executing, "forkable", lambda: False)
    afresh, here = (audit_two(jobs=jobs).audited for jobs in (2, 1))
    assert [one.__getstate__() for one in afresh] == [one.__getstate__() for one in here]


@pytest.mark.parametrize(
    "change",
    [
        {"config": replace(CONFIG, lr2=0.1)},
        {"claims": CLAIMS[:2]},
        {"claims": CLAIMS[::-1]},
        {"exports": ("pdf",)},
        {"source": replace(SOURCE, place="other")},
        {"source": replace(SOURCE, sha256="0")},
        {"source": replace(SOURCE, dataset=replace(SOURCE.dataset, name="x"))},
        {"source": replace(SOURCE, dataset=CASES["section-7"]())},
        {"source": load("snap-single", PAPERS), "claims": PAPERS[1].claims, "config": ClassConfig()},
    ],
    ids=["setting", "claims", "order of claims", "exports", "origin", "bytes", "name", "data", "paper"],
)
def test_whatever_changes_has_another_key(change: Mapping[str, Any]) -> None:
    assert key_of() != key_of(**change) is not None


def test_figures_and_other_code_have_keys_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys() -> list[str | None]:
        ntp, snap = PAPERS
        pairs = [(snap, "snap-3"), (snap, "snap-4"), (ntp, "snap-3")]
        figures = [study.key_of(paper, exports, figure=name) for paper, name in pairs for exports in ((), ("pdf",))]
        return [key_of(), *figures]

    before = keys()
    assert len(set(before)) == 7
    assert study.key_of(PAPERS[1], ("latex",), figure="snap-3") in before
    monkeypatch.setattr(study, "identity", lambda *_: {"versions": {"numpy": "0"}, "code": {}})
    assert not set(before) & set(keys())


def test_what_users_claims_have_judged_is_not_kept() -> None:
    mine = replace(LEDGER["ntp.theorem1.norm"], id="mine")
    assert key_of(claims=(*CLAIMS, mine)) is None
    about_others = replace(mine, paper="snap", assumptions=("symmetric_classes",))
    assert key_of(claims=(*CLAIMS, about_others)) == key_of()


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the datasets that are judged."""
    dataset_file(Path(), SVOP)
    names: list[str] = []

    def counted(source: Source, *given: Any, **named: Any) -> Audited:
        names.append(source.dataset.name)
        return audited(source, *given, **named)

    monkeypatch.setattr(study, "audited", counted)
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
    entries = user_cache(fresh=False, notice=print).path("").parent.iterdir()
    [entry] = (path for path in entries if b"svop" in path.read_bytes())
    entry.write_bytes(entry.read_bytes().replace(b"holds", b"fails"))
    answer = command(*AUDIT, "--json")
    assert strict_json(answer.out)["verdicts"] == first["verdicts"]
    assert computed == ["svop", "svop"]
    assert [line for line in answer.err.splitlines() if str(entry) in line] == [
        f"{entry}: damaged, edited or copied since it was written, so to be computed anew"
    ]


def test_what_is_broken_is_not_kept(command: Command, computed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As a want of memory may be over."""
    healthy = vars(study)["audited"]

    def short_of_memory(*given: Any, **named: Any) -> Audited:
        found: Audited = healthy(*given, **named)
        rows = {name: replace(row, verdict=Verdict.BROKEN) for name, row in list(found.findings.items())[:1]}
        return replace(found, findings={**found.findings, **rows})

    monkeypatch.setattr(study, "audited", short_of_memory)
    assert strict_json(command(*AUDIT, "--json").out)["verdicts"][0]["verdict"] == "broken"
    monkeypatch.setattr(study, "audited", healthy)
    assert strict_json(command(*AUDIT, "--json").out)["verdicts"][0]["verdict"] != "broken"
    assert computed == ["svop", "svop"]


def third_audit(store: Store, made: list[str], exports: Sequence[str] = ()) -> dict[str, bytes]:
    """The files of an audit of the third paper, which notes that its figure is drawn."""

    figure = THIRD.figures_of("paper")["third-1"]

    def draw() -> Figure:
        made.append("figure")
        found: Figure = figure.draws()
        return found

    paper = changed(THIRD, figures=[replace(figure, draws=draw)])
    source = Source(paper.kind.cases["three-numbers"](), paper, "three-numbers")
    executor = Executor(store=store)
    found = audit_datasets([source], paper.claims, {paper.name: paper.config()}, executor, exports=exports)
    write_audit(found, Path("report"), executor, exports=exports)
    return files_of("report")


def test_figures_and_pages_of_proofs_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def pages(papers: Sequence[Paper]) -> dict[str, str]:
        made.append("pages")
        return {"b": "β", "a": ""}

    monkeypatch.setattr(study, "proof_pages", pages)
    kept = Store(tmp_path / "kept")
    first, again = (third_audit(kept, made) for _ in range(2))
    assert made == ["figure", "pages"]
    assert first == again
    assert again["proofs/b.html"] == "β".encode()
    assert sorted(name for name in again if name.startswith("figures/third-1.")) == ["figures/third-1.svg"]
    third_audit(replace(kept, fresh=True), made)
    third_audit(NO_STORE, made)
    assert made == ["figure", "pages"] * 3
    assert "figures/third-1.pdf" in third_audit(kept, made, ["pdf"])
    assert made == ["figure", "pages"] * 3 + ["figure"]
    monkeypatch.setattr(study, "proof_sources", lambda _: {"proofs": "other"})
    third_audit(kept, made)
    assert made[7:] == ["pages"]


def test_nothing_is_made_for_the_page_before_all_is_judged(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    results = Executor.results

    def noted(executor: Executor, tasks: Sequence[Task], *given: Any) -> Iterator[tuple[Task, Any, bool]]:
        for task, *found in results(executor, tasks, *given):
            done.append(task.name)
            yield task, *found

    monkeypatch.setattr(Executor, "results", noted)
    assert command("audit", *TWO, "--claim", "ntp.prop2*", *SHORT, "--fresh", "--out", "report").status == 0
    assert done[:2] == [f"the audit of {name}" for name in TWO]
    assert len(done) > 2
    assert not any(name.startswith("the audit of") for name in done[2:])


@pytest.mark.parametrize("count", [1, 2])
def test_proofs_are_made_beside_several_datasets_alone(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source, said = Source(THIRD.kind.cases["three-numbers"](), THIRD, "three-numbers"), list[str]()
    pages = study.PageTasks([THIRD])
    done, config = (lambda name, _: said.append(name)), {"third": THIRD.config()}
    found = audit_datasets([source] * count, THIRD.claims, config, Executor(), pages=pages, done=done)
    assert said == ["three-numbers"] * count
    assert (pages.missing == []) is (count > 1)
    again = list[Paper]()

    def noted(papers: Sequence[Paper]) -> dict[str, str]:
        again.extend(papers)
        return proof_pages(papers)

    monkeypatch.setattr(study, "proof_pages", noted)
    write_audit(found, Path("report"), Executor(), pages=pages)
    assert again == [THIRD] * (count == 1)


def test_a_papers_own_figure_is_the_same_from_another_process() -> None:
    paper = PAPERS[1]
    figure = paper.figures_of("paper")["snap-8"]
    assert dict(in_workers({"": study.figure_task(paper, figure, ()).compute}, 1)) == {
        "": rendered_as(figure.draws(), ())
    }


def test_figures_are_drawn_by_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Theorem 4 applies to neither: its figures are not drawn."""
    here = os.getpid()

    def elsewhere(*given: Any) -> Mapping[str, bytes]:
        assert os.getpid() != here
        return rendered_as(*given)

    monkeypatch.setattr(study, "rendered_as", elsewhere)
    names, said = ["snap-symmetric", "syn-small"], []
    executor = Executor(2, Store(tmp_path))
    found = audit_datasets(
        [load(name, PAPERS) for name in names],
        [LEDGER[name] for name in ("snap.lemma7.gap", "snap.theorem4.rates")],
        {"snap": ClassConfig()},
        executor,
        done=lambda *what: said.append(what),
        exports=(),
    )
    write_audit(found, Path("report"), executor)
    assert [name for name in files_of("report") if name.startswith("figures/snap-8")] == ["figures/snap-8.svg"]
    assert not [name for name in files_of("report") if name.startswith("figures/snap-3")]
    assert sorted(said) == [(name, "audited") for name in names]


def test_what_ends_its_process_is_named_and_the_rest_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By forks, which do what stands in place of `audited`."""
    monkeypatch.setattr(executing, "forkable", lambda: True)

    def dying(source: Source, *given: Any, **named: Any) -> Audited:
        if source.dataset.name == "section-7":
            os._exit(3)
        return audited(source, *given, **named)

    monkeypatch.setattr(study, "audited", dying)
    with pytest.raises(InputError, match=r"^the audit of section-7: got processes that were ended at their work"):
        audit_two(tmp_path / "kept")
    assert Store(tmp_path / "kept").read(key_of()) is not None


def test_a_built_in_claim_that_ends_its_process_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its process is that of the whole dataset."""
    monkeypatch.setattr(executing, "forkable", lambda: True)
    monkeypatch.setattr(auditing, "forkable", lambda **_: True)
    healthy, judge = audit_two(), Claim.judge

    def killed(claim: Claim, run: Any) -> ReportRow:
        if (claim.id, run.dataset.name) == ("ntp.theorem1.norm", "section-7"):
            os.kill(os.getpid(), signal.SIGKILL)
        return judge(claim, run)

    monkeypatch.setattr(Claim, "judge", killed)
    for row, expected in zip(audit_two().rows, healthy.rows, strict=True):
        if (row.claim.id, row.dataset) == ("ntp.theorem1.norm", "section-7"):
            said = (Verdict.BROKEN, "Its process was ended by the system (Killed).")
            assert (row.finding.verdict, row.finding.detail) == said
        else:
            assert row == expected


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
