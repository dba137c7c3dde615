"""Systems of integers solved by lifting, beside FLINT's solver."""

from typing import Any

import numpy as np
import pytest
from flint import fmpz, fmpz_mat

from marginaudit.margins import lifting
from marginaudit.margins.lifting import Residues, solve

SIZE = lifting.SMALL + 12


def matrix(bits: int, size: int = SIZE, seed: int = 0) -> fmpz_mat:
    random = np.random.default_rng(seed)
    return fmpz_mat(size, size, [int.from_bytes(random.bytes(32)) % 2**bits - 2 ** (bits - 1) for _ in range(size**2)])


def flint_solution(A: fmpz_mat, b: list[int]) -> tuple[list[fmpz], fmpz]:
    solution: Any = A.solve(fmpz_mat(len(b), 1, b))
    numerators, denominator = solution.numer_denom()
    return numerators.entries(), denominator


@pytest.mark.parametrize("bits", [1, 3, 80])
@pytest.mark.parametrize("size", [SIZE, lifting.SMALL])
def test_the_solution_is_flints(bits: int, size: int) -> None:
    A, b = matrix(bits, size), np.random.default_rng(1).integers(-(10**6), 10**6, size).tolist()
    assert solve(A, b) == flint_solution(A, b)


def test_small_denominators_that_differ_between_entries_have_their_least_common_multiple() -> None:
    A = fmpz_mat(SIZE, SIZE, [(2, 3, -5)[i % 3] if i == j else 0 for i in range(SIZE) for j in range(SIZE)])
    numerators, denominator = solve(A, [1] * SIZE)
    assert list(map(int, [*numerators[:3], denominator])) == [15, 10, -6, 30]


def test_a_system_that_is_singular_modulo_a_prime_of_the_base_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []

    class Recorded(Residues):
        def __init__(self, primes: list[int]) -> None:
            used.extend(primes)
            super().__init__(primes)

    monkeypatch.setattr(lifting, "Residues", Recorded)
    A = matrix(20)
    solve(A, [1] * SIZE)
    scaled = A * fmpz(used[3])
    assert solve(scaled, [1] * SIZE) == flint_solution(scaled, [1] * SIZE)


def test_a_singular_system_raises_zero_division_error() -> None:
    A = matrix(20)
    rows = A.table()
    rows[5] = [a - b for a, b in zip(rows[3], rows[4], strict=True)]
    with pytest.raises(ZeroDivisionError):
        solve(fmpz_mat(rows), [1] * SIZE)


def test_a_solution_that_does_not_solve_the_system_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = Residues.terms
    monkeypatch.setattr(Residues, "terms", lambda self, residues: terms(self, residues) + 1)
    with pytest.raises(ArithmeticError, match=f"{SIZE} equations"):
        solve(matrix(20), [1] * SIZE)


def test_residues_are_those_of_the_sum_of_weighted_terms() -> None:
    residues = Residues([101, 103, 107])
    integers = np.array([-5, 0, 1, 101, residues.product // 2, -(residues.product // 3)], dtype=object)
    terms = residues.terms(residues.of(integers)).astype(int)
    sums = np.array(residues.weights, dtype=object) @ terms
    assert sums.tolist() == integers.tolist()
