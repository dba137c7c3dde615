"""Settings of a run: fields of a paper's config with ranges and help.

A setting is metadata of a field, made by :func:`setting`. The command line has an option per setting, and `check`
validates the values of a config.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

import numpy as np

from marginaudit.orders import InputError, shown

MOST_STEPS = 10**18
"""Largest step count."""

MOST_JOBS = 1024
"""Largest number of jobs."""

CLAIM_TIMEOUT = 600.0
"""Time limit in seconds of a user's claim on a dataset."""

EXPORTS = ("latex", "markdown", "parquet", "pdf", "logbook")
"""Formats of `--export`: pdf for figures, the others for tables."""

LARGEST_EXPONENT = 300
"""Largest power of ten of a number; its negative is the smallest."""


@dataclass(frozen=True)
class Values:
    """Allowed values of a setting.

    Attributes
    ----------
    name : str
        Name of the value in usage messages.
    read : callable, value in Python or TOML -> value in the config, or None if not allowed
    parse : callable, text of an option -> value to read; raises ArithmeticError or ValueError
    choices : tuple of str
        Names, for a choice.
    alone : value of an option without a number, and of true; None if the option needs one
    """

    name: str
    expected: str
    read: Callable[[Any], Any]
    parse: Callable[[str], Any] = Decimal
    choices: tuple[str, ...] = ()
    alone: Any = None

    def accept(self, given: Any, where: str) -> Any:
        """The value that a config holds for one of Python or of a TOML file.

        Raises
        ------
        InputError
            The value is not allowed.
        """
        if (value := self.read(given)) is None:
            got = str(given) if isinstance(given, Decimal) else shown(given)
            raise InputError(where, got=got, expected=self.expected)
        return value


def number(value: Any) -> int | float | None:
    """Convert a number of Python, NumPy or `Decimal`, to int if whole, also from 1e6; None for other types.

    >>> number(1e6), number(Decimal("2.5")), number(True), number("3"), number(Decimal("1e301"))
    (1000000, 2.5, None, None, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    exact = Decimal(value)
    if not exact.is_finite() or abs(exact.adjusted()) > LARGEST_EXPONENT:
        return None
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def _range(least: float, most: float) -> str:
    return f"from {least:g} to {most:g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def whole(least: int, most: int, name: str = "number", expected: str = "") -> Values:
    """Whole numbers in a range; ``expected`` replaces the description if a bound has more than six digits.

    >>> whole(1, 10**6).expected
    'a whole number from 1 to 1e6'
    """

    def read(value: Any) -> int | None:
        found = number(value)
        return found if isinstance(found, int) and least <= found <= most else None

    return Values(name, expected or f"a whole number {_range(least, most)}", read)


def optional(of: Values, alone: int) -> Values:
    """A number, or true for ``alone`` and false for 0; on the command line an option with or without a number.

    >>> first = optional(whole(0, 1000), 900)
    >>> first.read(True), first.read(False), first.read(7)
    (900, 0, 7)
    """

    def read(value: Any) -> Any:
        return of.read({True: alone, False: 0}[value] if isinstance(value, bool) else value)

    return replace(of, name=f"[{of.name}]", read=read, alone=alone)


def real(least: float, most: float, name: str = "number", expected: str = "") -> Values:
    """Numbers in a range."""

    def read(value: Any) -> float | None:
        found = number(value)
        return float(found) if found is not None and least <= found <= most else None

    return Values(name, expected or f"a number {_range(least, most)}", read)


def each(of: Values, name: str, what: str, keep: Callable[[list[Any]], Iterable[Any]] = list) -> Values:
    """Lists of values, comma-separated in an option; ``what`` names an element, and ``keep`` sorts or filters them."""

    def read(value: Any) -> tuple[Any, ...] | None:
        found = [of.read(one) for one in (value if isinstance(value, Iterable) else [value])]
        return None if None in found else tuple(keep(found))

    def parse(text: str) -> list[Any]:
        return [of.parse(part) for part in text.split(",")]

    return Values(name, f"{of.expected}, for each {what}", read, parse)


STEPS = whole(0, MOST_STEPS, "steps", "a whole number from 0 to 1e18, such as 900 or 1e6")

FROZEN_AT = whole(1, 10**5, "steps")

STEP_SIZE = real(1e-100, 1e100, "size", "a positive number, from 1e-100 to 1e100")

SECONDS = replace(STEP_SIZE, name="seconds", expected="a positive number of seconds")

COUNT = whole(1, 10**6, "count")

JOBS = whole(1, MOST_JOBS)

SEED = whole(0, 2**63, expected="a whole number from 0 to 2^63")

STEP_LIST = each(STEPS, "step list", "step", lambda found: sorted(set(found)))


def one_of(*choices: str) -> Values:
    """Choice of names."""
    expected = f"one of {', '.join(choices)}"
    return Values("choice", expected, lambda value: str(value) if value in choices else None, str, choices)


@dataclass(frozen=True)
class Setting:
    """A field of a config as an option of the command line.

    Attributes
    ----------
    only : tuple of str
        Commands with this option; () for all.
    none : str
        Help text for None; empty if None is not allowed.
    """

    values: Values
    help: str
    only: tuple[str, ...] = ()
    none: str = ""


def setting(default: Any, values: Values, help: str, **more: Any) -> Any:
    """Dataclass field with a default and a `Setting`."""
    return field(default=default, metadata={"setting": Setting(values, help, **more)})


def settings_of(config: type) -> dict[str, Setting]:
    """Settings of a config by name."""
    return {found.name: found.metadata["setting"] for found in fields(config) if "setting" in found.metadata}


def differences(config: Any, usual: Any) -> dict[str, Any]:
    """Values of a config that differ from another one's, by name."""
    values = {found.name: getattr(config, found.name) for found in fields(config)}
    return {name: value for name, value in values.items() if value != getattr(usual, name)}


def with_settings(config: Any, given: Mapping[str, Any]) -> Any:
    """The config with those of the given settings that it has."""
    return replace(config, **{name: value for name, value in given.items() if name in settings_of(type(config))})


def check(config: Any) -> None:
    """Validate the values of a config; None is allowed if the setting has a text for it.

    Values are converted in place: steps of 1e6 to int, NumPy's types to Python's.

    Raises
    ------
    InputError
    """
    for found in fields(config):
        value, known = getattr(config, found.name), found.metadata.get("setting")
        if known is None or (value is None and known.none):
            continue
        kept = known.values.accept(value, f"{type(config).__name__}.{found.name}")
        object.__setattr__(config, found.name, kept)
