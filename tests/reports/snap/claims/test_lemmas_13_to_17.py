"""Lemmas 13 to 17: verdicts, numbers in high precision, planted twins, and where the printed ones fail."""

from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses, weakly_correlated_dataset
from marginaudit.orders.snap.overlap import eigenpairs
from marginaudit.reports.judgements import Bounded
from marginaudit.reports.snap import ClassConfig, ClassRun
from marginaudit.reports.snap.claims import lemma13, lemma14, lemma15, lemma16, lemma17
from marginaudit.reports.snap.claims.lemma14 import solved, spectral
from marginaudit.reports.snap.claims.lemma17 import differences
from marginaudit.reports.verdict import Evidence, Verdict
from tests.training.snap.growth import DIGITS

FILES = (lemma13, lemma14, lemma15, lemma16, lemma17)
LEDGER = {claim.id.removeprefix("snap."): claim for file in FILES for claim in file.CLAIMS}
HOLDS, VIOLATED, ABSENT = Verdict.HOLDS, Verdict.VIOLATED, Verdict.NOT_APPLICABLE


@cache
def run(name: str) -> ClassRun:
    made = {
        "random": weakly_correlated_dataset(K=5, M=10**6, seed=3),
        "apart": SequenceClasses.from_weights("apart", 5000, [("m", "q", {"a": 1}), ("n", "q", {"b": 1})]),
        "alone": SequenceClasses.from_weights("alone", None, [("n", "q", {"a": 1})]),
        "same": SequenceClasses.from_weights(
            "same", 5000, [("m", "q", {"a": 3, "b": 4}), ("n", "q", {"a": 3, "b": 4})]
        ),
        "sum": SequenceClasses.from_weights(
            "sum", 5000, [("m", "q", {"a": 1, "b": 1}), ("n", "q", {"a": 1}), ("k", "q", {"b": 1})]
        ),
        "thrice": SequenceClasses.from_weights("thrice", 5000, [(n, "q", {"a": 1}) for n in "kmn"]),
    }
    return ClassRun(CASES[name]() if name in CASES else made[name], ClassConfig(steps=1))


def verdicts(name: str) -> dict[str, Verdict]:
    return {claim: found.judge(run(name)).verdict for claim, found in LEDGER.items()}


@pytest.mark.parametrize("name", ["same", "sum"])
def test_lemma_17_fails_where_minus_one_is_an_eigenvalue(name: str) -> None:
    """Two identical classes are the smallest counterexample: one class has E = 0."""
    found = LEDGER["lemma17"].judge(run(name))
    assert (found.verdict, found.evidence, found.witness) == (VIOLATED, Evidence.EXACT, {"lambda_1": -1})
    P = run(name).dataset.P
    F = mpmath.matrix(P.tolist())
    with mpmath.workdps(DIGITS):
        for n in range(F.rows):
            length = mpmath.sqrt(mpmath.fsum(F[n, j] ** 2 for j in range(F.cols)))
            for j in range(F.cols):
                F[n, j] /= length
        assert abs(mpmath.det(F * F.T)) < 1e-50  # I + E
        values = mpmath.eigsy(F * F.T - mpmath.eye(F.rows), eigvals_only=True)
        assert abs(min(values) + 1) < 1e-50
        assert abs(max(values) - 1) < 1e-50
    assert LEDGER["lemma17.rederived"].judge(run(name)).verdict is ABSENT


@pytest.mark.parametrize("name", ["snap-single", "snap-symmetric", "random"])
def test_against_high_precision(name: str) -> None:
    on = run(name)
    with mpmath.workdps(DIGITS):
        E = mpmath.matrix(on.overlap.E.tolist())
        values, vectors = mpmath.eigsy(E)
        by_eigenvalues = vectors * mpmath.diag([x / (1 + x) for x in values]) * vectors.T
        by_inverse = mpmath.eye(on.K) - (mpmath.eye(on.K) + E) ** -1
        difference = (by_inverse - E).apply(abs)
        for found, truth in ((solved, by_inverse), (spectral, by_eigenvalues), (differences, difference)):
            series = found(on)
            off = [abs(x - mpmath.mpf(float(y))) for x, y in zip(truth, series.value, strict=True)]
            assert all(x <= r for x, r in zip(off, series.radius, strict=True))
            assert series.radius.max() < 1e-12
        size, _, bar = eigenpairs(on.overlap.E)
        assert max(abs(x - y) for x, y in zip(sorted(values), size.tolist(), strict=True)) <= bar < 1e-13
        largest = max(abs(x) for x in values)
        measured, stated = (LEDGER["lemma15"].judgement, LEDGER["lemma17"].judgement)
        assert isinstance(measured, Bounded)
        assert measured.upper is not None
        assert float(measured.measure(on).value[0]) == pytest.approx(
            float(max(abs(x / (1 + x)) for x in values)), rel=1e-13, abs=0
        )
        bounds = np.asarray(measured.upper(on, np.zeros(0)))
        assert bounds[0] == pytest.approx(float(largest / (1 - largest)), rel=1e-13, abs=0)
        assert bounds[10] == pytest.approx(float((1 + largest) / (1 - largest)), rel=1e-12, abs=0)
        assert stated.judge(on).bound == pytest.approx(float(largest**2 / (1 - largest)), rel=1e-13, abs=0)


def test_classes_too_alike_to_tell_are_not_decided() -> None:
    near = SequenceClasses.from_weights(
        "near", 5000, [("m", "q", {"a": 1, "b": 1e-9}), ("n", "q", {"a": 1, "c": 1e-9})]
    )
    found = LEDGER["lemma17"].judge(ClassRun(near))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "undecided" in found.detail


def test_an_assumption_that_error_bars_leave_open_is_not_decided() -> None:
    """|lambda_1| is 1/2 to rounding: Assumption 2 may hold at M = 145, and cannot where another part of it fails."""
    half = SequenceClasses.from_weights("half", 10**4, [("m", "q", dict.fromkeys("abcd", 1)), ("n", "q", {"a": 1})])
    found = LEDGER["lemma16"].judge(ClassRun(half))
    assert (found.verdict, found.evidence) == (Verdict.INCONCLUSIVE, Evidence.FLOAT64)
    assert "leave open whether assumption small_overlap holds" in found.detail
    assert LEDGER["lemma16"].judge(ClassRun(replace(half, M=143))).verdict is ABSENT


@pytest.mark.parametrize("rare", [1e-150, 1e-200, 1e-300])
def test_overlaps_whose_squares_underflow_keep_their_error_bars(rare: float) -> None:
    tiny = SequenceClasses.from_weights("tiny", 50, [("m", "q", {"a": 1, "c": rare}), ("n", "q", {"b": 1, "c": 1e-9})])
    assert LEDGER["lemma14"].judge(ClassRun(tiny)).verdict in {HOLDS, Verdict.INCONCLUSIVE}
    assert (solved(ClassRun(tiny)).radius > 0).all()
    assert (spectral(ClassRun(tiny)).radius > 0).all()


def test_where_the_diagonal_of_e_prime_is_to_be_negative() -> None:
    classes = [("m", "q", {"a": 1.0, "b": 1.0}), ("n", "q", {"b": 1.0, "c": 1.0}), ("k", "q", {"d": 1.0})]
    at = ClassRun(SequenceClasses.from_weights("two and one", 5000, classes))
    bound = lemma16.LEMMA16.judgement
    assert isinstance(bound, Bounded)
    assert bound.upper is not None
    assert np.asarray(bound.upper(at, np.zeros(3))).tolist() == [-5e-324, -5e-324, 0.0]
    assert (lemma13.entries(at).radius > 0).tolist() == [True, False, False]
    assert lemma13.entries(at).value.tolist() == pytest.approx([0.5, 0, 0], rel=1e-15, abs=0)
