"""Check a certificate of a worst case; standard library only.

Usage: python verify.py CERTIFICATE [PROBLEM]
Exit status: 0 confirmed; 1 refused; 2 an unreadable file, or no certificate; 70 an internal error.

Deliberately self-contained: it reads a performance estimation problem and writes down the interpolation inequalities
from the names of the function classes. The problem has vectors ("points") and numbers ("values") as unknowns. Each
function is evaluated at combinations of the points; an evaluation is x, a (sub)gradient g at x, and f(x); for an
operator, g = A(x) and f is unused. An expression is a combination of products of points, values and a constant. The
performance is the least of the metrics. In rational arithmetic it confirms

* a proof of "performance <= bound": multipliers, nonnegative for inequalities <= 0, 1 in sum for the metrics, whose
  combination has no values left and a positive semidefinite matrix of products, and its constant is at least -bound;
* a worst case: coordinates of the points, in an orthogonal basis with stated squared lengths, and values that satisfy
  all constraints and interpolation inequalities, and metrics of at least the stated value.

With PROBLEM, a file with the problem alone or in a certificate, that of CERTIFICATE must equal it. A rational is "p/q"
in lowest terms, in ASCII digits, at most 4000 each. A coefficient of a problem may be an enclosure ["p/q", "r/s"] of an
irrational number; the statements then hold for all numbers in the enclosures.
"""

import json
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, permutations
from math import gcd, lcm
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = "marginaudit-worst-case-1"
RATIONAL = re.compile("(0|-?[1-9][0-9]{0,3999})/([1-9][0-9]{0,3999})")
LONGEST_SHOWN = 60
ZERO = Fraction(0)
RELATIONS = ("<=", "==")

Dot = Callable[[Any, Any], Any]
Place = tuple[str, int, int]


class Refused(Exception):  # noqa: N818
    """The certificate does not prove its statement; the message names the place."""


class Unreadable(ValueError):  # noqa: N818
    """No certificate; place (file or JSON pointer), value and expectation."""

    def __init__(self, where: str, *, got: str, expected: str) -> None:
        super().__init__(f"{where}: got {got}, expected {expected}")
        self.where, self.got, self.expected = where, got, expected


class Interval:
    """An unknown number between two rationals, low < high."""

    def __init__(self, low: Fraction, high: Fraction) -> None:
        self.low, self.high = low, high

    def __add__(self, other: Any) -> Any:
        low, high = ends(other)
        return between(self.low + low, self.high + high)

    def __sub__(self, other: Any) -> Any:
        return self + -1 * other

    def __rsub__(self, other: Any) -> Any:
        return other + -1 * self

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Linear):
            return NotImplemented
        products = [a * b for a in (self.low, self.high) for b in ends(other)]
        return between(min(products), max(products))

    __radd__ = __add__
    __rmul__ = __mul__


def ends(number: Any) -> tuple[Fraction, Fraction]:
    """Least and greatest value of a rational or an interval."""
    return (number.low, number.high) if isinstance(number, Interval) else (Fraction(number), Fraction(number))


def between(low: Fraction, high: Fraction) -> Any:
    """The interval, or the rational if both ends are the same."""
    return low if low == high else Interval(low, high)


class Linear(dict[Any, Any]):
    """Linear combination: coefficient by term. Terms of an expression are (a, b) with a <= b, (value,) and ().

    Coefficients are rationals and intervals.
    """

    def __add__(self, other: "Linear") -> "Linear":
        total = Linear(self)
        for term, coefficient in other.items():
            total[term] = total.get(term, ZERO) + coefficient
        return total

    def __sub__(self, other: "Linear") -> "Linear":
        return self + Fraction(-1) * other

    def __rmul__(self, factor: Fraction) -> "Linear":
        return Linear({term: factor * coefficient for term, coefficient in self.items()})


ONE = Linear({(): Fraction(1)})
"""The constant 1 as an expression."""


def product(u: Linear, v: Linear) -> Linear:
    """The scalar product of two combinations of points."""
    total = Linear()
    for a, left in u.items():
        for b, right in v.items():
            term = (a, b) if str(a) <= str(b) else (b, a)
            total[term] = total.get(term, ZERO) + left * right
    return total


class Evaluation(NamedTuple):
    """A point x, the (sub)gradient or the operator's value g at it, and the function's value f."""

    x: Any
    g: Any
    f: Any


Formula = Callable[[dict[str, Any], Dot, Evaluation, Evaluation], Any]


def convex(_: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """f_j + <g_j, x_i - x_j> <= f_i."""
    return j.f - i.f + dot(j.g, i.x - j.x)


def strongly_convex(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """f_j + <g_j, x_i - x_j> + mu/2 |x_i - x_j|^2 <= f_i."""
    return convex(p, dot, i, j) + p["mu"] / 2 * dot(i.x - j.x, i.x - j.x)


def smooth_convex(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """f_j + <g_j, x_i - x_j> + |g_i - g_j|^2 / (2 L) <= f_i."""
    return convex(p, dot, i, j) + 1 / (2 * p["L"]) * dot(i.g - j.g, i.g - j.g)


def smooth_strongly_convex(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """The smooth convex inequality, with mu/(2 (1 - mu/L)) |x_i - x_j - (g_i - g_j)/L|^2 added on the left."""
    beyond = i.x - j.x - 1 / p["L"] * (i.g - j.g)
    return smooth_convex(p, dot, i, j) + p["mu"] / (2 * (1 - p["mu"] / p["L"])) * dot(beyond, beyond)


def smooth(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """The smooth strongly convex inequality for mu = -L."""
    return smooth_strongly_convex({"L": p["L"], "mu": -p["L"]}, dot, i, j)


def short_gradient(p: dict[str, Any], dot: Dot, i: Evaluation, _: Evaluation) -> Any:
    """|g_i|^2 <= M^2."""
    return dot(i.g, i.g) - p["M"] ** 2 * p["one"]


def zero_value(_: dict[str, Any], __: Dot, i: Evaluation, ___: Evaluation) -> Any:
    """f_i = 0."""
    return i.f


def normal(_: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """<g_j, x_i - x_j> <= 0."""
    return dot(j.g, i.x - j.x)


def diameter(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """|x_i - x_j|^2 <= D^2."""
    return dot(i.x - j.x, i.x - j.x) - p["D"] ** 2 * p["one"]


def growth(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """f_j + <g_j, x_i - x_j> + |g_j|^2 / (2 L) <= f_i at a minimum x_i."""
    return convex(p, dot, i, j) + 1 / (2 * p["L"]) * dot(j.g, j.g)


def monotone(_: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """0 <= <g_i - g_j, x_i - x_j>."""
    return dot(j.g - i.g, i.x - j.x)


def strongly_monotone(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """mu |x_i - x_j|^2 <= <g_i - g_j, x_i - x_j>."""
    return monotone(p, dot, i, j) + p["mu"] * dot(i.x - j.x, i.x - j.x)


def cocoercive(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """beta |g_i - g_j|^2 <= <g_i - g_j, x_i - x_j>."""
    return monotone(p, dot, i, j) + p["beta"] * dot(i.g - j.g, i.g - j.g)


def lipschitz(p: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """|g_i - g_j|^2 <= L^2 |x_i - x_j|^2."""
    return dot(i.g - j.g, i.g - j.g) - p["L"] ** 2 * dot(i.x - j.x, i.x - j.x)


def nonexpansive(_: dict[str, Any], dot: Dot, i: Evaluation, j: Evaluation) -> Any:
    """|g_i - g_j|^2 <= |x_i - x_j|^2."""
    return lipschitz({"L": 1}, dot, i, j)


class Inequality(NamedTuple):
    """An inequality formula <= 0 (or = 0) and where it applies: "point", "pair" i < j, "ordered" pair, "minimum"."""

    formula: Formula
    where: str
    relation: str = "<="


class Class(NamedTuple):
    """A class of functions or operators: which parameters it admits, and necessary and sufficient inequalities."""

    parameters: tuple[str, ...]
    admits: Callable[[dict[str, Fraction]], bool]
    kinds: dict[str, Inequality]


CLASSES = {
    "convex": Class((), lambda _: True, {"interpolation": Inequality(convex, "ordered")}),
    "strongly convex": Class(
        ("mu",), lambda p: p["mu"] >= 0, {"interpolation": Inequality(strongly_convex, "ordered")}
    ),
    "smooth convex": Class(("L",), lambda p: p["L"] > 0, {"interpolation": Inequality(smooth_convex, "ordered")}),
    "smooth strongly convex": Class(
        ("L", "mu"), lambda p: 0 <= p["mu"] < p["L"], {"interpolation": Inequality(smooth_strongly_convex, "ordered")}
    ),
    "smooth": Class(("L",), lambda p: p["L"] > 0, {"interpolation": Inequality(smooth, "ordered")}),
    "Lipschitz convex": Class(
        ("M",),
        lambda p: p["M"] >= 0,
        {"gradient": Inequality(short_gradient, "point"), "interpolation": Inequality(convex, "ordered")},
    ),
    "indicator": Class(
        (),
        lambda _: True,
        {"value": Inequality(zero_value, "point", "=="), "interpolation": Inequality(normal, "ordered")},
    ),
    "bounded indicator": Class(
        ("D",),
        lambda p: p["D"] >= 0,
        {
            "value": Inequality(zero_value, "point", "=="),
            "interpolation": Inequality(normal, "ordered"),
            "diameter": Inequality(diameter, "pair"),
        },
    ),
    "quadratic growth convex": Class(
        ("L",),
        lambda p: p["L"] > 0,
        {"growth": Inequality(growth, "minimum"), "interpolation": Inequality(convex, "ordered")},
    ),
    "monotone": Class((), lambda _: True, {"interpolation": Inequality(monotone, "pair")}),
    "strongly monotone": Class(
        ("mu",), lambda p: p["mu"] >= 0, {"interpolation": Inequality(strongly_monotone, "pair")}
    ),
    "cocoercive": Class(("beta",), lambda p: p["beta"] >= 0, {"interpolation": Inequality(cocoercive, "pair")}),
    "Lipschitz": Class(("L",), lambda p: p["L"] >= 0, {"interpolation": Inequality(lipschitz, "pair")}),
    "nonexpansive": Class((), lambda _: True, {"interpolation": Inequality(nonexpansive, "pair")}),
}


class Function(NamedTuple):
    """A function of a class, with its parameters and evaluations."""

    name: str
    parameters: dict[str, Any]
    evaluations: list[Evaluation]

    def places(self) -> Iterator[Place]:
        """Name and evaluations of each inequality; j = i for those of one evaluation."""
        indices = range(len(self.evaluations))
        for name, kind in CLASSES[self.name].kinds.items():
            if kind.where == "point":
                pairs: Iterator[tuple[int, int]] = ((i, i) for i in indices)
            elif kind.where == "pair":
                pairs = combinations(indices, 2)
            else:
                minimum = kind.where == "minimum"
                pairs = ((i, j) for i, j in permutations(indices, 2) if not minimum or self.is_minimum(i))
            yield from ((name, i, j) for i, j in pairs)

    def is_minimum(self, i: int) -> bool:
        """Whether the gradient of an evaluation is 0."""
        return not any(self.evaluations[i].g.values())

    def left_side(self, place: Place, dot: Dot, one: Any) -> Any:
        """Left side of an inequality, for a scalar product and the number 1 of the evaluations' kind."""
        name, i, j = place
        formula = CLASSES[self.name].kinds[name].formula
        return formula(self.parameters | {"one": one}, dot, self.evaluations[i], self.evaluations[j])

    def relation(self, place: Place) -> str:
        """Relation of an inequality's left side to 0."""
        return CLASSES[self.name].kinds[place[0]].relation

    def applies(self, place: Place) -> bool:
        """Whether the class has such an inequality."""
        name, i, j = place
        kind, known = CLASSES[self.name].kinds.get(name), range(len(self.evaluations))
        if kind is None or i not in known or j not in known:
            return False
        fits = {"point": i == j, "pair": i < j, "ordered": i != j, "minimum": i != j and self.is_minimum(i)}
        return fits[kind.where]


class Problem(NamedTuple):
    """A performance estimation problem."""

    points: list[str]
    values: list[str]
    functions: list[Function]
    constraints: list[tuple[str, Linear]]
    metrics: list[Linear]

    @property
    def enclosed(self) -> bool:
        """Whether some coefficient is an enclosure."""
        rows = [*self.metrics, *(expression for _, expression in self.constraints)]
        rows += [part for function in self.functions for e in function.evaluations for part in e]
        return any(isinstance(c, Interval) for row in rows for c in row.values())


def combined(problem: Problem, proof: dict[str, Any]) -> Linear:
    """The proof's combination of constraints, interpolation inequalities and negative metrics."""
    demand(len(proof["metrics"]) == len(problem.metrics), "proof: not one multiplier for each metric")
    demand(len(proof["constraints"]) == len(problem.constraints), "proof: not one multiplier for each constraint")
    demand(len(proof["functions"]) == len(problem.functions), "proof: not one list of multipliers for each function")
    demand(sum(proof["metrics"], ZERO) == 1, "proof: the metrics' multipliers have another sum than 1")
    terms = [(f"metric {k}", "<=", m, Fraction(-1) * problem.metrics[k]) for k, m in enumerate(proof["metrics"])]
    terms += [(f"constraint {k}", problem.constraints[k][0], m, problem.constraints[k][1])
              for k, m in enumerate(proof["constraints"])]  # fmt: skip
    for k, rows in enumerate(proof["functions"]):
        function, seen = problem.functions[k], set()
        for name, i, j, multiplier in rows:
            place, where = (name, i, j), f"function {k}, {name} {i} {j}"
            demand(function.applies(place), f"proof: {where}: the class has no such inequality")
            demand(place not in seen, f"proof: {where} is stated twice")
            seen.add(place)
            terms.append((where, function.relation(place), multiplier, function.left_side(place, product, ONE)))
    total = Linear()
    for where, relation, multiplier, row in terms:
        demand(multiplier >= 0 or relation == "==", f"proof: the multiplier of {where} is negative")
        total = total + multiplier * row
    return total


def verify_proof(problem: Problem, bound: Fraction, proof: dict[str, Any]) -> str:
    """Verify multipliers that prove performance <= bound."""
    total = combined(problem, proof)
    for name in problem.values:
        demand(total.get((name,), ZERO) == 0, f"proof: the value {name!r} does not cancel")
    demand(-ends(total.get((), ZERO))[0] <= bound, "proof: it bounds the performance by more than stated")
    order = {name: k for k, name in enumerate(problem.points)}
    matrix = [[ZERO] * len(order) for _ in order]
    for term, coefficient in total.items():
        if len(term) == 2:
            i, j = order[term[0]], order[term[1]]
            low, high = ends(coefficient)
            for a, b in ((i, j), (j, i)):
                matrix[a][b] += (low + high) / 4
                matrix[a][a] -= (high - low) / 4  # |x'Ex| <= sum_a x_a^2 sum_b |E_ab|
    demand(positive_semidefinite(matrix), "proof: the matrix of products is not positive semidefinite")
    return f"performance <= {bound} for every function of {classes(problem)}"


def positive_semidefinite(matrix: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by elimination in integers (Bareiss)."""
    scale = lcm(*(value.denominator for row in matrix for value in row))
    rows = [[int(value * scale) for value in row] for row in matrix]
    last = 1
    while rows:
        pivot = rows[0][0]
        if pivot < 0 or (pivot == 0 and any(rows[0])):
            return False
        if pivot == 0:
            rows = [row[1:] for row in rows[1:]]
            continue
        rows = [
            [(pivot * value - row[0] * above) // last for value, above in zip(row[1:], rows[0][1:], strict=True)]
            for row in rows[1:]
        ]
        last = pivot
    return True


def verify_worst_case(problem: Problem, stated: dict[str, Any]) -> str:
    """Verify points and values with a performance of at least the stated value."""
    lengths, points, values = stated["squared_lengths"], stated["points"], stated["values"]
    demand(all(length > 0 for length in lengths), "worst case: a squared length is not positive")
    demand(set(points) == set(problem.points), "worst case: not one vector for each point")
    demand(set(values) == set(problem.values), "worst case: not one number for each value")
    for name, coordinates in points.items():
        demand(len(coordinates) == len(lengths), f"worst case: {name!r} has not {len(lengths)} coordinates")
    vectors = {name: Linear({k: c for k, c in enumerate(row) if c}) for name, row in points.items()}

    def dot(u: Linear, v: Linear) -> Any:
        return sum((lengths[k] * c * v[k] for k, c in u.items() if k in v), ZERO)

    def vector(combination: Linear) -> Linear:
        return sum((c * vectors[name] for name, c in combination.items()), Linear())

    def number(expression: Linear) -> Any:
        total: Any = ZERO
        for term, c in expression.items():
            if len(term) == 2:
                c *= dot(vectors[term[0]], vectors[term[1]])
            elif term:
                c *= values[term[0]]
            total += c
        return total

    for k, (relation, expression) in enumerate(problem.constraints):
        demand(satisfied(number(expression), relation), f"worst case: constraint {k} is violated")
    for k, function in enumerate(problem.functions):
        known = [Evaluation(vector(e.x), vector(e.g), number(e.f)) for e in function.evaluations]
        placed = function._replace(evaluations=known)  # a gradient may be 0 here alone
        minimum = any(inequality.where == "minimum" for inequality in CLASSES[function.name].kinds.values())
        demand(
            not minimum or any(map(placed.is_minimum, range(len(known)))), f"worst case: function {k} has no minimum"
        )
        enclosed = any(isinstance(c, Interval) for e in known for c in e.g.values())
        demand(not (minimum and enclosed), f"worst case: function {k} may have further minima")
        for name, i, j in placed.places():
            place = name, i, j
            holds = satisfied(placed.left_side(place, dot, Fraction(1)), placed.relation(place))
            demand(holds, f"worst case: function {k}, {name} {i} {j} is violated")
    for k, metric in enumerate(problem.metrics):
        demand(ends(number(metric))[0] >= stated["value"], f"worst case: metric {k} is below the stated value")
    dimension = len(lengths)
    return f"performance >= {stated['value']} for a function of {classes(problem)} on R^{dimension}"


def satisfied(number: Any, relation: str) -> bool:
    """Whether number <= 0, or number == 0."""
    low, high = ends(number)
    return high <= 0 and (relation == "<=" or low == high == 0)


def classes(problem: Problem) -> str:
    """The classes of the problem's functions, in words."""
    names = [
        f"{f.name} ({', '.join(f'{k} = {v}' for k, v in f.parameters.items())})" if f.parameters else f.name
        for f in problem.functions
    ]
    return (", ".join(names) or "points alone") + (", for all data in the enclosures" if problem.enclosed else "")


def verify(certificate: str | Path, problem: str | Path | None = None) -> list[str]:
    """One line per confirmed statement; `Refused` or `Unreadable` otherwise."""
    expected = None if problem is None else mapping(load(problem), str(problem))
    if expected is not None and "problem" in expected:
        expected = mapping(expected["problem"], f"{problem}: /problem")
    document = load(certificate)
    try:
        return verify_document(document, expected)
    except Unreadable as error:
        raise Unreadable(f"{certificate}: {error.where}", got=error.got, expected=error.expected) from None


def verify_document(document: Any, expected: Any = None) -> list[str]:
    """Verify a parsed certificate, for the expected problem if one is given."""
    known = members(document, "", ("format", "problem"), ("proof", "worst_case"))
    expect(known["format"] == FORMAT, "/format", known["format"], repr(FORMAT))
    expect("proof" in known or "worst_case" in known, "", document, "the key 'proof' or 'worst_case'")
    demand(expected is None or known["problem"] == expected, "the problem is not the expected one")
    problem = read_problem(known["problem"], "/problem")
    lines, ends = [], []
    if "proof" in known:
        proof = read_proof(known["proof"], "/proof")
        lines.append(verify_proof(problem, proof["bound"], proof))
        ends.append(proof["bound"])
    if "worst_case" in known:
        worst = read_worst_case(known["worst_case"], "/worst_case")
        lines.append(verify_worst_case(problem, worst))
        ends.append(worst["value"])
    if len(ends) == 2 and ends[0] == ends[1]:
        lines.append(f"tight: the worst case is {ends[0]}")
    digest = sha256(json.dumps(known["problem"], sort_keys=True).encode()).hexdigest()
    return [*lines, f"problem with SHA-256 {digest}"]


def read_problem(value: Any, where: str) -> Problem:
    """Read a problem."""
    known = members(value, where, ("points", "values", "functions", "constraints", "metrics"))
    points, values = (names(known[key], f"{where}/{key}") for key in ("points", "values"))

    def vector(value: Any, where: str) -> Linear:
        terms = mapping(value, where)
        for name in terms:
            expect(name in points, f"{where}/{name}", name, "a point")
        return Linear({name: coefficient(c, f"{where}/{name}") for name, c in terms.items()})

    def expression(value: Any, where: str) -> Linear:
        parts = members(value, where, (), ("products", "values", "constant"))
        total = Linear({(): coefficient(parts["constant"], f"{where}/constant")} if "constant" in parts else {})
        for name, c in mapping(parts.get("values", {}), f"{where}/values").items():
            expect(name in values, f"{where}/values/{name}", name, "a value")
            total = total + Linear({(name,): coefficient(c, f"{where}/values/{name}")})
        for k, row in enumerate(array(parts.get("products", []), f"{where}/products")):
            place = f"{where}/products/{k}"
            a, b, c = array(row, place, 3)
            expect(a in points and b in points, place, row, "two points and a rational")
            one = Fraction(1)
            total = total + coefficient(c, place) * product(Linear({a: one}), Linear({b: one}))
        return total

    def function(value: Any, where: str) -> Function:
        parts = members(value, where, ("class", "parameters", "evaluations"))
        expect(parts["class"] in list(CLASSES), f"{where}/class", parts["class"], f"one of {', '.join(CLASSES)}")
        known = CLASSES[parts["class"]]
        given = members(parts["parameters"], f"{where}/parameters", known.parameters)
        parameters = {key: rational(c, f"{where}/parameters/{key}") for key, c in given.items()}
        expect(known.admits(parameters), f"{where}/parameters", given, "parameters that the class admits")
        evaluations = []
        for k, row in enumerate(array(parts["evaluations"], f"{where}/evaluations")):
            place = f"{where}/evaluations/{k}"
            e = members(row, place, ("x", "g", "f"))
            evaluations.append(
                Evaluation(vector(e["x"], f"{place}/x"), vector(e["g"], f"{place}/g"), expression(e["f"], f"{place}/f"))
            )
        return Function(parts["class"], parameters, evaluations)

    def constraint(value: Any, where: str) -> tuple[str, Linear]:
        parts = members(value, where, ("relation", "expression"))
        expect(parts["relation"] in RELATIONS, f"{where}/relation", parts["relation"], " or ".join(RELATIONS))
        return parts["relation"], expression(parts["expression"], f"{where}/expression")

    def each(key: str, reader: Callable[[Any, str], Any]) -> list[Any]:
        return [reader(item, f"{where}/{key}/{k}") for k, item in enumerate(array(known[key], f"{where}/{key}"))]

    metrics = each("metrics", expression)
    expect(metrics != [], f"{where}/metrics", metrics, "at least one metric")
    return Problem(points, values, each("functions", function), each("constraints", constraint), metrics)


def read_proof(value: Any, where: str) -> dict[str, Any]:
    """Read multipliers."""
    known = members(value, where, ("bound", "metrics", "constraints", "functions"))
    proof: dict[str, Any] = {"bound": rational(known["bound"], f"{where}/bound"), "functions": []}
    for key in ("metrics", "constraints"):
        proof[key] = [rational(c, f"{where}/{key}/{k}") for k, c in enumerate(array(known[key], f"{where}/{key}"))]
    for k, rows in enumerate(array(known["functions"], f"{where}/functions")):
        proof["functions"].append([])
        for n, row in enumerate(array(rows, f"{where}/functions/{k}")):
            place = f"{where}/functions/{k}/{n}"
            name, i, j, multiplier = array(row, place, 4)
            known_types = type(i) is int and type(j) is int and isinstance(name, str)
            expect(known_types, place, row, "kind, two indices, a rational")
            proof["functions"][-1].append((name, i, j, rational(multiplier, place)))
    return proof


def read_worst_case(value: Any, where: str) -> dict[str, Any]:
    """Read points and values."""
    known = members(value, where, ("value", "squared_lengths", "points", "values"))
    points, values = mapping(known["points"], f"{where}/points"), mapping(known["values"], f"{where}/values")
    return {
        "value": rational(known["value"], f"{where}/value"),
        "squared_lengths": rationals(known["squared_lengths"], f"{where}/squared_lengths"),
        "points": {name: rationals(row, f"{where}/points/{name}") for name, row in points.items()},
        "values": {name: rational(c, f"{where}/values/{name}") for name, c in values.items()},
    }


def rational(value: Any, where: str) -> Fraction:
    """Read "p/q" in lowest terms."""
    match = RATIONAL.fullmatch(value) if isinstance(value, str) else None
    if match is None or gcd(*map(int, match.groups())) != 1:
        expect(False, where, value, "a rational 'p/q' in lowest terms, of at most 4000 digits each")
    return Fraction(value)


def coefficient(value: Any, where: str) -> Any:
    """Read a rational, or the interval of an enclosure."""
    if not isinstance(value, list):
        return rational(value, where)
    low, high = (rational(c, f"{where}/{k}") for k, c in enumerate(array(value, where, 2)))
    expect(low < high, where, value, "an enclosure with its lower end first")
    return Interval(low, high)


def rationals(value: Any, where: str) -> list[Fraction]:
    """Read an array of rationals."""
    return [rational(c, f"{where}/{k}") for k, c in enumerate(array(value, where))]


def names(value: Any, where: str) -> list[str]:
    """Read an array of different names."""
    found = array(value, where)
    expect(all(isinstance(name, str) for name in found), where, value, "names")
    expect(len(set(found)) == len(found), where, value, "each name once")
    return found


def array(value: Any, where: str, length: int | None = None) -> list[Any]:
    """Read an array, of a given length."""
    expect(isinstance(value, list) and length in (None, len(value)), where, value, f"an array of {length or 'items'}")
    return list(value)


def mapping(value: Any, where: str) -> dict[str, Any]:
    """Read an object."""
    expect(isinstance(value, dict), where, value, "an object")
    return dict(value)


def members(value: Any, where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Read an object with these keys."""
    known = mapping(value, where)
    for key in required:
        expect(key in known, where, value, f"the key {key!r}")
    for key in known:
        members_known = ", ".join(required + optional) or "none"
        expect(key in required + optional, f"{where}/{key}", known[key], f"no key but {members_known}")
    return known


def expect(condition: bool, where: str, got: Any, expected: str) -> None:
    """Raise `Unreadable` unless the condition holds."""
    if not condition:
        text = ascii(got)
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} .."
        raise Unreadable(where or "/", got=shown, expected=expected)


def demand(condition: bool, otherwise: str) -> None:
    """Raise `Refused` unless the condition holds."""
    if not condition:
        raise Refused(otherwise)


def printable(text: str) -> str:
    """The text with escapes for control and invisible characters."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def load(path: str | Path) -> Any:
    """Parse a JSON file without repeated keys; errors name the file."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key more than once in an object")
        return dict(pairs)

    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"), object_pairs_hook=once)
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable(str(path), got=str(error), expected="JSON in UTF-8") from error


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 confirmed; 1 refused; 2 no certificate; 70 internal error."""
    if len(arguments) not in (1, 2):
        print("usage: verify.py CERTIFICATE [PROBLEM]", file=sys.stderr)
        return 2
    try:
        print("\n".join(verify(*arguments)))
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
