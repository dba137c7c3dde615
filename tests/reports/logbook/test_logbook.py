"""The logbook of a report: whole for Trackio's reader, a page per claim, and no planted twin as a finding."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from marginaudit.reports.logbook.cells import LONGEST_PAGE, Cell, fenced, page
from marginaudit.reports.logbook.logbook import logbook
from tests.command_line import SHORT, Command

CLAIMS = '''
from fractions import Fraction

from marginaudit.claims import Bounded, Claim, instance
from marginaudit.claims.quotation import quoted

@instance
def edge():
    return dict(L=Fraction(1), eta=Fraction(1, 2))

@instance
def long():
    return dict(L=Fraction(1), eta=Fraction(3))

def short(x):
    """The step is short."""
    return x.eta <= 2 / x.L

def factor(x):
    return abs(1 - x.eta * x.L)

def claim(id, bound, **more):
    judgement = Bounded(measure=factor, upper=lambda x, _: bound)
    return Claim(id=id, source="arXiv 2301.00001v2, Theorem 3", statement=f"|1 - eta L| <= {bound} for | eta | > 0",
                 assumptions=(), judgement=judgement, scale="paper", **more)

CLAIMS = (
    claim("mine.false", 1, source_words=quoted("Theorem 3", "the factor is at most one"), defence="eta is short"),
    claim("mine.true", 2, theorem="Theorem 4"),
    claim("mine.twin", Fraction(1, 4), control_of="mine.true"),
)
'''

REGISTRY = {
    "abc123": [
        {"text": "The factor never exceeds one, for every step (Theorem 3).", "status": "unverified"},
        {"text": "The factor is at most two (Theorem 4).", "status": "unverified"},
        {"text": "The rate is minimax optimal (Theorem 9).", "status": "unverified"},
    ]
}

TRACKIO = [sys.executable, "-c", "from trackio.cli import main; main()", "logbook"]


def trackio(*arguments: str, folder: Path) -> str:
    home = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder.absolute()), "TRACKIO_DIR": str(folder.absolute())}
    done = subprocess.run(
        [*TRACKIO, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | home,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def folder(command: Command) -> Path:
    """Logbook of the three claims, by the registry."""
    Path("mine.py").write_text(CLAIMS, encoding="utf-8")
    Path("registry.json").write_text(json.dumps(REGISTRY), encoding="utf-8")
    registered = ("--export", "logbook", "--registry", "registry.json", "--paper-id", "abc123")
    assert command("audit", "--claims", "mine.py", *registered, "--out", "out").status == 0
    return Path("out/logbook")


def texts(folder: Path) -> dict[str, str]:
    pages = folder / ".trackio/logbook/pages"
    return {path.parent.name: path.read_text(encoding="utf-8") for path in pages.glob("*/page.md")}


def test_trackio_reads_it_whole(folder: Path) -> None:
    synced = trackio("sync", folder=folder)
    assert "Synced" in synced
    read = trackio("read", folder=folder)
    for name, text in texts(folder).items():
        assert f"`{name}`" in read
        bodies = re.findall(r'"type": "markdown".*\n-->\n([\s\S]*?)(?=\n---\n<!-- trackio-cell|\s*$)', text)
        assert bodies
        assert [body.strip() for body in bodies if body.strip() not in read] == []
    manifest = json.loads((folder / ".trackio/logbook/logbook.json").read_text(encoding="utf-8"))
    assert manifest["tags"] == ["icml2026-repro", "paper-abc123"]
    assert [page["slug"] for page in manifest["root"]["children"]] == list(texts_in_order(folder))


def texts_in_order(folder: Path) -> list[str]:
    index = (folder / ".trackio/logbook/pages/index.md").read_text(encoding="utf-8")
    assert index.startswith("# Reproduction: ")
    return re.findall(r"\(#/([a-z0-9-]+)\)", index)


def test_the_pages_of_a_registry(folder: Path) -> None:
    names = texts_in_order(folder)
    assert (names[0], names[-1], len(names)) == ("executive-summary", "conclusion", 5)
    false, true, missing = (texts(folder)[name] for name in names[1:-1])
    for part in (
        "**Outcome: falsified.**",
        "> The factor never exceeds one, for every step (Theorem 3).",
        "> the factor is at most one",
        "Measured: 2",
        "Error bar: 0, exact",
        "Bound: 1",
        "eta is short",
        '{"name": "long", "instance": {"L": 1, "eta": 3}}',
        "def factor(x):",
        "$ marginaudit audit --claims mine.py",
        '"measured_exact": "2"',
    ):
        assert part in false
    assert "**Outcome: verified.**" in true
    assert "Planted twin `mine.twin`, false on purpose: violated, as it should be." in true
    assert "**Outcome: inconclusive.** Not checked, because no statement of this audit is about it." in missing
    summary = texts(folder)["executive-summary"]
    assert "**3 claims: 1 verified, 1 falsified, 1 inconclusive.**" in summary
    assert '"pinned": true' in summary


def test_a_planted_twin_is_no_finding(command: Command) -> None:
    Path("mine.py").write_text(CLAIMS, encoding="utf-8")
    command("audit", "--claims", "mine.py", "--export", "logbook", "--out", "out")
    found = texts(Path("out/logbook"))
    assert [name for name in found if name.startswith("claim")] == ["claim-1-mine-false", "claim-2-mine-true"]
    document = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    registry = {"a": [{"text": "|1 - eta L| <= 1/4 for | eta | > 0"}]}
    Path("registry.json").write_text(json.dumps(registry), encoding="utf-8")
    command("audit", "--claims", "mine.py", "--export", "logbook", "--registry", "registry.json", "--out", "out")
    [text] = [text for name, text in texts(Path("out/logbook")).items() if name.startswith("claim")]
    assert "Not checked, because" in text
    assert logbook(document) == logbook(json.loads(json.dumps(document)))


def test_the_default_papers(command: Command) -> None:
    chosen = [
        word
        for name in ("ntp.corollary1*", "ntp.theorem1.*", "ntp.gradient.ov", "snap.lemma*")
        for word in ("--claim", name)
    ]
    more = ("--controls", "--export", "logbook", "--out", "out")
    assert command("audit", "example-1", "snap-single", *chosen, *more).status == 0
    found = texts(Path("out/logbook"))
    assert max(len(text.encode()) for text in found.values()) <= LONGEST_PAGE
    upper = next(text for name, text in found.items() if name.endswith("ntp-corollary1-upper"))
    for part in (
        "**Outcome: falsified.**",
        "the constant alone",
        "Smallest counterexample",
        "Repaired statement: All margins",
        "- `ntp.corollary1.upper.rederived`: ",
        "violated (exact) on 1 dataset",
    ):
        assert part in upper
    assert "- Of the verified claims, 1 is false on other datasets, " in found["executive-summary"]
    gradient = next(text for name, text in found.items() if name.endswith("ntp-gradient-ov"))
    assert "lr1 = 0.1, lr2 = 0.025, steps1 = 900, " in gradient
    measured, stated = re.findall(r"measured (\S+), it says equal to (\S+);", gradient)[0]
    assert measured != stated
    assert [name for name in found if "rederived" in name or "any-" in name] == []


def test_a_repaired_statement_is_one_that_holds(command: Command) -> None:
    """A re-derived statement that is violated, too, is on the page with its verdicts, and no repair."""
    more = """
from dataclasses import replace

from marginaudit.claims.quotation import rederived

CLAIMS += tuple(
    replace(
        CLAIMS[0],
        id=f"mine.{name}",
        statement=name,
        source_words=rederived("mine.false"),
        judgement=Bounded(factor, upper=lambda *_, most=most: most),
    )
    for name, most in (("wrong", 0), ("right", 9))
)
"""
    Path("mine.py").write_text(CLAIMS + more, encoding="utf-8")
    command("audit", "--claims", "mine.py", "--export", "logbook", "--out", "out")
    false = texts(Path("out/logbook"))["claim-1-mine-false"]
    assert "Repaired statement: right." in false
    assert "- `mine.wrong`: wrong" in false


def test_a_long_page_is_cut_in_its_longest_block() -> None:
    cells = [
        Cell("a", "numbers"),
        Cell("b", fenced("x\n" * 20_000), cuts=True),
        Cell("c", fenced("y\n" * 9_000), cuts=True),
    ]
    text = page("T", cells, "1970", "t")
    assert LONGEST_PAGE - 1_000 < len(text.encode()) <= LONGEST_PAGE
    assert text.count("````") == 4
    assert "cut here" in text
    assert text.count("y\n") == 9_000


@pytest.mark.parametrize(
    ("registry", "more", "told"),
    [
        (None, ("--paper-id", "a"), "--paper-id: got no logbook to write"),
        ({}, (), "got 0 papers"),
        ({"a": []}, ("--export", "logbook"), "at least 1"),
        ({"a": [{"text": "x"}], "b": [{"text": "y"}]}, ("--export", "logbook"), "got 2 papers"),
        ({"a": [{"text": "x"}]}, ("--export", "logbook", "--paper-id", "c"), "no paper 'c'"),
        ({"a": [{"status": "x"}]}, ("--export", "logbook"), "/a/0: got no key 'text'"),
    ],
)
def test_bad_registries(command: Command, registry: Any, more: tuple[str, ...], told: str) -> None:
    Path("registry.json").write_text(json.dumps(registry), encoding="utf-8")
    given = () if registry is None else ("--registry", "registry.json")
    if not more:
        more = ("--export", "logbook")
    answer = command("audit", "example-1", *SHORT, *given, *more)
    assert answer.status == 2
    assert told in answer.err


MEASURED = """
from marginaudit.claims import Bounded, Claim, instance
from marginaudit.claims.series import series

@instance
def one():
    return dict(x=2.0)

CLAIMS = (
    Claim(id="mine.measured", source="arXiv 2301.00001v2, Theorem 3", statement="x <= 1", assumptions=(),
          judgement=Bounded(measure=lambda at: series([at.x], radius=1e-9), upper=lambda at, _: 1.0)),
)
"""

SECOND = """
def second(data, config, rows):
    yield "mine.measured", data["data"]["instance"]["x"] == rows["mine.measured"]["measured"], "numbers"

SECOND = {"instances": second}
"""


def test_a_violation_in_float64_is_falsified_by_a_second_computation(command: Command) -> None:
    Path("mine.py").write_text(MEASURED, encoding="utf-8")
    Path("second.py").write_text(SECOND, encoding="utf-8")
    audit = ("audit", "--claims", "mine.py", "--export", "logbook", "--out", "out")
    command(*audit)
    [once] = [text for name, text in texts(Path("out/logbook")).items() if name.startswith("claim")]
    assert "**Outcome: inconclusive.**" in once
    stored = ("--claims", "mine.py", "--second", "second.py", "--out", "out/recheck.json")
    assert command("recheck", "out", *stored).status == 0
    command(*audit)
    [twice] = [text for name, text in texts(Path("out/logbook")).items() if name.startswith("claim")]
    assert "**Outcome: falsified.**" in twice
    assert "Second computation: marginaudit recheck, second program: numbers." in twice
    Path("mine.py").write_text(MEASURED.replace("2.0", "3.0"), encoding="utf-8")
    command(*audit)
    [other] = [text for name, text in texts(Path("out/logbook")).items() if name.startswith("claim")]
    assert "**Outcome: inconclusive.**" in other
