"""Assumptions of a claim's own: named functions from an instance to True or False."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from marginaudit.claims.values.reportable import unreportable
from marginaudit.orders import Assumption, shown

Predicate: TypeAlias = Callable[[Any], bool]


def split(assumptions: tuple[Any, ...]) -> tuple[tuple[str, ...], dict[str, Predicate]]:
    """Names of assumptions, and the functions among them by name.

    Raises
    ------
    ValueError
        An assumption is neither a name nor a named function, or two functions share a name.

    >>> def small_step(x): return x["eta"] <= 1
    >>> names, functions = split(("convex", small_step))
    >>> names, list(functions)
    (('convex', 'small_step'), ['small_step'])
    """
    functions: dict[str, Predicate] = {}
    names = []
    for given in assumptions:
        name = given if isinstance(given, str) else getattr(given, "__name__", "")
        if not isinstance(given, str) and not name.isidentifier():
            raise ValueError(f"got {shown(given)} as an assumption, expected a name or a function with one")
        if callable(given):
            if functions.get(name, given) is not given:
                raise ValueError(f"got two assumptions {name}, expected one of that name")
            functions[name] = given
        names.append(name)
    return tuple(names), functions


def checked(name: str, predicate: Predicate, subject: Any, witness: Mapping[str, Any]) -> Assumption:
    """Check a predicate on a subject, whose values are the witness against it.

    Raises
    ------
    Unreportable
        The function returned neither True nor False.
    """
    met = predicate(subject)
    if not isinstance(met, bool | np.bool_):
        raise unreportable(met, f"assumption {name}", "True or False")
    return Assumption(name, bool(met), None if met else witness)


def in_words(predicate: Predicate) -> str:
    """First line of a predicate's docstring; "" without one.

    >>> def small_step(x):
    ...     '''eta <= 1/L.'''
    >>> in_words(small_step)
    'eta <= 1/L'
    """
    return (predicate.__doc__ or "").strip().partition("\n")[0].rstrip(".")
