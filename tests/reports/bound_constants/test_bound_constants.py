"""The pytest plugin: what it keeps, what it refuses, and what it calls worse."""

import json
import math
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES
from marginaudit.reports import LEDGER, Claim, Evidence, Finding, Series, Verdict
from marginaudit.reports.audit.auditing import Row
from marginaudit.reports.bound_constants.constant import Constant, constants_of
from marginaudit.reports.bound_constants.entry import VERDICTS
from marginaudit.reports.bound_constants.measure import find_dataset
from marginaudit.reports.bound_constants.store import keys_in, read_entry, write_entries
from marginaudit.reports.judgements import ALLOWANCE, Bounded, HiddenConstant
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.series import by_formula, series
from tests.command_line import SVOP

pytest_plugins = ("pytester",)

PLANTED = """
import json
from pathlib import Path

import pytest

from marginaudit.reports import Claim, Evidence, Finding, Verdict
from marginaudit.reports.judgements import Decided


def decide(run):
    if (fields := json.loads(Path("finding.json").read_text())) is None:
        raise RuntimeError("planted")
    return Finding(Verdict(fields.pop("verdict", "holds")), Evidence(fields.pop("evidence", "float64")), **fields)


def claim(name="mine"):
    return Claim(id=name, source="s", statement="s", formula="1", assumptions=(), judgement=Decided(decide, kind="k"))


"""
"""A test file's head: a claim of one's own, of which finding.json says what it finds."""

ONE = "def test_it(bound_constants):\n    bound_constants(claim(), 'example-1')\n"
KEY = ("test_it", "mine", "example-1")
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

    def entry(self, *key: str, file: str = "test_mine.bounds.json") -> Any:
        document = json.loads((self.pytester.path / file).read_text(encoding="utf-8"))
        for name in key or KEY:
            document = document[name]
        return document

    def slack(self) -> float:
        value = self.entry()["constants"]["slack"]["value"]
        assert isinstance(value, float)
        return value


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


# keeping, and what fails


def test_the_first_run_fails_with_the_way_to_keep_and_then_passes(project: Project) -> None:
    out = project.run(subprocess=True, failed=1)
    assert "mine on example-1 has nothing kept" in out
    assert "pytest --update-bounds" in out
    assert "in test_mine.bounds.json, test_it / mine / example-1" in out
    assert not project.file.exists()

    project.found(constant=0.5, informative_from=10**40, repeats_within=1e-6, evidence="certified")
    out = project.run(UPDATE, subprocess=True, passed=1)
    assert "test_mine.bounds.json, test_it / mine / example-1: kept: holds, slack, constant, informative_step" in out
    assert re.search("^=+ bound constants =+$", out, re.MULTILINE)
    entry = project.entry()
    assert set(entry["versions"]) >= {"marginaudit", "python", "numpy", "scipy"}
    del entry["versions"]
    assert entry == {
        "verdict": "holds",
        "evidence": "certified",
        "constants": {
            "slack": {"value": 4.0, "better": "larger", "tolerance": 1e-6},
            "constant": {"value": 0.5, "better": "smaller", "tolerance": 1e-6},
            "informative_step": {"value": 10**40, "better": "smaller", "tolerance": ALLOWANCE},
        },
        "config": {},
        "seed": None,
        "history": [],
    }
    assert "bound constants" not in project.run(passed=1)


def test_what_is_worse_fails_and_says_by_how_much_and_where(project: Project) -> None:
    kept(project)
    before = project.file.read_bytes()
    project.found(slack=2.0)
    out = project.run(failed=1)
    assert "mine on example-1 got worse" in out
    assert "slack: 4 -> 2, worse by a factor of 2 (tolerance 1e-09)" in out
    assert "in test_mine.bounds.json, test_it / mine / example-1" in out

    project.found(slack=4.0 * (1 - 2e-9))
    assert "worse by a factor of 1 + 2e-09" in project.run(failed=1)
    project.found(slack=4.0 * (1 - 0.5e-9))
    assert "better" not in project.run(passed=1)
    project.found(slack=8.0)
    out = project.run(passed=1)
    assert "slack: 4 -> 8, better by a factor of 2 (tolerance 1e-09); pytest --update-bounds keeps it" in out
    assert project.file.read_bytes() == before


def test_a_verdict_evidence_or_constant_that_is_lost_fails(project: Project) -> None:
    kept(project, constant=1e-9, evidence="certified", verdict="vacuous")
    project.found(constant=1e-9, evidence="certified", verdict="inconclusive")
    assert "verdict: vacuous -> inconclusive" in project.run(failed=1)
    project.found(constant=1e-9, evidence="float64", verdict="vacuous")
    assert "evidence: certified -> float64" in project.run(failed=1)
    project.found(evidence="certified", verdict="vacuous")
    assert "constant: 1e-09 -> none" in project.run(failed=1)
    project.found(constant=5e-9, evidence="certified", verdict="vacuous")  # an absolute floor would let this pass
    assert "constant: 1e-09 -> 5e-09, worse by a factor of 5" in project.run(failed=1)
    project.found(constant=1e-9, evidence="float64", informative_from=7)
    out = project.run(passed=1)
    assert "verdict: vacuous -> holds; pytest --update-bounds keeps it" in out
    assert "informative_step: none -> 7" in out


def test_a_broken_claim_fails_and_is_not_kept(project: Project) -> None:
    (project.pytester.path / "finding.json").write_text("null", encoding="utf-8")
    out = project.run(UPDATE, "--reason", "any", failed=1)
    assert "mine on example-1 is broken" in out
    assert "RuntimeError: planted" in out
    assert not project.file.exists()


# updating


def test_loosening_needs_a_reason_which_is_kept(project: Project) -> None:
    kept(project)
    before = project.file.read_bytes()
    project.found(slack=2.0)
    out = project.run(UPDATE, failed=1)
    assert "mine on example-1 would be loosened" in out
    assert "slack: 4 -> 2, worse by a factor of 2" in out
    assert project.file.read_bytes() == before

    assert "loosened: slack: 4 -> 2" in project.run(UPDATE, "--reason", "longer run", passed=1)
    project.found(slack=2.0, verdict="violated")
    project.run(UPDATE, "--reason", "a bug is fixed", passed=1)
    assert project.slack() == 2.0
    assert project.entry()["verdict"] == "violated"
    assert project.entry()["history"] == [
        {"reason": "longer run", "loosened": ["slack: 4 -> 2, worse by a factor of 2 (tolerance 1e-09)"]},
        {"reason": "a bug is fixed", "loosened": ["verdict: holds -> violated"]},
    ]
    project.found(slack=3.0)
    project.run(UPDATE, passed=1)
    assert (project.slack(), len(project.entry()["history"])) == (3.0, 2)
    project.run(passed=1)


def test_updates_within_the_tolerance_do_not_add_up(project: Project) -> None:
    project.write("def test_it(bound_constants):\n    bound_constants(claim(), 'example-1', tolerance=0.1)\n")
    kept(project)
    with_numpy = f'"numpy": "{np.__version__}"'
    text = project.file.read_text(encoding="utf-8").replace(with_numpy, '"numpy": "1.0"')
    project.file.write_text(text, encoding="utf-8")
    before = project.file.read_bytes()
    for slack in (3.8, 4.2):
        project.found(slack=slack)
        project.run(UPDATE, passed=1)
        assert project.file.read_bytes() == before
    project.found(slack=3.5)
    project.run(failed=1)
    project.found(slack=4.6)
    project.run(UPDATE, passed=1)
    assert project.slack() == 4.6
    assert project.entry()["versions"]["numpy"] == np.__version__


def test_a_tolerance_of_the_tests_own_is_kept_and_widening_it_is_loosening(project: Project) -> None:
    kept(project)
    project.write("def test_it(bound_constants):\n    bound_constants(claim(), 'example-1', tolerance=0.5)\n")
    assert "tolerance of slack: the file has 1e-09, the test asks for 0.5" in project.run(failed=1)
    out = project.run(UPDATE, failed=1)
    assert "slack: 4.0 with tolerance 1e-09 -> 4.0 with tolerance 0.5" in out
    project.run(UPDATE, "--reason", "noisy", passed=1)
    project.found(slack=3.0)
    project.run(passed=1)
    project.found(slack=2.5)
    project.run(failed=1)


def test_other_training_or_another_seed_is_not_compared(project: Project) -> None:
    project.write("""
        from marginaudit.reports.ntp import Config

        def test_it(bound_constants):
            bound_constants(claim(), 'example-1', config=Config(steps1=30, steps2=40, at=(1, 2)), seed=3)
    """)
    kept(project)
    assert project.entry()["config"] == {"steps1": 30, "steps2": 40, "at": [1, 2]}
    assert project.entry()["seed"] == 3
    project.run(passed=1)
    project.write(ONE)
    out = project.run(failed=1)
    assert "config: the file has {'steps1': 30, 'steps2': 40, 'at': [1, 2]}, the test asks for {}" in out
    assert "seed: the file has 3, the test asks for None" in out
    project.run(UPDATE, passed=1)
    project.run(passed=1)


def test_entries_that_no_test_asks_for_are_told_and_stay(project: Project) -> None:
    project.write(f"{ONE}    bound_constants(claim('other'), 'example-1')\ndef test_b(bound_constants):\n    pass\n")
    project.write(ONE, "test_gone.py")
    project.write(ONE, "test_not_run.py")
    project.run(UPDATE, passed=4)
    (project.pytester.path / "test_gone.py").unlink()
    project.write("def test_b(bound_constants):\n    bound_constants(claim(), 'example-1')\n")
    out = project.run(UPDATE, "test_mine.py", passed=1)
    told = [line for line in out.splitlines() if "not asked for in this run; remove it if its test is gone" in line]
    assert [line.partition(": ")[0] for line in told] == [
        "test_gone.bounds.json, test_it / mine / example-1",
        "test_mine.bounds.json, test_it / mine / example-1",
        "test_mine.bounds.json, test_it / other / example-1",
    ]
    assert project.entry() == project.entry("test_b", "mine", "example-1")
    assert "not asked for" not in project.run("test_mine.py", passed=1)


def test_several_workers_lose_nothing(project: Project) -> None:
    classes = """
        @pytest.mark.parametrize("n", range(8))
        class TestMany:
            def test_it(self, bound_constants, n):
                bound_constants(claim(f"mine.{n}"), "example-1")
                bound_constants(claim(f"mine.{n}"), "section-7")
    """
    project.write(classes)
    project.write(classes, "test_other.py")
    project.found(informative_from=10**40)
    out = project.run(UPDATE, "-n", "2", passed=16)
    assert out.count(": kept: holds, slack, informative_step") == 32
    for file in ("test_mine.bounds.json", "test_other.bounds.json"):
        for n in range(8):
            entries = project.entry(f"TestMany::test_it[{n}]", f"mine.{n}", file=file)
            assert list(entries) == ["example-1", "section-7"]
    one_process = project.file.read_bytes()
    project.file.unlink()
    project.run(UPDATE, passed=16)
    assert project.file.read_bytes() == one_process

    project.found(informative_from=10**40, slack=2.0)
    assert project.run("-n", "2", failed=16).count("worse by a factor of 2") == 16


# bad input, in one line


def test_bad_input_is_refused_in_one_line(project: Project) -> None:
    project.write("""
        @pytest.mark.parametrize(("name", "data"), [("ntp.no", "example-1"), ("ntp.prop1.norm", "no.json")])
        def test_it(bound_constants, name, data):
            bound_constants(name, data)

        def test_twice(bound_constants):
            bound_constants(claim(), "example-1")
            bound_constants(claim(), "example-1")
    """)
    out = project.run(UPDATE, failed=3)
    assert "\nbound_constants: claim 'ntp.no': got no claim of that id, expected an id that `marginaudit claims`" in out
    assert "\nbound_constants: no.json: got No such file or directory, expected" in out
    assert "mine on example-1 is asked for twice in one test" in out
    assert "Traceback" not in out
    assert "Error" not in out
    assert "another exception" not in out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "line 1: got Expecting property name"),
        ("[]", "got another JSON document"),
        ('{"test_it": {"mine": 3}}', "got another JSON document"),
        ('{"test_it": {"mine": {"example-1": {"verdict": "true"}}}}', "test_it / mine / example-1: ValueError("),
    ],
)
def test_a_damaged_file_is_refused_and_left(project: Project, text: str, says: str) -> None:
    project.file.write_text(text, encoding="utf-8")
    out = project.run(UPDATE, failed=1)
    assert says in out
    assert "Traceback" not in out
    assert project.file.read_text(encoding="utf-8") == text


def test_the_reason_is_for_updates_and_not_empty(project: Project) -> None:
    for arguments in (("--reason", "why"), (UPDATE, "--reason", " ")):
        result = project.pytester.runpytest_inprocess(*arguments)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert str(result.stderr).startswith("ERROR: --reason: got ")


def test_a_file_that_cannot_be_written_fails_the_session(project: Project) -> None:
    project.pytester.makeconftest("""
        from marginaudit.reports.bound_constants import store

        def full(path, content):
            raise OSError("no space left")

        store.write_whole = full
    """)
    result = project.pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", UPDATE)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "not written: no space left" in str(result.stdout)


# what is measured


def test_it_audits_what_the_audit_audits(project: Project) -> None:
    (project.pytester.path / "svop.json").write_text(json.dumps(SVOP), encoding="utf-8")
    project.write("""
        from marginaudit.orders.ntp import CASES
        from marginaudit.reports.ntp import Config

        def test_it(bound_constants):
            config = Config(steps1=30, steps2=30)
            for data in ("svop.json", "section-7", CASES["example-1"]()):
                for name in ("ntp.theorem1.direction", "ntp.theorem3.order"):
                    assert bound_constants(name, data, config=config).slack
    """)
    project.run(UPDATE, subprocess=True, passed=1)
    config = Config(steps1=30, steps2=30)
    for data in (find_dataset(project.pytester.path / "svop.json"), CASES["section-7"](), CASES["example-1"]()):
        for name in ("ntp.theorem1.direction", "ntp.theorem3.order"):
            entry = project.entry("test_it", name, data.name)
            run = Run(data, config)
            row = Row(LEDGER[name], PAPER, run.dataset.name, LEDGER[name].judge(run)).as_document()
            constants = {key: constant["value"] for key, constant in entry["constants"].items()}
            expected = {"slack": row["slack"], "constant": row["constant"], "informative_step": row["informative_from"]}
            assert constants == {key: value for key, value in expected.items() if value is not None}
            assert (entry["verdict"], entry["evidence"]) == (row["verdict"], row["evidence"])


def test_a_dataset_is_read_again_when_its_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps(SVOP), encoding="utf-8")
    first = find_dataset(path)
    assert find_dataset(path) is first
    path.write_text(json.dumps(SVOP | {"sentences": [["a", "b"]], "name": "longer than it was"}), encoding="utf-8")
    assert find_dataset(path).V == 2


def test_nothing_heavy_is_imported_before_a_claim_is_asked_for() -> None:
    code = "import sys, marginaudit.reports.bound_constants.plugin; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "scipy", "numba", "cvxpy", "marginaudit.orders"} & set(out.split())


def test_the_page_shows_an_entry_as_it_is_kept(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "bound-constants.md").read_text(encoding="utf-8")
    file = tmp_path / "test_mine.bounds.json"
    file.write_text(text.partition("```json\n")[2].partition("```")[0], encoding="utf-8")
    (key,) = keys_in([file])
    entry = read_entry(key)
    assert entry is not None
    write_entries({key: entry.as_document()})
    assert file.read_text(encoding="utf-8") in text
    ranked = " ".join(verdict.value for verdict in reversed(VERDICTS))
    assert ranked in text.replace(",", "").replace("\n", " ")


# which way is worse


def judged(judgement: Bounded | HiddenConstant) -> Finding:
    return Claim(id="mine", source="s", statement="s", formula="1", assumptions=(), judgement=judgement).judge(
        Run(CASES["example-1"](), Config(steps1=1, steps2=1))
    )


def bounded(measured: Series, **bounds: Any) -> Finding:
    sides: dict[str, Any] = {side: lambda _, t, side=side: np.broadcast_to(bounds[side], t.shape) for side in bounds}
    return judged(Bounded(measure=lambda _: measured, **sides))


@pytest.mark.parametrize(("sign", "log"), [(1.0, False), (-1.0, False), (1.0, True)])
@pytest.mark.parametrize("bounds", [{"upper": 3.0}, {"lower": 1.5}, {"upper": 3.0, "lower": 1.5}])
def test_nearer_to_the_bound_is_worse(bounds: dict[str, float], sign: float, log: bool) -> None:
    if sign < 0:
        bounds = {{"upper": "lower", "lower": "upper"}[side]: -value for side, value in bounds.items()}
    if log:
        bounds = {side: math.log(value) for side, value in bounds.items()}
    values = [1.6, 1.7, 2.0, 2.2, 2.5, 2.9]
    found = [bounded(by_formula([math.log(v) if log else sign * v], log=log), **bounds) for v in values]
    natural = [abs(math.exp(b) if log else b) for b in bounds.values()]
    room = [min(max(v, b) / min(v, b) for b in natural) for v in values]
    for i, old in enumerate(found):
        for j, new in enumerate(found):
            constant = constants_of(old, None)["slack"]
            assert constant.is_worse(constants_of(new, None)["slack"]) == (room[j] < room[i] * (1 - 1e-9)), (i, j)
            assert constant.is_better(constants_of(new, None)["slack"]) == (room[j] > room[i] * (1 + 1e-9)), (i, j)


def test_a_slack_says_nothing_without_a_bound_or_across_zero() -> None:
    assert "slack" not in constants_of(Finding(Verdict.HOLDS, slack=3.0, measured=1.0), None)
    assert "slack" not in constants_of(bounded(by_formula([-1.0]), upper=2.0), None)
    assert "slack" not in constants_of(bounded(by_formula([3.0]), lower=0.0), None)
    assert constants_of(Finding(Verdict.HOLDS, slack=math.inf, constant=math.nan, side="upper"), None) == {}


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("log", [False, True])
def test_the_tightest_constant_is_that_of_brute_force(side: Literal["upper", "lower"], log: bool) -> None:
    step = np.arange(1, 200)
    value = (3 + np.sin(step)) / step
    quantity = series(np.log(value) if log else value, radius=1e-13, step=step, log=log)

    def finding(factor: float) -> Finding:
        shape = (lambda _, t: -np.log(t)) if log else (lambda _, t: 1 / t)
        scaled = Series(
            quantity.value + math.log(factor) if log else quantity.value * factor, quantity.radius, step, log=log
        )
        return judged(HiddenConstant(lambda _: scaled, shape=shape, side=side))

    ratios = value * step
    assert finding(1.0).constant == pytest.approx(ratios.max() if side == "upper" else ratios.min(), rel=1e-12, abs=0)
    one, two = (constants_of(finding(factor), None)["constant"] for factor in (1.0, 2.0))
    assert one.is_worse(two) == (side == "upper")
    assert two.is_worse(one) == (side == "lower")


def least_slack(value: Any, upper: Any, lower: Any, log: bool) -> float:
    """The logarithm of the least room, by the definition."""
    if log:
        return float(min((upper - value).min(), (value - lower).min()))
    return float(min(np.log(upper / value).min(), np.log(value / lower).min()))


@pytest.mark.parametrize("log", [False, True])
def test_error_bars_of_two_runs_explain_no_more_than_the_default_tolerance(log: bool) -> None:
    random = np.random.default_rng(7)
    for _ in range(30):
        value = random.uniform(2, 3, 6)
        radius = 10.0 ** random.uniform(-8, -2, 6)
        upper, lower = value * (1 + 10.0 ** random.uniform(-6, 1, 6)), value / (1 + 10.0 ** random.uniform(-6, 1, 6))
        found = bounded(series(value, radius=radius, log=log), upper=upper, lower=lower)
        assert found.repeats_within is not None
        least = least_slack(value, upper, lower, log)
        ends = [
            least_slack(np.where(np.arange(6) == i, value + 2 * shift * radius, value), upper, lower, log)
            for i in range(6)
            for shift in (-1, 1)
        ]
        assert math.log1p(found.repeats_within) == pytest.approx(least - min(ends), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_error_bars_move_a_hidden_constant_by_no_more_than_the_default_tolerance(
    side: Literal["upper", "lower"],
) -> None:
    random = np.random.default_rng(11)
    step = np.arange(1, 60)
    value = (3 + np.sin(step)) / step
    radius = value * 10.0 ** random.uniform(-6, -3, len(step))

    def constants(value: NDArray[np.float64]) -> dict[str, Constant]:
        measured = Series(value, radius, step)
        judgement = HiddenConstant(lambda _: measured, shape=lambda _, t: 1 / t, side=side)
        return constants_of(judged(judgement), None)

    first, share = constants(value), []
    for _ in range(200):
        now = constants(value + random.choice([-1.99, 1.99], len(step)) * radius)
        for name, constant in first.items():
            assert not constant.is_worse(now[name]), name
            share.append(math.expm1(constant.room - now[name].room) / constant.tolerance)
    assert max(share) > 0.5  # and not much less, either


def test_the_worst_entry_is_the_worst_also_where_the_slack_is_huge() -> None:
    found = bounded(by_formula([1e-30, 1e-20, 1e-40], step=np.array([1, 2, 3])), upper=1.0)
    assert found.worst_step == 2
    assert found.slack == pytest.approx(1e20)


def test_a_bar_that_reaches_zero_leaves_the_slack_unguarded() -> None:
    found = bounded(series([1.0, 0.5], radius=[1e-9, 0.6]), lower=0.25)
    assert found.repeats_within == math.inf
    assert constants_of(found, None) == {}
    assert constants_of(found, 0.1)["slack"].tolerance == 0.1


@pytest.mark.parametrize(
    ("old", "new", "worse"),
    [(0.0, 1e-300, True), (1e-300, 0.0, False), (0.0, 0.0, False), (10**40, 10**41, True), (10**40, 10**40 - 1, False)],
)
def test_zero_and_whole_numbers_of_any_size_compare(old: float, new: float, worse: bool) -> None:
    assert Constant(old, "smaller", 0.01).is_worse(Constant(new, "smaller", 0.01)) is worse
    assert "worse" in Constant(0.0, "smaller", 0.01).change(Constant(1.0, "smaller", 0.01))


@pytest.mark.parametrize("better", ["larger", "smaller"])
def test_without_a_tolerance_the_same_number_is_the_same(better: Literal["larger", "smaller"]) -> None:
    for value in (0.0, 4.0, 10**40):
        old = Constant(value, better, 0.0)
        assert not old.is_worse(old)
        assert not old.is_better(old)
        assert old.is_worse(Constant(4.1, better, 0.0)) is not old.is_better(Constant(4.1, better, 0.0))


@pytest.mark.parametrize(
    "fields", [(-1.0, "larger", 0.1), (1.0, "up", 0.1), (1.0, "larger", -0.1), (True, "larger", 0)]
)
def test_a_constant_that_is_none_is_refused(fields: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Constant(*fields)


def test_verdicts_are_listed_worst_first() -> None:
    assert VERDICTS[0] is Verdict.VIOLATED
    assert VERDICTS[-1] is Verdict.HOLDS
    assert Evidence("proved") is next(iter(Evidence))
