"""Runs of other people's programs, audited from their files by the command line, with at most one map and no edit."""

from pathlib import Path
from typing import Any

import pytest

from marginaudit.orders.ntp import CASES
from tests.command_line import Command
from tests.trainers.programs import Sample, gpt2, makemore, muon, normalised, paper_model

DATA = CASES["example-1"]()
V = DATA.V
SAMPLES: list[Sample] = [
    ([DATA.index[token] for token in sample.tokens], DATA.index[sample.next], float(share))
    for sample, share in zip(DATA.samples, DATA.frequencies, strict=True)
]
GPT2 = "W_kq = wte.weight @ c_attn.weight[:, 96:128] @ c_attn.weight[:, 32:64].T @ wte.weight.T / sqrt(32)"
MAKEMORE = "W_kq = wte.weight @ key.weight.T @ query.weight @ wte.weight.T / sqrt(16)"
GIVEN = ("--head", "given", "--lr2", "0.05")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def carried_over(command: Command, *arguments: str) -> None:
    """The audit of one run judges Theorem 1's parts on its weights, without the proofs for Algorithm 1."""
    short = ("--steps1", "30", "--steps2", "30", "--claim", "ntp.theorem1*")
    said = command("audit", "example-1", "--trajectory", *arguments, *short)
    assert said.status == 0, said.err
    assert "carried over" in said.out


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_papers_algorithm_in_pytorch_is_not_accused(
    seed: int, every: int, own_folder: Path, command: Command
) -> None:
    """All records are decided, over gaps between checkpoints too."""
    paper_model(Path("run"), V, SAMPLES, normalised, seed=seed, every=every)
    found = command.json("conform", "example-1", "run", *GIVEN)
    assert (found["conforms"], found["rule"], found["departs_at"]) == (True, "Algorithm 1", None)
    assert found["decided"] == 40 // every + 1


@pytest.mark.parametrize("seed", [0, 1])
def test_muon_is_named(seed: int, own_folder: Path, command: Command) -> None:
    """The singular values of its steps lie anywhere in Newton-Schulz's band, most at its lower end for seed 1."""
    paper_model(Path("run"), V, SAMPLES, muon, seed=seed)
    found = command.json("conform", "example-1", "run", *GIVEN)
    assert found["departs_at"]["step"] == 1
    assert found["cause"].startswith("Muon (step size about 0.0")
    assert 0.68 * 0.02 < found["value"] < 1.14 * 0.02
    carried_over(command, "muon=run", "--head", "given")


@pytest.mark.parametrize("seed", [0, 1])
def test_muon_departs_over_gaps_without_a_cause(seed: int, own_folder: Path, command: Command) -> None:
    """Its momentum between two checkpoints is not in the files."""
    paper_model(Path("run"), V, SAMPLES, muon, seed=seed, every=5)
    found = command.json("conform", "example-1", "run", *GIVEN)
    assert (found["departs_at"]["step"], found["cause"]) == (5, None)
    assert found["stages"][0]["note"].startswith("Muon, schedules and minibatches are recognised in consecutive steps")


def asked(command: Command, rule: str) -> dict[str, Any]:
    found: dict[str, Any] = command.json("conform", "example-1", "run", "--map", rule)
    return found


@pytest.mark.parametrize("seed", [0, 1])
def test_a_model_like_makemore(seed: int, own_folder: Path, command: Command) -> None:
    """Minibatches, and an embedding that moves: no step is decided to be Algorithm 1's, and the start is given."""
    makemore(Path("run"), V, SAMPLES, seed=seed)
    found = asked(command, MAKEMORE)
    assert (found["conforms"], found["start"], found["rule"]) == (False, "given", None)
    assert found["decided"] == 1
    carried_over(command, "makemore=run")


@pytest.mark.parametrize("seed", [0, 1])
def test_gpt2_by_transformers_trainer(seed: int, own_folder: Path, command: Command) -> None:
    """200 steps in ten checkpoints, undecided: in float32 the W_ov of stage 1 is open, and no step is accused."""
    gpt2(Path("run"), V, SAMPLES, seed=seed)
    found = asked(command, GPT2)
    assert (found["departs_at"], found["rule"], found["decided"]) == (None, None, 0)
    said = command("conform", "example-1", "run").out
    assert said.startswith("run: 0 of 10 records decided; whether they follow Algorithm 1 is undecided; every row on")
    assert "run is undecided on example-1" in said
    carried_over(command, "gpt2=run")
