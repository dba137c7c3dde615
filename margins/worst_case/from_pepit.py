"""Read a performance estimation problem from a PEPit object, in rationals."""

from collections.abc import Mapping
from fractions import Fraction
from math import isinf
from typing import Any

from marginaudit.margins.worst_case.scalar import EnclosedFloat, dyadic, enclosure, rational
from marginaudit.margins.worst_case.verify import Interval, between

CLASSES = {
    "ConvexFunction": ("convex", ()),
    "StronglyConvexFunction": ("strongly convex", ("mu",)),
    "SmoothConvexFunction": ("smooth convex", ("L",)),
    "SmoothStronglyConvexFunction": ("smooth strongly convex", ("L", "mu")),
    "SmoothFunction": ("smooth", ("L",)),
    "ConvexLipschitzFunction": ("Lipschitz convex", ("M",)),
    "ConvexIndicatorFunction": ("bounded indicator", ("D",)),
    "ConvexQGFunction": ("quadratic growth convex", ("L",)),
    "MonotoneOperator": ("monotone", ()),
    "StronglyMonotoneOperator": ("strongly monotone", ("mu",)),
    "CocoerciveOperator": ("cocoercive", ("beta",)),
    "LipschitzOperator": ("Lipschitz", ("L",)),
    "NonexpansiveOperator": ("nonexpansive", ()),
}
"""Our name and parameters of PEPit's classes with necessary and sufficient inequalities."""

Document = dict[str, Any]


class Unsupported(ValueError):  # noqa: N818
    """A problem with a part that certificates do not know."""


def from_pepit(pep: Any, *, floats: bool = False) -> Document:
    """The problem of a PEPit ``PEP`` as JSON data; `PEP.solve` is not called.

    With ``floats``, a float stands for the dyadic rational that it is, as for a method with irrational steps as it is
    run; otherwise floats such as 0.1 are refused.

    Only what the problem's author wrote is read: points, evaluations, conditions, metrics. The interpolation
    inequalities are derived from the classes' names elsewhere.
    """
    from PEPit import Function
    from PEPit.block_partition import BlockPartition

    functions = [function for function in Function.list_of_functions if function.get_is_leaf()]
    everything = [pep, *Function.list_of_functions]
    if any(owner.list_of_psd for owner in everything) or BlockPartition.list_of_partitions:
        raise Unsupported("matrix constraints and partitions into blocks are not supported")
    constraints = [*pep.list_of_constraints, *(c for f in Function.list_of_functions for c in f.list_of_constraints)]
    names = Names(functions, floats=floats)
    return {
        "functions": [_function(function, names) for function in functions if function.list_of_points],
        "constraints": [
            {
                "relation": "<=" if constraint.equality_or_inequality == "inequality" else "==",
                "expression": names.expression(constraint.expression),
            }
            for constraint in constraints
        ],
        "metrics": [names.expression(metric) for metric in pep.list_of_performance_metrics],
        "points": list(names.points.values()),
        "values": list(names.values.values()),
    }


class Names:
    """Names of the points and values that the problem uses, in order of use."""

    def __init__(self, functions: list[Any], *, floats: bool = False) -> None:
        """Suggest names for the evaluations' points and values: x1, g1, f1, after the function's number if several."""
        self.parameter = dyadic if floats else rational
        self.points: dict[int, str] = {}
        self.values: dict[int, str] = {}
        self._suggested: dict[int, str] = {}
        for k, function in enumerate(functions):
            prefix = f"{k}." if len(functions) > 1 else ""
            for i, triple in enumerate(function.list_of_points):
                for letter, item in zip("xgf", triple, strict=True):
                    self._suggested.setdefault(id(item), f"{letter}{prefix}{i}")

    def _name(self, item: Any, known: dict[int, str], letter: str) -> str:
        if id(item) not in known:
            taken = set(known.values())
            wished = item.get_name() or self._suggested.get(id(item), f"{letter}{item.counter}")
            known[id(item)] = wished if wished not in taken else f"{wished} ({letter}{item.counter})"
        return known[id(item)]

    def number(self, value: float) -> Any:
        """A coefficient, or the interval of an enclosed one."""
        return between(*enclosure(value.ball)) if isinstance(value, EnclosedFloat) else self.parameter(value)

    def vector(self, point: Any) -> Mapping[str, Any]:
        """A combination of points."""
        terms = ((self._name(p, self.points, "p"), self.number(c)) for p, c in point.decomposition_dict.items())
        return {name: text(c) for name, c in terms if c}

    def expression(self, expression: Any) -> Document:
        """A combination of products, values and a constant."""
        products: dict[tuple[str, str], Any] = {}
        values: dict[str, Any] = {}
        constant: Any = Fraction(0)
        for term, coefficient in expression.decomposition_dict.items():
            c = self.number(coefficient)
            if isinstance(term, tuple):
                pair = sorted(self._name(point, self.points, "p") for point in term)
                products[pair[0], pair[1]] = products.get((pair[0], pair[1]), Fraction(0)) + c
            elif isinstance(term, int):
                constant += c
            elif c:
                values[self._name(term, self.values, "v")] = text(c)
        rows = [[*pair, text(c)] for pair, c in products.items() if c]
        parts = {"products": rows, "values": values, "constant": text(constant) if constant else None}
        return {key: part for key, part in parts.items() if part}


def _function(function: Any, names: Names) -> Document:
    """A function with its class, parameters and evaluations."""
    kind = type(function).__name__
    if kind not in CLASSES:
        known = ", ".join(CLASSES)
        raise Unsupported(f"got a function of class {kind}, expected one of {known}")
    if not isinf(getattr(function, "R", float("inf"))) or getattr(function, "v", None) is not None:
        raise Unsupported(f"{kind} with a radius or an infimal displacement vector is not supported")
    name, parameters = CLASSES[kind]
    if name == "bounded indicator" and isinf(function.D):
        name, parameters = "indicator", ()
    return {
        "class": name,
        "parameters": {key: text(names.parameter(getattr(function, key))) for key in parameters},
        "evaluations": [
            {"x": names.vector(x), "g": names.vector(g), "f": names.expression(f)}
            for x, g, f in function.list_of_points
        ],
    }


def text(value: Any) -> Any:
    """A rational as "p/q", an interval as its two ends."""
    if isinstance(value, Interval):
        return [text(value.low), text(value.high)]
    return f"{value.numerator}/{value.denominator}"
