"""A kind of dataset: recognising, reading and writing its documents, and its assumptions."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from marginaudit.orders.assumption import Assumption, Witness, as_document
from marginaudit.orders.errors import InputError
from marginaudit.orders.files import file_content
from marginaudit.orders.reading import parsed_json, utf_8_text
from marginaudit.orders.text import printable, shown, shown_path

ENDINGS = (".json", ".txt", ".csv")

FORMS = "a .json or .txt dataset"
"""Accepted file formats in error messages; .csv tables belong to installed papers only."""


class Data(Protocol):
    """The interface of every dataset."""

    @property
    def name(self) -> str:
        """Name in reports."""


D = TypeVar("D", bound=Data)

Rows: TypeAlias = Sequence[Mapping[Any, Any]]
"""Rows of a table, by column."""


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[D]):
    """A kind of dataset.

    Attributes
    ----------
    name : str
        Name of the kind, in the plural.
    accepts : callable, parsed JSON document -> whether it is of this kind, valid or not
    from_document : callable, (document, ``where``, ``default_name``) -> dataset; raises `InputError`
    to_document : callable, dataset -> document
    tables : by columns of a table in Python, callables (rows, ``where``) -> document
    from_text, from_csv : callable, (text of a ``.txt`` or ``.csv`` file, ``where``, name) -> dataset; None without such
        a form
    cases : built-in datasets, by name
    assumptions : predicates by name, each a callable, dataset -> witness of a violation, or None
    describe : callable, dataset -> output of `marginaudit classify` without the assumptions
    in_words : callable, small dataset -> description in one line
    """

    name: str
    data: type[D]
    accepts: Callable[[Any], bool]
    from_document: Callable[[Any, str, str], D]
    to_document: Callable[[D], dict[str, Any]]
    tables: Mapping[tuple[str, ...], Callable[[Rows, str], dict[str, Any]]] = field(default_factory=dict)
    from_text: Callable[[str, str, str], D] | None = None
    from_csv: Callable[[str, str, str], D] | None = None
    cases: Mapping[str, Callable[[], D]]
    assumptions: Mapping[str, Callable[[D], Witness]]
    describe: Callable[[D], dict[str, Any]]
    in_words: Callable[[D], str]

    def check(self, dataset: D, name: str) -> Assumption:
        """Check an assumption, by name, on a dataset."""
        witness = self.assumptions[name](dataset)
        return Assumption(name=name, holds=witness is None, witness=witness)

    def check_all(self, dataset: D) -> dict[str, Assumption]:
        """Check every assumption on a dataset; results by name."""
        return {name: self.check(dataset, name) for name in self.assumptions}

    def classified(self, dataset: D) -> dict[str, Any]:
        """Output of `marginaudit classify`."""
        return {**self.describe(dataset), "assumptions": as_document(self.check_all(dataset))}

    def read(self, path: Path | str) -> D:
        """Read a dataset from a UTF-8 file, with or without a byte order mark; the ending determines the format.

        Raises
        ------
        InputError
            One line: the file, the place in it (JSON pointer or line), what was got, what is expected.
        """
        path = Path(path)
        dataset: D = read(content_of(path), path, [self])[1]
        return dataset


def content_of(path: Path) -> bytes:
    """Read the bytes of a dataset's file.

    Raises
    ------
    InputError
        The path has another ending, or the file cannot be read.
    """
    if path.suffix.lower() not in ENDINGS:
        got = f"the ending {shown(path.suffix)}"
        raise InputError(shown_path(path), got=got, expected=FORMS)
    return file_content(path, "a dataset file")


def read(
    content: bytes, path: Path, kinds: Sequence[Kind[Any]], others: Iterable[Kind[Any]] = ()
) -> tuple[Kind[Any], Any]:
    """Kind and dataset of a file's bytes; the path's ending determines the format.

    If no kind accepts the document, the error lists what each misses, or names one of the ``others``.

    Raises
    ------
    InputError
        One line: the file, the place in it (JSON pointer or line), what was got, what is expected.
    """
    where, name = shown_path(path), printable(path.stem)
    text = utf_8_text(content, where)
    if path.suffix.lower() == ".json":
        return from_document(parsed_json(text, where), where, name, kinds, others)
    table = path.suffix.lower() == ".csv"
    for kind in kinds:
        form = kind.from_csv if table else kind.from_text
        if form is not None:
            return kind, form(text, where, name)
    if owner := next((kind for kind in others if table and kind.from_csv is not None), None):
        raise _of_other_kind(where, owner, kinds)
    got, expected = ("the ending '.csv'", FORMS) if table else ("a text file", "a .json dataset")
    raise InputError(where, got=got, expected=expected)


def _of_other_kind(where: str, kind: Kind[Any], kinds: Sequence[Kind[Any]]) -> InputError:
    return InputError(where, got=kind.name, expected=f"a dataset of {' or '.join(one.name for one in kinds)}")


def from_document(
    document: Any, where: str, name: str, kinds: Sequence[Kind[Any]], others: Iterable[Kind[Any]] = ()
) -> tuple[Kind[Any], Any]:
    """Kind and dataset of a parsed JSON document, as in `read`; ``name`` is the default name.

    Raises
    ------
    InputError
        One line: ``where``, the JSON pointer, what was got, what is expected.
    """
    kind = next((kind for kind in chain(kinds, others) if kind.accepts(document)), None)
    if kind is None:
        raise _of_no_kind(document, where, kinds)
    if kind not in kinds:
        raise _of_other_kind(where, kind, kinds)
    return kind, kind.from_document(document, where, name)


def _of_no_kind(document: Any, where: str, kinds: Sequence[Kind[Any]]) -> InputError:
    """Error with the distinct reasons of the kinds for refusing the document."""
    reasons = {}
    for kind in kinds:
        try:
            kind.from_document(document, where, "dataset")
        except InputError as error:
            reasons[kind.name] = error
        except Exception as error:  # raised by the code of a kind
            reasons[kind.name] = InputError(where, got=type(error).__name__, expected="a document of its own")
    first, *others = map(str, reasons.values())
    if all(other == first for other in others):
        return reasons[kinds[0].name]
    expected = " or ".join(f"{name} ({str(why).removeprefix(f'{where}: ')})" for name, why in reasons.items())
    return InputError(where, got="a document of no kind", expected=expected)


def from_rows(columns: Collection[Any], rows: Rows, where: str, name: str, kinds: Sequence[Kind[Any]]) -> Any:
    """Dataset of a table; its columns, in any order, determine the kind.

    Raises
    ------
    InputError
        No kind has a table of these columns, or the rows are no dataset.
    """
    tables = [(known, kind, document_of) for kind in kinds for known, document_of in kind.tables.items()]
    for known, kind, document_of in tables:
        if sorted(known) == sorted(map(str, columns)):
            return kind.from_document(document_of(rows, where), where, name)
    got = ", ".join(printable(str(column)) for column in columns)
    expected = " or ".join(f"({', '.join(known)})" for known, _, _ in tables)
    raise InputError(f"{where}: columns", got=f"({got})", expected=expected)
