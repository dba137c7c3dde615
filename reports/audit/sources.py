"""Loading of datasets by name, by path or from Python objects, each with its paper."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Paper
from marginaudit.claims.run import BaseRun, Progress
from marginaudit.orders import InputError, content_of, counted, printable, read, shown
from marginaudit.orders.kind import Kind, Rows, from_document, from_rows
from marginaudit.orders.reading import Name, plain, validated
from marginaudit.reports.audit.ledger import all_papers, ids_of, paper_of
from marginaudit.reports.audit.plugins import Notice, failures_in_one_line, warn

if TYPE_CHECKING:
    from marginaudit.claims.answers.conformity import Conformity
    from marginaudit.training.weight_files.run_file import RunFile

N = TypeVar("N")

IN_PYTHON = "made in Python"


@dataclass(frozen=True)
class Source:
    """Dataset under audit, with its origin.

    Attributes
    ----------
    paper : Paper
        Paper of the dataset's kind.
    place : str
        Path as given, unescaped; name of the case; or `IN_PYTHON`.
    sha256 : str or None
        Hash of the file, or of the JSON of a dataset made in Python; None for a built-in case. For a recorded run,
        hash of the trajectory.
    trajectory : RunFile or None
        File of a run trained elsewhere, whose name the dataset then has.
    """

    dataset: Any
    paper: Paper
    place: str
    sha256: str | None = None
    trajectory: "RunFile | None" = None

    @property
    def origin(self) -> str:
        """Place of the dataset, and file of a recorded run, with control characters escaped."""
        return printable(self.place if self.trajectory is None else f"{self.place}, recorded in {self.trajectory}")

    def run(self, config: Any, progress: Progress) -> BaseRun[Any]:
        """Own run of the dataset, or the recorded one.

        Raises
        ------
        InputError
            The file holds no trajectory of the dataset.
        """
        if self.trajectory is None:
            return self.paper.run(self.dataset, config, progress)
        if self.paper.recorded is None:
            got = f"a trajectory of {self.paper.kind.name}"
            raise InputError(self.trajectory.where, got=got, expected="one of a paper that judges recorded runs")
        return self.paper.recorded(self.dataset, config, progress, self.trajectory)


def comparing(source: Source) -> "Callable[[RunFile, Any, Callable[[float], None]], Conformity]":
    """Comparison of recorded runs with the algorithm of the dataset's paper.

    Raises
    ------
    InputError
        The paper has no such comparison.
    """
    if source.paper.conformity is None:
        expected = "a dataset of a paper with the method conformity, which compares recorded runs with its algorithm"
        raise InputError(source.origin, got=f"one of {source.paper.kind.name}", expected=expected)
    return partial(source.paper.conformity, source.dataset, source.origin)


def load(name: str, papers: Sequence[Paper]) -> Source:
    """Load a dataset by name of a built-in case or by path.

    Raises
    ------
    InputError
        No such case or file, a file of an unknown kind, or a case that fails to build.
    """
    for paper in papers:
        if name in paper.kind.cases:
            with failures_in_one_line(f"case {name} of paper {paper.name}"):
                return Source(paper.kind.cases[name](), paper, name)
    path = Path(name)
    if not name or not (path.suffix or os.path.exists(path)):  # noqa: PTH110  (no error for an overlong name)
        cases = ", ".join(case for paper in papers for case in paper.kind.cases)
        for paper in all_papers(lambda _: None):
            if name in paper.kind.cases:
                kinds = " or ".join(paper.kind.name for paper in papers)
                got = f"a built-in case of {paper.kind.name}"
                raise InputError(shown(name), got=got, expected=f"{kinds}: a path or one of {cases}")
        raise InputError(shown(name), got="no file of that name", expected=f"a path or one of {cases}")
    content = content_of(path)
    kind, dataset = read(content, path, [paper.kind for paper in papers], _every_kind())
    paper = next(paper for paper in papers if paper.kind is kind)
    return Source(dataset, paper, str(path), hashlib.sha256(content).hexdigest())


def _every_kind() -> Iterator[Kind[Any]]:
    """Kinds of all papers; loading installed papers is slow, so they are loaded lazily."""
    yield from (paper.kind for paper in all_papers(lambda _: None))


def with_trajectories(
    sources: Sequence[Source], trajectories: "Sequence[tuple[str, RunFile]]", configs: Mapping[str, Any]
) -> list[Source]:
    """Append to the dataset one copy per recorded run, named after the run.

    Raises
    ------
    InputError
        Not exactly one dataset, or a file without a trajectory of it.
    """
    found = list(sources)
    for name, run in [(_of_head(name, run), run) for name, given in trajectories for run in given.by_head()]:
        if len(sources) != 1:
            got = f"a trajectory of {counted(len(sources), 'dataset')}"
            raise InputError(run.where, got=got, expected="one DATASET, on which it was trained")
        own = sources[0]
        source = replace(own, dataset=replace(own.dataset, name=name), trajectory=run)
        source.run(configs[own.paper.name], lambda _: None)  # refuse an invalid file
        found.append(replace(source, sha256=run.digest()))
    return found


def _of_head(name: str, run: "RunFile") -> str:
    return f"{name} {run.quantity}".strip()


def named_trajectory(text: str) -> tuple[str, Path]:
    """Parse NAME=FILE or FILE of a recorded run.

    >>> named_trajectory("adam=runs/1.npz"), named_trajectory("runs/1.npz")
    (('adam', PosixPath('runs/1.npz')), ('1', PosixPath('runs/1.npz')))
    """
    name, separator, file = text.partition("=")
    if not separator or os.sep in name or Path(text).exists():
        name, file = Path(text).stem, text
    return name, Path(file)


def made_in_python(dataset: Any, paper: Paper, place: str = IN_PYTHON) -> Source:
    """Source of a dataset made in Python, with the hash of its JSON document."""
    document = json.dumps(paper.kind.to_document(dataset), sort_keys=True)
    return Source(dataset, paper, place, hashlib.sha256(document.encode()).hexdigest())


def some_judged(claims: Iterable[Claim], sources: Sequence[Source], where: str) -> None:
    """Refuse claims without any about the kinds of the datasets.

    Raises
    ------
    InputError
        All claims are about other kinds of data.
    """
    if not any(source.paper.judges(claim) for claim in claims for source in sources):
        kinds = ", ".join(dict.fromkeys(source.paper.kind.name for source in sources))
        names = ", ".join(dict.fromkeys(printable(source.dataset.name) for source in sources))
        raise InputError(where, got="claims about other data alone", expected=f"one about {kinds}, as {names} is")


def once_each(names: Iterable[N]) -> list[N]:
    """Drop duplicate cases and files, by resolved path; keep other objects.

    >>> once_each(["example-1", "a.json", "./a.json", "example-1"])
    ['example-1', 'a.json']
    """
    found: dict[object, N] = {}
    for name in names:
        found.setdefault(_place(name), name)
    return list(found.values())


def _place(name: object) -> object:
    return os.path.realpath(name) if isinstance(name, str | os.PathLike) else id(name)


def papers_of(sources: Iterable[Source]) -> tuple[Paper, ...]:
    """Distinct papers of the sources, in order."""
    return tuple({source.paper.name: source.paper for source in sources}.values())


def papers_with(patterns: Iterable[str], sources: Sequence[Source], papers: tuple[Paper, ...]) -> tuple[Paper, ...]:
    """Papers of the sources; all papers if there is no source, or a pattern matches no claim of theirs."""
    of_data = papers_of(sources)
    ids = [claim.id for paper in of_data for claim in paper.claims]
    return of_data if of_data and all(ids_of(pattern, ids) for pattern in patterns) else papers


def cases_of(papers: Sequence[Paper], notice: Notice) -> list[Source]:
    """Built-in cases of the papers; ``notice`` is called with one line per case that fails to build.

    Raises
    ------
    InputError
        No case is left.
    """
    sources = []
    for paper in papers:
        for name in paper.kind.cases:
            try:
                sources.append(load(name, [paper]))
            except InputError as error:
                notice(f"{error}; the case is left out")
    if not sources:
        raise InputError("built-in cases", got="none that can be loaded", expected="at least one, or a DATASET")
    return sources


WHERE = "data"
"""Place in errors for data without a file."""


def dataset(data: Any, name: str = "dataset") -> Any:
    """Load a dataset from a Python object, a file, or a built-in case.

    Parameters
    ----------
    data : dict, iterable of sentences, DataFrame, path, or name of a built-in case
        A dict is the document of a JSON file. A sentence is a list of tokens, or a text that is split at white space.
        A DataFrame of pandas, polars or any library with Arrow's stream has the column ``sentence``; or ``tokens``,
        ``next`` and optionally ``count``; or, for sequence classes, ``next``, ``query``, ``token``, ``probability``.
    name : default name of the dataset, if the data have none

    Returns
    -------
    Dataset or SequenceClasses

    Raises
    ------
    InputError
        One line: the place, the value got, the value expected.

    >>> dataset(["S V O", ["V", "O"]]).vocabulary
    ('S', 'V', 'O')
    """
    return source_of(data, all_papers(warn), validated(Name, name, "name")).dataset


def source_of(data: Any, papers: Sequence[Paper], name: str = "dataset") -> Source:
    """Source of a dataset read by `dataset`: with its paper and origin."""
    if hasattr(data, "tolist"):
        data = data.tolist()
    elif hasattr(data, "__arrow_c_stream__") and not is_frame(data):
        from pyarrow import chunked_array

        data = chunked_array(data).to_pylist()
    if isinstance(data, str | PathLike):
        return load(str(data), papers)
    kinds = [paper.kind for paper in papers]
    if isinstance(data, Mapping):
        data = from_document(plain(data), WHERE, name, kinds)[1]
    elif is_frame(data):
        columns, rows = _table(data)
        data = from_rows(columns, rows, WHERE, name, kinds)
    elif isinstance(data, Iterable) and not isinstance(data, bytes):
        data = from_rows(["sentence"], [{"sentence": plain(sentence)} for sentence in data], WHERE, name, kinds)
    return made_in_python(data, paper_of(data, papers))


def is_frame(data: Any) -> bool:
    """Whether the data are a pandas DataFrame or an Arrow table; imports neither library."""
    return (_of_pandas(data) or hasattr(data, "__arrow_c_stream__")) and hasattr(data, "columns")


def _of_pandas(data: Any) -> bool:
    return hasattr(data, "to_records")


def _table(data: Any) -> tuple[list[Any], Rows]:
    """Columns and rows of a DataFrame; read by pandas if it is pandas', because its columns may mix types."""
    if _of_pandas(data):
        return list(data.columns), plain(data.to_dict("records"))
    from pyarrow import table

    read = table(data)
    return read.column_names, read.to_pylist()


def is_sentences(data: Any) -> bool:
    """Whether the data are the sentences of one dataset: lists of tokens, an array, or a Series of pandas or polars.

    >>> is_sentences([["S", "V"], ["V"]]), is_sentences(["example-1", "a.json"]), is_sentences([[["S", "V"]]])
    (True, False, False)
    """
    if hasattr(data, "tolist") or hasattr(data, "__arrow_c_stream__"):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(map(_is_sentence, data))


def _is_sentence(data: Any) -> bool:
    return isinstance(data, list | tuple) and not any(isinstance(token, list | tuple) for token in data)
