"""A kind of dataset: how its documents are recognised, read and written, and its assumptions."""

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
"""Accepted file formats, as error messages list them; a table in .csv is only of installed papers."""


class Data(Protocol):
    """The interface of every dataset."""

    @property
    def name(self) -> str:
        """Its name in reports."""


D = TypeVar("D", bound=Data)

Rows: TypeAlias = Sequence[Mapping[Any, Any]]
"""Rows of a table, by column."""


@dataclass(frozen=True, kw_only=True)
class Kind(Generic[D]):
    """A kind of dataset.

    Attributes
    ----------
    name : str
        What such a dataset is called, in the plural.
    data : type
    accepts : from a parsed JSON document to whether it is one of this kind, good or bad
    from_document : from the document, ``where`` and ``default_name`` to the dataset; raises `InputError`
    to_document : from a dataset to the document that gives it
    tables : by the columns of a table in Python, from its rows and where it is to the document that they give
    from_text, from_csv : from the text of a ``.txt`` or ``.csv`` file, where it is and its name to the dataset; None
        without such a form
    cases : built-in datasets, by name
    assumptions : predicates, by name, each from a dataset to the witness that breaks it, or None
    describe : from a dataset to what `marginaudit classify` answers beside its assumptions
    in_words : from a small dataset to one line that says what it is
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
        """The assumption of that name, judged on a dataset."""
        witness = self.assumptions[name](dataset)
        return Assumption(name=name, holds=witness is None, witness=witness)

    def check_all(self, dataset: D) -> dict[str, Assumption]:
        """Every assumption, judged on a dataset, by name."""
        return {name: self.check(dataset, name) for name in self.assumptions}

    def classified(self, dataset: D) -> dict[str, Any]:
        """Answer `marginaudit classify`."""
        return {**self.describe(dataset), "assumptions": as_document(self.check_all(dataset))}

    def read(self, path: Path | str) -> D:
        """Read a dataset from a file, in UTF-8, after a byte order mark or none; the ending tells the format.

        Raises
        ------
        InputError
            One line: the file, the place in it (JSON pointer or line), what was got, what is expected.
        """
        path = Path(path)
        dataset: D = read(content_of(path), path, [self])[1]
        return dataset


def content_of(path: Path) -> bytes:
    """The bytes of a dataset's file.

    Raises
    ------
    InputError
        The path ends otherwise than a dataset's does, or is that of no file that can be read.
    """
    if path.suffix.lower() not in ENDINGS:
        got = f"the ending {shown(path.suffix)}"
        raise InputError(shown_path(path), got=got, expected=FORMS)
    return file_content(path, "a dataset file")


def read(
    content: bytes, path: Path, kinds: Sequence[Kind[Any]], others: Iterable[Kind[Any]] = ()
) -> tuple[Kind[Any], Any]:
    """The kind and the dataset that the bytes of a file hold; the path's ending tells the format.

    What no kind accepts is refused with what each misses in it, or as one of the ``others``.

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
    """The kind and the dataset of a parsed JSON document, as `read` finds them; ``name`` is for one without.

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
    """Why each kind refuses it, once where that is the same."""
    reasons = {}
    for kind in kinds:
        try:
            kind.from_document(document, where, "dataset")
        except InputError as error:
            reasons[kind.name] = error
        except Exception as error:  # of code that is asked about its own kind alone
            reasons[kind.name] = InputError(where, got=type(error).__name__, expected="a document of its own")
    first, *others = map(str, reasons.values())
    if all(other == first for other in others):
        return reasons[kinds[0].name]
    expected = " or ".join(f"{name} ({str(why).removeprefix(f'{where}: ')})" for name, why in reasons.items())
    return InputError(where, got="a document of no kind", expected=expected)


def from_rows(columns: Collection[Any], rows: Rows, where: str, name: str, kinds: Sequence[Kind[Any]]) -> Any:
    """The dataset that a table gives; its columns tell the kind, in any order.

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
