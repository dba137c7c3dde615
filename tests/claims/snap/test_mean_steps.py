"""Verdicts on recorded runs of a declared rule: on mean steps, with error bars for the draw of the sequences."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marginaudit.claims.row import ReportRow
from marginaudit.claims.snap import ClassConfig
from marginaudit.claims.snap.appendix_e_attention import theorem3_gain, theorem3_growth
from marginaudit.claims.snap.appendix_e_attention.eq10 import meets_assumption_2
from marginaudit.claims.snap.recorded_run import RecordedClassRun
from marginaudit.claims.snap.theorems import CLAIMS
from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.orders import InputError
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses
from marginaudit.record import Recorder
from marginaudit.training.recorded_weights import Recorded
from tests.command_line import Command
from tests.training.snap.recorded.batches import Batches

HOLDS, VIOLATED, OPEN, NOTHING = Verdict.HOLDS, Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE

DISTINCT, COMMON, GAIN = "snap.theorem2.distinct", "snap.theorem2.common", "snap.theorem3.gain"
GROWTH, ANY = "snap.theorem3.growth", "snap.corollary2.any-classes"
OF_RUNS = (f"{DISTINCT}.sgd", f"{COMMON}.sgd", f"{GROWTH}.sgd")
JUDGED = (DISTINCT, f"{DISTINCT}.from-zero", COMMON, f"{COMMON}.from-zero", GAIN, GROWTH, f"{GROWTH}.from-zero", ANY)

WEAK = SequenceClasses.from_weights(
    "weak", 400, [("n0", "q", {"a": 0.45, "b": 0.15, "the": 0.4}), ("n1", "q", {"c": 0.4, "d": 0.2, "the": 0.4})]
)
"""Assumption 2 holds for long."""

WEIGHTS = [1.0] * 10 + np.linspace(0.1, 1, 10).tolist()
"""P(l|n) of Syn-Small up to its sum."""

LONG = Batches(batch=4096, length=1000, steps=60)


@cache
def trained(program: Batches) -> tuple[Recorded, Recorded]:
    return program.run(WEAK)


def recorded(program: Batches, path: Path, *, first: int = 0, every: int = 1, logits: bool = False) -> Path:
    """The run as a file, of Y in single precision."""
    Y, Z = trained(program)
    recorder = Recorder()
    for t in range(first, len(Y.step), every):
        recorder.classes(t, Y.weights[t, : 2 if logits else WEAK.M].astype(np.float32), Z.weights[t])
    recorder.save(path)
    return path


def run_of(program: Batches, path: Path, **given: Any) -> RecordedClassRun:
    settings = {
        "lr_y": program.lr_y,
        "lr_z": abs(program.lr_z),
        "batch": program.batch,
        "length": program.length,
        "momentum": program.momentum,
        "update": "adam" if program.adam else "sgd",
    }
    return RecordedClassRun(WEAK, ClassConfig(**settings | given), None, path)


def rows(program: Batches, path: Path, **given: Any) -> dict[str, ReportRow]:
    run = run_of(program, recorded(program, path / "run.npz"), **given)
    return {name: CLAIMS[name].judge(run) for name in JUDGED}


def test_large_batches_of_long_sequences_confirm_theorem_2_in_the_mean(tmp_path: Path) -> None:
    found = rows(LONG, tmp_path)
    assert {name: row.verdict for name, row in found.items() if name != GAIN} == dict.fromkeys(
        (name for name in JUDGED if name != GAIN), HOLDS
    )
    for row in found.values():
        assert (row.evidence, row.premise, row.refutes) == (Evidence.SAMPLED, "carried over", False)
        assert (row.confidence, row.samples, row.seed) == (0.99, 60 * 4096, 0)
        assert "Means of 60 steps that the file shows alone, over the draw at the weights before each" in row.detail
        assert "whose error bars do not include" not in row.detail
    lemma = CLAIMS["snap.lemma13"].judge(run_of(LONG, tmp_path / "run.npz"))
    assert (lemma.premise, lemma.confidence) == ("met", None)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_a_wrong_sign_is_refuted_in_the_mean(momentum: float, tmp_path: Path) -> None:
    found = rows(Batches(batch=1024, steps=60, lr_z=-0.1, momentum=momentum), tmp_path)
    assert [found[name].verdict for name in (DISTINCT, COMMON, ANY)] == [VIOLATED] * 3
    assert found[DISTINCT].evidence is Evidence.SAMPLED
    assert not found[DISTINCT].refutes


def test_single_sequences_are_too_noisy_to_decide(tmp_path: Path) -> None:
    """Without the declared rule, steps of the wrong sign by chance were violations."""
    single = Batches(batch=1, steps=60)
    found = rows(single, tmp_path)
    assert {found[name].verdict for name in JUDGED} <= {OPEN, NOTHING}
    bare = CLAIMS[DISTINCT].judge(run_of(single, tmp_path / "run.npz", batch=None, length=None))
    assert (bare.verdict, bare.evidence, bare.confidence) == (VIOLATED, Evidence.FLOAT64, None)
    assert "whose error bars do not include" not in bare.detail
    assert "sampling noise, which the error bars do not include" in bare.detail


def test_momentum_is_taken_off_before_steps_are_judged(tmp_path: Path) -> None:
    """The drive of a step is eta_Z times its gradient, not 1/(1 - .9) of it."""
    slow = replace(LONG, momentum=0.9, lr_y=0.1, lr_z=0.01)
    found, plain = (rows(one, tmp_path)[COMMON] for one in (slow, LONG))
    assert (found.verdict, plain.verdict) == (HOLDS, HOLDS)
    assert plain.measured is not None
    assert found.measured == pytest.approx(plain.measured / 10, rel=0.7, abs=0)


def test_adam_is_judged_over_its_repetitions(tmp_path: Path) -> None:
    adam = Batches(batch=128, steps=60, lr_y=0.1, lr_z=0.01, adam=True)
    found = rows(adam, tmp_path)
    assert found[COMMON].verdict is HOLDS
    assert found[COMMON].evidence is Evidence.SAMPLED
    assert "60 spans between records, over 99 runs from the same start" in found[COMMON].detail
    assert found[DISTINCT].verdict is VIOLATED, "each entry moves alike, and shared rows outweigh at first"
    wrong = rows(replace(adam, lr_z=-0.01), tmp_path)
    assert wrong[f"{COMMON}.from-zero"].verdict is VIOLATED


@pytest.mark.parametrize(("sign", "verdict"), [(1, HOLDS), (-1, VIOLATED)])
def test_records_two_steps_apart_are_judged_over_repetitions(sign: int, verdict: Verdict, tmp_path: Path) -> None:
    """As the authors' command saves them, with momentum."""
    slow = replace(LONG, batch=256, length=200, momentum=0.9, lr_y=0.1, lr_z=sign * 0.01, steps=110)
    run = run_of(slow, recorded(slow, tmp_path / "run.npz", every=2))
    found = CLAIMS[f"{COMMON}.from-zero"].judge(run)
    assert (found.verdict, found.evidence) == (verdict, Evidence.SAMPLED)
    assert "Means of 55 spans between records, over 99 runs from the same start" in found.detail


def test_the_papers_setting_comes_first(tmp_path: Path) -> None:
    """Of the authors' step sizes, eta_Y = eta_Z, the printed statements do not speak, whatever is declared."""
    found = rows(LONG, tmp_path, lr_z=1.0)
    for name in (DISTINCT, COMMON, GAIN, GROWTH):
        assert (found[name].verdict, "Assumption 1 (c)" in found[name].detail) == (NOTHING, True)
    assert found[f"{COMMON}.from-zero"].verdict is not NOTHING


@pytest.mark.parametrize(
    ("more", "given", "said"),
    [
        ({"every": 8, "first": 1}, {}, "there are no two records"),
        ({"logits": True}, {}, "the file has another Y"),
        ({}, {"lr_z": None}, "give --lr-z"),
        ({"first": 1}, {"update": "adam"}, "not at step 0"),
        ({"first": 1, "every": 2}, {"momentum": 0.9}, "not at step 0"),
    ],
)
def test_what_a_file_does_not_show(more: dict[str, Any], given: dict[str, Any], said: str, tmp_path: Path) -> None:
    short = replace(LONG, steps=8, batch=64)
    run = run_of(short, recorded(short, tmp_path / "run.npz", **more), **given)
    found = CLAIMS[f"{COMMON}.from-zero"].judge(run)
    assert (found.verdict, said in found.detail) == (OPEN if "two records" in said else NOTHING, True)


def test_a_decade_without_steps_that_the_file_shows_decides_nothing(tmp_path: Path) -> None:
    Y, Z = trained(LONG)
    recorder = Recorder()
    for t in (0, 1, 2, 3, 58, 59, 60):
        recorder.classes(t, Y.weights[t].astype(np.float32), Z.weights[t])
    recorder.save(tmp_path / "run.npz")
    found = CLAIMS[COMMON].judge(run_of(LONG, tmp_path / "run.npz"))
    assert (found.verdict, "the file shows no step alone from t = 3 to 59" in found.detail) == (OPEN, True)


def test_a_run_too_long_to_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginaudit.claims.snap.recorded_run.MOST_SEQUENCES", 99 * 8 * 64 - 1)
    short = Batches(batch=64, steps=8, lr_y=0.1, lr_z=0.01, adam=True)
    found = rows(short, tmp_path)[COMMON]
    assert (found.verdict, "99 runs have 50688 sequences" in found.detail) == (OPEN, True)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"batch": 2}, "ClassConfig.batch: got it without length, expected both or neither"),
        ({"length": 2}, "ClassConfig.length: got it without batch, expected both or neither"),
        ({"momentum": 0.9}, "ClassConfig.momentum: got it without batch and length, expected all three"),
        ({"update": "adam"}, "ClassConfig.update: got it without batch and length, expected all three"),
        (
            {"batch": 2, "length": 2, "momentum": 0.9, "update": "adam"},
            "ClassConfig.momentum: got it beside Adam, expected that of SGD",
        ),
    ],
)
def test_rules_that_are_not_whole(given: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        ClassConfig(**given)


FIGURE_4 = SequenceClasses.from_weights(
    "small",
    34,
    [
        (str(32 + n), str(30 + n), {str(x): p for x, p in zip(own, WEIGHTS, strict=True)})
        for n, own in enumerate(([*range(20)], [*range(10), *range(20, 30)]))
    ],
)
"""Syn-Small as the authors train it, with two queries."""


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (Batches(batch=128, length=127, steps=80, lr_z=1.0, momentum=0.9), (OPEN, OPEN, HOLDS)),
        (Batches(batch=128, length=127, steps=80, lr_z=-1.0, momentum=0.9), (VIOLATED, VIOLATED, VIOLATED)),
        (Batches(batch=1, length=127, steps=400, lr_z=1.0), (OPEN, OPEN, OPEN)),
        (Batches(batch=128, length=127, steps=80, lr_y=0.1, lr_z=0.1, adam=True), (OPEN, HOLDS, OPEN)),
    ],
)
def test_runs_as_of_figure_4_are_judged_over_the_whole_run(
    program: Batches, expected: tuple[Verdict, ...], tmp_path: Path
) -> None:
    """Outside Assumptions 1 (c) and 2, where no printed statement speaks; the wrong sign of Z's gradient is refuted."""
    decoder, attention = program.run(FIGURE_4)
    np.savez(tmp_path / "run.npz", step=decoder.step, Y=decoder.weights, Z=attention.weights)
    rule = ClassConfig(batch=program.batch, length=program.length, momentum=program.momentum)
    config = replace(rule, lr_y=program.lr_y, lr_z=abs(program.lr_z), update="adam" if program.adam else "sgd")
    run = RecordedClassRun(FIGURE_4, config, None, tmp_path / "run.npz")
    assert {CLAIMS[name].judge(run).verdict for name in (DISTINCT, COMMON, GROWTH, GAIN)} == {NOTHING}
    found = [CLAIMS[name].judge(run) for name in OF_RUNS]
    assert tuple(one.verdict for one in found) == expected
    assert {(one.evidence, one.premise, one.form) for one in found} == {(Evidence.SAMPLED, "carried over", "variant")}
    undeclared = RecordedClassRun(FIGURE_4, ClassConfig(), None, tmp_path / "run.npz")
    assert "give --batch and --length" in CLAIMS[OF_RUNS[0]].judge(undeclared).detail


def test_only_steps_from_states_of_assumption_2_are_summed(tmp_path: Path) -> None:
    """Where the common token has lost, overlaps are below 6/sqrt(M): steps of a turned z from there are left out."""
    Y, Z = trained(LONG)
    late = Z.weights.copy()
    late[31:, 0, WEAK.index["the"]] -= 3 + 0.5 * np.arange(30)
    late[31:, 0, WEAK.index["a"]] -= 1.0 + np.arange(30)
    recorder = Recorder()
    for t in range(61):
        recorder.classes(t, Y.weights[t].astype(np.float32), late[t])
    recorder.save(tmp_path / "run.npz")
    run = run_of(LONG, tmp_path / "run.npz")
    assert meets_assumption_2(run).tolist() == [t <= 30 for t in range(60)]
    found = [CLAIMS[name].judge(run) for name in (DISTINCT, f"{DISTINCT}.from-zero")]
    assert [one.verdict for one in found] == [VIOLATED, VIOLATED], "step 31 begins where it holds"
    late[31] = late[30] + Z.weights[31] - Z.weights[30]
    late[31, 0, WEAK.index["the"]] -= 3
    recorder = Recorder()
    for t in range(61):
        recorder.classes(t, Y.weights[t].astype(np.float32), late[t])
    recorder.save(tmp_path / "later.npz")
    run = run_of(LONG, tmp_path / "later.npz")
    found = [CLAIMS[name].judge(run) for name in (DISTINCT, f"{DISTINCT}.from-zero")]
    assert [one.verdict for one in found] == [HOLDS, VIOLATED]


def test_vectors_are_derivatives(tmp_path: Path) -> None:
    """Of ln f, and of r and r(0) chi, along a straight line of z, by central differences."""
    run = run_of(LONG, recorded(LONG, tmp_path / "run.npz"))
    rng, P = np.random.default_rng(0), len(run.logits.names)
    z, by = rng.normal(size=(1, P)), rng.normal(size=(1, P))
    n, l, other = 0, "a", "b"  # noqa: E741
    i, j = run.logits.position(n, l), run.logits.position(n, other)
    at, beside = WEAK.contextual.index(l), WEAK.contextual.index(other)

    def f(h: float) -> Floats:
        return np.asarray(run.logits.attended(z + h * by)[0, n])

    slope = (np.log(f(1e-5)[at]) - np.log(f(-1e-5)[at])) / 2e-5
    assert float((theorem3_growth.derivative_of_ln_f(run, n, i)(z) * by).sum()) == pytest.approx(slope, rel=1e-7, abs=0)
    gains = [
        f(h)[at] ** 2 / f(h)[beside] ** 2 - 1 - (f(0)[at] ** 2 / f(0)[beside] ** 2 - 1) * np.exp(2 * h * by[0, i])
        for h in (1e-5, -1e-5)
    ]
    apart = (gains[0] - gains[1]) / 2e-5
    found = float((theorem3_gain.across(run, n, l, other)(z) * by).sum())
    assert found * 2 / f(0)[beside] ** 2 == pytest.approx(apart, rel=1e-6, abs=0)
    assert by[0, j] != 0


def test_the_command(command: Command, own_folder: Path) -> None:
    Path("weak.json").write_text(
        '{"M": 400, "classes": [{"next": "n0", "query": "q", "probabilities": {"a": 0.45, "b": 0.15, "the": 0.4}}, '
        '{"next": "n1", "query": "q", "probabilities": {"c": 0.4, "d": 0.2, "the": 0.4}}]}',
        encoding="utf-8",
    )
    recorded(LONG, Path("run.npz"))
    given = ("--trajectory", "run.npz", "--lr-y", "1", "--lr-z", ".1", "--batch", "4096", "--length", "1000")
    found = command.json("audit", "weak.json", *given, "--steps", "100", "--claim", COMMON)["verdicts"][1]
    assert (found["verdict"], found["evidence"], found["confidence"]) == ("holds", "sampled", 0.99)
    line = command.refused("audit", "weak.json", "--trajectory", "run.npz", "--batch", "4096")
    assert line == "--batch: got it without length, expected both or neither"
