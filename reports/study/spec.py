"""A sweep as its TOML file says it, checked before anything runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from marginaudit.orders import InputError, printable, shown
from marginaudit.reports.audit.sources import load
from marginaudit.reports.paper import Paper
from marginaudit.reports.settings import COUNT, SEED
from marginaudit.reports.study.values import values_of
from marginaudit.reports.sweeps import Sweeps
from marginaudit.reports.toml_document import TomlDocument, toml_text

MOST_RUNS = 10**6

KEYS = ("paper", "data", "settings", "seeds", "keep", "figure")


@dataclass(frozen=True)
class Made:
    """A dataset of the grid before it is made: by a generator, or from a document.

    Attributes
    ----------
    columns : what the rows say of it
    generator : "" where there is a document
    document : the dataset as plain JSON data, or None
    """

    columns: Mapping[str, Any]
    generator: str = ""
    document: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Layout:
    """How a figure shows the cells: names of columns, "" for one panel, or one line, alone.

    ``y`` is the result whose mean is drawn, with the standard deviation over seeds.
    """

    x: str
    y: str
    panel: str = ""
    line: str = ""
    title: str = ""


@dataclass(frozen=True)
class Spec:
    """A grid of runs.

    Attributes
    ----------
    name : str
    text : str
        The file itself.
    paper : Paper
    sweeps : Sweeps
        The paper's.
    data : tuple of Made
    configs : tuple
        The settings of the runs on each dataset and seed.
    seeds : tuple of int
    keep : tuple of str
        The results that are kept.
    cell : tuple of str
        The columns that were given as lists or ranges: a cell of the grid is a value of each.
    layout : Layout or None
    """

    name: str
    text: str
    paper: Paper
    sweeps: Sweeps
    data: tuple[Made, ...]
    configs: tuple[Any, ...]
    seeds: tuple[int, ...]
    keep: tuple[str, ...]
    cell: tuple[str, ...]
    layout: Layout | None

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.data) * len(self.configs) * len(self.seeds)

    def settings(self, config: Any) -> dict[str, Any]:
        """A run's settings by name."""
        return {name: getattr(config, name) for name in self.sweeps.settings}


def built_in(papers: Sequence[Paper]) -> dict[str, Paper]:
    """The papers of the built-in specs, by the specs' names."""
    return {name: paper for paper in papers if paper.sweeps is not None for name in paper.sweeps.specs}


def find_spec(name: str, papers: Sequence[Paper]) -> Spec:
    """The spec of a name, or of a path.

    Raises
    ------
    InputError
        There is none, or it is bad.
    """
    own = built_in(papers)
    if name in own:
        text = files(own[name].package).joinpath("sweeps", f"{name}.toml").read_text(encoding="utf-8")
        return read_spec(text, name, name, Path(), papers)
    path = Path(name)
    if path.suffix.lower() != ".toml":
        raise InputError(shown(name), got="no built-in sweep", expected=f"a .toml file, or one of {', '.join(own)}")
    text, where = toml_text(path, "a TOML file that says what to run")
    return read_spec(text, printable(path.stem), where, path.parent, papers)


def read_spec(text: str, name: str, where: str, folder: Path, papers: Sequence[Paper]) -> Spec:
    """The spec of a TOML text; ``where`` opens its errors, and paths in it begin at ``folder``.

    Raises
    ------
    InputError
        One line: the file, the key, what was got, what is expected.
    """
    return _Reader(text, where, folder, papers).spec(name, text)


class _Reader(TomlDocument):
    def __init__(self, text: str, where: str, folder: Path, papers: Sequence[Paper]) -> None:
        super().__init__(text, where)
        self.folder = folder
        self.papers = {paper.name: paper for paper in papers if paper.sweeps is not None}
        self.cell: list[str] = []

    def spec(self, name: str, text: str) -> Spec:
        self.known_keys(self.document, "", KEYS)
        chosen = self.document.get("paper")
        if not isinstance(chosen, str) or chosen not in self.papers:
            self.fail("paper", shown(chosen), f"one of {', '.join(self.papers)}")
        paper = self.papers[chosen]
        sweeps = paper.sweeps
        if sweeps is None:
            raise ValueError(f"paper {paper.name} has no sweeps")
        data, configs = self.data(paper, sweeps), self.configs(sweeps)
        keep, seeds = self.keep(sweeps), self.seeds()
        layout = self.layout(sweeps, keep)
        spec = Spec(name, text, paper, sweeps, data, configs, seeds, keep, tuple(self.cell), layout)
        if spec.runs > MOST_RUNS:
            raise InputError(self.where, got=f"{spec.runs} runs", expected=f"at most {MOST_RUNS}")
        return spec

    def data(self, paper: Paper, sweeps: Sweeps) -> tuple[Made, ...]:
        table = self.table("data")
        if "files" in table:
            self.known_keys(table, "data", ("files",))
            return self.read(paper, table["files"])
        generator = table.get("generator")
        if not isinstance(generator, str) or generator not in sweeps.generators:
            self.fail("data.generator", shown(generator), f"files, or one of {', '.join(sweeps.generators)}")
        parameters = sweeps.generators[generator].parameters
        self.known_keys(table, "data", ("generator", *parameters))
        for name in parameters:
            if name not in table:
                self.fail(f"data.{name}", "nothing", parameters[name].expected)
        return tuple(
            Made(columns, generator)
            for columns in self.product(
                {name: self.values("data", name, table, known) for name, known in parameters.items()}
            )
        )

    def read(self, paper: Paper, names: Any) -> tuple[Made, ...]:
        found: dict[str, Made] = {}
        for name in self.texts("data.files", names, "a list of datasets: paths, or names of built-in cases"):
            source = load(name if name in paper.kind.cases else str(self.folder / name), [paper])
            own = source.dataset.name
            if own in found:
                self.fail("data.files", f"two datasets named {shown(own)}", "names that tell them apart")
            found[own] = Made({"dataset": own}, document=paper.kind.to_document(source.dataset))
        self.cell.append("dataset")
        return tuple(found.values())

    def configs(self, sweeps: Sweeps) -> tuple[Any, ...]:
        table = self.table("settings") if "settings" in self.document else {}
        known = sweeps.settings
        self.known_keys(table, "settings", tuple(known))
        grid = {name: self.values("settings", name, table, known[name].values) for name in known if name in table}
        try:
            return tuple(replace(sweeps.config, **chosen) for chosen in self.product(grid))
        except InputError as error:  # of settings that do not go together
            return self.fail("settings", error.got, error.expected)

    def values(self, table: str, name: str, given: Mapping[str, Any], allowed: Any) -> tuple[Any, ...]:
        if isinstance(given[name], list | Mapping):
            self.cell.append(name)
        return values_of(given[name], allowed, f"{self.where}: {table}.{name}")

    def seeds(self) -> tuple[int, ...]:
        given = self.document.get("seeds", 1)
        where = f"{self.where}: seeds"
        if isinstance(given, list | Mapping):
            return values_of(given, SEED, where)
        (count,) = values_of(given, COUNT, where)
        return tuple(range(count))

    def keep(self, sweeps: Sweeps) -> tuple[str, ...]:
        patterns = self.texts("keep", self.document.get("keep", ["*"]), "a list of results, such as 'ntp.*:verdict'")
        for glob in patterns:
            if not any(fnmatchcase(name, glob) for name in sweeps.results):
                self.fail("keep", f"{shown(glob)}, which is no result", _few(list(sweeps.results)))
        return tuple(name for name in sweeps.results if any(fnmatchcase(name, glob) for glob in patterns))

    def layout(self, sweeps: Sweeps, keep: Sequence[str]) -> Layout | None:
        if "figure" not in self.document:
            return None
        table = self.table("figure")
        self.known_keys(table, "figure", ("title", "x", "y", "panel", "line"))
        for key, value in table.items():
            if not isinstance(value, str):
                self.fail(f"figure.{key}", shown(value), "a text")
        numbers = [name for name in keep if sweeps.results[name] is float]
        for key, known in (("x", self.cell), ("y", numbers), ("panel", self.cell), ("line", self.cell)):
            if (key in table or key in ("x", "y")) and table.get(key) not in known:
                kind = "a result that is a number and kept" if key == "y" else "what is given as a list or range"
                self.fail(f"figure.{key}", shown(table.get(key)), f"{kind}: {_few(known)}")
        shown_by = [table[key] for key in ("x", "panel", "line") if key in table]
        if sorted(shown_by) != sorted(self.cell):
            self.fail("figure", f"x, panel, line for {_few(shown_by)}", f"them for {_few(self.cell)}, each once")
        return Layout(**{key: printable(value) if key == "title" else value for key, value in table.items()})

    def product(self, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        """The combinations, the last name's values side by side."""
        size = 1
        for values in grid.values():
            size *= len(values)
        if size > MOST_RUNS:
            raise InputError(self.where, got=f"{size} combinations", expected=f"at most {MOST_RUNS} runs")
        return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _few(names: Sequence[str]) -> str:
    """Names for an error that is one line long."""
    return f"one of {', '.join(names[:8])}{', ..' if len(names) > 8 else ''}" if names else "none here"
