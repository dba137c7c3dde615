"""Certificates of the theorems of examples/first_order, each found once."""

import sys
from fractions import Fraction
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from marginaudit.margins.worst_case.from_pepit import from_pepit
from marginaudit.margins.worst_case.scalar import exactly
from marginaudit.margins.worst_case.solve import WorstCase, worst_case

FILE = Path(__file__).parents[3] / "examples" / "first_order" / "theorems.py"


def loaded(file: Path) -> ModuleType:
    """The module of a file outside the package."""
    spec = spec_from_file_location(f"first_order_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[spec.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


first_order: Any = loaded(FILE)
THEOREMS = first_order.THEOREMS
BY_NAME = {theorem.name: theorem for theorem in THEOREMS}


def problem(theorem: Any, values: dict[str, Any]) -> dict[str, Any]:
    return from_pepit(theorem.problem(exactly(SimpleNamespace(**values))))


@cache
def solved(name: str, n: int) -> tuple[WorstCase, Fraction]:
    """The worst case inside a theorem's assumption, and the printed bound."""
    theorem = BY_NAME[name]
    values = theorem.instance(n)
    bound = theorem.bound(SimpleNamespace(**values))
    return worst_case(problem(theorem, values), bound), bound


@cache
def outside(name: str, n: int) -> tuple[WorstCase, Fraction, dict[str, Any]]:
    """The worst case of a theorem's variant, outside its assumption, its bound and its parameters."""
    theorem = BY_NAME[name]
    values, bound = theorem.variant(n)
    return worst_case(problem(theorem, values), bound), bound, values


@cache
def refuted(name: str, n: int) -> tuple[WorstCase, Fraction, dict[str, Any]]:
    """The worst case of a theorem's control, its bound and its parameters."""
    theorem = BY_NAME[name]
    values, bound = theorem.control(n)
    return worst_case(problem(theorem, values), bound), bound, values
