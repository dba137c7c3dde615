"""Audits beyond the true steps: what is guaranteed, enclosed, drawn, and not judged."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.ntp import Config, Run, bounds
from marginaudit.claims.ntp.rates import rates_answer
from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, dataset_from_document, dataset_to_document, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.ntp.paper import PAPER
from tests.claims.ntp.samples import GENERAL
from tests.command_line import Command, dataset_file
from tests.measured import judgement, measured
from tests.solutions import known
from tests.twins import scaled, twin

SMALL = free_dataset(V=6, N=14, L=4, seed=5, optimal=(1, 2), non_optimal=(1, 3))
DEGENERATE = free_dataset(V=20, N=100, L=8, seed=4)


@cache
def far(name: str) -> Run:
    data = {"small": SMALL, "degenerate": DEGENERATE}.get(name) or CASES[name]()
    return Run(data, Config(steps2=None))


@pytest.mark.parametrize("name", ["example-1", "small"])
def test_what_is_guaranteed_is_true_of_the_run(name: str) -> None:
    """Margins, other weight and loss of the run, from its scores, lie within what the two theorems guarantee."""
    run = far(name)
    stage, data = run.training.stage2, run.dataset
    kept = stage.step >= 1
    t = stage.step[kept].astype(float)
    relations = data.relations
    margins = np.array(
        [
            stage.score(w, q) - stage.score(j, q)
            for q, w, j in zip(
                relations.query.tolist(), relations.winner.tolist(), relations.loser.tolist(), strict=True
            )
        ]
    ).min(axis=0)[kept]
    guaranteed = bounds.margin(run, t)
    assert np.isfinite(guaranteed).any()
    assert (margins >= guaranteed).all()
    assert (stage.one_minus_cos[kept] <= bounds.direction_bound(run, t)).all()
    assert (stage.log_other_weight[kept] <= bounds.log_other_weight(run, t) + 1e-9).all()
    assert (stage.log_loss[kept] <= bounds.log_loss(run, t) + 1e-9 * np.abs(stage.log_loss[kept])).all()


@pytest.mark.parametrize("claim", ["ntp.theorem2.weight", "ntp.theorem2.loss"])
def test_a_statement_beyond_its_threshold_needs_the_guarantee_to_reach(claim: str) -> None:
    run = far("example-1")
    assert LEDGER[claim].judge(run).verdict is Verdict.HOLDS
    # logarithms: a bound 100 times as negative is not what the theorems guarantee
    found = scaled(LEDGER[claim], "", "upper", 100).judge(run)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.informative_from is not None


def test_proposition_1_is_judged_beyond_the_steps_of_stage_1() -> None:
    run = far("section-7")
    found = LEDGER["ntp.prop1.direction"].judge(run)
    assert (found.verdict, found.informative_from) == (Verdict.HOLDS, 541104)


@pytest.mark.parametrize("name", ["section-7", "degenerate"])
def test_the_rate_is_the_laws(name: str) -> None:
    run = far(name)
    claim = LEDGER["sharp.rate"]
    assert claim.judge(run).verdict is Verdict.HOLDS
    answer = rates_answer(run)
    assert answer["degenerate"] == (name == "degenerate") == bool(answer["without_multiplier"])
    assert answer["constant_measured"] == pytest.approx(answer["constant_predicted"], rel=1e-6, abs=0)
    last = answer["decades"][-1]
    assert last["exponent"] == pytest.approx(last["predicted"], abs=1e-6)
    assert answer["asymptotic_from"] < 10**6
    predicted = judgement("sharp.rate").predicted
    assert twin(claim, "", predicted=lambda run: 1.1 * predicted(run)).judge(run).verdict is Verdict.VIOLATED


def test_constraints_without_a_multiplier_are_tight_and_named() -> None:
    run = far("degenerate")
    exact = solve_kq(DEGENERATE).exact().weights_exact
    named = rates_answer(run)["without_multiplier"]
    for query, winner, loser in named:
        assert exact[query][winner] - exact[query][loser] == 1
        order = DEGENERATE.orders[query]
        assert winner in order.optimal
        assert loser in order.non_optimal


@pytest.mark.parametrize("at", [None, (3,)])
@pytest.mark.parametrize("steps2", [0, 1, 2])
def test_the_printed_floor_is_judged_without_a_step_of_stage_2(steps2: int, at: tuple[int, ...] | None) -> None:
    found = measured(LEDGER["ntp.theorem2.floor"]).judge(Run(SMALL, Config(steps1=900, steps2=steps2, at=at)))
    assert found.verdict is Verdict.VIOLATED
    assert found.measured == measured(LEDGER["ntp.theorem2.floor"]).judge(far("small")).measured
    assert ("loss_at_t" in known(found.witness)) == (at is None)


@pytest.mark.parametrize(
    ("document", "optimizer", "reason"),
    [
        (dataset_to_document(SMALL), "gd", "plain gradient descent has none"),
        (GENERAL, "ngd", "the embeddings are not orthonormal"),
    ],
)
def test_a_stage_1_that_only_steps_follow_is_refused_beyond_1e7_of_them(
    command: Command, tmp_path: Path, document: Any, optimizer: str, reason: str
) -> None:
    """By `train`; an audit judges what needs no training, and says of the rest why there is none."""
    path = dataset_file(tmp_path, document)
    line = command.refused("train", path, "--optimizer", optimizer, "--steps1", "1e9")
    assert line == f"{path}: --steps1 1000000000: got no closed form ({reason}), expected at most 10000000 steps"
    run = Run(dataset_from_document(document), Config(steps1=10**9, optimizer=optimizer))  # type: ignore[arg-type]
    said = f"stage 1 of 1000000000 steps, above 10000000, has no closed form: {reason}"
    assert PAPER.facts(run)["not_trained"] == said
    found = {claim.id: claim.judge(run) for claim in PAPER.claims}
    assert Verdict.BROKEN not in {one.verdict for one in found.values()}
    assert Verdict.HOLDS in {one.verdict for one in found.values()}
    open_ones = [one.detail for one in found.values() if one.verdict is Verdict.INCONCLUSIVE]
    assert all(said in detail for detail in open_ones)
    assert Run(run.dataset, Config(steps1=10**7, optimizer=optimizer)).trainable  # type: ignore[arg-type]
    assert Run(SMALL, Config(steps1=10**9)).trainable
