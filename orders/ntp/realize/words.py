"""A text as token numbers: sentences, and a vocabulary of the most frequent tokens."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.errors import InputError
from marginaudit.orders.reading import Token
from marginaudit.orders.running_text import OTHER
from marginaudit.orders.text import counted

Indices32 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Text:
    """Sentences of at least two tokens.

    Attributes
    ----------
    vocabulary : tuple of V tokens, in order of first use
    token : (positions,)
        Positions in the vocabulary, sentences one after the other.
    start : (sentences + 1,)
        Start of each sentence, and the end of the last.
    """

    name: str
    vocabulary: tuple[Token, ...]
    token: Indices32
    start: NDArray[np.int64]

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return len(self.start) - 1

    @property
    def longest(self) -> int:
        """Length of the longest sample, without the next token."""
        return int(np.diff(self.start).max()) - 1

    def of_sentences(self, first: int) -> "Text":
        """The first sentences alone."""
        start = self.start[: first + 1]
        return _in_use(replace(self, token=self.token[: start[-1]], start=start))

    def up_to_length(self, longest: int) -> "Text":
        """The text without samples of more tokens.

        >>> text = numbered("x", ["abcd", "ab"]).up_to_length(2)
        >>> text.token.tolist(), text.start.tolist()
        ([0, 1, 2, 0, 1], [0, 3, 5])
        """
        length = np.diff(self.start)
        kept = np.arange(len(self.token)) - np.repeat(self.start[:-1], length) <= longest
        start = np.concatenate(([0], np.cumsum(np.minimum(length, longest + 1))))
        return _in_use(replace(self, token=self.token[kept], start=start))

    def of_vocabulary(self, size: int) -> "Text":
        """Keep the most frequent ``size - 1`` tokens and replace the others by `OTHER`; unchanged if there are no more.

        >>> numbered("x", ["abac"]).of_vocabulary(2).vocabulary
        ('a', '<unk>')
        """
        if len(self.vocabulary) <= size:
            return self
        names = self.vocabulary
        frequency = np.bincount(self.token, minlength=len(names))
        if OTHER in names:
            frequency[names.index(OTHER)] = 0
        known = np.sort(np.argsort(-frequency, kind="stable")[: size - 1])
        number = np.full(len(names), size - 1, dtype=np.int32)
        number[known] = np.arange(size - 1)
        return replace(self, vocabulary=(*(names[i] for i in known), OTHER), token=number[self.token])


def numbered(
    name: str,
    sentences: Iterable[Sequence[Token]],
    longest: int | None = None,
    *,
    where: str | None = None,
    left_out: Counter[str] | None = None,
) -> Text:
    """Number the tokens of sentences, without samples longer than ``longest``.

    Sentences of fewer than two tokens have no sample. ``left_out`` counts them as ``"sentences"``, and longer
    ``"samples"``.

    Raises
    ------
    InputError
        No sentence is left; the message names ``where``, or the name.
    """
    left_out = Counter() if left_out is None else left_out
    numbers: dict[Token, int] = {}
    token, start = array("i"), array("q", [0])
    for sentence in sentences:
        words = sentence if longest is None else sentence[: longest + 1]
        left_out["sentences"] += len(words) < 2
        left_out["samples"] += len(sentence) - len(words)
        if len(words) > 1:
            token.extend([numbers.setdefault(word, len(numbers)) for word in words])
            start.append(len(token))
    if len(start) == 1:
        short = left_out["sentences"]
        got = f"{counted(short, 'sentence')} of fewer than 2 tokens" if short else "no sentence"
        comment = " (a line that starts with # is a comment)" if left_out["comments"] else ""
        expected = f"a sentence of at least 2 tokens{comment}"
        raise InputError(where or name, got=got, expected=expected)
    return Text(name, tuple(numbers), np.frombuffer(token, dtype=np.int32), np.frombuffer(start, dtype=np.int64))


def _in_use(text: Text) -> Text:
    """Restrict the vocabulary to the tokens that occur."""
    used = np.bincount(text.token, minlength=len(text.vocabulary)) > 0
    number = (np.cumsum(used) - 1).astype(np.int32)
    names = tuple(name for name, there in zip(text.vocabulary, used, strict=True) if there)
    return replace(text, vocabulary=names, token=number[text.token])
