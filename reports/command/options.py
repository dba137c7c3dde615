"""Command-line values: datasets, step counts, step sizes, files to write."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from marginaudit.orders import InputError, shown
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.settings import MOST_JOBS, STEP_LIST, STEP_SIZE, STEPS, Setting, Values, settings_of

if TYPE_CHECKING:
    from marginaudit.reports.paper import Paper

F = TypeVar("F", bound=Callable[..., Any])


class StepCount(click.ParamType[int]):
    """A whole number of steps, also written 1e6."""

    name, expected = "steps", STEPS.expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a step count; fail in one line."""
        try:
            number = Decimal(str(value).strip())
            steps = int(number) if number.is_finite() and number.adjusted() < 30 and number % 1 == 0 else -1
        except InvalidOperation:
            steps = -1
        if not STEPS.allowed(steps):
            self.fail(f"got {shown(value)}, expected {STEPS.expected}", param, ctx)
        return steps


class Parsed(click.ParamType[Any]):
    """What a setting may be."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.name, self.expected = values.name, values.expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the value; fail in one line."""
        try:
            found = self.values.parse(str(value))
        except ValueError:
            found = None
        if found is None or not self.values.allowed(found):
            self.fail(f"got {shown(value)}, expected {self.values.expected}", param, ctx)
        return found


class StepSize(click.ParamType[float]):
    """A positive step size, with room for its square in float64."""

    name, expected = "size", STEP_SIZE.expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse a step size; fail in one line."""
        try:
            size = float(value)
        except ValueError:
            size = math.nan
        if not STEP_SIZE.allowed(size):
            self.fail(f"got {shown(value)}, expected {STEP_SIZE.expected}", param, ctx)
        return size


class FilePath(click.ParamType[Path]):
    """A path to read from or to write to."""

    name, expected = "path", "a path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse the empty path, which would be the working directory, and one that no file system takes."""
        if not str(value) or "\0" in str(value):
            self.fail(f"got {shown(str(value))}, expected a path", param, ctx)
        return Path(value)


class Seed(click.ParamType[int]):
    """A whole number."""

    name, expected = "number", "a whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse a seed; fail in one line."""
        try:
            return int(value)
        except ValueError:
            self.fail(f"got {shown(value)}, expected a whole number of at most 4300 digits", param, ctx)


class Jobs(click.ParamType[int]):
    """A number of processes."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse the number; fail in one line."""
        if not str(value).isascii() or not str(value).isdigit() or not 1 <= int(str(value)[:5]) <= MOST_JOBS:
            self.fail(f"got {shown(value)}, expected a whole number from 1 to {MOST_JOBS}", param, ctx)
        return int(value)


def cores() -> int:
    """Processors that this process may use; LOKY_MAX_CPU_COUNT may lower it."""
    from loky import cpu_count

    found: int = cpu_count()
    return found


def usual_jobs() -> int:
    """A process a core, and where there are several one more, so that fewer wait for the last datasets."""
    return cores() + 1 if cores() > 1 else 1


class Seconds(StepSize):
    """A positive, finite number of seconds."""

    name, expected = "seconds", "a positive number of seconds"


class Steps(click.ParamType[tuple[int, ...]]):
    """Step counts, separated by commas."""

    name = "steps"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Parse a list of step counts; fail in one line."""
        if isinstance(value, tuple):
            return value
        return tuple(sorted({StepCount().convert(part, param, ctx) for part in str(value).split(",")}))


def _parameter(values: Values) -> click.ParamType[Any]:
    types: dict[Values, click.ParamType[Any]] = {STEPS: StepCount(), STEP_SIZE: StepSize(), STEP_LIST: Steps()}
    return OneOf(values.choices) if values.choices else types.get(values, Parsed(values))


def dashed(name: str) -> str:
    """A setting's name as an option.

    >>> dashed("lr_y")
    '--lr-y'
    """
    return f"--{name.replace('_', '-')}"


def settings_options(command: str, papers: Iterable["Paper"]) -> Callable[[F], F]:
    """An option for every setting of the papers' configs that the command has; None where it is not given."""
    found: dict[str, list[tuple[Paper, Setting]]] = {}
    for paper in papers:
        for name, setting in settings_of(paper.config).items():
            if not setting.only or command in setting.only:
                found.setdefault(name, []).append((paper, setting))

    def with_options(function: F) -> F:
        for name, owners in reversed(found.items()):
            for option in reversed(list(_options(command, name, owners))):
                function = option(function)
        return function

    return with_options


def _options(command: str, name: str, owners: Sequence[tuple["Paper", Setting]]) -> Iterator[Callable[[F], F]]:
    setting = owners[0][1]
    kind = _parameter(setting.values)
    metavar = "T,T,.." if setting.values is STEP_LIST else None
    said = [(paper, f"{known.help}  [default: {_default(command, name, paper)}]") for paper, known in owners]
    differ = len({text for _, text in said}) > 1
    helps = dict.fromkeys(f"On {paper.kind.name}: {text}" if differ else text for paper, text in said)
    if not setting.switch:
        yield click.option(dashed(name), name, type=kind, metavar=metavar, help=" ".join(helps))
        return
    yield click.option(dashed(setting.switch), f"{name}_on", is_flag=True, help=setting.help)
    how_many = f"How many steps {dashed(setting.switch)} takes.  [default: {setting.switched_on}]"
    yield click.option(f"{dashed(setting.switch)}-steps", name, type=kind, help=how_many)


def _default(command: str, name: str, paper: "Paper") -> str:
    value = getattr(_usual(command, paper), name)
    return settings_of(paper.config)[name].none if value is None else str(value)


def _usual(command: str, paper: "Paper") -> Any:
    return paper.trained if command == "train" and paper.trained is not None else paper.config()


def configs(
    command: str, papers: Sequence["Paper"], known: Sequence["Paper"], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The config of each paper with the settings that were given.

    Raises
    ------
    InputError
        A setting was given that none of the papers has, or a value is bad.
    """
    chosen = {name: value for name, value in given.items() if value is not None and not name.endswith("_on")}
    for paper in known:
        for name, setting in settings_of(paper.config).items():
            if setting.switch and f"{name}_on" in given:
                count = chosen.pop(name, None)
                if given[f"{name}_on"]:
                    chosen[name] = setting.switched_on if count is None else count
                elif count is not None:
                    switch = dashed(setting.switch)
                    raise InputError(f"{switch}-steps", got=f"no {switch}", expected=f"{switch} with it")
    for name in chosen:
        if not any(name in settings_of(paper.config) for paper in papers):
            owners = ", ".join(paper.kind.name for paper in known if name in settings_of(paper.config))
            kinds = ", ".join(paper.kind.name for paper in papers)
            raise InputError(dashed(name), got=f"{kinds} to run", expected=f"a dataset of {owners} for this option")
    found = {}
    for paper in papers:
        default = _usual(command, paper)
        own = {name: value for name, value in chosen.items() if name in settings_of(paper.config)}
        try:
            found[paper.name] = replace(default, **own)
        except InputError as error:
            named = error.where.removeprefix(f"{type(default).__name__}.")
            raise InputError(dashed(named), got=error.got, expected=error.expected) from None
    return found
