"""Forms of statements: of each a true, a false and an undecidable example, with the right verdict."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from marginaudit import (
    AllInstances,
    Bounded,
    Exists,
    InExpectation,
    Limit,
    NotChecked,
    OverClass,
    Rate,
    Series,
    TwoConstants,
    WithProbability,
    floats,
    integers,
    vectors,
)
from marginaudit.claims.claim import Judgement
from marginaudit.claims.judgements.sampled.drawing import require_sampling
from marginaudit.claims.series import by_formula
from marginaudit.claims.verdict import Evidence, Finding

T = np.unique(np.geomspace(1, 1e8, 161).round())


def along(f: Callable[[Any], Any]) -> Callable[[Any], Series]:
    """A quantity at steps 1 to 1e8, by its formula."""
    return lambda _: by_formula(f(T), step=T)


def once(_: Any) -> float:
    return 1.0


def tends_to_0(f: Callable[[Any], Any]) -> Judgement:
    return Limit(along(f), predicted=lambda _: 0, regime=once)


def exact_steps(last: Any) -> Callable[[Any], Series]:
    """1/t in Fractions for t = 1, .., 9, and a last value of one's own."""
    values = [*(Fraction(1, t) for t in range(1, 10)), last]
    return lambda _: Series(np.array(values, dtype=object), 0, np.arange(1, 11), evidence=Evidence.EXACT)


def unsure(first: float) -> Callable[[Any], Series]:
    """A known value, and a last one with a wide error bar."""
    return lambda _: Series(np.array([first, 0.5]), np.array([0.0, 0.6]), np.array([1, 2]))


def uniform(top: float) -> Callable[..., Any]:
    return lambda _, rng, n: top * rng.random(n)


def walks(_: Any, rng: Any, n: int) -> Any:
    """|S_t|/sqrt(T) of a random walk, t = 1, .., T = 16."""
    return np.abs(np.cumsum(rng.choice([-1, 1], (n, 16)), axis=1)) / 4


def mean_below(bound: float, **more: Any) -> Judgement:
    return InExpectation(uniform(1), upper=lambda _, t: bound, within=lambda _: (0, 1), **more)


def often(probability: float, **more: Any) -> Judgement:
    return WithProbability(uniform(1), lambda _: probability, upper=lambda _, t: 0.9, **more)


def regime(values: Any, *, complete: bool = False) -> Judgement:
    """For some K: K^2 <= 2 and K >= 5/4."""
    inside = Bounded(lambda x: x.K**2, upper=lambda x, _: 2, lower=lambda x, _: Fraction(25, 16))
    return Exists(lambda _: [{"K": value} for value in values], inside, complete=complete)


def decay(f: Callable[[Any], Any], **more: Any) -> Judgement:
    return Rate(along(f), power=lambda _: -0.5, regime=once, **more)


def two(f: Callable[[Any], Any]) -> Judgement:
    """C1/t + C2/sqrt(t)."""
    return TwoConstants(along(f), (lambda _, t: 1 / t, lambda _, t: t**-0.5))


def parabola(bound: Any) -> Judgement:
    """sup x(4 - x) over [0, 9] is 4."""
    return OverClass(lambda _, m: m.x * (4 - m.x), {"x": floats(0, 9)}, upper=lambda _: bound)


SIZES = [{"d": 2**k} for k in range(1, 21)]


def across(f: Callable[[float], float]) -> Judgement:
    return AllInstances(lambda x: Series(np.array([f(x["d"])]), 0.0), shape=lambda x: x["d"], size=lambda x: x["d"])


FORMS: dict[str, tuple[Judgement, Judgement, Judgement]] = {
    "x_t -> x*": (
        tends_to_0(lambda t: 3 / t),
        tends_to_0(lambda t: 0.25 + 3 / t),
        tends_to_0(lambda t: 1 / np.log(1 + t)),
    ),
    "for all t <= T at once": (
        Bounded(exact_steps(Fraction(1, 10)), upper=lambda _, t: 1),
        Bounded(exact_steps(Fraction(1, 10)), upper=lambda _, t: Fraction(1, 2)),
        Bounded(unsure(1.0), upper=lambda _, t: 1),
    ),
    "the last iterate": (
        Bounded(exact_steps(Fraction(1, 10)), upper=lambda _, t: Fraction(1, 10), last=True),
        Bounded(exact_steps(Fraction(1, 5)), upper=lambda _, t: Fraction(1, 10), last=True),
        Bounded(
            lambda _: Series(np.array([9.0, 0.5]), np.array([0.0, 0.6]), np.array([1, 2])),
            upper=lambda _, t: 1,
            last=True,
        ),
    ),
    "one constant over all instances": (across(lambda d: 2 * d + 5), across(lambda d: d**1.5), across(lambda d: d)),
    "two constants": (
        two(lambda t: 7 / t + 0.01 / np.sqrt(t)),
        two(lambda t: t**-0.1),
        two(lambda t: np.log(1 + t) / np.sqrt(t)),
    ),
    "there is a regime": (regime((1, Fraction(4, 3))), regime((1, 2), complete=True), regime((1, 2))),
    "in expectation": (mean_below(0.52), mean_below(0.48), mean_below(0.5)),
    "in expectation, at every t": (
        InExpectation(walks, upper=lambda _, t: 1.1 * np.sqrt(t) / 4, within=lambda _: (0, 4)),
        InExpectation(walks, upper=lambda _, t: np.where(t == 9, 0.3, 2.0), within=lambda _: (0, 4)),
        InExpectation(walks, upper=lambda _, t: 2 * t),
    ),
    "with probability": (often(0.88), often(0.92), often(0.9)),
    "with probability, at once": (
        WithProbability(walks, lambda _: 0.9, upper=lambda _, t: 2.5),
        WithProbability(walks, lambda _: 0.9, upper=lambda _, t: 1.0),
        WithProbability(walks, lambda _: 0.9, upper=lambda _, t: 2.5, n=20),
    ),
    "a supremum over a class": (parabola(4), parabola(Fraction(7, 2)), parabola(4)),
    "a rate": (decay(lambda t: 5 / np.sqrt(t)), decay(lambda t: t**-0.3), decay(lambda t: np.log(t + 1) / np.sqrt(t))),
    "a rate, at most": (
        decay(lambda t: 1 / t, side="upper"),
        decay(lambda t: t**-0.4, side="upper"),
        Rate(along(lambda t: 1 / t), lambda _: -0.5, regime=lambda _: 1e7, side="upper"),
    ),
}

WHEN = ("holds", "violated", "inconclusive")
CASES = {
    f"{name}: {verdict}": (judgement, verdict)
    for name, judgements in FORMS.items()
    for judgement, verdict in zip(judgements, WHEN, strict=True)
    # a search over a class proves nothing: of a true one the verdict is open, too
    if not (name == "a supremum over a class" and verdict == "holds")
}
FEW = "one constant over all instances: inconclusive"


def judged(judgement: Judgement, given: Any) -> Finding:
    return judgement.judge(given)


@pytest.mark.parametrize("case", CASES)
def test_each_form_has_a_true_a_false_and_an_undecidable_example(case: str) -> None:
    judgement, verdict = CASES[case]
    given: Any = {"L": 1}
    if isinstance(judgement, AllInstances):
        given = SIZES[:2] if case == FEW else SIZES
    found = judged(judgement, given)
    assert found.verdict == verdict, found.detail
    assert found.detail


def test_a_limit_of_0_is_relative_to_a_size_of_ones_own() -> None:
    small = along(lambda t: 1e-3 / t)
    assert "in units of 0.001" in Limit(small, lambda _: 0, once).judge(None).detail
    assert "in units of 5" in Limit(small, lambda _: 0, once, scale=lambda _: 5).judge(None).detail
    with pytest.raises(ValueError, match="expected a positive number"):
        Limit(small, lambda _: 0, once, scale=lambda _: 0).judge(None)


def test_the_verdict_on_the_last_step_ignores_the_others() -> None:
    found = Bounded(exact_steps(Fraction(1, 10)), upper=lambda _, t: Fraction(1, 10)).judge(None)
    assert (found.verdict, found.first_violation) == ("violated", 1)
    last = Bounded(exact_steps(Fraction(1, 10)), upper=lambda _, t: Fraction(1, 10), last=True).judge(None)
    assert (last.verdict, last.evidence, last.worst_step, last.left_out) == ("holds", "exact", 10, "")


def test_a_witness_is_in_the_finding_with_the_evidence_of_its_comparison() -> None:
    found = regime((1, Fraction(4, 3))).judge({"L": 1})
    assert (found.evidence, found.witness) == ("exact", {"K": "4/3"})
    assert found.detail.startswith("Witness, candidate 2: K = 4/3. ")
    assert "None of 2 candidates" in regime((1, 2), complete=True).judge({}).detail
    assert regime((), complete=True).judge({}).verdict == "inconclusive"
    assert "A search without a witness refutes nothing" in regime((1, 2)).judge({}).detail


def test_a_member_that_refutes_is_simplified() -> None:
    found = parabola(Fraction(7, 2)).judge({})
    assert (found.verdict, found.evidence) == ("violated", "exact")
    assert found.witness == {"x": 2}
    open_one = parabola(4).judge({})
    assert (open_one.measured, open_one.witness) == (4.0, {"x": 2})
    assert "A search does not prove a bound." in open_one.detail
    assert parabola(4).judge({}) == open_one  # the seed is fixed


def test_members_may_be_vectors_whose_length_is_a_parameter() -> None:
    n = integers(1, 6)
    largest = OverClass(lambda _, m: sum(m.x), {"n": n, "x": vectors(n, 0, 1)}, upper=lambda _: Fraction(5, 2))
    found = largest.judge({})
    assert found.verdict == "violated"
    assert found.witness == {"n": 3, "x": [1, 1, 1]}


def test_two_constants_are_named() -> None:
    found = two(lambda t: 7 / t + 2 / np.sqrt(t)).judge({})
    assert found.detail.startswith("C1 = 7 and C2 = 2 are valid on what was run.")


def test_one_constant_takes_the_worst_instance_of_each_size() -> None:
    pairs = [{"d": x["d"], "more": more} for x in SIZES for more in (0, 1)]
    judgement = AllInstances(
        lambda x: Series(np.array([x["d"] * (1 + 9 * x["more"])]), 0.0), shape=lambda x: x["d"], size=lambda x: x["d"]
    )
    found = judgement.judge(pairs)
    assert found.verdict == "holds"
    assert found.constant == pytest.approx(10)
    assert found.detail.startswith("40 instances of 20 sizes.")


def test_a_rate_is_measured_in_its_regime_alone() -> None:
    late = along(lambda t: np.where(t < 1e4, 1.0, (t / 1e4) ** -0.5))
    found = Rate(late, lambda _: -0.5, regime=lambda _: 1e4).judge(None)
    assert found.verdict == "holds"
    assert "Power by decade: [-0.5, -0.5]" in found.detail
    short = Rate(late, lambda _: -0.5, regime=lambda _: 1e7).judge(None)
    assert (short.verdict, short.beyond_the_run, short.needs) == ("inconclusive", True, "t ≥ 1e+09, run has 1e+08")


def test_a_lower_bound_takes_the_least_instance_of_each_size() -> None:
    pairs = [{"d": x["d"], "f": factor} for x in SIZES for factor in (10, 1, 10)]
    judgement = AllInstances(
        lambda x: Series(np.array([float(x["d"] * x["f"])]), 0.0), lambda x: x["d"], lambda x: x["d"], side="lower"
    )
    assert judgement.judge(pairs).constant == pytest.approx(1)


@pytest.mark.parametrize("steps", [(1, 30, 1000), (1, 10, 1000), (1, 1000)])
def test_two_steps_do_not_show_the_power_of_a_decade_between_them(steps: tuple[int, ...]) -> None:
    t = np.array(steps)
    found = Rate(lambda _: by_formula(1 / t, step=t), lambda _: -1.0, once).judge(None)
    assert (found.verdict, found.detail) == (
        "inconclusive",
        "One of the last 2 decades to t = 1000 has no entry.",
    )
    longer = np.array([1, 100, 1000, 10**4])
    assert Rate(lambda _: by_formula(1 / longer, step=longer), lambda _: -1.0, once).judge(None).verdict == "holds"


def test_the_confidence_in_a_sampled_witness_counts_every_candidate() -> None:
    likely = WithProbability(lambda x, rng, n: rng.random(n) < x["p"], lambda _: 0.5, n=200)
    found = Exists(lambda _: [{"p": 0.1}, {"p": 0.2}, {"p": 0.9}], likely).judge({})
    assert (found.verdict, found.evidence, found.samples) == ("holds", "sampled", 200)
    assert found.confidence == pytest.approx(0.97)
    none = Exists(lambda _: [{"p": 0.1}, {"p": 0.2}], likely, complete=True).judge({})
    assert (none.verdict, none.evidence, none.seed) == ("violated", "sampled", 0)
    assert none.confidence == pytest.approx(0.98)


def test_what_is_not_checked_says_why() -> None:
    found = NotChecked(because="it is about all algorithms.").judge({})
    assert (found.verdict, found.detail) == ("not-checked", "Not checked, because it is about all algorithms.")
    with pytest.raises(ValueError, match="got no reason"):
        NotChecked(because=" ")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: InExpectation(walks), "exactly one of upper and lower"),
        (lambda: mean_below(1, n=0), "got 0 samples"),
        (lambda: mean_below(1, confidence=1.0), "got the confidence 1.0"),
        (lambda: mean_below(1, method="t"), "got the method 't'"),
        (lambda: OverClass(max, {"x": 3}, upper=max), "got 3 as x of the box"),  # type: ignore[dict-item]
        (lambda: OverClass(max, {"x": vectors("n")}, upper=max), "got the length 'n' of x of the box"),
        (lambda: OverClass(max, {"x": floats(0, 1)}), "exactly one of upper and lower"),
        (lambda: floats(1, 0), "expected finite numbers in order"),
        (lambda: integers(0, 1.5), "expected whole numbers in order"),  # type: ignore[arg-type]
        (lambda: vectors(-1), "expected a length"),
        (lambda: require_sampling(True, 0.5), "got True samples"),
    ],
)
def test_mistakes_are_named(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
