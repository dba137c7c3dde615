"""Boxes of parameters: values drawn inside, simple values first, and every simplification simpler."""

from fractions import Fraction

from marginaudit import floats, integers, vectors
from marginaudit.claims.box import complexity, sampled, simpler, smallest

N = integers(1, 5)
BOX = {"K": floats(Fraction(1, 3), 10), "n": N, "x": vectors(N, -1, 1), "y": vectors("n", 0, 1), "z": vectors(2)}


def inside(values: dict[str, object]) -> bool:
    K, n, x, y, z = values.values()
    assert isinstance(K, Fraction)
    assert isinstance(n, int)
    assert isinstance(x, tuple)
    assert isinstance(y, tuple)
    assert isinstance(z, tuple)
    return (
        Fraction(1, 3) <= K <= 10
        and 1 <= n <= 5
        and len(x) == len(y) == n
        and all(-1 <= one <= 1 for one in x)
        and all(0 <= one <= 1 for one in y)
        and len(z) == 2
    )


def test_drawn_and_simple_values_are_inside_the_box() -> None:
    drawn = sampled(BOX, 300, seed=3)
    assert len(drawn) == 300
    assert all(map(inside, drawn))
    assert {values["n"] for values in drawn} == {1, 2, 3, 4, 5}
    assert sampled(BOX, 300, seed=3) == drawn != sampled(BOX, 300, seed=4)
    simple = smallest(BOX)
    assert all(map(inside, simple))
    assert [complexity(values) for values in simple] == sorted(complexity(values) for values in simple)


def test_a_simpler_value_is_simpler_and_inside() -> None:
    for values in sampled(BOX, 50, seed=5):
        for other in simpler(BOX, values):
            assert inside(other)
            assert complexity(other) < complexity(values)
    assert not list(simpler({"K": floats(1, 2)}, {"K": Fraction(1)}))


def test_a_range_between_two_ends_of_large_denominators_is_drawn() -> None:
    narrow = {"K": floats(Fraction(1, 10**9), Fraction(2, 10**9))}
    assert all(Fraction(1, 10**9) <= values["K"] <= Fraction(2, 10**9) for values in sampled(narrow, 20, seed=0))
