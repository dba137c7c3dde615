"""The pytest plugin: what it keeps, what it refuses, and how it updates."""

import json
import re
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from marginaudit.claims import Claim, Finding, Verdict
from marginaudit.claims.judgements import Decided
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.row import names, row_from_document
from marginaudit.claims.verdict import Output
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.auditing import Row
from marginaudit.reports.bound_constants import measure
from marginaudit.reports.bound_constants.measure import measured
from marginaudit.reports.compare.worse import worse
from marginaudit.reports.ntp.paper import PAPER
from tests.command_line import SVOP
from tests.pages import ROOT
from tests.solutions import known

pytest_plugins = ("pytester",)

PLANTED = """
import json
from pathlib import Path

import pytest

from marginaudit.claims import Claim, Evidence, Finding, Verdict
from marginaudit.claims.judgements import Decided


def decide(run):
    if (fields := json.loads(Path("finding.json").read_text())) is None:
        raise RuntimeError("planted")
    return Finding(Verdict(fields.pop("verdict", "holds")), Evidence(fields.pop("evidence", "float64")), **fields)


def claim(name="mine"):
    return Claim(id=name, source="s", statement="s", formula="1", assumptions=(), judgement=Decided(decide, kind="k"))


"""
"""A test file's head: a claim of one's own, of which finding.json says what it finds."""

ONE = "def test_it(bound_constants):\n    bound_constants(claim(), 'example-1')\n"
UPDATE = "--update-bounds"


class Project:
    """A project of one's own, whose tests use the fixture."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.file = pytester.path / "test_mine.bounds.json"
        self.write(ONE)

    def write(self, text: str, name: str = "test_mine.py") -> None:
        (self.pytester.path / name).write_text(PLANTED + textwrap.dedent(text), encoding="utf-8")

    def found(self, **fields: Any) -> None:
        """What the claim finds from now on, by default a slack of 4 against an upper bound of something positive."""
        document = {"slack": 4.0, "side": "upper", "measured": 1.0} | fields
        (self.pytester.path / "finding.json").write_text(json.dumps(document), encoding="utf-8")

    def run(self, *arguments: str, subprocess: bool = False, **outcomes: int) -> str:
        """Run pytest, in this process unless told otherwise, and return what it printed."""
        run = self.pytester.runpytest_subprocess if subprocess else self.pytester.runpytest_inprocess
        result = run("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-W", "error", *arguments)
        result.assert_outcomes(**outcomes)
        return str(result.stdout)

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.file.read_text(encoding="utf-8"))["verdicts"]
        return found


@pytest.fixture(autouse=True, scope="module")
def compiler_loaded() -> None:
    """What is imported in a project's run is forgotten after it, and numba cannot be imported twice."""
    _ = Run(CASES["example-1"](), Config(steps1=2, steps2=2)).training


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # test files change within a second
    for name in ("CI", "BUILD_NUMBER"):  # where they are set, pytest repeats whole messages in its summary
        monkeypatch.delenv(name, raising=False)
    made = Project(pytester)
    made.found()
    return made


def kept(project: Project, **fields: Any) -> Project:
    project.found(**fields)
    project.run(UPDATE, passed=1)
    return project


def test_the_first_run_fails_with_the_way_to_keep_and_then_passes(project: Project) -> None:
    out = project.run(subprocess=True, failed=1)
    assert "bound_constants: mine on example-1 is not in test_mine.bounds.json; pytest --update-bounds keeps it" in out
    assert not project.file.exists()

    project.found(constant=0.5, informative_from=10**40, repeats_within=1e-6, evidence="certified")
    out = project.run(UPDATE, passed=1)
    assert "test_mine.bounds.json: mine on example-1: new" in out
    assert re.search("^=+ bound constants =+$", out, re.MULTILINE)
    assert project.rows() == [
        {
            "claim": "mine", "dataset": "example-1", "verdict": "holds", "evidence": "certified", "measured": 1.0,
            "slack": 4.0, "side": "upper", "constant": 0.5, "repeats_within": 1e-6, "informative_from": 10**40,
        }
    ]  # fmt: skip
    assert "bound constants" not in project.run(passed=1)


def test_what_is_worse_fails_in_one_line_and_what_is_better_is_said(project: Project) -> None:
    kept(project, evidence="exact")
    before = project.file.read_bytes()
    project.found(evidence="exact", verdict="inconclusive", slack=2.0)
    assert (
        "\nbound_constants: mine on example-1 is worse than in test_mine.bounds.json: verdict: holds -> inconclusive; "
        "pytest --update-bounds accepts it\n"
    ) in project.run(failed=1)
    project.found(evidence="exact", slack=8.0)
    out = project.run(passed=1)
    assert "mine on example-1: slack: 4 -> 8 (tolerance 1e-09); pytest --update-bounds keeps it" in out
    project.found(evidence="exact", slack=4.0 * (1 - 0.5e-9))
    assert "bound constants" not in project.run(passed=1)
    assert project.file.read_bytes() == before


def test_a_broken_claim_fails_and_is_not_kept(project: Project) -> None:
    (project.pytester.path / "finding.json").write_text("null", encoding="utf-8")
    out = project.run(UPDATE, failed=1)
    assert "bound_constants: mine on example-1 is broken: RuntimeError: planted" in out
    assert not project.file.exists()


def test_an_update_writes_what_changed_and_does_not_add_up_what_did_not(project: Project) -> None:
    project.write("def test_it(bound_constants):\n    bound_constants(claim(), 'example-1', tolerance=0.1)\n")
    kept(project)
    before = project.file.read_bytes()
    for slack in (3.8, 4.2):
        project.found(slack=slack)
        assert "bound constants" not in project.run(UPDATE, passed=1)
        assert project.file.read_bytes() == before
    for slack in (3.5, 4.6):
        project.found(slack=slack)
        assert "mine on example-1: slack: " in project.run(UPDATE, passed=1)
        assert [row["slack"] for row in project.rows()] == [slack]


@pytest.mark.parametrize(("tolerance", "shown"), [("-1", "-1"), ("float('nan')", "nan")])
def test_a_tolerance_below_0_is_refused(project: Project, tolerance: str, shown: str) -> None:
    kept(project)
    call = f"bound_constants(claim(), 'example-1', tolerance={tolerance})"
    project.write(f"def test_it(bound_constants):\n    {call}\n")
    assert f"got a tolerance of {shown}, expected 0 or more" in project.run(failed=1)


def test_another_training_or_seed_is_another_row(project: Project) -> None:
    kept(project)
    project.write("""
        from marginaudit.claims.ntp import Config

        def test_it(bound_constants):
            bound_constants(claim(), 'example-1', config=Config(steps1=30, steps2=40, at=(1, 2)), seed=3)
    """)
    assert "mine on example-1 (steps1 = 30, steps2 = 40, at = [1, 2], seed = 3) is not in" in project.run(failed=1)
    out = project.run(UPDATE, passed=1)
    assert "test_mine.bounds.json: mine on example-1: no test of this run asked for it" in out
    assert [row.get("settings") for row in project.rows()] == [
        None,
        {"steps1": 30, "steps2": 40, "at": [1, 2], "seed": 3},
    ]
    project.run(passed=1)
    project.write(ONE)
    project.run(passed=1)


def test_two_tests_that_measure_different_rows_under_one_name_are_refused(project: Project) -> None:
    project.write("""
        def test_one(bound_constants):
            bound_constants(claim(), "example-1")

        def test_other(bound_constants):
            Path("finding.json").write_text('{"slack": 1, "side": "upper"}')
            bound_constants(claim(), "example-1")
    """)
    out = project.run(UPDATE, passed=2)
    assert (
        "test_mine.bounds.json: not written: mine on example-1: got two rows that differ, expected datasets of" in out
    )
    assert not project.file.exists()


def test_several_workers_lose_nothing(project: Project) -> None:
    many = """
        @pytest.mark.parametrize("n", range(3))
        def test_it(bound_constants, n):
            bound_constants(claim(f"mine.{n}"), "example-1")
            bound_constants(claim(f"mine.{n}"), "section-7")
    """
    project.write(many)
    project.write(many, "test_other.py")
    project.found(informative_from=10**40)
    assert project.run(UPDATE, "-n", "2", passed=6).count(": new") == 12
    expected = [(f"mine.{n}", data) for data in ("example-1", "section-7") for n in range(3)]
    assert [(row["claim"], row["dataset"]) for row in project.rows()] == expected
    several = project.file.read_bytes()
    assert (project.pytester.path / "test_other.bounds.json").read_bytes() == several
    project.file.unlink()
    project.run(UPDATE, passed=6)
    assert project.file.read_bytes() == several


# bad input, in one line


def test_bad_input_is_refused_in_one_line(project: Project) -> None:
    project.write("""
        @pytest.mark.parametrize(("name", "data"), [("ntp.no", "example-1"), ("ntp.prop1.norm", "no.json")])
        def test_it(bound_constants, name, data):
            bound_constants(name, data)
    """)
    out = project.run(UPDATE, failed=2)
    assert "\nbound_constants: claim 'ntp.no': got no claim of that id, expected an id that `marginaudit claims`" in out
    assert "\nbound_constants: no.json: got No such file or directory, expected" in out
    assert "Traceback" not in out
    assert "another exception" not in out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "test_mine.bounds.json: line 1 column 2: got invalid JSON"),
        ("[]", "test_mine.bounds.json: got an array of 0 entries"),
        ('{"verdicts": [{"claim": 3}]}', "test_mine.bounds.json: /verdicts/0/claim: got 3, expected a string"),
    ],
)
def test_a_damaged_file_is_refused_and_left(project: Project, text: str, says: str) -> None:
    project.file.write_text(text, encoding="utf-8")
    out = project.run(UPDATE, failed=1)
    assert says in out
    assert "Traceback" not in out
    assert project.file.read_text(encoding="utf-8") == text


def test_a_file_that_cannot_be_written_fails_the_session(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: str) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(measure, "write_whole", full)
    result = project.pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", UPDATE)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "test_mine.bounds.json: not written: no space left" in str(result.stdout)


# what is measured


def test_the_rows_of_the_page_are_what_is_measured() -> None:
    """But for how the processor rounds: it moves the error bars most. And what fails where the slack is a half."""
    page = (ROOT / "docs/bound-constants.md").read_text(encoding="utf-8")
    [block] = re.findall("```json\n(.*?)```", page, re.DOTALL)
    rows = json.loads(block)["verdicts"]
    for row in rows:
        config = Config(**row["settings"]) if "settings" in row else None
        now = measured(row["claim"], row["dataset"], config, None)[1].kept()
        assert row.keys() == now.keys()
        for name, value in row.items():
            within = 0.5 if name == "repeats_within" else 1e-8
            assert value == now[name] or value == pytest.approx(now[name], rel=within, abs=0), name
        assert row["slack"] == pytest.approx(row["bound"] / row["measured"], rel=1e-12, abs=0)
    old = row_from_document(rows[0], "here")
    reason = worse(old, replace(old, slack=known(old.slack) / 2))
    assert f"{old.claim} on {old.place} is worse than in tests/test_mine.bounds.json: {reason};" in page


def test_it_audits_what_the_audit_audits(tmp_path: Path) -> None:
    path = tmp_path / "svop.json"
    path.write_text(json.dumps(SVOP), encoding="utf-8")
    config = Config(steps1=30, steps2=30)
    for data in (path, "section-7", CASES["example-1"]()):
        for name in ("ntp.theorem1.direction", "ntp.theorem3.order", "ntp.corollary1.upper"):
            finding, row = measured(name, data, config, None)
            in_report = Row(LEDGER[name], PAPER, finding).as_document()
            in_report["settings"] = {"steps1": 30, "steps2": 30}
            known = names(Output.KEPT)
            assert row.kept() == {key: in_report[key] for key in known if in_report[key] not in (None, False, "met")}
            seed = measured(name, data, {"steps1": 30, "steps2": 30}, cast(Any, np.int64(3)))[1].settings["seed"]
            assert (seed, type(seed)) == (3, int)
            assert row_from_document(row.kept(), "") == row


def test_a_seed_of_the_run_is_kept_beside_that_of_the_dataset() -> None:
    both = measured("snap.lemma10", "snap-single", {"steps": 30, "seed": 5}, 3)[1].settings
    assert both == {"steps": 30, "seed": 5, "dataset_seed": 3}


def test_a_claim_about_other_data_is_refused() -> None:
    with pytest.raises(InputError, match=r"claim snap.lemma10: got a dataset of sentences, expected one that it is"):
        measured("snap.lemma10", "example-1", None, None)


def test_a_claim_that_bears_a_known_id_is_judged_as_it_is_given() -> None:
    refuses = Decided(lambda run: Finding(Verdict.VIOLATED), kind="k")
    mine = replace(LEDGER["ntp.lemma2"], judgement=refuses, assumptions=(), paper="")
    assert measured(mine, "example-1", Config(steps1=5, steps2=5), None)[0].verdict is Verdict.VIOLATED


def test_a_dataset_is_trained_once_and_read_again_when_its_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    runs: list[Any] = []

    def decide(run: Any) -> Finding:
        runs.append(run)
        return Finding(Verdict.HOLDS)

    mine = Claim(id="m", source="s", statement="s", formula="1", assumptions=(), judgement=Decided(decide, kind="k"))
    for document in (SVOP, SVOP, SVOP | {"sentences": [["a", "b"]]}):
        path.write_text(json.dumps(document), encoding="utf-8")
        measured(mine, path, None, None)
    assert runs[0] is runs[1]
    assert (runs[1].dataset.V, runs[2].dataset.V) == (4, 2)


def test_nothing_heavy_is_imported_before_a_claim_is_asked_for() -> None:
    code = "import sys, marginaudit.reports.bound_constants.plugin; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "scipy", "numba", "cvxpy", "marginaudit.orders"} & set(out.split())
