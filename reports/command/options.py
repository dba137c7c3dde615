"""Command-line values: datasets, step counts, step sizes, files to write."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from marginaudit.claims.settings import STEP_LIST, Setting, Values, settings_of, with_settings
from marginaudit.orders import InputError, shown
from marginaudit.reports.command.usage import OneOf

if TYPE_CHECKING:
    from marginaudit.claims.paper import Paper


class Parsed(click.ParamType[Any]):
    """One of the values of a setting."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.name, self.expected = values.name, values.expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the value; a bad one is a usage error."""
        with suppress(ArithmeticError, ValueError):  # of a text that is no number
            found = self.values.read(self.values.parse(value) if isinstance(value, str) else value)
            if found is not None:
                return found
        return self.fail(f"got {shown(value)}, expected {self.values.expected}", param, ctx)


class FilePath(click.ParamType[Path]):
    """A path to read from or to write to."""

    name, expected = "path", "a path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse the empty path, which would be the working directory, and one that no file system takes."""
        if not str(value) or "\0" in str(value):
            self.fail(f"got {shown(str(value))}, expected a path", param, ctx)
        return Path(value)


class NamedTrajectory(click.ParamType[tuple[str, Path]]):
    """A recorded run: its name and its file."""

    name, expected = "trajectory", "[NAME=]FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path]:
        """Refuse a value without a name or without a file."""
        from marginaudit.reports.audit.sources import named_trajectory

        name, path = named_trajectory(str(value))
        if not name or not path.name or "\0" in str(value):
            self.fail(f"got {shown(str(value))}, expected {self.expected}", param, ctx)
        return name, path


class PaperFile(FilePath):
    """A Python file with a PAPER; `Commands` has read it by then."""

    name, expected = "file", "a Python file, .py"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse a path that does not end in .py."""
        if not str(value).endswith(".py"):
            self.fail(f"got {shown(str(value))}, expected {self.expected}", param, ctx)
        return super().convert(value, param, ctx)


def cores() -> int:
    """Number of cores that this process may use, at most LOKY_MAX_CPU_COUNT."""
    from loky import cpu_count

    found: int = cpu_count()
    return found


def dashed(name: str) -> str:
    """A setting's name as an option.

    >>> dashed("lr_y")
    '--lr-y'
    """
    return f"--{name.replace('_', '-')}"


def settings_options(command: str, papers: Iterable["Paper"]) -> list[click.Option]:
    """An option for every setting of the papers' configs that the command has; None where it is not given."""
    found: dict[str, list[tuple[Paper, Setting]]] = {}
    for paper in papers:
        for name, setting in _settings(command, paper).items():
            if not setting.only or command in setting.only:
                found.setdefault(name, []).append((paper, setting))
    return [_option(command, name, owners) for name, owners in found.items()]


def _option(command: str, name: str, owners: Sequence[tuple["Paper", Setting]]) -> click.Option:
    setting = owners[0][1]
    kind: click.ParamType[Any] = OneOf(setting.values.choices) if setting.values.choices else Parsed(setting.values)
    metavar = "T,T,.." if setting.values is STEP_LIST else None
    said = [(paper, f"{known.help}  [default: {_default(command, name, paper)}]") for paper, known in owners]
    differ = len({text for _, text in said}) > 1
    helps = dict.fromkeys(f"Of {paper.name}: {text}" if differ else text for paper, text in said)
    return click.Option([dashed(name), name], type=kind, metavar=metavar, help=" ".join(helps))


def with_values(arguments: Sequence[str], optional: Mapping[str, Values]) -> list[str]:
    """The arguments with a value for each option of an optional number that no number follows.

    Whatever else follows is not the option's value but a DATASET or another option.

    >>> from marginaudit.claims.settings import STEPS, optional
    >>> words = ["--certify", "example-1", "--certify", "1e2", "--certify", "--", "--certify"]
    >>> with_values(words, {"--certify": optional(STEPS, 900)})
    ['--certify=900', 'example-1', '--certify', '1e2', '--certify=900', '--', '--certify']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [
        f"{word}={optional[word].alone}" if at < end and word in optional and not _is_number(following) else word
        for at, (word, following) in enumerate(pairwise([*arguments, ""]))
    ]


def _is_number(word: str) -> bool:
    try:
        return Decimal(word).is_finite()
    except ArithmeticError:
        return False


def _default(command: str, name: str, paper: "Paper") -> str:
    value = getattr(paper.usual(command), name)
    return _settings(command, paper)[name].none if value is None else str(value)


def _settings(command: str, paper: "Paper") -> dict[str, Setting]:
    usual = paper.usual(command)
    return {} if usual is None else settings_of(type(usual))


def configs(
    command: str, papers: Sequence["Paper"], known: Sequence["Paper"], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The config of each paper with the settings that were given.

    Raises
    ------
    InputError
        A setting was given that none of the papers has, or a value is bad.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if not any(name in _settings(command, paper) for paper in papers):
            owners = ", ".join(paper.kind.name for paper in known if name in _settings(command, paper))
            kinds = ", ".join(paper.kind.name for paper in papers)
            raise InputError(dashed(name), got=f"{kinds} to run", expected=f"a dataset of {owners} for this option")
    found = {}
    for paper in papers:
        default = paper.usual(command)
        try:
            found[paper.name] = with_settings(default, chosen)
        except InputError as error:
            named = error.where.removeprefix(f"{type(default).__name__}.")
            raise InputError(dashed(named), got=error.got, expected=error.expected) from None
    return found
