"""Spec of a sweep: its TOML file, parsed and validated before any run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict

from marginaudit.claims.answers.sweeps import Sweeps
from marginaudit.claims.paper import Paper
from marginaudit.claims.settings import COUNT, SEED, Values, settings_of
from marginaudit.orders import InputError, printable, shown
from marginaudit.orders.reading import validated
from marginaudit.reports.audit.sources import load
from marginaudit.reports.study.values import Texts, parsed_toml, require_known, toml_text, values_of

MOST_RUNS = 10**6


class _Figure(TypedDict, closed=True):
    x: str
    y: str
    panel: NotRequired[str]
    line: NotRequired[str]
    title: NotRequired[str]


class _Files(TypedDict, closed=True):
    files: Texts


class _Spec(TypedDict, closed=True):
    paper: str
    data: dict[str, Any]
    settings: NotRequired[dict[str, Any]]
    seeds: NotRequired[Any]
    keep: NotRequired[Texts]
    figure: NotRequired[_Figure]


@dataclass(frozen=True)
class DataSpec:
    """Dataset of the grid: a generator with its parameters, or a document.

    Attributes
    ----------
    columns : its columns in the tables of runs and cells
    generator : "" for a document
    document : the dataset as plain JSON data, or None
    """

    columns: Mapping[str, Any]
    generator: str = ""
    document: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Layout:
    """Columns of a figure's axes, panels and lines; "" for a single panel or line.

    ``y`` is the result drawn, by mean and standard deviation over seeds.
    """

    x: str
    y: str
    panel: str = ""
    line: str = ""
    title: str = ""


@dataclass(frozen=True)
class Spec:
    """Grid of runs.

    Attributes
    ----------
    text : str
        Content of the file.
    sweeps : Sweeps
        The paper's.
    configs : tuple
        Settings of the runs on each dataset and seed.
    keep : tuple of str
        Names of the kept results.
    cell : tuple of str
        Columns given as lists or ranges: a cell of the grid is a value of each.
    """

    name: str
    text: str
    paper: Paper
    sweeps: Sweeps
    data: tuple[DataSpec, ...]
    configs: tuple[Any, ...]
    seeds: tuple[int, ...]
    keep: tuple[str, ...]
    cell: tuple[str, ...]
    layout: Layout | None

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.data) * len(self.configs) * len(self.seeds)

    def settings(self, config: Any) -> dict[str, Any]:
        """Settings of a run by name."""
        return {name: getattr(config, name) for name in self.sweeps.settings}


def built_in(papers: Sequence[Paper]) -> dict[str, Paper]:
    """Paper of each built-in spec, by the spec's name."""
    return {name: paper for paper in papers if paper.sweeps is not None for name in paper.sweeps.specs}


def find_spec(name: str, papers: Sequence[Paper]) -> Spec:
    """Read a spec by name or path.

    Raises
    ------
    InputError
        The spec is missing or invalid.
    """
    own = built_in(papers)
    if name in own:
        text = files(own[name].package).joinpath("sweeps", f"{name}.toml").read_text(encoding="utf-8")
        return read_spec(text, name, name, Path(), papers)
    path = Path(name)
    if path.suffix.lower() != ".toml":
        raise InputError(shown(name), got="no built-in sweep", expected=f"a .toml file, or one of {', '.join(own)}")
    text, where = toml_text(path, "the TOML file of a sweep")
    return read_spec(text, printable(path.stem), where, path.parent, papers)


def read_spec(text: str, name: str, where: str, folder: Path, papers: Sequence[Paper]) -> Spec:
    """Parse a spec. Error messages begin with ``where``; paths are relative to ``folder``.

    Raises
    ------
    InputError
        One line: the file, the key, what was got, what is expected.
    """
    document = parsed_toml(_Spec, text, where)
    known = {paper.name: (paper, paper.sweeps) for paper in papers if paper.sweeps is not None}
    require_known(document["paper"], known, f"{where}: /paper")
    paper, sweeps = known[document["paper"]]
    table, settings = document["data"], document.get("settings", {})
    data = _read(table, paper, folder, where) if "files" in table else _generated(table, sweeps, where)
    grid = _grid(settings, {name: one.values for name, one in sweeps.settings.items()}, f"{where}: /settings")
    try:
        configs = tuple(replace(sweeps.config, **chosen) for chosen in _product(grid, where))
    except InputError as error:  # incompatible settings
        raise InputError(f"{where}: /settings", got=error.got, expected=error.expected) from None
    keep = _keep(document.get("keep", ["*"]), sweeps, f"{where}: /keep")
    varied = [
        name
        for name in (*data[0].columns, *sweeps.settings)
        if isinstance({**settings, **table}.get(name), list | dict)
    ]
    cell = ["dataset", *varied] if "files" in table else varied
    layout = None if "figure" not in document else _layout(document["figure"], cell, keep, sweeps, f"{where}: /figure")
    seeds = _seeds(document.get("seeds", 1), sweeps, f"{where}: /seeds")
    spec = Spec(name, text, paper, sweeps, data, configs, seeds, keep, tuple(cell), layout)
    if spec.runs > MOST_RUNS:
        raise InputError(where, got=f"{spec.runs} runs", expected=f"at most {MOST_RUNS}")
    return spec


def _generated(table: Mapping[str, Any], sweeps: Sweeps, where: str) -> tuple[DataSpec, ...]:
    place = f"{where}: /data"
    generator = table.get("generator")
    if not isinstance(generator, str) or generator not in sweeps.generators:
        expected = f"files, or one of {', '.join(sweeps.generators)}"
        raise InputError(f"{place}/generator", got=shown(generator), expected=expected)
    parameters = sweeps.generators[generator].parameters
    for name, known in parameters.items():
        if name not in table:
            raise InputError(f"{place}/{name}", got="nothing", expected=known.expected)
    grid = _grid({name: value for name, value in table.items() if name != "generator"}, parameters, place)
    return tuple(DataSpec(columns, generator) for columns in _product(grid, where))


def _read(table: Mapping[str, Any], paper: Paper, folder: Path, where: str) -> tuple[DataSpec, ...]:
    found: dict[str, DataSpec] = {}
    for name in validated(dict[str, _Files], {"data": table}, where)["data"]["files"]:
        source = load(name if name in paper.kind.cases else str(folder / name), [paper])
        own = source.dataset.name
        if own in found:
            got, expected = f"two datasets named {shown(own)}", "distinct names"
            raise InputError(f"{where}: /data/files", got=got, expected=expected)
        found[own] = DataSpec({"dataset": own}, document=paper.kind.to_document(source.dataset))
    return tuple(found.values())


def _grid(table: Mapping[str, Any], known: Mapping[str, Values], where: str) -> dict[str, tuple[Any, ...]]:
    """Values by name, in the order of the known names."""
    for name in table:
        require_known(name, known, where)
    return {name: values_of(table[name], known[name], f"{where}/{name}") for name in known if name in table}


def _product(grid: Mapping[str, Sequence[Any]], where: str) -> list[dict[str, Any]]:
    """Cartesian product; the last name varies fastest."""
    size = prod(map(len, grid.values()))
    if size > MOST_RUNS:
        raise InputError(where, got=f"{size} combinations", expected=f"at most {MOST_RUNS} runs")
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _seeds(given: Any, sweeps: Sweeps, where: str) -> tuple[int, ...]:
    """The seeds; those of a config with a setting `seed` are in its range."""
    listed = isinstance(given, list | Mapping)
    found = values_of(given, SEED, where) if listed else tuple(range(COUNT.accept(given, where)))
    if own := settings_of(type(sweeps.config)).get("seed"):
        for seed in found:
            own.values.accept(seed, where)
    return found


def _keep(patterns: Sequence[str], sweeps: Sweeps, where: str) -> tuple[str, ...]:
    for glob in patterns:
        if not any(fnmatchcase(name, glob) for name in sweeps.results):
            raise InputError(where, got=f"{shown(glob)}, which is no result", expected=_few(list(sweeps.results)))
    return tuple(name for name in sweeps.results if any(fnmatchcase(name, glob) for glob in patterns))


def _layout(table: "_Figure", cell: Sequence[str], keep: Sequence[str], sweeps: Sweeps, where: str) -> Layout:
    title = printable(table.get("title", ""))
    layout = Layout(table["x"], table["y"], table.get("panel", ""), table.get("line", ""), title)
    numbers = [name for name in keep if sweeps.results[name] is float]
    if layout.y not in numbers:
        expected = f"a result that is a number and kept: {_few(numbers)}"
        raise InputError(f"{where}/y", got=shown(layout.y), expected=expected)
    shown_by = [name for name in (layout.x, layout.panel, layout.line) if name]
    if sorted(shown_by) != sorted(cell):
        got, expected = f"x, panel, line for {_few(shown_by)}", f"each list or range once: {_few(cell)}"
        raise InputError(where, got=got, expected=expected)
    return layout


def _few(names: Sequence[str]) -> str:
    """First names, for a one-line error."""
    return f"one of {', '.join(names[:8])}{', ..' if len(names) > 8 else ''}" if names else "none here"
