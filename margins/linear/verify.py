"""Check certificates of problems min |w| s.t. x_n.w >= 1 and e_m.w = b_m; standard library only.

Usage: python verify.py CERTIFICATE
Exit status: 0 confirmed; 1 refused; 2 an unreadable file, or no certificate; 70 an internal error.

Deliberately self-contained: it knows the problem, with the labels of its rows, from the certificate; `marginaudit
verify` compares it with the dataset's. In rational arithmetic, with multipliers y_n >= 0 of rows, z_m of either sign of
equalities, g = sum y_n x_n + sum z_m e_m and t = sum y_n + sum z_m b_m, it confirms that

* "optimal": w meets all rows and |w|^2 = 2 t - |g|^2, which is at most |v|^2 for every v that meets them;
* "infeasible": g = 0 and t > 0, as t <= g.v for every v that meets all rows;
* "bounded", in any norm: w meets all rows, and lower <= |v| for every v that meets them, as t <= g.v <= |g|* |v| in the
  dual norm |.|*. So the minimum is between ``lower`` and ``upper``.

Upper bounds s of norms: for the spectral norm s^2 - M M^T - L L^T, with a given L, is diagonally dominant, so positive
semidefinite; for the nuclear norm M = A B^T + R, and s >= (|A|^2 + |B|^2)/2 + sum |R_ij|, |.| Frobenius norms. A
rational is "p/q" in lowest terms, in ASCII digits.
"""

import json
import re
import sys
import traceback
from collections.abc import Sequence
from fractions import Fraction
from io import TextIOWrapper
from math import gcd, lcm
from pathlib import Path
from typing import Any

FORMAT = "marginaudit-rows-certificate-2"
RATIONAL = re.compile("(0|-?[1-9][0-9]*)/([1-9][0-9]*)")
LONGEST_SHOWN = 60
MOST_NAMED = 6
DIGITS = 4000
ZERO = Fraction(0)

DUAL = {"euclidean": "euclidean", "largest-entry": "sum", "nuclear": "spectral", "spectral": "nuclear"}
"""Norms and their dual norms; "sum" is that of the absolute entries."""

PROBLEM = ("norm", "shape", "rows", "equalities", "values", "labels")
PARTS = {
    "optimal": ("problem", "status", "norm_squared", "weights", "multipliers"),
    "infeasible": ("problem", "status", "multipliers"),
    "bounded": ("problem", "status", "lower", "upper", "weights", "multipliers", "norm_of_weights", "norm_of_sum"),
}
EVIDENCE = {
    "euclidean": ("bound",),
    "largest-entry": ("bound",),
    "sum": ("bound",),
    "nuclear": ("bound", "left", "right"),
    "spectral": ("bound", "root"),
}

Vector = Sequence[Fraction]
Matrix = Sequence[Vector]


class Refused(Exception):  # noqa: N818
    """The certificate does not prove its statement."""


class Twice(ValueError):  # noqa: N818
    """A repeated key."""


class Unreadable(ValueError):  # noqa: N818
    """No certificate; place (file or JSON pointer), value and expectation."""

    def __init__(self, where: str, *, got: str, expected: str) -> None:
        super().__init__(f"{where}: got {got}, expected {expected}")
        self.where, self.got, self.expected = where, got, expected


def verify(path: str | Path) -> dict[str, str]:
    """The statement confirmed of each problem.

    Raises
    ------
    Refused, Unreadable
    """
    return {name: confirmed(part, f"{printable(str(path))}: /{name}") for name, part in read(Path(path)).items()}


def read(path: Path) -> dict[str, Any]:
    """The problems of a certificate, each with its solution."""
    where = printable(str(path))
    try:
        document = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=once, parse_int=integer)
    except OSError as error:
        raise Unreadable(where, got=str(error.strerror), expected="a certificate") from None
    except (ValueError, RecursionError) as error:
        got = str(error) if isinstance(error, Twice) else f"no JSON ({type(error).__name__})"
        raise Unreadable(where, got=got, expected="a certificate") from None
    stated = document if isinstance(document, dict) else {}
    expect(stated.get("format") == FORMAT, f"{where}: /format", shown(stated.get("format")), FORMAT)
    parts = {name: part for name, part in stated.items() if name not in ("format", "dataset")}
    expect(bool(parts), where, "no problem", "at least one")
    return parts


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members, each of another key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Twice("a key more than once in one object")
    return found


def confirmed(part: Any, where: str) -> str:
    """The statement that a problem's certificate proves."""
    expect(isinstance(part, dict), where, shown(part), "an object with status")
    status = part.get("status")
    expect(isinstance(status, str) and status in PARTS, f"{where}/status", shown(status), f"one of {', '.join(PARTS)}")
    keys(part, PARTS[status], where)
    problem = Problem(part["problem"], f"{where}/problem")
    y = problem.multipliers(part["multipliers"], f"{where}/multipliers")
    pulled, total = problem.sum_of_rows(y), problem.total(y)
    if status == "infeasible":
        demand(not any(pulled), "the rows do not sum to 0 under the multipliers")
        demand(total > 0, f"the right-hand sides sum to {shown(total)} under the multipliers, not above 0")
        return f"infeasible, as the rows sum to 0 >= {shown(total)} under the multipliers{problem.named(y)}"
    w = vector(part["weights"], f"{where}/weights")
    expect(len(w) == problem.size, f"{where}/weights", f"{len(w)} coordinates", f"{problem.size}, as in a row")
    problem.require_feasible(w)
    counts = f"{len(problem.rows)} constraints" + (
        f", {len(problem.equalities)} equalities" if problem.equalities else ""
    )
    if status == "optimal":
        expect(problem.norm == "euclidean", f"{where}/status", shown(status), f"bounded, for the {problem.norm} norm")
        norm_squared = rational(part["norm_squared"], f"{where}/norm_squared")
        primal, dual = dot(w, w), 2 * total - dot(pulled, pulled)
        demand(primal == norm_squared, f"|w|^2 is {shown(primal)}, stated {shown(norm_squared)}")
        demand(dual == norm_squared, f"the dual objective is {shown(dual)}, stated {shown(norm_squared)}")
        return f"optimal, |w|^2 = {shown(norm_squared)}, {counts}{problem.named(y)}"
    lower, upper = (rational(part[key], f"{where}/{key}") for key in ("lower", "upper"))
    reached = at_most(problem.norm, w, problem.shape, part["norm_of_weights"], f"{where}/norm_of_weights")
    demand(upper >= reached, f"|w| is at most {shown(reached)}, stated {shown(upper)}")
    if lower > 0:
        size = at_most(DUAL[problem.norm], pulled, problem.shape, part["norm_of_sum"], f"{where}/norm_of_sum")
        demand(
            size > 0 and lower * size <= total,
            f"the lower bound is {shown(total)} / {shown(size)}, stated {shown(lower)}",
        )
    return (
        f"the least {problem.norm} norm is from {float(lower):.17g} to {float(upper):.17g}, {counts}{problem.named(y)}"
    )


class Problem:
    """The rows, equalities, labels and norm of a problem."""

    def __init__(self, stated: Any, where: str) -> None:
        keys(stated, PROBLEM, where)
        self.norm = stated["norm"]
        expect(
            isinstance(self.norm, str) and self.norm in DUAL,
            f"{where}/norm",
            shown(self.norm),
            f"one of {', '.join(DUAL)}",
        )
        self.rows, self.equalities = (matrix(stated[key], f"{where}/{key}") for key in ("rows", "equalities"))
        self.values = vector(stated["values"], f"{where}/values")
        sizes = {len(row) for row in (*self.rows, *self.equalities)}
        expect(len(sizes) == 1, f"{where}/rows", f"rows of {sorted(sizes)} coordinates", "rows, all alike")
        self.size, count = sizes.pop(), len(self.rows) + len(self.equalities)
        values = f"{len(self.values)} numbers"
        expect(len(self.values) == len(self.equalities), f"{where}/values", values, "one of each equality")
        labels = stated["labels"]
        texts = isinstance(labels, list) and all(isinstance(one, str) for one in labels)
        expect(texts, f"{where}/labels", shown(labels), "an array of texts")
        expect(len(labels) in (0, count), f"{where}/labels", f"{len(labels)} texts", f"{count} or none")
        self.labels = labels or [f"row {n}" for n in range(count)]
        self.shape = self._shape(stated["shape"], f"{where}/shape")

    def _shape(self, stated: Any, where: str) -> tuple[int, int]:
        if stated is None and self.norm in ("euclidean", "largest-entry"):
            return self.size, 1
        sizes = isinstance(stated, list) and len(stated) == 2 and all(type(n) is int and n > 0 for n in stated)
        expected = f"two numbers whose product is {self.size}"
        expect(sizes and stated[0] * stated[1] == self.size, where, shown(stated), expected)
        return stated[0], stated[1]

    def multipliers(self, stated: Any, where: str) -> list[Fraction]:
        """Multipliers of the rows, at least 0, then of the equalities; those missing are 0."""
        expect(isinstance(stated, dict), where, shown(stated), "multipliers by number of the row")
        y = [ZERO] * (len(self.rows) + len(self.equalities))
        for key, text in stated.items():
            known = re.fullmatch("0|[1-9][0-9]{0,8}", key) is not None and int(key) < len(y)
            demand(known, f"a multiplier of row {shown(key)}, expected rows 0 to {len(y) - 1}")
            y[int(key)] = rational(text, f"{where}/{key}")
        for n, value in enumerate(y[: len(self.rows)]):
            demand(value >= 0, f"the multiplier of {self.labels[n]} is negative")
        return y

    def sum_of_rows(self, y: Vector) -> list[Fraction]:
        """The rows' sum under multipliers."""
        used = [(value, row) for value, row in zip(y, (*self.rows, *self.equalities), strict=True) if value]
        weights = Scaled([value for value, _ in used])
        return [weights.dot(Scaled([row[i] for _, row in used])) for i in range(self.size)]

    def total(self, y: Vector) -> Fraction:
        """The right-hand sides' sum under multipliers."""
        return sum(y[: len(self.rows)], ZERO) + dot(y[len(self.rows) :], self.values)

    def require_feasible(self, w: Vector) -> None:
        """Refuse a w that does not meet a row."""
        scaled = Scaled(w)
        for row, name in zip(self.rows, self.labels, strict=False):
            margin = scaled.dot(Scaled(row))
            demand(margin >= 1, f"{name} has the margin {shown(margin)}, not at least 1")
        names = self.labels[len(self.rows) :]
        for row, value, name in zip(self.equalities, self.values, names, strict=True):
            found = scaled.dot(Scaled(row))
            demand(found == value, f"{name} has the value {shown(found)}, not {shown(value)}")

    def named(self, y: Vector) -> str:
        """The first multipliers that are not 0, by label."""
        used = [f"{printable(name)} ({shown(value)})" for value, name in zip(y, self.labels, strict=True) if value]
        more = [f"and {len(used) - MOST_NAMED} more"] * (len(used) > MOST_NAMED)
        return "; multipliers: " + ", ".join([*used[:MOST_NAMED], *more]) if used else ""


def at_most(norm: str, flat: Vector, shape: tuple[int, int], evidence: Any, where: str) -> Fraction:
    """The proved upper bound on a norm that the evidence states."""
    keys(evidence, EVIDENCE[norm], where)
    bound = rational(evidence["bound"], f"{where}/bound")
    height, width = shape
    M = [flat[i * width : (i + 1) * width] for i in range(height)]
    if norm == "euclidean":
        proved = bound >= 0 and dot(flat, flat) <= bound**2
    elif norm == "largest-entry":
        proved = max(map(abs, flat)) <= bound
    elif norm == "sum":
        proved = sum(map(abs, flat), ZERO) <= bound
    elif norm == "nuclear":
        A, B = (matrix(evidence[key], f"{where}/{key}") for key in ("left", "right"))
        fits = len(A) == height and len(B) == width and len({len(row) for row in (*A, *B)}) == 1
        expect(fits, f"{where}/left", "factors of other sizes", f"{height} and {width} rows of one length")
        rest = (abs(M[i][j] - dot(A[i], B[j])) for i in range(height) for j in range(width))
        proved = sum((dot(row, row) for row in (*A, *B)), ZERO) / 2 + sum(rest, ZERO) <= bound
    else:
        M = M if height <= width else [list(column) for column in zip(*M, strict=True)]
        L = matrix(evidence["root"], f"{where}/root")
        fits = len(L) == len(M) and len({len(row) for row in L}) == 1
        expect(fits, f"{where}/root", "a factor of another size", f"{len(M)} rows of one length")
        proved = bound >= 0 and all(dominant(i, M, L, bound) for i in range(len(M)))
    demand(proved, f"{where.rpartition('/')[2]}: the {norm} norm is not proved to be at most {shown(bound)}")
    return bound


def dominant(i: int, M: Matrix, L: Matrix, bound: Fraction) -> bool:
    """Whether the diagonal entry of bound^2 - M M^T - L L^T is at least the sum of the other entries of its row."""
    row = [-dot(M[i], M[j]) - dot(L[i], L[j]) for j in range(len(M))]
    return bound**2 + row[i] >= sum((abs(value) for j, value in enumerate(row) if j != i), ZERO)


class Scaled:
    """Rationals as integers over one denominator, for many products."""

    def __init__(self, values: Vector) -> None:
        self.denominator = lcm(*(value.denominator for value in values))
        self.numerators = [value.numerator * (self.denominator // value.denominator) for value in values]

    def dot(self, other: "Scaled") -> Fraction:
        """The scalar product."""
        found = sum(p * q for p, q in zip(self.numerators, other.numerators, strict=True))
        return Fraction(found, self.denominator * other.denominator)


def dot(u: Vector, v: Vector) -> Fraction:
    """The scalar product."""
    return Scaled(u).dot(Scaled(v))


def keys(stated: Any, wanted: Sequence[str], where: str) -> None:
    """Refuse what is no object with these keys alone."""
    expect(isinstance(stated, dict), where, shown(stated), f"an object with {', '.join(wanted)}")
    for key in wanted:
        expect(key in stated, where, f"no {key}", f"an object with {', '.join(wanted)}")
    for key in stated:
        expect(key in wanted, f"{where}/{key}", "an unknown key", f"only {', '.join(wanted)}")


def matrix(stated: Any, where: str) -> list[list[Fraction]]:
    """Rows of rationals."""
    expect(isinstance(stated, list), where, shown(stated), "an array of rows")
    return [vector(row, f"{where}/{i}") for i, row in enumerate(stated)]


def vector(stated: Any, where: str) -> list[Fraction]:
    """Rationals."""
    expect(isinstance(stated, list), where, shown(stated), 'an array of fractions "p/q"')
    return [rational(text, f"{where}/{i}") for i, text in enumerate(stated)]


def rational(text: Any, where: str) -> Fraction:
    """A rational, in lowest terms."""
    found = RATIONAL.fullmatch(text) if isinstance(text, str) else None
    numbers = (integer(found[1]), integer(found[2])) if found is not None else (2, 2)
    expect(gcd(*numbers) == 1, where, shown(text), 'a fraction "p/q" in lowest terms')
    return Fraction(*numbers)


def integer(text: str) -> int:
    """The integer, also of more digits than Python parses at once."""
    if len(text) <= DIGITS:
        return int(text)
    if text.startswith("-"):
        return -integer(text[1:])
    half = len(text) // 2
    scale: int = 10**half
    return integer(text[:-half]) * scale + integer(text[-half:])


def expect(condition: bool, where: str, got: str, expected: str) -> None:
    """Raise `Unreadable` unless the condition holds."""
    if not condition:
        raise Unreadable(where, got=got, expected=expected)


def demand(condition: bool, otherwise: str) -> None:
    """Raise `Refused` unless the condition holds."""
    if not condition:
        raise Refused(otherwise)


def shown(value: Any) -> str:
    """The value on one line, cut to the length of a message."""
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + " .."


def printable(text: str) -> str:
    """The text with escapes for control and invisible characters."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 confirmed; 1 refused; 2 no certificate; 70 internal error."""
    if len(arguments) != 1:
        print("usage: verify.py CERTIFICATE", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        for name, statement in verify(arguments[0]).items():
            print(f"{printable(name)}: {statement}")
    except Refused as reason:
        print(printable(f"refused: {reason}"), file=sys.stderr)
        return 1
    except Unreadable as error:
        print(printable(str(error)), file=sys.stderr)
        return 2
    except Exception as error:  # its exit status would be 1, that of a refused certificate
        print("\n".join(map(printable, traceback.format_exc().splitlines())), file=sys.stderr)
        print(f"internal error: {type(error).__name__}; neither confirmed nor refused", file=sys.stderr)
        return 70
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
