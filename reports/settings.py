"""Settings of a run: the fields of a paper's config, with their ranges and help, written once.

A field that is a setting carries it as metadata, as :func:`setting` makes it. The command line makes an option of each,
and `check` refuses bad values where a config is made.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from marginaudit.orders import InputError, shown

MOST_STEPS = 10**18
"""Step counts go up to here."""

MOST_JOBS = 1024
"""Datasets that are judged at a time, at most."""


def plain(value: Any) -> Any:
    """The value as Python's own, where it is of one of NumPy's types.

    >>> plain(np.float64(0.03))
    0.03
    """
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Values:
    """What a setting may be, in words and as a predicate.

    Attributes
    ----------
    name : str
        What it is called where an option's value is missing.
    expected : str
    allowed : from a value to whether it is one
    parse : from an option's text to the value, or a ValueError
    choices : tuple of str
        Where it is one of a few names.
    kept : from an allowed value to the one that a config holds
    """

    name: str
    expected: str
    allowed: Callable[[Any], bool]
    parse: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    kept: Callable[[Any], Any] = plain


def is_step_count(value: Any) -> bool:
    """Whether it is a whole number of steps; a float may be one.

    >>> is_step_count(900), is_step_count(1e6), is_step_count(1.5), is_step_count(True), is_step_count(-1)
    (True, True, False, False, False)
    """
    return is_whole(int(value) if isinstance(value, float) and value.is_integer() else value, 0, MOST_STEPS)


def is_whole(value: Any, least: int, most: int) -> bool:
    """Whether it is a whole number in a range; True and False are none.

    >>> is_whole(np.int64(3), 1, 3), is_whole(4, 1, 3), is_whole(2.0, 1, 3)
    (True, False, False)
    """
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(least <= value <= most)


STEPS = Values("steps", "a whole number from 0 to 1e18, such as 900 or 1e6", is_step_count, kept=int)

STEP_SIZE = Values(
    "size",
    "a positive number, from 1e-100 to 1e100",
    lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 1e-100 <= value <= 1e100,
)

COUNT = Values(
    "count",
    "a whole number from 1 to 1000000",
    lambda value: is_whole(value, 1, 10**6),
    int,
)

SEED = Values(
    "number",
    "a whole number from 0 to 2^63",
    lambda value: is_whole(value, 0, 2**63),
    int,
)

STEP_LIST = Values(
    "step list",
    "whole numbers of steps",
    lambda value: isinstance(value, tuple | list) and all(is_step_count(step) for step in value),
    kept=lambda value: tuple(map(int, value)),
)


def one_of(*choices: str) -> Values:
    """One of a few names."""
    return Values("choice", f"one of {', '.join(choices)}", lambda value: value in choices, choices=choices)


@dataclass(frozen=True)
class Setting:
    """What the command line knows of a config's field.

    Attributes
    ----------
    values : Values
    help : str
    switch : str
        The name of a flag without which the field keeps its default; its own option is then ``--switch-steps``.
    switched_on : what the field is with the flag alone
    only : tuple of str
        The commands that have it; () for all.
    none : str
        What None stands for; "" where it is no value.
    """

    values: Values
    help: str
    switch: str = ""
    switched_on: Any = None
    only: tuple[str, ...] = ()
    none: str = ""


def setting(default: Any, values: Values, help: str, **more: Any) -> Any:
    """A dataclass field with its default and its `Setting`."""
    return field(default=default, metadata={"setting": Setting(values, help, **more)})


def settings_of(config: type) -> dict[str, Setting]:
    """The settings among a config's fields, by name."""
    return {found.name: found.metadata["setting"] for found in fields(config) if "setting" in found.metadata}


def check(config: Any) -> None:
    """Refuse a config with a value that a setting may not have; None where the setting says what it stands for.

    The config then holds the values as they are kept: steps of 1e6 as a whole number, and none of NumPy's types.

    Raises
    ------
    InputError
    """
    for found in fields(config):
        value, known = getattr(config, found.name), found.metadata.get("setting")
        if known is None or (value is None and known.none):
            continue
        if not known.values.allowed(value):
            place = f"{type(config).__name__}.{found.name}"
            raise InputError(place, got=shown(value), expected=known.values.expected)
        object.__setattr__(config, found.name, known.values.kept(value))
