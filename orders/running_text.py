"""Running text as numbered words."""

import re
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.files import file_content
from marginaudit.orders.reading import utf_8_text
from marginaudit.orders.text import shown_path

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

MOST_WORDS = 300
"""Most distinct words kept, the most frequent; the others are one token, as in WikiText."""

OTHER = "<unk>"

ALICE = files("marginaudit.orders") / "texts" / "alice.txt"
"""The built-in text."""


@dataclass(frozen=True, eq=False)
class RunningText:
    """A text.

    Attributes
    ----------
    name : str
    vocabulary : tuple of str
        The most frequent word first; `OTHER` last, where there are others.
    tokens : (words,) array
        Positions in the vocabulary.
    """

    name: str
    vocabulary: tuple[str, ...]
    tokens: NDArray[np.int64]


def running_text(name: str, text: str) -> RunningText:
    """The words of a text in lower case.

    >>> found = running_text("song", "Row, row, row your boat")
    >>> found.vocabulary, found.tokens.tolist()
    (('row', 'your', 'boat'), [0, 0, 0, 1, 2])
    """
    words = [word.lower() for word in WORD.findall(text)]
    known = [word for word, _ in Counter(words).most_common(MOST_WORDS)]
    number = {word: i for i, word in enumerate(known)}
    vocabulary = (*known, OTHER) if len(set(words)) > len(known) else tuple(known)
    return RunningText(name, vocabulary, np.array([number.get(word, len(known)) for word in words], dtype=np.int64))


def read_running_text(path: Path) -> RunningText:
    """The text of a file in UTF-8.

    Raises
    ------
    InputError
        There is no such file, or it is not UTF-8.
    """
    return running_text(path.stem, utf_8_text(file_content(path, "a text file"), shown_path(path)))


def alice() -> RunningText:
    """The beginning of Lewis Carroll, Alice's Adventures in Wonderland (1865), chapter I: in the public domain."""
    return running_text("Alice in Wonderland, its beginning", ALICE.read_text(encoding="utf-8"))
