"""`audit --trajectory`: runs that others recorded, judged beside our own."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit import audit
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.recorded_run import RecordedRun
from marginaudit.claims.row import ReportRow
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.record import Recorder
from marginaudit.reports import LEDGER
from marginaudit.reports.audit.sources import named_trajectory
from marginaudit.reports.command.verdicts import print_verdicts
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.python import Report
from marginaudit.training.ntp import train
from tests.claims.ntp.samples import unbroken
from tests.command_line import Command
from tests.training.ntp.recorded.program import Mistake, run, stage2_gradient

DATA = CASES["example-1"]()
SHORT = {"steps1": 150, "steps2": 100}
SILENT = {Verdict.INCONCLUSIVE, Verdict.VACUOUS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    steps, lr = (150, 100), (0.1, 0.025)
    run(DATA, np.float64, steps, lr).save(path / "double.npz")
    run(DATA, np.float32, steps, lr).save(path / "single.npz")
    run(DATA, np.float64, steps, lr, Mistake(optimizer="adam", real_lr2=0.025), every=7).save(path / "adam.npz")
    return path


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    return audit(
        "example-1", config=SHORT, trajectory={name: folder / f"{name}.npz" for name in ("double", "single", "adam")}
    )


def recorded(
    path: Path, stage1: Mapping[int, Any], stage2: Mapping[int, Any], data: Dataset = DATA, lr1: float = 0.1
) -> RecordedRun:
    """A file of the weights after these steps, read back."""
    recorder = Recorder(lr1, 0.025)
    for t, W_ov in stage1.items():
        recorder.stage1(t, W_ov)
    for t, W_kq in stage2.items():
        recorder.stage2(t, W_kq)
    recorder.save(path / "run.npz")
    return RecordedRun(data, Config(), None, path / "run.npz")


def of(report: Report, name: str) -> dict[str, ReportRow]:
    return dict(next(one.findings for one in report.audited if one.name == name))


def test_comparing_the_records_is_reported_by_steps(folder: Path) -> None:
    reached: list[int] = []
    config = Config(steps1=150, steps2=100)
    assert RecordedRun(DATA, config, reached.append, folder / "double.npz").conformity.conforms
    assert reached == sorted(reached)
    assert reached[0] == 0
    assert 240 < reached[-1] <= 150 + 100


@pytest.mark.parametrize("name", ["double", "single"])
def test_our_own_run_recorded_has_the_verdicts_of_our_own(name: str, report: Report) -> None:
    own, others = of(report, "example-1"), of(report, name)
    both = [claim for claim in own if not {own[claim].verdict, others[claim].verdict} & SILENT]
    assert {claim: others[claim].verdict for claim in both} == {claim: own[claim].verdict for claim in both}
    assert len(both) > 35
    assert not any(found.premise == "carried over" for found in others.values())
    assert {found.verdict for found in others.values()} <= {one.verdict for one in own.values()} | SILENT
    proved = [claim for claim in both if own[claim].evidence is Evidence.PROVED]
    assert all(others[claim].evidence is Evidence.PROVED for claim in proved)


def test_what_is_measured_is_of_the_file(report: Report) -> None:
    own, other = (of(report, name)["ntp.theorem1.norm"] for name in ("example-1", "single"))
    assert other.measured != own.measured
    assert other.measured == pytest.approx(own.measured, rel=1e-5, abs=0)


def test_no_proof_speaks_of_a_run_that_departs(report: Report) -> None:
    found = of(report, "adam")
    own = of(report, "example-1")
    carried = {claim for claim, one in found.items() if one.premise == "carried over"}
    assert all(found[claim].evidence is Evidence.FLOAT64 and not found[claim].refutes for claim in carried)
    assert found["ntp.lemma6"].verdict is Verdict.VIOLATED
    assert "not known" in found["ntp.lemma6"].detail
    for claim in ("ntp.theorem2.weight", "ntp.lemma7", "sharp.theorem1.squared"):
        assert own[claim].beyond_the_run
        assert own[claim].verdict is Verdict.HOLDS
        assert found[claim].verdict is Verdict.INCONCLUSIVE, "beyond the run a proof alone decides"
    for claim in ("ntp.prop2.closed-form", "ntp.gradient.kq", "ntp.example1", "ntp.lemma4"):
        assert claim not in carried
        assert (found[claim].verdict, found[claim].evidence) == (own[claim].verdict, own[claim].evidence)
    frame = report.to_dataframe()
    assert set(frame[frame["premise"] == "carried over"]["claim"]) == carried
    assert set(frame["run"].dropna()) == {"double", "single", "adam"}
    [row] = [row for row in report.rows if row.claim.id == "ntp.lemma6" and row.dataset == "adam"]
    assert (row.fails, row.standing.status.value, row.as_document()["counterexample"]) == (False, "proved", None)


def test_the_page_does_not_count_what_is_carried_over(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = report.save(tmp_path / "report").read_text(encoding="utf-8")
    rows = json.loads((tmp_path / "report/report.json").read_text(encoding="utf-8"))["verdicts"]
    failing = {row["claim"] for row in rows if row["verdict"] == "violated" and row["premise"] == "met"}
    section = page.split('id="findings"')[1].split("</section>")[0]
    assert all(f'href="#{claim}"' in section for claim in failing)
    assert "ntp.lemma6" not in failing
    assert "violated</span> on <bdi>adam" not in section
    assert "departs on adam at stage 2" in page
    assert f"{report.carried_over} verdicts are carried over" in page.split('<dl class="made">')[0]
    assert f"; {report.carried_over} carried over" in repr(report)
    assert "violated (carried over)" in repr(report)
    assert "float64, carried over" in report._repr_html_()
    monkeypatch.setenv("COLUMNS", "80")
    print_verdicts(report, one_by_one=True)
    narrow = " ".join(capsys.readouterr().out.split())
    rows_of = [row for row in report.rows if row.claim.id == "ntp.theorem1.norm"]
    carried = sum(row.finding.premise != "met" for row in rows_of)
    assert 0 < carried < len(rows_of)
    assert f"; {carried} carried over" in narrow
    assert f"; {report.carried_over} carried over to runs" in narrow
    report.save(tmp_path / "exported", "markdown")
    assert "| float64, carried over |" in (tmp_path / "exported/tables/verdicts.md").read_text(encoding="utf-8")
    assert (tmp_path / "report/figures/example-1-runs.svg").is_file()
    header = (tmp_path / "report/verdicts.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith("claim,dataset,run,premise,")


def test_the_command_and_its_exit_status(folder: Path, command: Command) -> None:
    options = ("--steps1", "150", "--steps2", "100", "--trajectory", f"other={folder / 'adam.npz'}")
    found = command.json("audit", "example-1", *options, "--claim", "ntp.lemma6", "--fail-on", "violated")
    rows = [{name: row[name] for name in ("dataset", "run", "premise", "verdict")} for row in found["verdicts"]]
    assert rows == [
        {"dataset": "example-1", "run": None, "premise": "met", "verdict": "holds"},
        {"dataset": "other", "run": "other", "premise": "carried over", "verdict": "violated"},
    ]
    assert found["datasets"][1]["trajectory"]["departs_at"]["stage"] == 2
    assert found["datasets"][1]["sha256"] == hashlib.sha256((folder / "adam.npz").read_bytes()).hexdigest()
    said = command("audit", "example-1", *options, "--claim", "ntp.lemma6").out
    assert "What fails" not in said
    assert "; 1 carried over" in said
    grid = command("table", "direction", "example-1", *options).out
    assert "other: stage 2" in grid
    both = grid[grid.index("All runs: stage 2") :].splitlines()
    assert both[1].split() == ["t", "example-1", "other", "Theorem", "1", "Theorem", "1,", "sharper"]
    assert [row.split()[0] for row in both[2:] if row] == ["2", "10", "100"]


def test_a_file_whose_path_has_an_equals_sign_is_found(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a=b.npz"
    path.write_bytes((folder / "adam.npz").read_bytes())
    assert named_trajectory(str(path)) == ("a=b", path)
    assert named_trajectory(f"x={path}") == ("x", path)


def test_the_table_has_the_last_recorded_step(tmp_path: Path) -> None:
    (table, *_) = PAPER.tables
    found = table.of(recorded(tmp_path, {0: np.zeros((4, 4))}, {123: np.eye(4)}))
    assert [row["step"] for row in found["stage2"]] == [123]


def test_what_is_refused(folder: Path, command: Command, tmp_path: Path) -> None:
    whole = (folder / "double.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    for arguments, line in (
        (("example-1", "free-20"), "double.npz: got a trajectory of 2 datasets, expected one DATASET"),
        (("section-7",), "double.npz: W_ov: got shape (151, 4, 4), expected (n, 20, 20)"),
        (("snap-single",), "double.npz: got step1 151, step2 101, W_ov 151x4x4, W_kq 101x4x4, lr1 a number"),
    ):
        assert line in command.refused("audit", *arguments, "--trajectory", folder / "double.npz")
    assert "cut.npz: got " in command.refused("table", "direction", "example-1", "--trajectory", tmp_path / "cut.npz")
    assert "--trajectory: got '=x', expected [NAME=]FILE" in command.refused("audit", "example-1", "--trajectory", "=x")
    with pytest.raises(InputError, match=r"no\.npz: got No such file"):
        audit("example-1", trajectory="no.npz")
    with pytest.raises(InputError, match="expected n to be a function"):
        audit([["S", "V", "O", "P"]], trajectory=folder / "double.npz")


@pytest.mark.parametrize("name", ["double", "single", "adam"])
@pytest.mark.parametrize(
    ("steps1", "steps2"),
    [((), (0, 7, 14, 63)), ((7, 14, 147), ()), ((), (63,)), ((0,), (0,)), ((14, 21), (14, 21))],
    ids=["stage 2 alone", "stage 1 alone", "one record", "the start alone", "no start"],
)
def test_odd_trajectories_break_nothing(
    steps1: tuple[int, ...], steps2: tuple[int, ...], name: str, folder: Path, tmp_path: Path
) -> None:
    with np.load(folder / f"{name}.npz") as file:
        W_ov, W_kq = (dict(zip(file[step], file[W], strict=True)) for step, W in (("step1", "W_ov"), ("step2", "W_kq")))
    run = recorded(tmp_path, {t: W_ov[t] for t in steps1}, {t: W_kq[t] for t in steps2})

    found = unbroken(run)
    if not steps1:
        assert "no stage 1" in found["ntp.prop1.norm"].detail
    if not steps2:
        assert run.config.steps2 == 0
        assert found["ntp.theorem1.norm"].verdict is not Verdict.VIOLATED
        assert "no stage 2" in found["ntp.theorem1.norm"].detail
    for table in PAPER.tables:
        table.captioned("odd", table.of(run))
    json.dumps(finite(PAPER.facts(run)))
    PAPER.records(run)


def test_weights_that_rounding_keeps_at_0_have_no_direction(tmp_path: Path) -> None:
    """P is 0 or 1 in float64, and so eq. 6 is 0."""
    data = Dataset("two", ("a", "b"), (Sample(("a", "a", "b"), "b"),), (1,), next_token={"a": "b", "b": "a"})
    stage1 = {t: 1e5 * t * np.array([[-0.5, 0.5], [0.5, -0.5]]) for t in (0, 1)}
    on = recorded(tmp_path, stage1, dict.fromkeys(range(4), np.zeros((2, 2))), data, lr1=1e5)
    assert not on.departs
    found = unbroken(on)
    assert "measurement is inconclusive" in found["ntp.lemma6"].detail


def test_a_run_whose_last_record_is_not_decided_is_judged_on_its_weights(tmp_path: Path) -> None:
    run(DATA, np.float64, (100, 60), (0.1, 0.025)).save(tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as whole:
        arrays = dict(whole) | {"step2": np.array([0, 30_000]), "W_kq": whole["W_kq"][:2]}
    np.savez(tmp_path / "far.npz", **arrays)
    far = RecordedRun(DATA, Config(), None, tmp_path / "far.npz")
    assert far.undecided
    found = LEDGER["ntp.lemma6"].judge(far)
    assert (found.verdict, found.premise) == (Verdict.VIOLATED, "carried over")
    assert found.measured == pytest.approx(0.025, rel=1e-9, abs=0)


def test_bounds_that_are_attained_allow_for_the_rounding_of_who_recorded(tmp_path: Path) -> None:
    """Norms and margins of a turned float32 run are off by more than float64 rounds."""
    data = replace(DATA, embedding=np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0])
    run(data, np.float32, (6, 6), (0.4, 0.4)).save(tmp_path / "run.npz")
    turned = RecordedRun(data, Config(), None, tmp_path / "run.npz")
    assert not turned.departs
    for claim in ("ntp.lemma6", "ntp.theorem1.norm", "ntp.prop1.norm", "sharp.stage1"):
        found = LEDGER[claim].judge(turned)
        assert found.verdict not in {Verdict.VIOLATED, Verdict.BROKEN}, (claim, found.detail)


def test_weights_of_no_training_at_all_make_nothing_true(tmp_path: Path) -> None:
    """Margins of a random W_ov differ and are below 0; records are farther apart than steps that are compared."""
    rng = np.random.default_rng(0)
    stage1, stage2 = ({t: t * rng.normal(size=(4, 4)) for t in steps} for steps in ((0, 1, 20), (0, 50, 10**9)))
    found = unbroken(recorded(tmp_path, stage1, stage2))
    carried = {claim: one for claim, one in found.items() if one.premise == "carried over"}
    assert len(carried) > 20
    assert {one.verdict for one in carried.values()} <= SILENT | {Verdict.VIOLATED}
    assert "margins of its W_ov" in found["ntp.theorem2.floor"].detail


def test_a_w_ov_that_the_run_need_not_have_had_decides_nothing(folder: Path, tmp_path: Path) -> None:
    """Adam's W_kq alone, of a run whose W_ov was after 150 steps and not Algorithm 1's after 900."""
    with np.load(folder / "adam.npz") as file:
        W_kq = dict(zip(file["step2"].tolist(), file["W_kq"], strict=True))
    alone = recorded(tmp_path, {}, W_kq)
    found = unbroken(alone)
    for claim in ("ntp.theorem2.floor", "ntp.theorem3.prediction"):
        assert (found[claim].verdict, found[claim].measured) == (Verdict.INCONCLUSIVE, None)
        assert "no W_ov" in found[claim].detail
    assert found["ntp.lemma6"].verdict is Verdict.VIOLATED
    assert np.isnan(alone.trained.stage2.loss).all()
    (table, *_) = PAPER.tables
    assert {row["step"] for row in table.of(alone)["stage2"]} == {100}


def test_what_needs_no_w_ov_is_judged_where_w_ov_is_trained_too(tmp_path: Path) -> None:
    """One step of W_ov and one of W_kq in turn, on the same loss: margins of W_ov differ."""
    W_ov, W, stage1, stage2 = np.zeros((4, 4)), np.zeros((4, 4)), {}, {}
    for t in range(60):
        stage1[t], stage2[t] = W_ov, W
        G, G_ov = stage2_gradient(DATA, W_ov, W, Mistake())
        W_ov = W_ov - 0.1 * G_ov / np.linalg.norm(G_ov)
        W = W - 0.025 * G / (np.linalg.norm(G) or 1)
    found = unbroken(recorded(tmp_path, stage1, stage2))
    assert "frozen" in found["ntp.theorem2.floor"].detail
    for claim, verdict in (("ntp.theorem1.norm", Verdict.HOLDS), ("ntp.theorem1.direction", Verdict.VACUOUS)):
        assert (found[claim].verdict, found[claim].premise) == (verdict, "carried over")


def test_no_proof_speaks_of_a_run_that_rounding_hides(tmp_path: Path) -> None:
    W_ov = train(DATA, steps1=900, steps2=0, lr1=0.1).W_ov
    astray = np.random.default_rng(0).normal(size=(4, 4))
    later = W_ov + 0.1 * astray / np.linalg.norm(astray)
    run = recorded(tmp_path, {900: W_ov.astype(np.float32), 901: later.astype(np.float32)}, {})
    found = LEDGER["ntp.prop1.norm"].judge(run)
    assert (found.premise, found.evidence) == ("carried over", Evidence.FLOAT64)
    assert "2 records 1 " in found.detail


def test_stage_2_is_measured_where_stage_1_departs_with_one_margin(tmp_path: Path) -> None:
    """Of another step size stage 1 is on the ray of W*_ov all the same."""
    trained = train(DATA, steps1=50, steps2=20, lr1=0.2, lr2=0.025)
    run = recorded(tmp_path, {50: trained.W_ov}, {20: trained.W_kq})
    found = LEDGER["ntp.theorem1.norm"].judge(run)
    assert found.measured == pytest.approx(np.linalg.norm(trained.W_kq), rel=1e-12, abs=0)
    floor, margin = LEDGER["ntp.theorem2.floor"].judge(run), trained.margin
    assert floor.measured == pytest.approx(np.log1p((DATA.V - 1) * np.exp(-margin)), rel=1e-9, abs=0)
    upper = LEDGER["ntp.corollary1.upper"].judge(run)
    assert (upper.verdict, upper.witness) == (Verdict.INCONCLUSIVE, None)
    assert f"measured {margin:.4g}" in upper.detail


SPARSE = (
    {"at": (0,)},
    {"steps2": 0},
    {"steps2": 1},
    {"steps1": 500, "steps2": 5, "at": (500,)},
    {"steps1": 2, "steps2": 150, "at": (150,)},
)


def test_the_premise_is_asked_before_the_steps(tmp_path: Path) -> None:
    """Of plain descent, and of records that depart, no statement on steps is proved, whichever steps there are."""
    plain = [Run(DATA, Config(**({"steps1": 150, "steps2": 150} | at), optimizer="gd")) for at in ({}, *SPARSE)]
    stage1 = {t: t * np.eye(4) for t in (0, 1)}
    departing = [recorded(tmp_path, stage1, {t: t * np.eye(4) for t in steps}) for steps in ((0,), (0, 1), (0, 1, 15))]
    on_steps = 0
    for claim in PAPER.claims:
        full, *sparse = (claim.judge(run) for run in plain)
        assert all((one.verdict, one.evidence) == (full.verdict, full.evidence) for one in sparse), claim.id
        if full.verdict is Verdict.NOT_APPLICABLE:
            on_steps += 1
            assert not any(claim.judge(run).evidence is Evidence.PROVED for run in departing), claim.id
    assert on_steps == 40
