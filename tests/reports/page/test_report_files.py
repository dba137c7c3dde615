"""What an audit writes: report.json, verdicts.csv, trajectories, figures and the page, twice the same."""

import base64
import csv
import hashlib
import io
import math
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.quotation import Form
from marginaudit.reports import LEDGER
from marginaudit.reports.command.cli import main
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.page.formulas import displayed
from marginaudit.reports.page.typeset import typeset_html
from marginaudit.reports.python import audit
from tests.command_line import NO_FUNCTION, SHORT, SVOP, Command, dataset_file, strict_json
from tests.papers import changed

MORE = (
    "side",
    "failed_assumption",
    "confidence",
    "samples",
    "seed",
    "standing",
    "source",
    "form",
    "control_of",
    "scale",
)

ROW = {
    "claim": str,
    "dataset": str,
    "run": str | None,
    "premise": str,
    "verdict": str,
    "evidence": str,
    "measured": float | int | None,
    "bound": float | int | None,
    "slack": float | int | None,
    "worst_step": int | None,
    "first_violation": int | None,
    "informative_from": int | None,
    "detail": str,
}
CYCLE = {"name": "cycle", "sentences": [["a", "b", "b", "a"], ["b", "a"]]}
VOID = {"meta", "br", "wbr", "link", "img", "hr", "input"}


class Report(NamedTuple):
    """The folder of one audit and the arguments that made it."""

    folder: Path
    arguments: list[str]
    document: Any


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("audit")
    documents = [SVOP, CYCLE, NO_FUNCTION, NO_FUNCTION | {"name": "svop"}]
    files = [dataset_file(folder, document, f"{i}.json") for i, document in enumerate(documents)]
    arguments = ["audit", *map(str, files), *SHORT]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--out", "first"])
    assert ended.value.code == 0
    text = (folder / "first" / "report.json").read_text(encoding="utf-8")
    return Report(folder / "first", arguments, strict_json(text))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_two_runs_write_the_same_bytes(report: Report) -> None:
    again = report.folder.parent / "again" / "first"
    again.parent.mkdir()
    environment = os.environ | {"PYTHONHASHSEED": "12345", "TZ": "Asia/Tokyo", "LC_ALL": "C", "COLUMNS": "33"}
    environment["SOURCE_DATE_EPOCH"] = "1700000000"
    subprocess.run(
        [sys.executable, "-m", "marginaudit.reports", *report.arguments, "--out", "first"],
        check=True,
        cwd=again.parent,
        env=environment,
        capture_output=True,
        timeout=100,
    )
    first, second = contents(report.folder), contents(again)
    assert set(first) == set(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_the_files(report: Report) -> None:
    stems = ["svop", "cycle"]
    expected = {"report.html", "report.json", "verdicts.csv", "tables/direction.csv", "tables/proposition2.csv"}
    expected |= {"tables/curves.parquet"}
    panels = ("prop1.loss", "prop1.direction", "prop1.norm", "theorem2.loss", "theorem1.norm")
    drawn = [f"{stem}-{suffix}" for stem in stems for suffix in ("direction", *panels)]
    expected |= {f"figures/{name}.svg" for name in drawn}
    expected |= {f"trajectories/{stem}-{stage}.csv" for stem in stems for stage in ("stage1", "stage2")}
    expected |= {"proofs/proofs.html"}
    assert set(contents(report.folder)) == expected
    assert report.document["files"] == sorted(expected)


def test_a_long_table_says_where_its_other_lines_are(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginaudit.reports.page.html.MOST_LINES", 3)
    assert command("audit", "example-1", "--claim", "ntp.lemma3", *SHORT).status == 0
    assert "tables/*.csv" in Path("audit-report/report.html").read_text(encoding="utf-8")


def test_the_rows(report: Report) -> None:
    for row in report.document["verdicts"]:
        assert [name for name in row if name in ROW] == list(ROW)
        for name, kind in ROW.items():
            assert isinstance(row[name], kind), (row["claim"], name, row[name])
            assert not isinstance(row[name], bool)
        assert row["verdict"] in {verdict.value for verdict in Verdict} - {"broken"}, row
        assert row["evidence"] in ("exact", "certified", "proved", "float64")
        assert row["detail"]
        for name in ("worst_step", "first_violation", "informative_from"):
            assert row[name] is None or row[name] >= 0
        if row["measured"] == 0:
            assert row["slack"] is None
        elif row["slack"] is not None:
            room = row["bound"] / row["measured"]
            assert math.isclose(row["slack"], room if row["side"] == "upper" else 1 / room, rel_tol=1e-9), row
        if row["verdict"] == "not-applicable":
            assert row["measured"] is row["bound"] is row["slack"] is row["first_violation"] is None
        if row["verdict"] in ("holds", "vacuous"):
            assert row["first_violation"] is None
        if row["verdict"] == "violated":
            tokens = row["counterexample"]["vocabulary"]
            assert f"violate it: {len(tokens)} tokens" in row["detail"]
        else:
            assert row["counterexample"] is None
    assert {"holds", "violated", "vacuous", "not-applicable"} <= {r["verdict"] for r in report.document["verdicts"]}


def test_the_table_of_verdicts_is_the_document(report: Report) -> None:
    text = (report.folder / "verdicts.csv").read_bytes().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert text.count("\r\n") >= len(rows)
    assert len(rows) == len(report.document["verdicts"])
    for row, expected in zip(rows, report.document["verdicts"], strict=True):
        assert list(row) == [*ROW, *MORE]
        for name, cell in row.items():
            value = expected[name]
            if value is None:
                assert cell == ""
            elif isinstance(value, str):
                assert cell == value
            else:
                assert type(value)(cell) == value


def test_the_trajectories_are_the_training(report: Report, command: Command) -> None:
    trained = command.json("train", report.arguments[1], *SHORT, "--at", ",".join(map(str, range(31))))
    for stage, expected in trained.items():
        text = (report.folder / "trajectories" / f"svop-{stage}.csv").read_text(encoding="utf-8")
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [int(row["step"]) for row in rows] == list(range(31))
        for row, answer in zip(rows, expected, strict=True):
            assert set(row) == set(answer)
            for name, cell in row.items():
                assert cell == "" if answer[name] is None else str(answer[name]) == cell


class Page(HTMLParser):
    """Reads a page strictly: tags nest, and what it links to and which ids it has are noted."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.own_links: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.note(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.note(tag, attrs)

    def note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] += 1
        inside_svg = "svg" in self.open
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), attrs
        for name, value in attrs:
            if name == "id" and not inside_svg:
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "srcset", "action", "data", "poster"):
                self.links.append(value or "")
                if not inside_svg:
                    self.own_links.append(value or "")
            if not inside_svg:
                self.attributes.add(name)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        if not {"svg", "style", "script"} & set(self.open):
            self.text.append(data)


def test_the_page(report: Report) -> None:
    text = (report.folder / "report.html").read_bytes().decode("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    page = Page(text)
    assert page.open == []
    assert page.count["script"] == 1
    assert not {"iframe", "object", "embed", "link", "base", "img"} & set(page.count)
    assert not {name for name in page.attributes if name.startswith("on")}
    assert page.links
    elsewhere = {link for link in page.links if not link.startswith("#")}
    beside = {link for link in elsewhere if link.split("#")[0] in report.document["files"]}
    elsewhere -= beside
    assert {link.split("#")[0] for link in beside if not link.startswith("figures/")} == {"proofs/proofs.html"}
    assert {link.split(",")[0] for link in elsewhere} == {"https://arxiv.org/abs/2409.17335", "data:application/json"}
    assert not re.search(r"@import|url\((?!['\"]?#)", text)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.own_links if link.startswith("#")} <= set(page.ids)
    failing = {row["claim"] for row in report.document["verdicts"] if row["verdict"] == "violated"}
    heads = {name for name in failing if LEDGER[name].source_words.form is Form.PRINTED}  # each of a cause of its own
    assert not any(LEDGER[name].standing.cause for name in heads)
    instead = [formula for claim in PAPER.claims if claim.id in heads for formula in claim.formulas[1:]]
    assert instead
    stated = [displayed(claim.formula, "").count("<math") * (1 + (claim.id in heads)) for claim in PAPER.claims]
    assert page.count["math"] == sum(stated) + len(instead)
    assert page.count["svg"] == 2 * 6 + 1  # six of each dataset that trains, and the graph of statements
    assert page.count["article"] == len(PAPER.claims) + len(heads)
    shown = " ".join("".join(page.text).split())
    for claim in PAPER.claims:
        assert claim.id in shown
        said = "".join(Page(typeset_html(claim.statement)).text)
        assert " ".join(said.split()) in shown
        assert claim.source in shown
    assert "Rates" in shown
    assert "rates" in page.ids
    counts = Counter(row["verdict"] for row in report.document["verdicts"])
    for verdict, count in counts.items():
        assert f"{count} {verdict}" in shown


@pytest.mark.parametrize(("source", "told"), [("arXiv 2409.17335", 1), ("arXiv 2409.17335v2", 0), ("a book", 0)])
def test_whether_the_version_of_a_paper_is_known(source: str, told: int, tmp_path: Path) -> None:
    found = audit("example-1", claims="ntp.lemma4", config={"steps1": 5, "steps2": 5})
    [one] = found.audited
    one = replace(one, source=replace(one.source, paper=changed(PAPER, source=source)))
    found = replace(found, audited=(one,))
    text = found.save(tmp_path / "report").read_text(encoding="utf-8")
    assert text.count("(its text states no version)") == told
    assert text.count(f"https://arxiv.org/abs/{source.removeprefix('arXiv ')}") == source.startswith("arXiv")


def test_the_page_lets_nothing_run_or_load_but_its_own_script(report: Report) -> None:
    text = (report.folder / "report.html").read_text(encoding="utf-8")
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_exports_that_go_are_named(command: Command, tmp_path: Path) -> None:
    report = tmp_path / "report"
    arguments = ("audit", "example-1", *SHORT, "--claim", "ntp.lemma4", "--out", report)
    assert "removed" not in command(*arguments, "--export", "latex").err
    assert "removed" not in command(*arguments, "--export", "latex", "--export", "markdown").err
    said = command(*arguments, "--export", "latex").err
    assert f"{report}: tables/direction.md, tables/proposition2.md, tables/verdicts.md of the " in said
    assert ".tex" not in said
