"""The grid of a sweep: its tasks, their keys, and what a worker makes of them."""

import json
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

from marginaudit.claims.ntp.theorems import CLAIMS
from marginaudit.orders import InputError
from marginaudit.orders.ntp import free_dataset, prefix_closed_dataset
from marginaudit.orders.snap import syn_medium, syn_small
from marginaudit.reports.command.arguments import papers
from marginaudit.reports.ntp.sweeps import SWEEPS as NTP
from marginaudit.reports.snap.sweeps import SWEEPS as SNAP
from marginaudit.reports.snap.sweeps import SampledConfig
from marginaudit.reports.snap.sweeps import rows as sampled
from marginaudit.reports.study.grid import RunsTask, modules_of, outcomes, tasks_of
from marginaudit.reports.study.spec import read_spec
from marginaudit.reports.study.store import digest, identity
from marginaudit.training.snap.sgd import Recipe, attention, train_sampled
from tests.reports.study import odd_paper
from tests.reports.study.specs import ODD, odd_spec


def tasks(text: str = ODD) -> list[RunsTask]:
    spec = odd_spec(text)
    return list(tasks_of(spec, digest(identity(*modules_of(spec.paper)))))


def test_a_key_depends_on_all_that_decides_the_results() -> None:
    def key(text: str = ODD, code: str = "code") -> str:
        return next(tasks_of(odd_spec(text), code)).key

    files = ODD.replace('generator = "counting"\nN = [1, 4]', "files = ['own.json']")
    others = [
        key(code="other"),
        key(ODD.replace("seeds = 3", "seeds = [5]")),
        key(ODD.replace("seeds = 3", "keep = ['end']")),
        key(ODD.replace("[1, 4]", "[2, 4]")),
        key(ODD.replace("0.5", "0.25")),
        key(ODD + "what = 'slow'"),
    ]
    for number in (1, 2):
        Path("own.json").write_text(json.dumps({"numbers": [number]}))
        others.append(key(files))
    assert len({key(), *others}) == 1 + len(others)
    assert key() == key(ODD.replace("seeds = 3", "seeds = [0, 9]")) == key(ODD.replace("[1, 4]", "[1]"))


def test_results_are_those_of_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    for task in tasks(ODD + "what = 'print'"):
        for settings, outcome in zip(task.work["settings"], outcomes(task.work), strict=True):
            N, seed = task.work["columns"]["N"], task.work["seed"]
            mean = seed + (N - 1) / 2
            assert outcome["status"] == "done"
            assert outcome["results"] == {"end": settings["rate"] * mean / 3, "word": f"n{N % 2}"}
    assert capsys.readouterr() == ("", "a run prints\n" * 18)


def test_a_document_is_the_dataset() -> None:
    (task,) = tasks('paper = "odd"\n[data]\nfiles = ["three-numbers"]\n')
    assert outcomes(task.work)[0]["results"] == {"end": 0.5, "word": "n1"}


def test_a_failing_run_is_recorded_and_those_beside_it_are_not_lost() -> None:
    (task,) = tasks(
        ODD.replace("[0.5, 1, 2]", "1\nwhat = ['fail', 'well']").replace("[1, 4]", "4").replace("= 3", "= 1")
    )
    failed, well = outcomes(task.work)
    assert failed == {"status": "failed", "message": "ValueError: rate 1.0 is odd", "results": {}}
    assert (well["status"], well["results"]["end"]) == ("done", 0.5)


def test_what_is_not_finite_is_none_and_what_is_not_asked_for_is_not_there() -> None:
    task = tasks(ODD.replace("seeds = 3", "keep = ['end']") + "what = 'infinite'")[0]
    assert [outcome["results"] for outcome in outcomes(task.work)] == [{"end": None}] * 2


def test_a_worker_of_other_code_or_without_the_paper_refuses() -> None:
    with pytest.raises(InputError, match=r"^a worker: got versions and code .*, expected the client's, c0dec0dec0de$"):
        outcomes(next(tasks_of(odd_spec(), "c0de" * 16)).work)
    with pytest.raises(InputError, match="no paper gone with sweeps"):
        outcomes({**tasks()[0].work, "paper": "gone"})


def test_linear_algebra_runs_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over several threads may be rounded otherwise."""
    found: list[int] = []
    threads = threadpoolctl.threadpool_info
    monkeypatch.setattr(odd_paper, "notice", lambda _: found.extend(one["num_threads"] for one in threads()))
    before = [one["num_threads"] for one in threads()]
    outcomes(tasks()[0].work)
    assert found == [1] * len(before)
    assert [one["num_threads"] for one in threads()] == before


class TestSnap:
    """The second paper's sweeps are its sampled training."""

    def test_entropy_and_loss_of_each_config(self) -> None:
        data = syn_medium(2)
        configs = [
            SampledConfig(lr_z=2.0, ratio=0.5, updates=4),
            SampledConfig(lr_z=1.0, ratio=3.0, updates=4, optimizer="adam", start="zero", batch=8, length=9),
            SampledConfig(lr_z=1.0, ratio=3.0, updates=4, momentum=0.5),
        ]
        recipes = [
            Recipe(updates=4),
            Recipe(updates=4, optimizer="adam", start="zero", batch=8, length=9),
            Recipe(updates=4, momentum=0.5),
        ]
        rates = [(1.0, 2.0), (3.0, 1.0), (3.0, 1.0)]
        found = sampled(data, configs, 5, ["entropy", "loss"])
        for row, recipe, pair in zip(found, recipes, rates, strict=True):
            trained = train_sampled(data, recipe, [pair], 5)
            entropies = []
            for n, shares in enumerate(attention(data, trained.Z[0, -1])):
                own = shares[10 + 10 * n : 20 + 10 * n]
                own = own / own.sum()
                entropies.append(-np.sum(own * np.log(own)))
            assert row["entropy"] == pytest.approx(np.mean(entropies), rel=1e-13, abs=0)
            assert row["loss"] == trained.loss[0, -1]
        assert sampled(data, configs[1:2], 5, ["entropy", "loss"]) == found[1:2]
        assert "entropy" not in sampled(data, configs[:1], 5, ["loss"])[0]

    def test_generators_and_defaults(self) -> None:
        assert SampledConfig().recipe == Recipe()
        assert SNAP.generators["syn-medium"].make(num_last=3, seed=9).P.tolist() == syn_medium(3).P.tolist()
        assert SNAP.generators["syn-small"].make(seed=9).P.tolist() == syn_small().P.tolist()

    def test_one_task_of_figure_6_is_all_rates_of_a_seed(self) -> None:
        paper = next(paper for paper in papers() if paper.name == "snap")
        text = 'paper = "snap"\n[data]\ngenerator = "syn-medium"\nnum_last = 1\n'
        grid = "[settings]\nlr_z = [0.5, 1, 2, 3]\nratio = [1, 2, 5, 10]\n"
        (task,) = tasks_of(read_spec(text + grid, "x", "x", Path(), [paper]), "code")
        assert len(task.runs) == 16


class TestNtp:
    """The first paper's sweeps are audits."""

    def test_generators_and_results(self) -> None:
        for name, made in (("free", free_dataset), ("prefix-closed", prefix_closed_dataset)):
            found = NTP.generators[name].make(V=5, N=10, L=4, seed=3)
            assert found.samples == made(V=5, N=10, L=4, seed=3).samples
        assert {name.partition(":")[0] for name in NTP.results} == set(CLAIMS)
        words = {"verdict", "evidence", "side"}
        assert {name for name, kind in NTP.results.items() if kind is str} == {
            f"{c}:{w}" for c in CLAIMS for w in words
        }
        assert NTP.results["ntp.lemma2:slack"] is NTP.results["ntp.lemma2:informative_from"] is float
