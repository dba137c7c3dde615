"""Running text as word numbers."""

from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

from marginaudit.orders.files import file_content
from marginaudit.orders.reading import utf_8_text
from marginaudit.orders.text import shown_path

WORD = regex.compile(
    r"[\p{Alphabetic}\p{N}--\p{M}].*?\b(?!(?<=\p{LB=SA})(?=\p{LB=SA}))", regex.DOTALL | regex.V1 | regex.WORD
)
"""A word between Unicode's word boundaries (UAX 29) that begins with a letter or digit.

Scripts without blanks that need a dictionary (Thai, Lao, Khmer, Burmese: line break class SA) are not split: UAX 29
would leave single letters.
"""

JOINS = regex.compile(r"\p{WB=ExtendNumLet}")
"""Joiners treated as separators, such as underscores around emphasised words and narrow blanks before French marks."""

MOST_WORDS = 300
"""Number of most frequent words kept; the others are one token, as in WikiText."""

OTHER = "<unk>"

ALICE = files("marginaudit.orders") / "texts" / "alice.txt"
"""File of the built-in text."""


@dataclass(frozen=True, eq=False)
class RunningText:
    """A text as word numbers.

    Attributes
    ----------
    vocabulary : tuple of str
        The most frequent word first; `OTHER` last, if needed.
    tokens : (words,) array
        Positions in the vocabulary.
    dropped : int
        Number of characters outside words, without white space.
    """

    name: str
    vocabulary: tuple[str, ...]
    tokens: NDArray[np.int64]
    dropped: int


def words_of(text: str) -> tuple[list[str], int]:
    """The words of a text in lower case and NFC, and the number of characters outside words, without white space.

    Unicode's joiners `JOINS` separate words here.

    >>> words_of("Row, cafe\u0301 _row_!")
    (['row', 'café', 'row'], 4)
    """
    text = normalize("NFC", text)
    words = WORD.findall(JOINS.sub(" ", text))
    dropped = sum(map(len, text.split())) - sum(map(len, words))
    return [normalize("NFC", word.lower()) for word in words], dropped


def running_text(name: str, text: str) -> RunningText:
    """Number the words of a text in lower case.

    >>> found = running_text("song", "Row, row, row your boat")
    >>> found.vocabulary, found.tokens.tolist(), found.dropped
    (('row', 'your', 'boat'), [0, 0, 0, 1, 2], 2)
    """
    words, dropped = words_of(text)
    known = [word for word, _ in Counter(words).most_common(MOST_WORDS)]
    number = {word: i for i, word in enumerate(known)}
    vocabulary = (*known, OTHER) if len(set(words)) > len(known) else tuple(known)
    tokens = np.array([number.get(word, len(known)) for word in words], dtype=np.int64)
    return RunningText(name, vocabulary, tokens, dropped)


def read_running_text(path: Path) -> RunningText:
    """Read a text file in UTF-8.

    Raises
    ------
    InputError
        The file cannot be read, or is not UTF-8.
    """
    return running_text(path.stem, utf_8_text(file_content(path, "a text file"), shown_path(path)))


def alice() -> RunningText:
    """The beginning of Lewis Carroll, Alice's Adventures in Wonderland (1865), chapter I: in the public domain."""
    return running_text("Alice in Wonderland, its beginning", ALICE.read_text(encoding="utf-8"))
