"""What is trained and recorded for a dataset, and what a run says of itself."""

import math
from dataclasses import replace
from typing import Any

import flint
import numpy as np
import pytest

from marginaudit.claims import Evidence, Verdict
from marginaudit.claims.ntp.algorithm1 import dense_steps, true_steps
from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.run import once_a_run
from marginaudit.orders.ntp import CASES, Dataset, Sample, broken, dataset_from_document, free_dataset
from marginaudit.reports import LEDGER
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.reports.ntp.training import train
from marginaudit.training.ntp.far.horizon import LATE_SWITCH, MOST_TRUE_STEPS
from marginaudit.training.ntp.stage1 import STAGE1_STEPS
from tests.claims.ntp.samples import solver_fails
from tests.oracle.descent import stage1
from tests.oracle.problem import problem
from tests.solutions import known

SMALL = free_dataset(V=6, N=14, L=4, seed=5, optimal=(1, 2), non_optimal=(1, 3))
CYCLE = broken(SMALL, "well_defined_orders")


def example(**config: Any) -> Run:
    return Run(CASES["example-1"](), Config(**({"steps1": 5, "steps2": 4} | config)))


def test_every_step_is_recorded_then_a_hundred_a_decade_then_twenty() -> None:
    assert dense_steps(5) == (0, 1, 2, 3, 4, 5)
    assert dense_steps(0) == (0,)
    assert dense_steps(2_000) == tuple(range(2_001))
    long = np.array(dense_steps(10**9, every=100))
    assert long[:101].tolist() == list(range(101))
    assert long[-1] == 10**9
    for start, end, a_decade in ((100, LATE_SWITCH, 100), (LATE_SWITCH, 10**9, 20)):
        entries = math.ceil(a_decade * math.log10(end / start)) + 1
        assert ((long >= start) & (long <= end)).sum() == pytest.approx(entries, abs=8)
        ratios = long[(long > start) & (long < end)][1:] / long[(long > start) & (long < end)][:-1]
        assert np.median(ratios) == pytest.approx(10 ** (1 / a_decade), rel=2e-3, abs=0)
    for last, listed in ((9_999, {2, 10, 100, 900, 1000}), (10**6, {10**4, 10**5, 10**6})):
        assert listed <= set(dense_steps(last, every=5))
    assert 1000 not in dense_steps(999, every=5)


def test_how_long_stage_2_is() -> None:
    assert Run(SMALL, Config(steps2=None)).steps2 == 10**18
    assert Run(SMALL, Config(steps2=7)).steps2 == 7
    assert Run(SMALL, Config(steps2=None, certify=9)).steps2 == 9
    assert Run(SMALL, Config(steps2=50, certify=9)).steps2 == 50
    for config, steps in (
        (Config(steps2=None), 900),
        (Config(steps2=MOST_TRUE_STEPS), MOST_TRUE_STEPS),
        (Config(steps2=MOST_TRUE_STEPS + 1), 900),
    ):
        assert Run(CYCLE, config).steps2 == steps
        assert Run(SMALL, replace(config, optimizer="gd")).steps2 == steps
    assert str(Run(CYCLE, Config(steps2=None)).stopped).startswith("no fast-forward ")
    assert Run(CYCLE, Config(steps1=3, steps2=5)).stopped is None
    assert Run(SMALL, Config(steps1=3, steps2=5)).stopped is None


def test_how_many_steps_are_taken_one_by_one() -> None:
    assert true_steps(Config(steps1=7, steps2=5)) == 12
    assert true_steps(Config(steps1=7, steps2=None)) == 7 + LATE_SWITCH
    assert true_steps(Config(steps1=10**15, steps2=0)) == STAGE1_STEPS


def test_of_many_pairs_fewer_steps_are_recorded_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences of 2 and 3 different tokens are 5 scores a step."""
    samples = (Sample(("b", "a"), "a"), Sample(("a", "b", "c", "b"), "b"))
    data = Dataset("five", ("a", "b", "c"), samples, (1, 1), next_token={"a": "b", "b": "a", "c": "c"})

    def one_by_one(scores: int) -> int:
        monkeypatch.setattr("marginaudit.claims.ntp.algorithm1.MOST_SCORES", scores)
        step = Run(data, Config(steps1=3000, steps2=2)).trained.stage1.step
        return int(np.argmin(np.diff(step) == 1))

    assert one_by_one(5 * 700) == 700
    assert one_by_one(5 * 700 + 4) == 700
    assert one_by_one(5 * 99) == 100
    assert one_by_one(5 * 5000) == 2000


def test_the_run_of_another_length_shares_what_does_not_depend_on_it() -> None:
    on = example()
    kq, norm = on.kq, on.norm_kq
    other = on.with_steps1(77)
    assert (other.config.steps1, other.config.steps2, other.norm_kq) == (77, 4, norm)
    assert other.kq is kq
    assert on.config.steps1 == 5
    on.assumption("injective")
    assert other.assumption("injective") is on.assumption("injective")


def test_stage_1_goes_on_by_its_closed_form_where_that_is_proved() -> None:
    on = example()
    assert (on.stage1_steps.step[-1], on.stage1.step[-1]) == (5, 10**18)
    beyond = on.stage1.step > 5
    np.testing.assert_allclose(on.stage1.norm[beyond], 0.1 * on.stage1.step[beyond].astype(float), rtol=1e-14)
    assert on.stage1.step.tolist() == sorted(set(on.stage1.step.tolist()))
    assert on.stage1.step[6] == 6
    assert example(at=(1, 4)).stage1.step.tolist() == [1, 4]
    turned = Run(broken(SMALL, "orthonormal"), Config(steps1=5, steps2=2))
    assert turned.stage1.step[-1] == 5
    assert turned.stage1_steps is turned.training.stage1
    alone = Run(Dataset.from_sentences("alone", ["aa"]), Config(steps1=3, steps2=0))
    assert alone.stage1.step[-1] == 3
    two = Dataset("two", ("a", "b"), (Sample(("b", "a"), "a"),), (1,), next_token={"a": "b", "b": "a"})
    assert Run(two, Config(steps1=3, steps2=0)).stage1.step[-1] == 10**18


def test_what_is_enclosed_and_why_not() -> None:
    on = example(steps2=8, certify=6)
    assert known(on.enclosure).step.tolist() == list(range(7))
    assert on.not_enclosed is None
    assert example().not_enclosed == "not asked for"
    assert example().enclosure is None
    late = example(steps2=8, certify=3, at=(5,))
    assert "no step up to 3" in str(late.not_enclosed)
    assert "plain" in str(example(certify=3, optimizer="gd").not_enclosed)
    assert known(example(steps2=8).first_steps).step.tolist() == list(range(9))
    many = Dataset(
        "many",
        tuple(map(str, range(70))),
        (Sample(tuple(map(str, range(65))), "1"),),
        (1,),
        next_token={str(i): str((i + 1) % 70) for i in range(70)},
    )
    assert Run(many, Config(steps1=2, steps2=2)).first_steps is None


def test_a_solver_that_fails_leaves_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    solver_fails(monkeypatch)
    on = example()
    assert on.solved("kq") is None
    assert on.solved("ov") is on.ov
    found = LEDGER["ntp.lemma6"].judge(on)
    assert (found.verdict, found.detail) == (Verdict.INCONCLUSIVE, "Not decided: no.")


def test_a_quantity_is_computed_once_for_each_of_its_arguments() -> None:
    computed = []

    @once_a_run
    def scaled(run: Run, by: int = 1) -> int:
        computed.append(by)
        return by * run.steps2

    run = example()
    assert [scaled(run), scaled(run, 3), scaled(run, by=2), scaled(run, by=2), scaled(run, 3)] == [4, 12, 8, 8, 12]
    assert computed == [1, 3, 2]
    assert scaled(example(), 3) == 12
    assert computed == [1, 3, 2, 3]


def test_a_quantity_that_cannot_be_had_does_not_hide_that_steps_were_asked_for() -> None:
    run = example()
    run.ask_premise()
    with pytest.raises(ZeroDivisionError):
        once_a_run(lambda _: 1 / 0)(run)
    assert run.used_weights


def test_numbers_of_the_nearest_orthonormal_embedding_say_so() -> None:
    """Of an embedding that is off by an ulp, long steps of stage 1 lead to another W_ov."""
    document: dict[str, Any] = {
        "samples": [{"tokens": ["a", "b"], "next": "b"}],
        "next_token": {"a": "b", "b": "a"},
        "embedding": [[1, 0], [0, 1.0000000000000002]],
    }
    data, config = dataset_from_document(document), Config(steps1=60, lr1=5.0, lr2=0.1, steps2=50)
    with flint.ctx.workprec(500):
        given = problem(document)
        W = flint.arb_mat(stage1(given, given.gram, 5.0, 60)[-1]) * flint.arb_mat(document["embedding"])
        assert float(sum((w * w for w in W.entries()), flint.arb(0)).sqrt()) == pytest.approx(
            254.3459758, rel=1e-9, abs=0
        )
    said: list[str] = []
    answer = train(data, config, lambda _: None, said.append, "near.json")
    assert answer.answer["stage1"][-1]["norm"] == 300
    note = answer.answer["note"]
    assert said == [note]
    assert "nearest orthonormal embedding" in note
    assert all("nearest orthonormal embedding" in title for title, _ in answer.columns.values())
    run = Run(data, config)
    assert PAPER.facts(run)["not_as_given"] == note
    for header, rows in PAPER.records(run).values():
        assert {row[header.index("embedding")] for row in rows} == {"nearest orthonormal"}
    for claim in PAPER.claims:
        found = claim.judge(run)
        if found.verdict is not Verdict.NOT_APPLICABLE and claim.id != "ntp.gradient.kq":
            assert found.evidence is Evidence.FLOAT64, claim.id
            assert note in found.detail, claim.id
    for table in PAPER.tables:
        assert note in str([one.notes for one in table.captioned("near", table.of(run))])
    assert "note" not in train(replace(data, embedding=np.eye(2)), config, lambda _: None, said.append, "").answer
