"""Exact solution of a system A x = b of integers by p-adic lifting, with float64 products of residues.

The solution is found digit by digit in base X (Dixon), a product of primes of some 22 bits. Digits are kept modulo
these primes, and the rest of the right-hand side modulo other primes (Chen and Storjohann, A BLAS based C library for
exact linear algebra on integer matrices, ISSAC 2005). So a digit takes a few matrix-vector products, exact in float64.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from flint import fmpz, fmpz_mat, nmod_mat
from numpy.typing import NDArray

from marginaudit.orders.arrays import Floats

SMALL = 128
"""Largest size at which FLINT's solver is faster."""

LIFTED = 12
"""Number of primes of X; each takes an inverse of A."""

EXACT_BITS = 52
"""Bits of integers that float64 represents, less one for residues a little above half their prime."""

BigIntegers = NDArray[Any]
"""Python integers of any size."""


def solve(A: fmpz_mat, b: Sequence[int]) -> tuple[list[fmpz], fmpz]:
    """Numerators of x with A x = b, and their common denominator, positive.

    Raises
    ------
    ZeroDivisionError
        A is singular.
    """
    right = fmpz_mat(len(b), 1, b)
    try:
        if len(b) > SMALL:
            return _lifted(A, right)
    except ZeroDivisionError:  # singular modulo one of the primes
        pass
    found: Any = A.solve(right)  # an fmpq_mat, missing in flint's stubs
    numerators, denominator = found.numer_denom()
    return numerators.entries(), denominator


class Residues:
    """Integers modulo primes: residues least in absolute value, in float64, with the primes along the first axis."""

    def __init__(self, primes: list[int]) -> None:
        self.primes = primes
        self.product = math.prod(primes)
        self.weights = [*(self.product // p for p in primes), -self.product]
        self.moduli = np.array(primes, dtype=np.float64)[:, None]
        inverses = [[pow(self.product // p, -1, p)] for p in primes]
        self.inverses = self.reduced(np.array(inverses, dtype=np.float64))

    def reduced(self, values: Floats) -> Floats:
        """Residues of one row of integers for each prime."""
        return values - self.moduli * np.rint(values / self.moduli)

    def of(self, integers: BigIntegers) -> Floats:
        """Residues of the same integers for all primes."""
        found = np.array([(integers % p).astype(np.float64).ravel() for p in self.primes])
        return self.reduced(found).reshape(len(self.primes), *integers.shape)

    def terms(self, residues: Floats) -> Floats:
        """Small integers whose sum weighted by `weights` has these residues and is at most about product / 2."""
        terms = self.reduced(residues * self.inverses)
        return np.vstack([terms, np.rint((terms / self.moduli).sum(axis=0))])


def _lifted(A: fmpz_mat, b: fmpz_mat) -> tuple[list[fmpz], fmpz]:
    """`solve` by lifting; ZeroDivisionError where A is singular modulo one of the primes."""
    n = A.nrows()
    entries, right = _integers(A), _integers(b)
    bits = sum(int(norm2).bit_length() for norm2 in (entries**2).sum(axis=1) + right[:, 0] ** 2)
    bound = 1 << (bits + 1) // 2  # Hadamard's, for det A and, by Cramer's rule, the numerators
    largest = n * int(abs(entries).max()) + int(abs(right).max())  # of the right-hand side left after a digit
    primes = (p for p in range(1 << (EXACT_BITS + 2 - n.bit_length()) // 2, 1, -1) if fmpz(p).is_prime())
    base, other = Residues(list(islice(primes, LIFTED))), Residues([next(primes)])
    while other.product <= 4 * largest:
        other = Residues([*other.primes, next(primes)])
    count = -(-2 * bound.bit_length() // (base.product.bit_length() - 1))
    x = _joined(list(islice(_digits(A, entries, right, base, other), count)), fmpz(base.product))
    numerators, denominator = _fractions(x.entries(), fmpz(base.product) ** count, fmpz(bound))
    if A * fmpz_mat(n, 1, numerators) != denominator * b:
        raise ArithmeticError(f"the lifted solution of {n} equations does not solve them")
    return numerators, denominator


def _digits(
    A: fmpz_mat, entries: BigIntegers, right: BigIntegers, base: Residues, other: Residues
) -> Iterator[fmpz_mat]:
    """Digits of the solution in base `base.product`, lowest first."""
    n = A.nrows()
    inverse = base.reduced(np.array([[float(int(v)) for v in nmod_mat(A, p).inv().entries()] for p in base.primes]))
    inverse, forward = inverse.reshape(-1, n, n), other.of(entries)
    step = other.reduced(np.array([[float(pow(base.product, -1, p))] for p in other.primes]))
    to_base, to_other = base.of(np.array(other.weights, dtype=object)), other.of(np.array(base.weights, dtype=object))
    weights = fmpz_mat(len(base.weights), 1, base.weights)
    left = other.of(right[:, 0])
    while True:
        residues = base.reduced(to_base @ other.terms(left))
        terms = base.terms(base.reduced(_products(inverse, residues)))
        yield fmpz_mat(n, len(base.weights), terms.T.astype(np.int64).ravel().tolist()) * weights
        digit = other.reduced(to_other @ terms)
        left = other.reduced(other.reduced(left - _products(forward, digit)) * step)


def _products(matrices: Floats, vectors: Floats) -> Floats:
    """Product of each matrix and its vector."""
    products: Floats = np.matmul(matrices, vectors[:, :, None])[:, :, 0]
    return products


def _integers(A: fmpz_mat) -> BigIntegers:
    """The matrix as Python integers."""
    return np.array([int(value) for value in A.entries()], dtype=object).reshape(A.nrows(), A.ncols())


def _joined(digits: list[fmpz_mat], base: fmpz) -> fmpz_mat:
    """Sum of the digits weighted by powers of the base."""
    while len(digits) > 1:
        digits = [a if b is None else a + b * base for a, b in zip_longest(digits[::2], digits[1::2])]
        base = base * base
    return digits[0]


def _fractions(x: Sequence[fmpz], modulus: fmpz, bound: fmpz) -> tuple[list[fmpz], fmpz]:
    """Numerators and common denominator, of at most the bound, that are congruent to x."""
    denominator = fmpz(1)
    for value in x:
        if abs(rest := _least(value * denominator, modulus)) > bound:
            denominator *= _denominator(rest % modulus, modulus, bound)
    return [_least(value * denominator, modulus) for value in x], denominator


def _least(value: fmpz, modulus: fmpz) -> fmpz:
    """Residue least in absolute value."""
    rest = value % modulus
    return rest - modulus if 2 * rest > modulus else rest


def _denominator(value: fmpz, modulus: fmpz, bound: fmpz) -> fmpz:
    """Denominator of the fraction of least numerator up to the bound that is congruent to the value (Euclid)."""
    (a, b), (u, v) = (modulus, value), (fmpz(0), fmpz(1))
    while b > bound:
        quotient = a // b
        (a, b), (u, v) = (b, a - quotient * b), (v, u - quotient * v)
    return abs(v)
