"""The ways to solve a hard-margin problem."""

from typing import Literal, TypeAlias, get_args

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
