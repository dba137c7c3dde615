"""Verdicts on the built-in data, planted twins, proofs, figures, the hunt, and the commands on the installed wheel."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from separable.claims import MODULES
from separable.paper import PAPER
from separable.points import CASES, Points
from separable.quantities import direction, loss, margin_gap, times
from separable.run import DescentConfig, DescentRun
from separable.space import PointSpace

from marginaudit import Claim, HiddenConstant, Limit
from marginaudit.claims import Parts, Verdict
from marginaudit.claims.standing import Status
from marginaudit.orders import InputError
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.hunt import hunt

SITE = Path(str(files("separable"))).parent

Run = Callable[..., DescentRun]

BY_ID = {claim.id: claim for claim in PAPER.claims}


VIOLATED = {
    "two-points": {"separable.polynomial"},
    "one-point": {"separable.tight.example"},
    "zero-dual": {"separable.polynomial"},
    "tie": set(),
    "figure-1": {"separable.polynomial"},
    "iris": {"separable.polynomial", "separable.theorem4.unspanned"},
}

SPEAKS_NOT_OF = {
    "two-points": r"theorem3\.residual\.rederived|tight\.direction\.all|tight\.example",
    "one-point": r"theorem3\.residual\.rederived|tight\.(direction\.all|margin.*)|corollary8.*",
    "zero-dual": r"theorem3\.bounded|theorem4.*|theorem5\.(direction|angle)|tight.*(?<!\.all)|corollary8.*",
    "tie": r"theorem3\.residual\.rederived|tight\.(direction|angle|margin|example).*|corollary8.*",
    "figure-1": r"theorem3\.residual\.rederived|tight\.(direction|angle|margin|example).*",
    "iris": r"theorem3\.residual\.rederived|theorem4|tight.*(?<!loss\.rederived)|corollary8.*",
}


@pytest.mark.parametrize("name", CASES)
def test_the_verdicts_on_built_in_data(name: str, run: Run) -> None:
    for claim in PAPER.claims:
        expected = Verdict.VIOLATED if claim.id in VIOLATED[name] else Verdict.HOLDS
        if re.fullmatch(rf"separable\.({SPEAKS_NOT_OF[name]})", claim.id):
            expected = Verdict.NOT_APPLICABLE
        found = claim.judge(run(name))
        assert found.verdict is expected, (claim.id, found)


def twin(claim: Claim) -> Claim:
    """A power of the clock more than is true, a limit that is 30 % off, or the other kind of growth."""
    judgement = BY_ID["separable.theorem4"].judgement if claim.id.endswith("unspanned") else claim.judgement
    if isinstance(judgement, HiddenConstant):
        power = -1.0 if judgement.side == "upper" else 1.0
        power *= 2 if claim.id in ("separable.normalized", "separable.theorem5.angle.all") else 1

        def shape(run: DescentRun, s: Any) -> Any:
            true = judgement.shape(run, s)
            return true + power * np.log(s) if judgement.measure(run).log else true * s**power

        changed = replace(judgement, shape=shape)
    elif isinstance(judgement, Limit):
        changed = replace(judgement, predicted=lambda run: 1.3 * judgement.predicted(run))
    else:
        assert isinstance(judgement, Parts)
        changed = Parts(
            {name: twin(replace(claim, judgement=part)).judgement for name, part in judgement.parts.items()}
        )
    return replace(claim, judgement=changed, implications=())


@pytest.mark.parametrize("name", BY_ID)
def test_a_planted_twin_of_each_is_violated(name: str, run: Run) -> None:
    datasets = ("two-points", "zero-dual", "one-point")
    data = next(data for data in datasets if BY_ID[name].judge(run(data)).verdict is not Verdict.NOT_APPLICABLE)
    assert twin(BY_ID[name]).judge(run(data)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_where_a_dual_is_0_the_residual_is_unbounded_in_every_unit(unit: float) -> None:
    data = Points("zero", ((unit, 0.0), (unit, unit)), (1, 1))
    bounded = replace(BY_ID["separable.theorem3.bounded"], assumptions=("separable",))
    assert bounded.judge(DescentRun(data, DescentConfig(true_steps=10**5))).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_starts_and_losses_change_no_verdict_of_two_points(loss: str) -> None:
    config = DescentConfig(loss=loss, start=(1.0, -0.5), true_steps=10**5)
    of = DescentRun(CASES["two-points"](), config)
    counts = Counter(claim.judge(of).verdict for claim in PAPER.claims)
    assert set(counts) == {Verdict.HOLDS, Verdict.NOT_APPLICABLE, Verdict.VIOLATED}
    assert counts[Verdict.VIOLATED] == 1


HARD: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a zero dual at a small angle": ({"x": ((1.0, 0.0), (1.0, 1e-3))}, {"until": 1e6}),
    "a start that slowly comes back": (
        {
            "x": (
                *((1.0, 0.0, 0.2, 0.0), (1.0, 0.0, 1e-9, 0.1), (1.0, -0.1, -0.1, 0.0), (1.0, 1e-6, -1e-6, 2e-6)),
                *((1.0, 0.0, 0.0, 0.0), (1.0, 0.1, 0.0, 2e-9), (1.0, 2e-9, 0.0, 0.1), (1.0, -0.01, 1e-3, 1e-6)),
            )
        },
        {"start": (1.0, 1000.0, 0.0, 0.0), "share": 0.999, "true_steps": 10**5, "until": 1e5},
    ),
    "a start far outside the span": ({"x": ((1e6, 0.0),)}, {"start": (0.0, 1000.0)}),
    "nearly collinear supports": ({"x": ((1.0, 1e-7), (1.0, -1e-7))}, {"start": (0.0, 1.0)}),
    "a start deep in the right side": ({"x": ((10.0, 0.0), (0.0, 1.0))}, {"start": (1000.0, 0.0)}),
    "a loss below all floats": ({"x": ((1.0, 2.0),)}, {"share": 1e-6, "start": (-1000.0, 1000.0)}),
    "a held-out product of exactly 0": ({"x": ((0.1, 0.3),), "held_x": ((0.3, -0.1),)}, {}),
    "w opposite to w^": ({"x": ((1.0,), (3.0,))}, {"loss": "exponential", "share": 1e-3, "start": (-7.5,)}),
    "error bars wider than what is seen": ({"x": ((0.241,), (0.001078,))}, {"share": 0.1, "start": (-1000.0,)}),
    "a direction that is exact": ({"x": ((3.0, 1.0),)}, {"loss": "exponential", "share": 0.99, "true_steps": 10**4}),
    "a flow that is not followed": ({"x": ((0.0, 3.0, 2.0), (-1.0, -2.0, -2.0))}, {"start": (-1000.0, 1000.0, 0.0)}),
}


@pytest.mark.parametrize("name", HARD)
def test_true_statements_are_not_called_violated_where_numbers_are_hard(name: str) -> None:
    data, config = HARD[name]
    points = Points(name, y=(1,) * len(data["x"]), held_y=(1,) * len(data.get("held_x", ())), **data)
    of = DescentRun(points, DescentConfig(**{"true_steps": 1000, **config}))
    wrong = {Verdict.VIOLATED, Verdict.BROKEN}
    found = {claim.id: claim.judge(of) for claim in PAPER.claims}
    bad = {name: one.detail for name, one in found.items() if one.verdict in wrong}
    false = {claim.id for claim in PAPER.claims if claim.standing.status is Status.REFUTED}
    assert bad.keys() <= false, bad


@pytest.mark.parametrize(
    ("x", "start", "verdict"),
    [
        (((1.0, 0.0), (3.0, 1.0)), (30.0, 0.0), Verdict.VIOLATED),
        (((1.0, 0.0), (2.0, 1.0), (2.0, -1.0)), (0.0, 0.0), Verdict.INCONCLUSIVE),
    ],
)
def test_a_limit_that_is_missed_by_less_than_error_bars_is_not_called_reached(
    x: Any, start: tuple[float, float], verdict: Verdict
) -> None:
    """By 4e-27 for the first: sum over t of (t + exp(30))^-3, times eta."""
    of = DescentRun(Points("far", x, (1,) * len(x), start=start), DescentConfig(true_steps=1000))
    assert BY_ID["separable.theorem4.unspanned"].judge(of).verdict is verdict


@pytest.mark.parametrize(("length", "across"), [(1.0, 1.0), (2.0, -3.0)])
def test_the_margin_gap_of_one_point_is_of_the_order_of_the_angle(length: float, across: float) -> None:
    of = DescentRun(Points("one", ((length, 0.0),), (1,), start=(0.0, across)), DescentConfig(true_steps=1000))
    assert times(margin_gap, 2)(of).value[-1] == pytest.approx(length**3 * across**2 / 2, rel=2e-3)


def test_a_path_without_a_flow_says_why() -> None:
    config, said = DescentConfig(share=1e-4, true_steps=1000), []
    PAPER.train(CASES["iris"](), config, lambda _: None, said.append, "iris")
    assert re.fullmatch(r"iris: no error bar is known for the flow after 1000 steps, L = \S+, eta R\^2 L = \S+", *said)
    found = BY_ID["separable.theorem3.residual"].judge(DescentRun(CASES["iris"](), config))
    assert "no error bar is known for the flow" in found.detail


def test_a_step_size_that_is_too_large_is_no_case_for_the_theorems() -> None:
    of = DescentRun(CASES["two-points"](), DescentConfig(share=1.5))
    found = BY_ID["separable.lemma1"].judge(of)
    assert (found.verdict, found.witness) == (Verdict.NOT_APPLICABLE, {"step_size": 3.0, "below": 2.0})


def test_a_start_of_another_dimension_is_refused() -> None:
    with pytest.raises(InputError, match="two-points: start: got 1 number, expected 2, one a coordinate"):
        DescentRun(CASES["two-points"](), DescentConfig(start=(1.0,)))


def test_error_bars_carry_over(run: Run) -> None:
    of, moved = run("zero-dual"), DescentRun(CASES["zero-dual"]())
    path = of.path
    shift = path.radius[:, None] * np.array([0.6, -0.8])
    moved.path = replace(path, rho=path.rho + shift)
    for measure in (direction, margin_gap, loss):
        before, after = measure(of), measure(moved)
        assert (np.abs(after.value - before.value) <= before.radius).all()
        assert before.radius[-1] < 1e5 * np.abs(after.value - before.value)[-1] + 1e-12


def test_proofs_are_where_the_standings_say() -> None:
    text = files("separable").joinpath("proofs/proofs-separable.md").read_text("utf-8")
    anchors = {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^## (.*)$", text, re.M)}
    for claim in PAPER.claims:
        if claim.standing.status is Status.PROVED:
            page, anchor = (claim.standing.proof or "").split("#")
            assert page == "docs/proofs-separable.md"
            assert anchor in anchors, claim.id
            assert f"`{claim.id}`" in text or claim.id in anchor or claim.id.split(".", 2)[-1] in text, claim.id


def test_refuted_statements_have_a_counterexample_that_violates_them() -> None:
    refuted = [claim for claim in PAPER.claims if claim.standing.status is Status.REFUTED]
    assert [claim.id for claim in refuted] == [
        *("separable.theorem4.unspanned", "separable.tight.example", "separable.polynomial")
    ]
    for claim in refuted:
        data = smallest_counterexample(PAPER, claim)
        assert data is not None
        found = claim.judge(DescentRun(data, DescentConfig(true_steps=10**5)))
        assert (found.verdict, found.refutes) == (Verdict.VIOLATED, True)


def test_the_hunt_finds_data_that_are_not_generic_and_have_an_unbounded_residual() -> None:
    found = hunt(BY_ID["separable.theorem3.bounded"], PAPER, without="generic", seconds=60)
    assert found.dataset is not None
    assert found.dataset.N == 2
    assert found.dataset.svm.zero


def test_smaller_points_are_smaller() -> None:
    space, data = PointSpace(), CASES["zero-dual"]()
    assert all(space.size(one) < space.size(data) for one in space.reductions(data))
    assert len(list(space.reductions(data))) == 7
    more = replace(data, held_x=((2.0, -1.0),), held_y=(1,), start=(0.0, -3.0))
    assert all(space.size(one) < space.size(more) for one in space.reductions(more))
    assert len(list(space.reductions(more))) == 7 + 2 + 2 + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BY_ID if BY_ID[name].standing.status is Status.REFUTED])
def test_each_refuted_statement_is_found_by_its_own_hunt(name: str) -> None:
    found = hunt(BY_ID[name], PAPER, seconds=60)
    assert found.dataset is not None
    assert BY_ID[name].judge(DescentRun(found.dataset, DescentConfig())).verdict is Verdict.VIOLATED


def test_a_hunt_without_the_step_size_takes_long_steps() -> None:
    """The assumption is on settings, so that no dataset breaks it."""
    found = hunt(BY_ID["separable.lemma1"], PAPER, without="step", seconds=5)
    assert found.decided > 0


@pytest.mark.parametrize("figure", PAPER.figures_of("paper").values(), ids=lambda figure: figure.name)
def test_figures_are_drawn(figure: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("separable.figures.DescentConfig", lambda **_: DescentConfig(true_steps=1000, until=50))
    drawn = figure.draws()  # type: ignore[attr-defined]
    assert {len(axes.lines) > 0 for axes in drawn.axes} == {True}
    assert drawn.axes[-1].get_xlabel() in ("t", "1/log t")


def test_claims_are_one_file_a_theorem() -> None:
    package = Path(str(files("separable")))
    assert {Path(str(module.__file__)).name for module in MODULES} | {"__init__.py", "words.py"} == {
        path.name for path in (package / "claims").glob("*.py")
    }


def command(folder: Path, *words: str) -> Any:
    environment = os.environ | {"PYTHONPATH": str(SITE), "XDG_CACHE_HOME": str(folder), "SOURCE_DATE_EPOCH": "0"}
    answer = subprocess.run(
        [sys.executable, "-m", "marginaudit", *words, "--json"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_the_commands_know_the_installed_package(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,b,y\n1,0,1\n-1,-1,-1\n", encoding="utf-8")
    found = command(tmp_path, "classify", "mine.csv")
    assert (found["N"], found["assumptions"]["generic"]["witness"]) == (2, {"zero_duals": {"1": ["0", "1"]}})
    solved = command(tmp_path, "solve", "mine.csv", "--certificate", "proof.json")["svm"]
    assert (solved["weights_exact"], solved["multipliers_exact"]) == (["1", "0"], {"0": "1"})
    assert command(tmp_path, "verify", "mine.csv", "proof.json")["confirmed"] is True


@pytest.mark.slow
def test_an_audit_of_a_table_with_the_installed_package(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("a,b,y\n1,0,1\n-1,-1,-1\n", encoding="utf-8")
    found = command(
        tmp_path, *("audit", "mine.csv", "--claim", "separable.theorem3.*", "--true-steps", "1000", "--jobs", "1")
    )
    assert {row["claim"]: row["verdict"] for row in found["verdicts"]} == {
        "separable.theorem3.residual": "holds",
        "separable.theorem3.bounded": "not-applicable",
        "separable.theorem3.residual.rederived": "holds",
        "separable.theorem3.direction": "holds",
    }
    assert "norm_squared" in (tmp_path / "audit-report" / "report.html").read_text("utf-8")
    assert (tmp_path / "audit-report" / "proofs" / "proofs-separable.html").is_file()
