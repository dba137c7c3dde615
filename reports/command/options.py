"""Command-line values: datasets, step counts, step sizes, files to write."""

import hashlib
import math
import os
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from marginaudit.orders import InputError, printable, shown, shown_path
from marginaudit.orders.ntp import CASES, CollocationError, Dataset, dataset_content, dataset_from_content
from marginaudit.reports.command.usage import OneOf

if TYPE_CHECKING:
    from marginaudit.reports.audit.auditing import Source

F = TypeVar("F", bound=Callable[..., Any])

MOST_STEPS = 10**18
"""Step counts are written up to here."""


class StepCount(click.ParamType[int]):
    """A whole number of steps, also written 1e6."""

    name = "steps"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a step count; fail in one line."""
        try:
            number = Decimal(str(value).strip())
            whole = number.is_finite() and number == number.to_integral_value() and 0 <= number <= MOST_STEPS
        except InvalidOperation:
            whole = False
        if not whole:
            self.fail(f"got {shown(value)}, expected a whole number from 0 to 1e18, such as 900 or 1e6", param, ctx)
        return int(number)


class StepSize(click.ParamType[float]):
    """A positive step size, with room for its square in float64."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse a step size; fail in one line."""
        try:
            size = float(value)
        except ValueError:
            size = math.nan
        if not 1e-100 <= size <= 1e100:
            self.fail(f"got {shown(value)}, expected a positive number, from 1e-100 to 1e100", param, ctx)
        return size


class FilePath(click.ParamType[Path]):
    """A path to read from or to write to."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse the empty path, which would be the working directory, and one that no file system takes."""
        if not str(value) or "\0" in str(value):
            self.fail(f"got {shown(str(value))}, expected a path", param, ctx)
        return Path(value)


class Seed(click.ParamType[int]):
    """A whole number."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a seed; fail in one line."""
        try:
            return int(value)
        except ValueError:
            self.fail(f"got {shown(value)}, expected a whole number of at most 4300 digits", param, ctx)


class Seconds(StepSize):
    """A positive, finite number of seconds."""

    name = "seconds"


class Steps(click.ParamType[tuple[int, ...]]):
    """Step counts, separated by commas."""

    name = "steps"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Parse a list of step counts; fail in one line."""
        if isinstance(value, tuple):
            return value
        return tuple(sorted({StepCount().convert(part, param, ctx) for part in str(value).split(",")}))


def training_options(farthest: bool) -> Callable[[F], F]:
    """The options of Algorithm 1; with ``farthest`` stage 2 goes by default as far as it can be followed."""
    length = (
        {"help": "Steps of stage 2 (W_kq).  [default: 1e18, or 900 without fast-forward]"}
        if farthest
        else {"help": "Steps of stage 2 (W_kq).", "default": 900, "show_default": True}
    )

    def with_options(command: F) -> F:
        for option in (
            click.option(
                "--optimizer",
                type=OneOf(["ngd", "gd"]),
                default="ngd",
                show_default=True,
                help="ngd: steps of length lr, as in the paper; gd: lr times the gradient.",
            ),
            click.option(
                "--at",
                type=Steps(),
                metavar="T,T,..",
                help="Record these steps of both stages, such as 1,10,900.",
            ),
            click.option("--lr2", type=StepSize(), help="Step size of stage 2.  [default: 0.05/sqrt(V)]"),
            click.option("--lr1", type=StepSize(), help="Step size of stage 1.  [default: 0.2/sqrt(V)]"),
            click.option("--steps2", type=StepCount(), **length),
            click.option("--steps1", type=StepCount(), default=900, show_default=True, help="Steps of stage 1 (W_ov)."),
        ):
            command = option(command)
        return command

    return with_options


def load(name: str) -> "Source":
    """A dataset by the name of a built-in case or by its path.

    Raises
    ------
    InputError
        There is neither, or the file is no dataset.
    """
    from marginaudit.reports.audit.auditing import Source

    path = Path(name)
    if name in CASES:
        return Source(CASES[name](), name)
    if not name or not (path.suffix or os.path.exists(path)):  # noqa: PTH110  (no error for a name that is too long)
        raise InputError(shown(name), got="no file of that name", expected=f"a path or one of {', '.join(CASES)}")
    content = dataset_content(path)
    origin, sha256 = printable(str(path)), hashlib.sha256(content).hexdigest()
    return Source(dataset_from_content(content, path), origin, sha256)


def load_trainable(name: str) -> Dataset:
    """A dataset whose n is a function on the whole vocabulary, as training and both solutions need.

    Raises
    ------
    InputError
        As `load`.
    CollocationError
        n is no such function; names the dataset's origin.
    """
    source = load(name)
    try:
        source.dataset.collocation.require_function()
    except CollocationError as error:
        raise CollocationError(f"{shown_path(source.origin)}: {error}") from None
    return source.dataset
