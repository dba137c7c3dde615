"""The conditions under which what is proved decides other statements about sequence classes, each to its end."""

from fractions import Fraction

import pytest

from marginaudit.orders.snap import CASES as CLASS_CASES
from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports.snap.paper import PAPER as SNAP
from marginaudit.reports.snap.run import ClassConfig, ClassRun
from tests.papers import unmet


def classes(*rows: dict[str, float], M: int = 5000, query: str = "q") -> ClassRun:
    named = [(f"n{i}", query if query == "q" else f"q{i}", row) for i, row in enumerate(rows)]
    return ClassRun(SequenceClasses.from_weights("mine", M, named), ClassConfig())


PATH = classes({"a": 5, "x": 1}, {"b": 5, "x": 1, "y": 1}, {"c": 5, "y": 1})
PAIR = classes({"a": 1, "x": 1}, {"b": 2, "x": 1})
APART = classes({"a": 1}, {"b": 1})
ALONE = classes({"a": 1})
THREE = classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2, "x": 1})


def test_e_prime_is_positive_for_pairs_and_equal_overlaps_and_not_along_a_path() -> None:
    for target in ("snap.theorem1.a", "snap.theorem1.a.any-t"):
        at = unmet(SNAP, target)
        assert at(PAIR) is None
        assert at(THREE) is None
        assert at(PATH) == "some E'_nk off the diagonal is not positive"
        assert at(APART) is not None
        assert at(ALONE) == "there is one class"
        assert at(classes({"a": 1, "b": 1}, {"a": 1, "b": 1})) is not None


@pytest.mark.parametrize("target", ["snap.theorem2.distinct", "snap.theorem2.common", "snap.theorem3.growth"])
def test_overlaps_stay_equal_for_pairs_and_symmetric_classes(target: str) -> None:
    at = unmet(SNAP, target)
    assert at(PAIR) is None
    assert at(THREE) is None
    assert at(PATH) is not None
    assert at(APART) is not None
    assert at(classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2, "x": 1}, query="each")) is not None
    nearly = classes({"a": 2, "x": 1}, {"b": 2, "x": 1}, {"c": 2 * (1 + 2.0**-51), "x": 1})
    assert nearly.assumption("symmetric_classes").holds
    assert at(nearly) is not None
    assert nearly.reservation(("symmetric_classes", "uniform_classes")) == "To rounding: symmetric_classes."


def test_common_tokens_of_any_classes_lose_only_where_one_of_two_proofs_says_so() -> None:
    at = unmet(SNAP, "snap.corollary2.any-classes")
    assert at(PAIR) is None
    assert at(THREE) is None
    assert at(classes({"a": 1, "x": 1, "y": 1}, {"b": 1, "x": 1, "y": 2})) is not None
    assert at(PATH) is not None


def test_what_contradicts_a_printed_statement_needs_what_it_rests_on() -> None:
    assert unmet(SNAP, "snap.remark1")(PAIR) is None
    assert unmet(SNAP, "snap.remark1")(APART) == "the classes share no token"
    whole = classes({"n0": 1, "n1": 1}, {"n1": 1, "n0": 2}, M=2, query="q")
    assert whole.M > whole.K or unmet(SNAP, "snap.remark1")(whole) == "every token is a next token"
    assert unmet(SNAP, "snap.theorem1.form")(ALONE) == "there is one class"
    assert unmet(SNAP, "snap.lemma4")(PAIR) is None
    assert unmet(SNAP, "snap.lemma4")(ALONE) is not None
    assert unmet(SNAP, "snap.lemma4")(classes({"x": 1, "y": 2}, {"x": 2, "y": 1})) == "no class has a distinct token"


def test_an_offset_of_zero_contradicts_nothing() -> None:
    """K = 2: C0 = 1 exactly where e^2 = 1/2."""
    for target in ("snap.theorem4.closed-form", "snap.theorem4.scan", "snap.theorem4.snap"):
        at = unmet(SNAP, target)
        assert at(PAIR) is None
        one = classes({"a": 1, "x": 1}, {"x": 1})
        assert Fraction(1, 2) == Fraction(one.dataset.classes[0].probabilities["x"])
        assert at(one) == "C0 = 1"


def test_the_other_conditions() -> None:
    assert unmet(SNAP, "snap.lemma8")(classes({"a": 1}, M=4)) is None
    assert unmet(SNAP, "snap.lemma8")(classes({"a": 1}, M=3)) == "M is below 4"
    assert unmet(SNAP, "snap.theorem4.rates")(classes({"a": 1}, M=6)) is None
    assert unmet(SNAP, "snap.theorem4.rates")(classes({"a": 1}, M=5)) == "M is below 6"
    at = unmet(SNAP, "snap.theorem5")
    assert at(ClassRun(PAIR.dataset, ClassConfig(lr_y=1.0))) is None
    assert at(ClassRun(PAIR.dataset, ClassConfig(lr_y=1.01))) == "eta_Y is above 1"
    assert at(ALONE) == "there is one class"
    assert unmet(SNAP, "snap.lemma17")(PAIR) is None
    assert unmet(SNAP, "snap.lemma17")(classes({"a": 1}, {"a": 1})) == "|lambda_1| is not below 1"


@pytest.mark.parametrize("name", CLASS_CASES)
def test_the_built_in_classes_meet_what_they_meet_exactly(name: str) -> None:
    run = ClassRun(CLASS_CASES[name](), ClassConfig())
    assert run.reservation([one for one in run.assumptions if run.assumption(one).holds]) == ""
