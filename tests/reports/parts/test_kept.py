"""Parts that are kept: used where nothing has changed, and never otherwise."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from marginaudit.orders.ntp import CASES
from marginaudit.reports import identity
from marginaudit.reports.audit.auditing import Audit
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.audit.sources import Source, load
from marginaudit.reports.ntp import Config
from marginaudit.reports.page.write import write_report
from marginaudit.reports.paper import Paper
from marginaudit.reports.parts import kept
from marginaudit.reports.parts.auditing import audit_in_parts
from marginaudit.reports.parts.part import Found, Part, compute, ignored
from marginaudit.reports.snap import ClassConfig
from marginaudit.reports.verdict import Finding, Verdict
from tests.command_line import SHORT, SVOP, Command, dataset_file, strict_json
from tests.third_paper.paper import PAPER as THIRD

CLAIMS = tuple(LEDGER[name] for name in ("ntp.theorem1.norm", "ntp.prop2.closed-form", "ntp.theorem2.floor"))
AUDIT = ("audit", "data.json", "--claim", "ntp.prop*", *SHORT, "--out", "report")


def part_of(**changes: Any) -> Part:
    source = Source(CASES["example-1"](), PAPERS[0], "example-1")
    return replace(Part(source, CLAIMS, Config(steps1=5, steps2=5), (), 1.0), **changes)


@pytest.fixture(scope="module")
def found() -> Found:
    return compute(part_of(), lambda *_: ignored)


def key(part: Part) -> str:
    made = kept.key_of(part)
    assert made is not None
    return made


def test_what_is_read_is_what_was_written(tmp_path: Path, found: Found) -> None:
    kept.write(tmp_path, key(part_of()), found)
    read = kept.read(tmp_path, key(part_of()), part_of())
    assert read is not None
    assert read.shown == found.shown
    assert read.findings == found.findings
    assert read.document == found.document
    assert json.dumps(read.document) == json.dumps(found.document)
    assert kept.read(tmp_path, key(part_of(claims=CLAIMS[:1])), part_of(claims=CLAIMS[:1])) is None


@pytest.mark.parametrize("at", [0.0, 0.01, 0.5, 0.99])
def test_a_damaged_part_is_none(tmp_path: Path, found: Found, at: float) -> None:
    kept.write(tmp_path, key(part_of()), found)
    [file] = tmp_path.iterdir()
    data = bytearray(file.read_bytes())
    data[int(at * len(data))] ^= 1
    file.write_bytes(data)
    assert kept.read(tmp_path, key(part_of()), part_of()) is None
    file.write_bytes(data[: len(data) // 2])
    assert kept.read(tmp_path, key(part_of()), part_of()) is None


def test_a_part_under_another_name_is_none(tmp_path: Path, found: Found) -> None:
    other = part_of(config=Config(steps1=5, steps2=6))
    kept.write(tmp_path, key(part_of()), found)
    [file] = tmp_path.iterdir()
    file.rename(tmp_path / f"{key(other)}{file.suffix}")
    assert kept.read(tmp_path, key(other), other) is None


def test_a_whole_part_about_other_claims_is_none(tmp_path: Path, found: Found) -> None:
    kept.write(tmp_path, key(part_of()), found)
    assert kept.read(tmp_path, key(part_of()), part_of(claims=CLAIMS[:2])) is None
    kept.write(tmp_path, key(part_of()), replace(found, document={"name": float("inf")}))  # written as null
    assert kept.read(tmp_path, key(part_of()), part_of()) is not None


@pytest.mark.parametrize(
    "change",
    [
        lambda part: replace(part, config=replace(part.config, lr2=0.1)),
        lambda part: replace(part, claims=part.claims[:2]),
        lambda part: replace(part, claims=part.claims[::-1]),
        lambda part: replace(part, exports=("pdf",)),
        lambda part: replace(part, source=replace(part.source, place="other")),
        lambda part: replace(part, source=replace(part.source, sha256="0")),
        lambda part: replace(part, source=replace(part.source, dataset=replace(part.source.dataset, name="x"))),
        lambda part: replace(part, source=replace(part.source, dataset=CASES["section-7"]())),
    ],
    ids=["setting", "claims", "order of claims", "exports", "origin", "bytes", "name", "data"],
)
def test_whatever_changes_has_another_key(change: Callable[[Part], Part]) -> None:
    assert key(change(part_of())) != key(part_of())


def test_papers_have_keys_of_their_own() -> None:
    snap = Part(load("snap-single", PAPERS), PAPERS[1].claims, ClassConfig(), (), 1.0)
    assert key(snap) != key(part_of())


@pytest.mark.parametrize(
    "change",
    [lambda known: known["versions"].update(numpy="0"), lambda known: known["code"].update({"orders/text.py": "0"})],
    ids=["version", "code"],
)
def test_other_versions_and_code_have_another_key(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, dict[str, str]]], None]
) -> None:
    before = key(part_of())
    known = {name: dict(value) for name, value in identity.identity(PAPERS[0].run.__module__).items()}
    assert "reports/ntp/counterexamples/ntp.theorem2.floor.json" in known["code"]
    change(known)
    monkeypatch.setattr(kept, "identity", lambda _: known)
    assert key(part_of()) != before


def test_what_claims_from_outside_have_judged_is_not_kept() -> None:
    mine = replace(LEDGER["ntp.theorem1.norm"], id="mine")
    assert kept.key_of(part_of(claims=(*CLAIMS, mine))) is None
    about_others = replace(mine, paper="snap", assumptions=("symmetric_classes",))
    assert kept.key_of(part_of(claims=(*CLAIMS, about_others))) == key(part_of())


def test_the_oldest_parts_go(tmp_path: Path, found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_KEPT", 2)
    for number in range(4):
        kept.write(tmp_path, f"{number}", found)
    (tmp_path / "mine.txt").write_text("kept")
    kept.write(tmp_path, "4", found)
    names = {path.stem for path in tmp_path.iterdir()}
    assert {"4", "mine"} <= names
    assert len(names) == 3


def test_where_parts_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("", "relative"):  # as the XDG has it, such a path is ignored
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert kept.default_folder() == tmp_path / ".cache/marginaudit/parts"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert kept.default_folder() == tmp_path / "elsewhere/marginaudit/parts"


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert kept.default_folder() is None


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path, found: Found) -> None:
    (tmp_path / "file").touch()
    kept.write(tmp_path / "file" / "folder", "key", found)
    assert kept.read(tmp_path / "file" / "folder", "key", part_of()) is None


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names of the datasets that are judged."""
    monkeypatch.chdir(tmp_path)
    dataset_file(tmp_path, SVOP)
    module, names = import_module("marginaudit.reports.parts.auditing"), []

    def counted(part: Part, progress: Any) -> Found:
        names.append(part.source.dataset.name)
        return compute(part, progress)

    monkeypatch.setattr(module, "compute", counted)
    return names


def test_a_repeated_audit_judges_nothing(command: Command, computed: list[str]) -> None:
    assert command(*AUDIT).status == 0
    Path("report").rename("first")
    assert command(*AUDIT).status == 0
    assert computed == ["svop"]
    files = {path.relative_to("first") for path in Path("first").rglob("*") if path.is_file()}
    assert files == {path.relative_to("report") for path in Path("report").rglob("*") if path.is_file()}
    assert all(Path("first", file).read_bytes() == Path("report", file).read_bytes() for file in files)
    assert command(*AUDIT, "--fresh").status == 0
    assert computed == ["svop", "svop"]


def test_what_is_broken_is_not_kept(command: Command, computed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As a want of memory may be over."""
    module = import_module("marginaudit.reports.parts.auditing")
    healthy = module.compute

    def short_of_memory(part: Part, progress: Any) -> Found:
        found: Found = healthy(part, progress)
        first = next(iter(found.findings))
        return replace(found, findings={**found.findings, first: Finding(Verdict.BROKEN)})

    monkeypatch.setattr(module, "compute", short_of_memory)
    assert strict_json(command(*AUDIT, "--json").out)["verdicts"][0]["verdict"] == "broken"
    monkeypatch.setattr(module, "compute", healthy)
    assert strict_json(command(*AUDIT, "--json").out)["verdicts"][0]["verdict"] != "broken"
    assert computed == ["svop", "svop"]


def test_a_changed_dataset_is_judged_anew(command: Command, computed: list[str], tmp_path: Path) -> None:
    assert command(*AUDIT).status == 0
    dataset_file(tmp_path, SVOP | {"sentences": [*SVOP["sentences"], list("SVP")]})
    assert command(*AUDIT).status == 0
    assert computed == ["svop", "svop"]
    assert command(*AUDIT, "--export", "pdf").status == 0
    assert computed == ["svop"] * 3
    assert list(Path("report/figures").glob("*.pdf"))


def test_an_interrupted_audit_goes_on(command: Command, computed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("marginaudit.reports.command.audit")
    drawing = module.write_report
    monkeypatch.setattr(module, "write_report", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert command(*AUDIT).status == 130
    assert not Path("report").exists()
    monkeypatch.setattr(module, "write_report", drawing)
    assert command(*AUDIT).status == 0
    assert computed == ["svop"]
    shutil.rmtree("report")


def third_audit(folder: Path, drawn: list[str], **more: Any) -> Audit:
    """An audit of the third paper, which notes that its figure is drawn."""

    def draw() -> Figure:
        drawn.append("third-1")
        return THIRD.figures["third-1"]()

    paper = replace(THIRD, figures={"third-1": draw})
    source = Source(paper.kind.cases["three-numbers"](), paper, "three-numbers")
    return audit_in_parts(
        [source],
        paper.claims,
        {paper.name: paper.config()},
        jobs=1,
        progress=lambda *_: ignored,
        done=lambda *_: None,
        **{"keep_in": folder} | more,
    )


def test_a_figure_is_drawn_once(tmp_path: Path) -> None:
    drawn: list[str] = []
    first, again = (third_audit(tmp_path, drawn) for _ in range(2))
    assert drawn == ["third-1"]
    assert first.figures == again.figures
    assert first.figures["third-1"][".svg"].startswith(b"<?xml")
    assert list(first.figures["third-1"]) == [".svg"]
    (tmp_path / "report").mkdir()
    write_report(again, tmp_path / "report", lambda _: None)
    assert (tmp_path / "report/figures/third-1.svg").read_bytes() == first.figures["third-1"][".svg"]
    assert drawn == ["third-1"]
    third_audit(tmp_path, drawn, fresh=True)
    assert len(drawn) == 2
    assert list(third_audit(tmp_path, drawn, exports=("pdf",)).figures["third-1"]) == [".svg", ".pdf"]
    assert len(drawn) == 3


def test_without_a_folder_figures_are_left_to_the_report(tmp_path: Path) -> None:
    drawn: list[str] = []
    found = third_audit(tmp_path, drawn, keep_in=None)
    assert (found.figures, drawn) == ({}, [])
    (tmp_path / "report").mkdir()
    write_report(found, tmp_path / "report", lambda _: None)
    assert drawn == ["third-1"]
    assert b"third-1" in (tmp_path / "report/report.html").read_bytes()


def test_a_damaged_figure_is_drawn_again(tmp_path: Path) -> None:
    drawn: list[str] = []
    third_audit(tmp_path, drawn)
    key = kept.key_of_figure(THIRD, "third-1", ())
    [file] = [path for path in tmp_path.iterdir() if path.name.startswith(key)]
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    assert kept.read_files(tmp_path, key) is None
    third_audit(tmp_path, drawn)
    assert len(drawn) == 2


def test_a_figure_of_other_code_has_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {kept.key_of_figure(PAPERS[1], name, exports) for name in ("snap-3", "snap-4") for exports in ((), ("pdf",))}
    assert len(keys) == 4
    assert kept.key_of_figure(PAPERS[0], "snap-3", ()) not in keys
    assert kept.key_of_figure(PAPERS[1], "snap-3", ("latex",)) in keys
    monkeypatch.setattr(kept, "identity", lambda _: {"versions": {}, "code": {}})
    assert kept.key_of_figure(PAPERS[1], "snap-3", ()) not in keys


def test_pages_of_proofs_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Sequence[Paper]] = []

    def pages(papers: Sequence[Paper]) -> dict[str, str]:
        made.append(papers)
        return {"b": "β", "a": ""}

    monkeypatch.setattr("marginaudit.reports.parts.auditing.proof_pages", pages)
    assert [list((third_audit(tmp_path, []).proofs or {}).items()) for _ in range(2)] == [[("b", "β"), ("a", "")]] * 2
    assert len(made) == 1
    third_audit(tmp_path, [], fresh=True)
    assert len(made) == 2
    found = third_audit(tmp_path, [])
    (tmp_path / "report").mkdir()
    write_report(found, tmp_path / "report", lambda _: None)
    assert (tmp_path / "report/proofs/b.html").read_text(encoding="utf-8") == "β"
    assert third_audit(tmp_path, [], keep_in=None).proofs is None


def test_other_proofs_have_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept.key_of_proofs(PAPERS)
    assert before != kept.key_of_proofs(PAPERS[:1])
    with monkeypatch.context() as changed:
        changed.setattr(kept, "proof_sources", lambda _: {"proofs": "other"})
        assert kept.key_of_proofs(PAPERS) != before
    monkeypatch.setattr(kept, "identity", lambda _: {"versions": {}, "code": {}})
    assert kept.key_of_proofs(PAPERS) != before
