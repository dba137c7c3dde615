"""`audit --trajectory` on sequence classes: Y and Z that others recorded, judged beside our own run."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit import audit
from marginaudit.claims.claim import NotJudged
from marginaudit.claims.row import ReportRow
from marginaudit.claims.series import FORMULA_ROUNDING
from marginaudit.claims.snap import ClassConfig
from marginaudit.claims.snap.appendix_e_attention.theorem3_growth import eq_12 as eq_12_of_growth
from marginaudit.claims.snap.recorded_run import RecordedClassRun
from marginaudit.claims.snap.theorems import CLAIMS
from marginaudit.claims.verdict import Evidence, Finding, Verdict
from marginaudit.orders import InputError
from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.record import Recorder
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.python import Report
from marginaudit.training.weight_files.run_file import RunFile
from tests.claims.snap.samples import on
from tests.command_line import Command
from tests.third_paper.paper import PAPER as THIRD

HOLDS, VIOLATED, OPEN, NOTHING = Verdict.HOLDS, Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE

DATA = CASES["snap-single"]()

STEPS = 10**4

DISTINCT, COMMON = "snap.theorem2.distinct", "snap.theorem2.common"

JUDGED = {
    DISTINCT,
    f"{DISTINCT}.from-zero",
    COMMON,
    f"{COMMON}.from-zero",
    "snap.corollary2",
    "snap.corollary2.any-classes",
    "snap.theorem3.gain",
    "snap.theorem3.growth",
    "snap.theorem3.growth.from-zero",
}
"""What Z decides."""

Change = Callable[[NDArray[np.int64], NDArray[Any]], Any]


@cache
def own(dataset: SequenceClasses = DATA) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Steps and Z of our own run, from Z = 0 on."""
    run = on(dataset, steps=STEPS)
    Z = np.zeros((len(run.steps) + 1, len(dataset.queries), dataset.M))
    query, token = run.path.logits.pairs
    Z[1:, query, place(dataset)[token]] = run.path.z.value
    return np.concatenate([[0], run.steps]), Z


def place(dataset: SequenceClasses) -> NDArray[np.int64]:
    return np.array([dataset.tokens.index(token) for token in dataset.contextual])


def column(token: str) -> int:
    return DATA.tokens.index(token)


def recorded(
    path: Path, change: Change | None = None, dtype: Any = np.float64, dataset: SequenceClasses = DATA
) -> Path:
    """Our own run as a file, its Z changed."""
    step, Z = own(dataset)[0], own(dataset)[1].copy()
    if change is not None:
        change(step, Z)
    recorder = Recorder()
    for t, one in zip(step, Z, strict=True):
        recorder.classes(int(t), np.zeros((dataset.K, dataset.M), dtype=dtype), one.astype(dtype))
    recorder.save(path)
    return path


def judged(path: Path, claim: str) -> Finding:
    return CLAIMS[claim].judge(RecordedClassRun(DATA, ClassConfig(), None, path))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    path = tmp_path_factory.mktemp("runs")
    files = {name: recorded(path / f"{name}.npz", dtype=name) for name in ("float64", "float32")}

    def backwards(step: NDArray[np.int64], Z: NDArray[Any]) -> None:
        Z *= -1

    files["backwards"] = recorded(path / "backwards.npz", backwards)
    return audit("snap-single", claims=[*JUDGED, "snap.lemma13", "snap.lemma6", "snap.lemma5"], trajectory=files)


def of(report: Report, name: str) -> dict[str, ReportRow]:
    return dict(next(one.findings for one in report.audited if one.name == name))


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_our_own_run_recorded_has_the_verdicts_of_our_own(name: str, report: Report) -> None:
    ours, found = of(report, "snap-single"), of(report, name)
    both = [claim for claim in ours if found[claim].verdict is not NOTHING]
    open_ones = {claim for claim in both if found[claim].verdict is OPEN}
    assert open_ones == ({"snap.theorem3.gain"} if name == "float32" else set()), "an equality to 1e-9"
    decided = sorted(set(both) - open_ones)
    assert [found[claim].verdict for claim in decided] == [ours[claim].verdict for claim in decided]
    assert {ours[claim].verdict for claim in JUDGED - set(both)} == {NOTHING}
    assert len(both) == 9
    assert (found["snap.lemma13"].evidence, found["snap.lemma13"].premise) == (Evidence.PROVED, "met")
    for claim in JUDGED & set(both):
        assert (found[claim].premise, found[claim].evidence) == ("carried over", Evidence.FLOAT64)
        assert "The proof also uses" not in found[claim].detail
        assert "sampling noise" in found[claim].detail
        assert "departs" not in found[claim].detail


def test_z_dot_is_the_change_of_a_step(report: Report) -> None:
    ours, found = (of(report, name)[DISTINCT] for name in ("snap-single", "float64"))
    assert ours.measured is not None
    assert found.measured == pytest.approx(ours.measured, rel=0.5, abs=0)


def test_what_the_file_does_not_decide(report: Report, tmp_path: Path) -> None:
    for claim, lacking in (("snap.lemma6", "needs eta_Y"), ("snap.lemma5", "needs eta_Y")):
        found = of(report, "float64")[claim]
        assert (found.verdict, lacking in found.detail) == (NOTHING, True)
    run = RecordedClassRun(DATA, ClassConfig(), None, recorded(tmp_path / "run.npz"))
    grid = replace(CLAIMS["snap.fig6.direction"], id="mine").judge(run)
    assert (grid.verdict, "grid" in grid.detail) == (NOTHING, True)
    for name, said in (("eta_Z", "needs eta_Z"), ("path", "holds z alone")):
        with pytest.raises(NotJudged, match=said):
            getattr(run, name)


CLOSED_FORMS = (
    "snap.lemma5",
    "snap.lemma6",
    "snap.lemma7.gap",
    "snap.lemma7.limit",
    "snap.remark2",
    "snap.remark2.rederived",
    "snap.eq64.rederived",
    "snap.lemma9.scan",
    "snap.lemma9.snap",
    "snap.theorem1.b",
)
"""Statements about h and gamma alone."""


@pytest.mark.parametrize("lr_y", [0.25, 0.9])
def test_a_given_step_size_of_y_is_used(lr_y: float, tmp_path: Path) -> None:
    """Closed forms in t and eta_Y are judged as in our own run of that length; draws are not in the file."""
    given = RecordedClassRun(DATA, ClassConfig(lr_y=lr_y), None, recorded(tmp_path / "run.npz"))
    ours = on(DATA, lr_y=lr_y, steps=STEPS)
    for claim in CLOSED_FORMS:
        found, expected = (CLAIMS[claim].judge(run) for run in (given, ours))
        assert (found.verdict, found.measured, found.premise) == (expected.verdict, expected.measured, "met")
    assert CLAIMS["snap.lemma6"].judge(given).verdict is HOLDS
    drawn = CLAIMS["snap.theorem1.a.any-t"].judge(given)
    assert (drawn.verdict, "classes drawn up to a step" in drawn.detail) == (NOTHING, True)


@pytest.mark.parametrize(("lr_z", "applies"), [(0.05, True), (0.5, False)])
def test_given_step_sizes_decide_assumption_1_c(lr_z: float, applies: bool, tmp_path: Path) -> None:
    path = recorded(tmp_path / "run.npz")
    found = CLAIMS[DISTINCT].judge(RecordedClassRun(DATA, ClassConfig(lr_y=0.5, lr_z=lr_z), None, path))
    assert (found.verdict is HOLDS, "Assumption 1 (c)" in found.detail) == (applies, not applies)


def test_a_run_that_goes_backwards_is_a_finding_about_the_run(report: Report, tmp_path: Path) -> None:
    rows = [row for row in report.rows if row.dataset == "backwards" and row.finding.verdict is VIOLATED]
    assert {row.claim.id for row in rows} >= {DISTINCT, f"{DISTINCT}.from-zero", COMMON, f"{COMMON}.from-zero"}
    assert not any(row.fails or row.finding.refutes or row.as_document()["counterexample"] for row in rows)
    page = report.save(tmp_path / "report").read_text(encoding="utf-8")
    assert 'id="findings"' not in page
    assert "carried over" in page
    header = (tmp_path / "report/trajectories/float64-recorded.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "step,entropy n0,entropy n1,margin n0,margin n1,z a of n0,z c of n1"


def moved(token: str, at: int, by: float) -> Change:
    """Z of a token off from a record on."""

    def change(_: NDArray[np.int64], Z: NDArray[Any]) -> None:
        Z[at:, 0, column(token)] += by

    return change


@pytest.mark.parametrize(("token", "by", "claim"), [("a", -0.1, DISTINCT), ("the", 0.1, COMMON)])
def test_one_wrong_move_is_found_where_it_is(token: str, by: float, claim: str, tmp_path: Path) -> None:
    step, _ = own()
    wrong = judged(recorded(tmp_path / "early.npz", moved(token, 5, by)), claim)
    assert (wrong.verdict, wrong.worst_step) == (VIOLATED, step[5])
    assert f"{token} under q" in wrong.detail
    last = recorded(tmp_path / "late.npz", moved(token, -1, by))
    assert judged(last, claim).verdict is HOLDS, "Assumption 2 fails there"
    assert judged(last, f"{claim}.from-zero").verdict is VIOLATED


def test_both_ends_of_a_span_meet_assumption_2(tmp_path: Path) -> None:
    """A jump out of Assumption 2, or back, is not asked for."""

    def there_and_back(_: NDArray[np.int64], Z: NDArray[Any]) -> None:
        Z[5, 0, [column("a"), column("c")]] += -3, 3

    found = judged(recorded(tmp_path / "run.npz", there_and_back), DISTINCT)
    assert (found.verdict, f"is not met from t = {own()[0][5]} on" in found.detail) == (HOLDS, True)


@pytest.mark.parametrize(("dtype", "verdict"), [(np.float32, OPEN), (np.float64, VIOLATED)])
def test_a_fall_by_one_rounding_of_the_file(dtype: Any, verdict: Verdict, tmp_path: Path) -> None:
    def change(_: NDArray[np.int64], Z: NDArray[Any]) -> None:
        Z[6, 0] = Z[5, 0].astype(dtype)
        Z[6, 0, column("a")] *= 1 - 2.0**-24

    assert judged(recorded(tmp_path / "run.npz", change, dtype), DISTINCT).verdict is verdict


def test_a_z_that_does_not_move_decides_nothing(tmp_path: Path) -> None:
    def still(_: NDArray[np.int64], Z: NDArray[Any]) -> None:
        Z[:4] = 0

    assert judged(recorded(tmp_path / "run.npz", still), DISTINCT).verdict is OPEN


def test_the_first_step_from_zero_is_not_asked_for(tmp_path: Path) -> None:
    def first(step: NDArray[np.int64], Z: NDArray[Any]) -> None:
        assert step[:2].tolist() == [0, 1]
        Z[1] = -Z[1]

    assert judged(recorded(tmp_path / "run.npz", first), f"{DISTINCT}.from-zero").verdict is HOLDS


def test_statements_from_zero_need_that_start(tmp_path: Path) -> None:
    def elsewhere(_: NDArray[np.int64], Z: NDArray[Any]) -> None:
        Z += 0.001

    path = recorded(tmp_path / "run.npz", elsewhere)
    found = judged(path, f"{DISTINCT}.from-zero")
    assert (found.verdict, "about runs from Z = 0" in found.detail) == (NOTHING, True)
    assert judged(path, DISTINCT).verdict is HOLDS


def test_one_record_decides_nothing(tmp_path: Path) -> None:
    recorder = Recorder()
    for t in (0, 1):
        recorder.classes(t, np.zeros((2, DATA.M)), np.zeros((1, DATA.M)))
    recorder.save(tmp_path / "run.npz")
    found = judged(tmp_path / "run.npz", DISTINCT)
    assert (found.verdict, "no two records" in found.detail) == (OPEN, True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_bar_of_a_change_of_ln_f_is_that_of_two_scores_at_two_records(dtype: Any, tmp_path: Path) -> None:
    run = RecordedClassRun(DATA, ClassConfig(), None, recorded(tmp_path / "run.npz", dtype=dtype))
    eq_12: Any = eq_12_of_growth(while_assumption_2=False).parts
    found = eq_12["f"].measure(run)
    token, label = found.label[0].split(" of ")
    n, error = DATA.next_tokens.index(label), run.recorded.z.error
    own = [run.logits.position(n, l) for l in DATA.classes[n].support]  # noqa: E741
    off = error[:, run.logits.position(n, token)] + error[:, own].max(axis=1)
    last = run.recorded.spans[0]
    taken = run.recorded.step[last] - run.recorded.step[last - 1]
    bar = (off[last] + off[last - 1] + 2 * FORMULA_ROUNDING) / taken
    assert found.radius[0] == pytest.approx(bar, rel=1e-9, abs=0)


def test_facts_and_records_of_classes_that_share_all_tokens(tmp_path: Path) -> None:
    """The scan has ended where the margin of every class is ln M."""
    data = SequenceClasses.from_weights("shared", 9, [("m", "q", {"a": 1, "b": 1}), ("n", "q", {"a": 1, "b": 3})])
    recorder = Recorder()
    for t, margins in ((3, (2, 2)), (4, (3, 2)), (6, (2.2, 2.2)), (9, (9, 9))):
        Y = np.zeros((2, 9))
        Y[[0, 1], [data.tokens.index("m"), data.tokens.index("n")]] = margins
        recorder.classes(t, Y, np.zeros((1, 9)))
    recorder.save(tmp_path / "run.npz")
    run = RecordedClassRun(data, ClassConfig(), None, tmp_path / "run.npz")
    found = run.facts()
    assert (found["scanned"], found["first"], found["last"], found["records"]) == (6, 3, 9, 4)
    assert found["entropy"]["m"] == pytest.approx([np.log(2)] * 2)
    header, rows = run.records()
    assert header == ["step", "entropy m", "entropy n", "margin m", "margin n"]
    assert [[row[0], *row[3:]] for row in rows] == [[3, 2, 2], [4, 3, 2], [6, 2.2, 2.2], [9, 9, 9]]
    judged = [claim.judge(run) for claim in CLAIMS.values()]
    assert {one.verdict for one in judged if one.premise == "carried over"} <= {NOTHING, OPEN}


def test_a_paper_without_recorded_runs(tmp_path: Path) -> None:
    source = Source(
        THIRD.kind.cases["three-numbers"](), THIRD, "three-numbers", trajectory=RunFile(tmp_path / "run.npz")
    )
    with pytest.raises(InputError, match=r"run\.npz: got a trajectory of .*, expected one of a paper that judges rec"):
        source.run(THIRD.config(), lambda _: None)


def test_the_command(command: Command, tmp_path: Path) -> None:
    path = recorded(tmp_path / "mine.npz", dtype=np.float32)
    found = command.json("audit", "snap-single", "--steps", "1000", "--trajectory", path, "--claim", DISTINCT)
    assert [(row["run"], row["premise"], row["evidence"]) for row in found["verdicts"]] == [
        (None, "met", "proved"),
        ("mine", "carried over", "float64"),
    ]
    facts = found["datasets"][1]["trajectory"]
    assert (facts["precision"], facts["first"], facts["last"]) == ("float32", 0, STEPS)
    assert json.dumps(found["datasets"][1]["transition"]) == "null"
    assert "--trajectory" not in command.refused("audit", "snap-symmetric", "--trajectory", path)
