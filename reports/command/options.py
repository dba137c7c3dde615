"""Types of command-line values, and options from the papers' settings."""

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
    """Value of a setting."""

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
    """Path of an input or output."""

    name, expected = "path", "a path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse the empty path, which would mean the working directory, and NUL bytes."""
        if not str(value) or "\0" in str(value):
            self.fail(f"got {shown(str(value))}, expected a path", param, ctx)
        return Path(value)


class NamedTrajectory(click.ParamType[tuple[str, Path]]):
    """Name and file of a recorded run."""

    name, expected = "trajectory", "[NAME=]FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path]:
        """Refuse a value without a name or without a file."""
        from marginaudit.reports.audit.sources import named_trajectory

        name, path = named_trajectory(str(value))
        if not name or not path.name or "\0" in str(value):
            self.fail(f"got {shown(str(value))}, expected {self.expected}", param, ctx)
        return name, path


def cores() -> int:
    """Number of cores available to this process, at most LOKY_MAX_CPU_COUNT."""
    from loky import cpu_count

    found: int = cpu_count()
    return found


def dashed(name: str) -> str:
    """Option name of a setting.

    >>> dashed("lr_y")
    '--lr-y'
    """
    return f"--{name.replace('_', '-')}"


def settings_options(command: str, papers: Iterable["Paper"]) -> list[click.Option]:
    """Options for the settings of a command; the help of those of one paper names it. None if not given."""
    users = [paper for paper in papers if paper.usual(command) is not None]
    found: dict[str, list[tuple[Paper, Setting]]] = {}
    for paper in users:
        for name, setting in _settings(command, paper).items():
            if not setting.only or command in setting.only:
                found.setdefault(name, []).append((paper, setting))
    return [_option(command, name, owners, shared=len(owners) == len(users)) for name, owners in found.items()]


def _option(command: str, name: str, owners: Sequence[tuple["Paper", Setting]], *, shared: bool) -> click.Option:
    setting = owners[0][1]
    kind: click.ParamType[Any] = OneOf(setting.values.choices) if setting.values.choices else Parsed(setting.values)
    metavar = "T,T,.." if setting.values is STEP_LIST else None
    label = "" if shared else ", ".join(paper.name for paper, _ in owners) + ": "
    helps = {paper.name: f"{known.help}  [default: {_default(command, name, paper)}]" for paper, known in owners}
    if len({*helps.values()}) > 1:
        text = " ".join(f"{owner}: {one}" for owner, one in helps.items())
    else:
        text = label + next(iter(helps.values()))
    return click.Option([dashed(name), name], type=kind, metavar=metavar, help=text)


def with_values(arguments: Sequence[str], optional: Mapping[str, Values]) -> list[str]:
    """The arguments with a value for each option of an optional number that no number follows.

    Any other following word is a DATASET or an option, not the option's value.

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
    return _settings(command, paper)[name].none if value is None else powers_of_ten(str(value))


def powers_of_ten(digits: str) -> str:
    """A whole number with its six or more last zeros as an exponent.

    >>> powers_of_ten("1000000000000000000"), powers_of_ten("2000"), powers_of_ten("0.5")
    ('1e18', '2000', '0.5')
    """
    kept = digits.rstrip("0")
    zeros = len(digits) - len(kept)
    return f"{kept}e{zeros}" if zeros >= 6 else digits


def _settings(command: str, paper: "Paper") -> dict[str, Setting]:
    usual = paper.usual(command)
    return {} if usual is None else settings_of(type(usual))


def configs(
    command: str, papers: Sequence["Paper"], known: Sequence["Paper"], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Config of each paper, with the given settings.

    Raises
    ------
    InputError
        A setting belongs to none of the papers, or has a bad value.
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
