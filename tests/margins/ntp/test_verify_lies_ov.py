"""Lies on W_ov, on problems without a constraint and on embeddings, each refused with the one reason."""

from fractions import Fraction
from typing import Any

import pytest

from tests.margins.ntp.lies import COMPLETE, CYCLIC, TRUE, Outcome, Refusal, cycle
from tests.strategies import Document


def tokens_of(V: int, **more: Any) -> Document:
    """V tokens, each followed by the next, without a relation."""
    names = [f"t{i}" for i in range(V)]
    return {"sentences": [[x, names[(i + 1) % V]] for i, x in enumerate(names)]} | more


def stated_ov(norm_squared: str, at_next_token: str, elsewhere: str, multiplier: str) -> dict[str, str]:
    return {
        "status": "optimal",
        "norm_squared": norm_squared,
        "at_next_token": at_next_token,
        "elsewhere": elsewhere,
        "multiplier": multiplier,
    }


@pytest.mark.parametrize("V", [1, 2, 3, 7])
def test_ov(outcome: Outcome, refused: Refusal, V: int) -> None:
    truth = (f"{V - 1}/1", f"{V - 1}/{V}" if V > 1 else "0/1", f"-1/{V}" if V > 1 else "0/1", f"1/{V}")
    assert outcome(tokens_of(V), ov=stated_ov(*truth)) == [f"ov: optimal, ||W*||^2 = {V - 1}"]
    zero = stated_ov("0/1", "0/1", "0/1", "0/1")
    if V == 1:
        assert outcome(tokens_of(V), ov=zero)
        return
    refused("ov: a constraint is violated", tokens_of(V), ov=zero)
    longer = ("1/1", "0/1")
    refused(f"ov: ||W||^2 is {V}, stated {V - 1}", tokens_of(V), ov=stated_ov(truth[0], *longer, truth[3]))
    lie = stated_ov(f"{V}/1", *longer, truth[3])
    refused(f"ov: the dual objective is {V - 1}, stated {V}", tokens_of(V), ov=lie)
    refused("ov: the dual objective is 0, stated", tokens_of(V), ov=stated_ov(*truth[:3], "0/1"))
    for place in (1, 2, 3):
        values = [*truth[:place], f"1/{V + 1}", *truth[place + 1 :]]
        refused("ov: a denominator is above the number of tokens", tokens_of(V), ov=stated_ov(*values))


def test_ov_with_a_violated_constraint_and_all_else_in_agreement(refused: Refusal) -> None:
    """V = 9: margins of 2/3, with the multiplier at which the dual objective is as small as that norm."""
    found = []
    V = 9
    numbers = sorted({Fraction(p, q) for q in range(1, V + 1) for p in range(-q, q + 1)})
    duals = {V * (V - 1) * (2 * mu - V * mu**2): mu for mu in numbers if mu > 0}
    for elsewhere in numbers:
        for next_token in numbers:
            norm_squared = V * (next_token**2 + (V - 1) * elsewhere**2)
            if 0 < next_token - elsewhere < 1 and norm_squared in duals:
                found.append((norm_squared, next_token, elsewhere, duals[norm_squared]))
    assert found
    for values in found:
        texts = [f"{value.numerator}/{value.denominator}" for value in values]
        refused("ov: a constraint is violated", tokens_of(V), ov=stated_ov(*texts))


def test_ov_with_a_negative_multiplier(refused: Refusal) -> None:
    """One token has no constraint, and no multiplier changes the dual objective."""
    lie = stated_ov("0/1", "0/1", "0/1", "-1/1")
    refused("ov: a multiplier is negative", tokens_of(1), ov=lie)


EMPTY = {"status": "optimal", "norm_squared": "0/1", "weights": {}, "multipliers": {}}


def test_problems_without_a_constraint(outcome: Outcome, refused: Refusal) -> None:
    assert outcome(tokens_of(3), kq=EMPTY) == ["kq: optimal, ||W*||^2 = 0, 0 constraints"]
    refused("kq: ||W||^2 is 0, stated 1", tokens_of(3), kq=EMPTY | {"norm_squared": "1/1"})


def test_an_n_that_is_no_function(refused: Refusal) -> None:
    two = tokens_of(3)
    two["sentences"].append(["t0", "t2"])
    refused("two next tokens of 't0'", two, kq=EMPTY)
    for more in ({"vocabulary": ["t0", "t1", "t2", "t3"]}, {"samples": [{"tokens": ["t0", "t3", "t0"], "next": "t1"}]}):
        refused("n is not a function on the whole vocabulary", tokens_of(3, **more), kq=EMPTY)


def scaled(V: int, factor: float, turned: float = 0.0) -> list[list[float]]:
    return [[factor * (i == j) + turned * (j == (i + 1) % V) for j in range(V)] for i in range(V)]


OV3 = stated_ov("2/1", "2/3", "-1/3", "1/3")


@pytest.mark.parametrize(
    "embedding",
    [
        pytest.param(scaled(3, 1 + 4.9e-13), id="longer"),
        pytest.param(scaled(3, 1 - 4.9e-13), id="shorter"),
        pytest.param(scaled(3, 1.0, turned=9.9e-13), id="skew"),
        pytest.param(scaled(3, 1.0, turned=-9.9e-13), id="obtuse"),
        pytest.param([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, -1]], id="rotated"),
        pytest.param([[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5 - 2.0**-42]], id="half"),
    ],
)
def test_what_passes_for_orthonormal_is_said(outcome: Outcome, embedding: list[list[float]]) -> None:
    line, note = outcome(tokens_of(3, embedding=embedding), ov=OV3)
    assert line == "ov: optimal, ||W*||^2 = 2"
    rows = [[Fraction(v) for v in row] for row in embedding]
    gram = [[sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0)) - (u is v) for v in rows] for u in rows]
    largest = float(max(abs(entry) for row in gram for entry in row))
    assert note == f"for orthonormal tokens; the embedding's Gram matrix is within about {largest:.3g} of I"


def test_exactly_orthonormal_tokens_need_no_note(outcome: Outcome) -> None:
    for embedding in (scaled(3, 1), scaled(3, -1.0), [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, -1]]):
        assert len(outcome(tokens_of(3, embedding=embedding), ov=OV3)) == 1


@pytest.mark.parametrize(
    "embedding",
    [
        pytest.param(scaled(3, 1 + 5.1e-13), id="longer"),
        pytest.param(scaled(3, 1 - 5.1e-13), id="shorter"),
        pytest.param(scaled(3, 1.0, turned=1.01e-12), id="skew"),
        pytest.param(scaled(3, 1.0, turned=-1.01e-12), id="obtuse"),
        pytest.param([[1, 0, 0], [0, 1, 0], [0, 0, 0]], id="nothing"),
        pytest.param([[1, 0, 0], [0, 1, 0], [0, 1, 0]], id="twice"),
        pytest.param([[1], [1], [1]], id="all alike"),
        pytest.param([[1.7976931348623157e308, 0, 0], [0, 5e-324, 0], [0, 0, 1]], id="far"),
    ],
)
def test_tokens_that_are_not_orthonormal(
    refused: Refusal,
    outcome: Outcome,
    embedding: list[list[float]],
) -> None:
    refused("the embedding is not orthonormal", tokens_of(3, embedding=embedding), ov=OV3)
    refused("the embedding is not orthonormal", tokens_of(3, embedding=embedding), ov=OV3, kq=EMPTY)
    assert outcome(tokens_of(3, embedding=embedding), kq=EMPTY)


def test_what_supposes_nothing_of_the_embedding(outcome: Outcome, refused: Refusal) -> None:
    """One token, no relation, and a cycle; a relation or a second token supposes it."""
    one = stated_ov("0/1", "0/1", "0/1", "1/1")
    assert outcome(tokens_of(1, embedding=[[3]]), ov=one, kq=EMPTY)
    two = stated_ov("1/1", "1/2", "-1/2", "1/2")
    refused("the embedding is not orthonormal", tokens_of(2, embedding=[[3, 0], [0, 1]]), ov=two)
    V = len(CYCLIC["vocabulary"])
    assert outcome(CYCLIC | {"embedding": scaled(V, 3)}, kq=cycle("a", "b", "c"))
    refused("the embedding is not orthonormal", COMPLETE | {"embedding": scaled(5, 3)}, kq=TRUE)
    assert outcome(COMPLETE | {"embedding": scaled(5, 1)}, kq=TRUE)
