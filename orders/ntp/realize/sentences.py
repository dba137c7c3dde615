"""Read sentences of a text file, a column of a CSV file, or a field of JSON lines."""

from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias
from unicodedata import normalize

import regex

from marginaudit.orders.errors import InputError
from marginaudit.orders.files import Reach, lines, no_progress
from marginaudit.orders.ntp.formats import COMMENT
from marginaudit.orders.reading import Text, Token, csv_rows, parsed_json, validated
from marginaudit.orders.running_text import words_of
from marginaudit.orders.text import counted, shown, shown_path

UNITS = ("word", "char", "id")
"""Units of tokenisation: words between white space, characters, or whole numbers."""

ENDINGS = (".txt", ".csv", ".jsonl", ".ndjson")

COLUMN = "text"
"""Default column or field."""

SENTENCE_END = regex.compile(
    r"(?V1)(?<=[.!?])(?=[\"'\p{Pe}\p{Pf}]*(?:\s|$))|(?<=[\p{Sentence_Terminal}--[.!?]])(?!\p{Sentence_Terminal})"
)
"""End of a sentence in running text: after . ! or ? before white space, and after the marks of other scripts, such as
। ؟ and 。; also after the full stop of an abbreviation."""

CHARACTER = regex.compile(r"\X")
"""Grapheme cluster (UAX 29): a letter with its marks."""

Line: TypeAlias = tuple[str, str | list[Token]]
"""Place, and text or a list of tokens."""


def read_sentences(
    path: Path,
    left_out: Counter[str],
    *,
    unit: str = "word",
    column: str | None = None,
    prose: bool = False,
    reach: Reach = no_progress,
) -> Iterator[list[Token]]:
    """The sentences of a file, one at a time.

    Each line of a ``.txt`` file, of a cell of a ``.csv`` file or of a string of a ``.jsonl`` file is a sentence, and so
    is an array of a ``.jsonl`` file. Tokens are unchanged; characters are in NFC, without white space at the ends of a
    line. In ``prose`` sentences end with . ! ?, another script's mark or an empty line, and consist of words in lower
    case.

    ``left_out`` counts what is dropped: ``"characters"`` outside the words of prose, and ``"comments"``, lines of a
    ``.txt`` file of words or ids that start with ``#``, as in `dataset_from_text`.

    Raises
    ------
    InputError
        Naming the line, what was got and what is expected.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        got = f"the ending {shown(path.suffix)}"
        raise InputError(shown_path(path), got=got, expected=f"one of {', '.join(ENDINGS)}")
    if ending == ".txt":
        if column is not None:
            got = f"the column {shown(column)}"
            raise InputError(shown_path(path), got=got, expected="none, for a .txt file")
        found = _of_text(path, reach)
    else:
        found = (_of_table if ending == ".csv" else _of_json_lines)(path, column or COLUMN, reach)
    as_dataset = ending == ".txt" and unit != "char" and not prose
    for place, line in _in_prose(found, left_out) if prose else found:
        if isinstance(line, list):
            yield _ids(line, place) if unit == "id" else line
        elif as_dataset and line.lstrip().startswith(COMMENT):
            left_out["comments"] += 1
        elif line.strip():
            yield _tokens(line.strip(), unit, place)


def _tokens(line: str, unit: str, place: str) -> list[Token]:
    if unit == "char":
        return CHARACTER.findall(normalize("NFC", line))
    words = line.split()
    return _ids(words, place) if unit == "id" else words


def _ids(words: list[Token], place: str) -> list[Token]:
    for word in words:
        if not word.isdecimal():
            raise InputError(place, got=shown(word), expected="ids: whole numbers from 0 on, between white space")
    return words


def _of_text(path: Path, reach: Reach) -> Iterator[Line]:
    for number, line in lines(path, "a text file", reach):
        yield f"{shown_path(path)}: line {number}", line


def _of_table(path: Path, column: str, reach: Reach) -> Iterator[Line]:
    where = shown_path(path)
    rows = csv_rows((f"{line}\n" for _, line in lines(path, "a CSV file", reach)), where)
    _, header = next(rows, (1, []))
    if column not in header:
        got, expected = f"the columns {shown(header)}", f"one named {shown(column)}"
        raise InputError(f"{where}: line 1", got=got, expected=expected)
    if header.count(column) > 1:
        got, expected = f"{counted(header.count(column), 'column')} named {shown(column)}", "one"
        raise InputError(f"{where}: line 1", got=got, expected=expected)
    at = header.index(column)
    for number, row in rows:
        place = f"{where}: line {number}"
        if len(row) <= at:
            expected = f"at least {at + 1}, up to column {shown(column)}"
            raise InputError(place, got=f"a row of {counted(len(row), 'cell')}", expected=expected)
        yield from _lines_of(place, row[at])


def _of_json_lines(path: Path, field: str, reach: Reach) -> Iterator[Line]:
    for number, line in lines(path, "a file of JSON lines", reach):
        if line.strip():
            place = f"{shown_path(path)}: line {number}"
            value = _field(parsed_json(line, place), field, place)
            if isinstance(value, list):
                yield place, value
            else:
                yield from _lines_of(place, value)


def _field(document: Any, field: str, place: str) -> str | list[Token]:
    if not isinstance(document, dict) or field not in document:
        got = f"an object without the key {shown(field)}" if isinstance(document, dict) else shown(document)
        raise InputError(place, got=got, expected=f"an object with the key {shown(field)}")
    value = document[field]
    if isinstance(value, list):
        value = [str(x) if type(x) is int else x for x in value]
        return validated(dict[str, list[Text]], {field: value}, place)[field]
    return validated(dict[str, Text], {field: value}, place)[field]


def _lines_of(place: str, text: str) -> Iterator[Line]:
    """The lines of a text, followed by an empty one."""
    for line in StringIO(text, newline=None):
        yield place, line.removesuffix("\n")
    yield place, ""


def _in_prose(found: Iterator[Line], left_out: Counter[str]) -> Iterator[Line]:
    """One sentence per line, in lower case, with words separated by blanks."""

    def words(text: str) -> str:
        inside, dropped = words_of(text)
        left_out["characters"] += dropped
        return " ".join(inside)

    parts: list[str] = []
    place = ""
    for place, line in found:
        if isinstance(line, list):
            yield place, line
            continue
        *ends, rest = SENTENCE_END.split(line)
        for end in ends if line.strip() else [""]:
            yield place, words(" ".join([*parts, end]))
            parts = []
        parts.append(rest)
    yield place, words(" ".join(parts))
