"""The ways to solve a hard-margin problem, and where the exact one does not exist."""

from typing import Literal, TypeAlias, get_args

from marginaudit.margins.errors import NotExact
from marginaudit.orders import Dataset, check_assumption, printable

Method: TypeAlias = Literal["auto", "exact", "cvxpy"]


def check_method(method: str) -> None:
    """Refuse a method of another name.

    Raises
    ------
    ValueError
        There is no such method.
    """
    if method not in get_args(Method):
        raise ValueError(f"method: got {method!r}, expected one of {', '.join(get_args(Method))}")


def require_exact(dataset: Dataset, problem: str, *assumptions: str) -> None:
    """Refuse a dataset on which an assumption fails that the exact solution needs.

    Raises
    ------
    NotExact
        One fails; the message gives its witness.
    """
    for name in assumptions:
        found = check_assumption(dataset, name)
        if not found.holds:
            raise NotExact(
                f"{problem} has no exact solution here: assumption {name} fails, with witness "
                f"{printable(str(found.witness))}"
            )
