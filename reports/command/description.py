"""An audit described in a TOML file: its datasets, claims, settings and exports."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, shown
from marginaudit.reports.paper import Paper
from marginaudit.reports.settings import STEP_LIST, STEPS, Setting, settings_of
from marginaudit.reports.study.values import values_of
from marginaudit.reports.toml_document import TomlDocument, toml_text

KEYS = ("datasets", "paper", "claims", "claims_file", "settings", "exports")


@dataclass(frozen=True)
class Description:
    """What a file says of an audit; what it leaves out is None, or empty.

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
    return _Reader(text, where, path.parent, papers).description(exports)


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
    """Name, before what is wrong with a file, the place in a description that asks for it; "" where none does."""
    try:
        yield
    except InputError as error:
        where = f"{place}: {error.where}" if place else error.where
        raise InputError(where, got=error.got, expected=error.expected) from None


class _Reader(TomlDocument):
    def __init__(self, text: str, where: str, folder: Path, papers: Sequence[Paper]) -> None:
        super().__init__(text, where)
        self.folder, self.papers = folder, papers

    def description(self, exports: Sequence[str]) -> Description:
        self.known_keys(self.document, "", KEYS)
        return Description(
            datasets=tuple(self.named(name) for name in self.listed("datasets", "paths, or names of built-in cases")),
            claims=self.listed("claims", "ids of claims, or patterns such as 'ntp.theorem2.*'"),
            exports=self.chosen_exports(exports),
            paper=self.one_of("paper", (*(paper.name for paper in self.papers), "all")),
            claims_file=self.path("claims_file"),
            settings=self.settings(),
        )

    def listed(self, key: str, what: str) -> tuple[str, ...]:
        return tuple(self.texts(key, self.document[key], f"a list of {what}")) if key in self.document else ()

    def named(self, name: str) -> str:
        built_in = any(name in paper.kind.cases for paper in self.papers)
        return name if built_in else str(self.folder / name)

    def chosen_exports(self, known: Sequence[str]) -> tuple[str, ...]:
        found = self.listed("exports", ", ".join(known))
        for name in found:
            if name not in known:
                self.fail("exports", shown(name), f"one of {', '.join(known)}")
        return found

    def one_of(self, key: str, known: Sequence[str]) -> str | None:
        found = self.document.get(key)
        if found is not None and found not in known:
            self.fail(key, shown(found), f"one of {', '.join(known)}")
        return found

    def path(self, key: str) -> Path | None:
        found = self.document.get(key)
        if found is not None and (not isinstance(found, str) or not found):
            self.fail(key, shown(found), "a path")
        return None if found is None else self.folder / found

    def settings(self) -> dict[str, Any]:
        table = self.table("settings") if "settings" in self.document else {}
        known = {
            name: setting
            for paper in self.papers
            for name, setting in settings_of(paper.config).items()
            if not setting.only or "audit" in setting.only
        }
        self.known_keys(table, "settings", tuple(known))
        found: dict[str, Any] = {}
        for name, value in table.items():
            setting = known[name]
            if setting.switch:
                found[f"{name}_on"] = value is not False
            if not (setting.switch and isinstance(value, bool)):
                found[name] = self.value(name, value, setting)
        return found

    def value(self, name: str, given: Any, setting: Setting) -> Any:
        place = f"{self.where}: settings.{name}"
        if setting.values is STEP_LIST:
            return tuple(sorted(values_of(given if isinstance(given, list) else [given], STEPS, place)))
        if isinstance(given, list | Mapping):
            self.fail(f"settings.{name}", shown(given), setting.values.expected)
        return values_of(given, setting.values, place)[0]
