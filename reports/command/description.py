"""An audit described in a TOML file: its datasets, claims, settings and exports."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Len
from typing_extensions import TypedDict

from marginaudit.orders import InputError, shown
from marginaudit.reports.paper import Paper
from marginaudit.reports.settings import STEP_LIST, settings_of
from marginaudit.reports.study.values import Texts, parsed_toml, require_known, toml_text, value_of


class _Audit(TypedDict, total=False, closed=True):
    datasets: Texts
    paper: str
    claims: Texts
    claims_file: Annotated[str, Len(1)]
    settings: dict[str, Any]
    exports: Texts


@dataclass(frozen=True)
class Description:
    """The content of a description; omitted keys are None or empty.

    Attributes
    ----------
    datasets, claims, exports : tuple of str
        As the arguments, `--claim` and `--export` take them.
    paper : str or None
    claims_file : Path or None
    settings : values by the names that `marginaudit.reports.command.options.configs` takes
    """

    datasets: tuple[str, ...]
    claims: tuple[str, ...]
    exports: tuple[str, ...]
    paper: str | None
    claims_file: Path | None
    settings: Mapping[str, Any]


def described(path: Path, papers: Sequence[Paper], exports: Sequence[str]) -> Description:
    """Read a description; paths in it begin at its folder.

    Raises
    ------
    InputError
        One line: the file, the key, what was got, what is expected.
    """
    text, where = toml_text(path, "a TOML file that describes an audit")
    document = parsed_toml(_Audit, text, where)
    if "paper" in document:
        require_known(document["paper"], [*(paper.name for paper in papers), "all"], f"{where}: /paper")
    for name in document.get("exports", ()):
        require_known(name, exports, f"{where}: /exports")
    cases = {case for paper in papers for case in paper.kind.cases}
    named = document.get("datasets", ())
    return Description(
        datasets=tuple(name if name in cases else str(path.parent / name) for name in named),
        claims=tuple(document.get("claims", ())),
        exports=tuple(document.get("exports", ())),
        paper=document.get("paper"),
        claims_file=path.parent / document["claims_file"] if "claims_file" in document else None,
        settings=_settings(document.get("settings", {}), papers, f"{where}: /settings"),
    )


def _settings(table: Mapping[str, Any], papers: Sequence[Paper], where: str) -> dict[str, Any]:
    known = {
        name: setting
        for paper in papers
        for name, setting in settings_of(paper.config).items()
        if not setting.only or "audit" in setting.only
    }
    found: dict[str, Any] = {}
    for name, value in table.items():
        require_known(name, known, where)
        setting = known[name]
        if setting.switch:
            found[f"{name}_on"] = value is not False
        if not (setting.switch and isinstance(value, bool)):
            listed = [value] if setting.values is STEP_LIST and not isinstance(value, list) else value
            found[name] = value_of(listed, setting.values, f"{where}/{name}")
    return found


def only_description(datasets: Sequence[str]) -> Path | None:
    """The description among the DATASETs of a command, or None.

    Raises
    ------
    InputError
        Something is named beside it.
    """
    found = [name for name in datasets if name.lower().endswith(".toml")]
    if found and len(datasets) > 1:
        raise InputError(shown(found[0]), got="another DATASET beside it", expected="an audit's description alone")
    return Path(found[0]) if found else None


@contextmanager
def asked_for(place: str) -> Iterator[None]:
    """Context that prefixes errors with the place in the description that names the file; "" for none."""
    try:
        yield
    except InputError as error:
        where = f"{place}: {error.where}" if place else error.where
        raise InputError(where, got=error.got, expected=error.expected) from None
