"""Parsing of an audit's TOML description: datasets, claims, settings and exports."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Len
from typing_extensions import TypedDict

from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import EXPORTS, settings_of
from marginaudit.orders import InputError, shown
from marginaudit.reports.study.values import Texts, parsed_toml, require_known, toml_text

if TYPE_CHECKING:
    from marginaudit.training.weight_files.run_file import RunFile


class _Audit(TypedDict, total=False, closed=True):
    datasets: Texts
    paper: str
    claims: Texts
    claims_file: Annotated[str, Len(1)]
    settings: dict[str, Any]
    exports: Texts


@dataclass(frozen=True)
class Asked:
    """Options of one audit: command line first, then the description file.

    Attributes
    ----------
    datasets, name, patterns, claims_file, only_mine, trajectories, exports : arguments of the command
    settings : values by name, for `marginaudit.reports.command.options.configs`
    by_datasets, by_patterns, by_file : str
        Origin of the datasets, the claims and the claims file, for error messages; "" for arguments.
    """

    datasets: tuple[str, ...]
    name: str | None
    patterns: tuple[str, ...]
    claims_file: Path | None
    only_mine: bool
    trajectories: "list[tuple[str, RunFile]]"
    exports: tuple[str, ...]
    settings: Mapping[str, Any]
    description: Path | None = None
    by_datasets: str = ""
    by_patterns: str = "--claim"
    by_file: str = ""


def completed(typed: Asked, papers: Sequence[Paper]) -> Asked:
    """Complete the arguments from a description file among the DATASETs; its paths are relative to its folder.

    Raises
    ------
    InputError
        Other DATASETs are given too, or the file has an error.
    """
    found = next((name for name in typed.datasets if name.lower().endswith(".toml")), None)
    if found is None:
        return typed
    if len(typed.datasets) > 1:
        raise InputError(shown(found), got="another DATASET beside it", expected="an audit's description alone")
    path = Path(found)
    text, where = toml_text(path, "a TOML file that describes an audit")
    document = parsed_toml(_Audit, text, where)
    if "paper" in document:
        require_known(document["paper"], [*(paper.name for paper in papers), "all"], f"{where}: /paper")
    for name in document.get("exports", ()):
        require_known(name, EXPORTS, f"{where}: /exports")
    cases = {case for paper in papers for case in paper.kind.cases}
    datasets = document.get("datasets", ())
    own_file = None if typed.claims_file or "claims_file" not in document else path.parent / document["claims_file"]
    settings = _settings(document.get("settings", {}), papers, f"{where}: /settings")
    typed_settings = {name: value for name, value in typed.settings.items() if value is not None}
    return replace(
        typed,
        datasets=tuple(name if name in cases else str(path.parent / name) for name in datasets),
        name=typed.name or document.get("paper"),
        patterns=typed.patterns or tuple(document.get("claims", ())),
        claims_file=typed.claims_file or own_file,
        exports=typed.exports or tuple(document.get("exports", ())),
        settings=settings | typed_settings,
        description=path,
        by_datasets=f"{where}: datasets" if datasets else "",
        by_patterns="--claim" if typed.patterns else f"{where}: claims",
        by_file=f"{where}: claims_file" if own_file else "",
    )


def _settings(table: Mapping[str, Any], papers: Sequence[Paper], where: str) -> dict[str, Any]:
    known = {
        name: setting
        for paper in papers
        for name, setting in settings_of(paper.config).items()
        if not setting.only or "audit" in setting.only
    }
    for name in table:
        require_known(name, known, where)
    return {name: known[name].values.accept(value, f"{where}/{name}") for name, value in table.items()}


@contextmanager
def asked_for(place: str) -> Iterator[None]:
    """Context that prefixes input errors with a place in the description; "" adds no prefix."""
    try:
        yield
    except InputError as error:
        where = f"{place}: {error.where}" if place else error.where
        raise InputError(where, got=error.got, expected=error.expected) from None
