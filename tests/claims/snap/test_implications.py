"""The conditions under which what is proved decides other statements about sequence classes, each to its end."""

import re
from fractions import Fraction
from math import log, sqrt

import mpmath
import pytest

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_d5_theorem1 import overlap
from marginaudit.claims.snap.appendix_e_attention.token_gains import EQUAL, may_rise, several_common
from marginaudit.claims.standing import Status
from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.orders.snap import CASES as CLASS_CASES
from marginaudit.orders.snap import SequenceClasses
from marginaudit.orders.snap.exactly import squared_overlaps
from marginaudit.reports import LEDGER
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.snap.paper import PAPER as SNAP
from tests.papers import unmet
from tests.training.snap.growth import precise_logit

HOLDS, VIOLATED, OPEN = Verdict.HOLDS, Verdict.VIOLATED, Verdict.INCONCLUSIVE


def classes(*rows: dict[str, float], M: int = 5000, query: str = "q") -> ClassRun:
    named = [(f"n{i}", query if query == "q" else f"q{i}", row) for i, row in enumerate(rows)]
    return ClassRun(SequenceClasses.from_weights("mine", M, named), ClassConfig())


PATH = classes({"a": 5, "x": 1}, {"b": 5, "x": 1, "y": 1}, {"c": 5, "y": 1})
PAIR = classes({"a": 1, "x": 1}, {"b": 2, "x": 1})
APART = classes({"a": 1}, {"b": 1})
ALONE = classes({"a": 1})
THREE = classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2, "x": 1})


WHOLE, THIRD = (
    ClassRun(
        SequenceClasses.from_weights(
            "mine", M, [(f"n{i}", "n0", {f"n{j}": 10 if i == j else 1 for j in range(M)}) for i in range(M)]
        ),
        ClassConfig(),
    )
    for M in (2, 3)
)
"""Every token is a next token."""

ALL_APART = ClassRun(SequenceClasses.from_weights("mine", 2, [(n, "n0", {n: 1}) for n in ("n0", "n1")]), ClassConfig())

PAIRS = classes({"a": 5, "x": 1}, {"b": 5, "x": 1}, {"c": 5, "y": 1}, {"d": 5, "y": 1})
"""Two pairs that share nothing: E'_nk is 0 between them, to no rounding."""

MANY_PAIRS = classes(*({f"t{n // 2}": 1.0, f"d{n}": 1.0} for n in range(102)))
"""More classes than E' is enclosed of."""


def test_e_prime_is_positive_for_pairs_and_equal_overlaps_and_not_along_a_path() -> None:
    true, false = unmet(SNAP, "snap.theorem1.a.any-t", HOLDS), unmet(SNAP, "snap.theorem1.a.any-t", VIOLATED)
    for run, reasons in (
        (PAIR, (None, "every E'_nk off the diagonal is positive")),
        (THREE, (None, "every E'_nk off the diagonal is positive")),
        (PATH, ("some E'_nk off the diagonal is not positive", None)),
        (PAIRS, ("some E'_nk off the diagonal is not positive", None)),
        (MANY_PAIRS, ("some E'_nk off the diagonal is not positive", None)),
        (APART, ("some E'_nk off the diagonal is not positive", None)),
        (ALONE, ("there is one class", "there is one class")),
        (classes({"a": 1, "b": 1}, {"a": 1, "b": 1}), ("there is no E'", "there is no E'")),
    ):
        assert (true(run), false(run)) == reasons


def test_an_e_prime_that_is_0_by_chance_is_seen_in_rational_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """E'_12 = 0 where e_12 = e_13 e_23: here 2/3 e_23, with f_1^T f_2 = 2/6 of norms 3 and 2, e_13^2 .. by P P^T alone.

    Of the inverse of P P^T the entry is the minor p_12 p_33 - p_13 p_23: (2)(4) - (2)(4) = 0.
    """
    rows: tuple[dict[str, float], ...] = (
        {"x": 1, "y": 1, "a": 3},
        {"x": 1, "y": 1, "z": 2, "b": 3},
        {"x": 1, "y": 1, "z": 1, "w": 1},
    )
    gram = [[sum(p * other.get(l, 0) for l, p in row.items()) for other in rows] for row in rows]  # noqa: E741
    assert gram[0][1] * gram[2][2] == gram[0][2] * gram[1][2] == 8
    run = classes(*rows)
    assert overlap.all_positive(run) is False
    monkeypatch.setattr(overlap, "BITS", 2000)
    assert overlap.all_positive(classes(*rows)) is False


def test_the_sign_at_z_0_refutes_that_common_tokens_of_any_classes_lose() -> None:
    """Two classes of one query: a token gains exactly where e (f_1^2 + f_2^2) > 2 f_1 f_2 (section 4.2), at any M."""
    at = next(
        one for one in LEDGER["snap.corollary2.any-classes"].implications if one.sources == ("snap.lemma14",)
    ).unmet
    for x, y, own, M in ((3, 1, 5, 5000), (1, 3, 5, 7), (1, 1, 5, 5000), (20, 1, 5, 5000), (2, 1, 5, 7), (9, 1, 50, 7)):
        rows: tuple[dict[str, float], ...] = ({"a": own, "x": x, "y": 2}, {"b": own, "x": y, "y": 2})
        f = [{l: p / sqrt(sum(q * q for q in row.values())) for l, p in row.items()} for row in rows]  # noqa: E741
        e = sum(f[0][l] * f[1][l] for l in "xy")  # noqa: E741
        gains = any(e * (f[0][l] ** 2 + f[1][l] ** 2) > 2 * f[0][l] * f[1][l] for l in "xy")  # noqa: E741
        assert (at(classes(*rows, M=M)) is None) is gains
    assert "no common token" in str(at(PAIR))
    assert at(ALONE) == "there is one class"


FROM_ZERO = ("snap.theorem2.distinct.from-zero", "snap.theorem3.growth.from-zero")


@pytest.mark.parametrize("target", FROM_ZERO)
def test_overlaps_stay_equal_for_pairs_and_symmetric_classes(target: str) -> None:
    at = next(one for one in LEDGER[target].implications if one.condition == EQUAL).unmet
    assert at(PAIR) is None
    assert at(THREE) is None
    assert at(PATH) is not None
    assert at(APART) is not None
    assert at(classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2, "x": 1}, query="each")) is not None
    nearly = classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2 * (1 + 2.0**-51), "x": 1})
    assert nearly.assumption("symmetric_classes").holds
    assert at(nearly) is not None
    assert nearly.reservation(("symmetric_classes", "uniform_classes")) == "To rounding: symmetric_classes."


@pytest.mark.parametrize("target", FROM_ZERO)
def test_three_classes_are_enough_however_long_the_run(target: str) -> None:
    at = next(one for one in LEDGER[target].implications if one.condition == "there are three classes").unmet
    assert at(PATH) is None
    assert at(THREE) is None
    for other in (ALONE, PAIR, PAIRS):
        assert at(other) == "there are not three classes"
    data = classes({"a": 9, "x": 2, "z": 1}, {"b": 9, "x": 2, "y": 2}, {"c": 9, "y": 2, "z": 1}, M=10**6).dataset
    for lr_z in (0.05, 1e9):
        run = ClassRun(data, ClassConfig(lr_z=lr_z, steps=10**6))
        found = LEDGER[target].judge(run)
        assert (found.verdict, found.evidence) == (HOLDS, Evidence.PROVED), found.detail
        assert ("as there are three classes" in found.detail) is (may_rise(run) is not None) is (lr_z > 1)


def test_phi_stays_small_for_weak_overlaps_and_steps_that_are_not_too_many() -> None:
    """-ln det(I+E) of equal overlaps e = 1/5 is -ln((1-e)^2 (1+2e)); with 0.51/2 it leaves (K x/M)^2 so much."""
    assert several_common(THREE) is None
    assert several_common(PATH) is not None
    start = -log((1 - 0.2) ** 2 * (1 + 2 * 0.2))
    way = 3 * log(1 + 5000 * 0.5 * 10**18 / 3) / 5000
    enough = (0.51 / 2 - start) / way**2 * 0.5
    for factor, said in ((1 - 1e-9, True), (1 + 1e-9, False)):
        run = ClassRun(THREE.dataset, ClassConfig(lr_z=enough * factor))
        assert (may_rise(run) is None) is said
    run = ClassRun(THREE.dataset, ClassConfig(lr_z=enough * 2, at=(1,), steps=1))
    assert may_rise(run) is None
    assert may_rise(ClassRun(THREE.dataset, ClassConfig(steps=0))) == "no step is recorded"
    assert may_rise(ALONE) == "there is one class"
    many = classes(*({f"a{n}": 1, "x": 0.1} for n in range(101)))
    assert "100 classes" in str(may_rise(many))


def test_common_tokens_of_any_classes_lose_only_where_one_of_two_proofs_says_so() -> None:
    at = unmet(SNAP, "snap.corollary2.any-classes", HOLDS)
    assert at(PAIR) is None
    assert at(THREE) is None
    assert at(classes({"a": 1, "x": 1, "y": 1}, {"b": 1, "x": 1, "y": 2})) is not None
    assert at(PATH) is not None


def test_what_contradicts_a_printed_statement_needs_what_it_rests_on() -> None:
    at = unmet(SNAP, "snap.remark1", VIOLATED)
    assert at(PAIR) is None
    assert at(APART) == at(ALL_APART) == "the classes share no token"
    assert unmet(SNAP, "snap.remark1", HOLDS)(APART) is None
    assert unmet(SNAP, "snap.remark1", HOLDS)(PAIR) == "the classes share a token"
    assert at(WHOLE) is None
    many = SequenceClasses.from_weights("mine", 13, [(f"n{i}", "n0", {f"n{i}": 5, "n0": 1}) for i in range(13)])
    assert "12 classes" in str(at(ClassRun(many, ClassConfig())))
    late = ClassRun(THIRD.dataset, ClassConfig(lr_y=1e100))
    assert "eq. 43" in str(at(late))
    assert unmet(SNAP, "snap.theorem1.form")(ALONE) == "there is one class"
    assert unmet(SNAP, "snap.lemma4")(PAIR) is None
    assert unmet(SNAP, "snap.lemma4")(ALONE) is not None
    assert unmet(SNAP, "snap.lemma4")(classes({"x": 1, "y": 2}, {"x": 2, "y": 1})) == "no class has a distinct token"


def test_an_offset_of_zero_contradicts_nothing() -> None:
    """K = 2: C0 = 1 exactly where e^2 = 1/2; there what is printed is true, also at both ends and however slow B is."""
    one = classes({"a": 1, "x": 1}, {"x": 1})
    slow = ClassRun(one.dataset, ClassConfig(lr_z=1e-14))
    assert Fraction(1, 2) == Fraction(one.dataset.classes[0].probabilities["x"])
    for target in ("snap.theorem4.closed-form", "snap.theorem4.scan", "snap.theorem4.snap"):
        true, false = unmet(SNAP, target, HOLDS), unmet(SNAP, target, VIOLATED)
        assert (true(PAIR), false(PAIR)) == ("C0 is not 1", None)
        assert (true(one), false(one)) == (None, "C0 = 1")
        assert verdict(target, slow) is HOLDS
    for target in ("snap.theorem4.ends", "snap.theorem4.growth"):
        assert LEDGER[target].judge(one).evidence is Evidence.PROVED


@pytest.mark.parametrize("off", [0.0, 1e-12, -1e-12, 1e-5, -1e-5, 1e-3, -1e-3, 0.1])
def test_an_offset_is_seen_at_the_first_step_where_eq_14_is_off_there(off: float) -> None:
    """B of Lemma 6 in 50 digits against both ends of eq. 14, at t = K."""
    at = classes({"a": 1, "x": 1}, {"x": 1, "b": off}) if off > 0 else classes({"a": 1, "x": 1 - off}, {"x": 1})
    with mpmath.workdps(50):
        [e_2] = squared_overlaps(at.dataset)
        C0, y, M = mpmath.mpf(e_2.denominator) / (2 * e_2.numerator), mpmath.mpf(at.eta_Y), at.M
        A = mpmath.mpf(4) * (M - 1) ** 2 / M**2 / C0 * mpmath.mpf(at.eta_Z) / y
        x = precise_logit(1, M, at.eta_Y)
        least, most = (C0 * (1 + A * end**2) for end in (y - mpmath.expm1(y) / M, y))
        false = not least <= 1 + A * x**2 <= most
    assert (unmet(SNAP, "snap.theorem4.scan", VIOLATED)(at) is None) is bool(false)
    assert abs(off) < 0.1 or false
    assert abs(off) > 1e-11 or not false


def test_an_offset_is_to_be_larger_than_what_is_left_open() -> None:
    """K = 2: C0 = 1/(2 e^2)."""
    near, apart = {"a": 1.01, "x": 1.0}, {"x": 1.0}
    for target, large, small in (("growth", 10**6, 100), ("ends", None, 10**6)):
        at = unmet(SNAP, f"snap.theorem4.{target}", VIOLATED)
        assert at(PAIR) is None
        assert at(APART) == "the classes share no token"
        assert at(classes(near, apart, M=small)) == "C0 is near 1"
        assert large is None or at(classes(near, apart, M=large)) is None


def test_the_other_conditions() -> None:
    for target, least in (("snap.lemma8.any-M", 4), ("snap.theorem4.rates.any-M", 6)):
        true, false = unmet(SNAP, target, HOLDS), unmet(SNAP, target, VIOLATED)
        enough, few = classes({"a": 1}, M=least), classes({"a": 1}, M=least - 1)
        assert (true(enough), false(few)) == (None, None)
        assert true(few) == f"M is below {least}"
        assert false(enough) is not None
    at = unmet(SNAP, "snap.theorem5.any-step")
    assert at(ClassRun(PAIR.dataset, ClassConfig(lr_y=1.0))) is None
    assert at(ClassRun(PAIR.dataset, ClassConfig(lr_y=1.01))) == "eta_Y is above 1"
    assert at(ALONE) == "there is one class"
    assert unmet(SNAP, "snap.lemma17.literal")(PAIR) is None
    assert unmet(SNAP, "snap.lemma17.literal")(classes({"a": 1}, {"a": 1})) == "|lambda_1| is not below 1"


def test_lemma_17_is_violated_by_minus_one_where_no_eigenvalue_is_larger() -> None:
    """Of two classes alike the eigenvalues are 1 and -1, of three 2, -1 and -1."""
    found = [verdict("snap.lemma17.literal", classes(*[{"a": 1.0}] * K)) for K in (2, 3)]
    assert found == [VIOLATED, Verdict.NOT_APPLICABLE]


@pytest.mark.parametrize("name", CLASS_CASES)
def test_the_built_in_classes_meet_what_they_meet_exactly(name: str) -> None:
    run = ClassRun(CLASS_CASES[name](), ClassConfig())
    assert run.reservation([one for one in run.assumptions if run.assumption(one).holds]) == ""


def verdict(name: str, run: ClassRun) -> Verdict:
    return LEDGER[name].judge(run).verdict


@pytest.mark.parametrize("lr_y", [500.1, 1e17, 1e-98])
def test_what_is_proved_for_every_step_size_is_decided_at_every_step_size(lr_y: float) -> None:
    run = ClassRun(
        CLASS_CASES["snap-single"](), ClassConfig(lr_y=lr_y, lr_z=min(0.05, lr_y / 20), seeds=3, at=(1, 40, 1000))
    )
    left = [c.id for c in SNAP.claims if c.standing.status is Status.PROVED and verdict(c.id, run) is OPEN]
    assert not left
    assert verdict("snap.eq13", run) is VIOLATED
    assert verdict("snap.remark1", run) is VIOLATED
    assert verdict("snap.lemma12.any-step", run) is VIOLATED
    assert verdict("snap.remark1", ClassRun(APART.dataset, ClassConfig(lr_y=lr_y))) is HOLDS
    assert verdict("snap.remark1", ClassRun(WHOLE.dataset, ClassConfig(lr_y=lr_y))) is Verdict.NOT_APPLICABLE


def test_what_is_proved_of_every_step_needs_none() -> None:
    for lr_y in (0.5, 1e17):
        run = ClassRun(CLASS_CASES["snap-single"](), ClassConfig(lr_y=lr_y, steps=0))
        assert verdict("snap.lemma6", run) is HOLDS
        assert verdict("snap.eq13", run) is VIOLATED


def test_an_e_prime_of_0_makes_xi_0_and_refutes_any_t() -> None:
    """Two pairs of classes: after one step on the one, xi of the other is 0."""
    e = [(f"n{n}", "q", {f"c{n // 2}": sqrt(0.1), f"d{n}": sqrt(0.9)}) for n in range(4)]
    data = SequenceClasses.from_weights("pairs", 10**5, e)
    for at in ((1000,), (1, 1000)):
        assert verdict("snap.theorem1.a.any-t", ClassRun(data, ClassConfig(at=at, seeds=3))) is VIOLATED


def test_no_choice_of_steps_hides_that_a_common_token_gains_at_first() -> None:
    claim = next(c for c in SNAP.claims if c.id == "snap.corollary2.any-classes")
    data = smallest_counterexample(SNAP, claim)
    assert data is not None
    path = ClassRun(data, ClassConfig(at=(10**15,)))
    found = claim.judge(path)
    assert found.verdict is VIOLATED
    assert re.search("At first.*: violated.* a under a ", found.detail)
    assert claim.judge(path).evidence is Evidence.PROVED


def test_a_proof_speaks_for_steps_that_were_not_recorded() -> None:
    run = ClassRun(CLASS_CASES["snap-single"](), ClassConfig(at=(1000,)))
    for name in ("theorem2.distinct", "theorem2.common", "theorem3.growth"):
        assert verdict(f"snap.{name}", run) is HOLDS
