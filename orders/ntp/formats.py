"""Datasets as documents: the JSON and the text form, read with errors that name the place, and written."""

from collections import Counter
from collections.abc import Iterable, Mapping
from io import StringIO
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.errors import InputError
from marginaudit.orders.ntp.dataset import Dataset, Sample, prefix_samples, require_countable
from marginaudit.orders.reading import Reader, Token, json_kind, pointer_part
from marginaudit.orders.text import counted, shown

KEYS = ("name", "vocabulary", "sentences", "samples", "next_token", "embedding")
SAMPLE_KEYS = ("tokens", "next", "count")

COMMENT = "#"
"""Starts a line of a text file that is none of its sentences."""

MOST_PREFIX_TOKENS = 50_000_000
"""Of the prefix samples of all different sentences; so many take 1.8 GB, 28 bytes each beside what is always there."""

LARGEST_ENTRY = 1e50
"""Of an embedding; float64 holds fourth powers of its entries and of their inverses, with room for sums and steps."""


def dataset_from_text(text: str, where: str = "dataset", name: str = "dataset") -> Dataset:
    r"""A dataset from its text form, a sentence a line; ``#`` starts a comment line.

    A line ends with LF, CR LF or CR; every other character that is white space to Unicode separates two tokens of it.

    >>> dataset_from_text("S V O\n# no more").N
    2

    Raises
    ------
    InputError
        Naming the line, what was got and what is expected.
    """
    sentences = []
    for number, line in enumerate(StringIO(text, newline=None), start=1):
        words = line.split()
        if not words or words[0].startswith(COMMENT):
            continue
        if len(words) < 2:
            raise InputError(f"{where}: line {number}", got="a sentence of 1 token", expected="at least 2")
        sentences.append(words)
    if not sentences:
        raise InputError(where, got="no sentence", expected="a sentence a line")
    _require_few_prefixes(map(tuple, sentences), where)
    return Dataset.from_sentences(name, sentences)


def dataset_from_document(document: Any, where: str = "dataset", default_name: str = "dataset") -> Dataset:
    """A dataset from the JSON form, already parsed.

    >>> data = dataset_from_document({"samples": [{"tokens": ["a", "q"], "next": "b"}]})
    >>> data.vocabulary, data.N, data.L_max
    (('a', 'q', 'b'), 1, 2)

    Raises
    ------
    InputError
        Naming the JSON pointer, what was got and what is expected.
    """
    return _Reader(where).dataset(document, default_name)


def dataset_to_document(dataset: Dataset) -> dict[str, Any]:
    """The JSON form of a dataset; reading it gives the same samples, n, vocabulary and embedding."""
    document: dict[str, Any] = {
        "name": dataset.name,
        "vocabulary": list(dataset.vocabulary),
        "samples": [
            {"tokens": list(sample.tokens), "next": sample.next} | ({"count": count} if count > 1 else {})
            for sample, count in zip(dataset.samples, dataset.counts, strict=True)
        ],
    }
    if dataset.next_token:
        document["next_token"] = dict(dataset.next_token)
    if dataset.embedding is not None:
        document["embedding"] = dataset.embedding.tolist()
    return document


class _Reader(Reader):
    """Validation of one document.

    ``known`` is the given vocabulary, if there is one; ``accepted`` holds the tokens met so far.
    """

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.known: frozenset[Token] | None = None
        self.accepted: set[Token] = set()

    def dataset(self, document: Any, default_name: str) -> Dataset:
        if not isinstance(document, dict):
            self.fail("", got=json_kind(document), expected="a JSON object")
        self.known_keys(document, "", KEYS)
        name = self.name(document, default_name)

        if "vocabulary" in document:
            self.known = frozenset(self.vocabulary(document["vocabulary"]))
        if "sentences" not in document and "samples" not in document:
            self.fail("", got="neither sentences nor samples", expected="at least one of them")
        sentences = self.sentences(document.get("sentences", []))
        samples = self.samples(document.get("samples", []))
        if not sentences and not samples:
            self.fail("", got="no sentence and no sample", expected="at least one")
        next_token = self.next_token(document.get("next_token", {}))

        used = chain(
            chain.from_iterable(sentences),
            chain.from_iterable((*sample.tokens, sample.next) for sample, _ in samples),
            chain.from_iterable(next_token.items()),
        )
        vocabulary = document.get("vocabulary") or dict.fromkeys(used)
        counts = _count(sentences, samples)
        require_countable(counts.values(), f"{self.where}: /samples")
        self.check_collocation(next_token, sentences, samples)
        return Dataset(
            name=name,
            vocabulary=tuple(vocabulary),
            samples=tuple(counts),
            counts=tuple(counts.values()),
            next_token=next_token,
            embedding=self.embedding(document["embedding"], len(vocabulary)) if "embedding" in document else None,
        )

    def token(self, value: Any, pointer: str) -> Token:
        if self.known is not None and isinstance(value, str) and value not in self.known:
            self.fail(pointer, got=shown(value), expected="a token of the vocabulary")
        token = super().token(value, pointer)
        self.accepted.add(token)
        return token

    def tokens(self, value: Any, pointer: str) -> tuple[Token, ...]:
        words = self.array(value, pointer, "tokens")
        if {str}.issuperset(map(type, words)) and self.accepted.issuperset(words):
            return tuple(words)
        return tuple(self.token(word, f"{pointer}/{i}") for i, word in enumerate(words))

    def vocabulary(self, value: Any) -> tuple[Token, ...]:
        words = self.tokens(value, "/vocabulary")
        if not words:
            self.fail("/vocabulary", got="an empty array", expected="at least one token")
        seen: dict[Token, int] = {}
        for i, word in enumerate(words):
            if word in seen:
                self.fail(
                    f"/vocabulary/{i}",
                    got=f"{shown(word)}, already at /vocabulary/{seen[word]}",
                    expected="each token once",
                )
            seen[word] = i
        return words

    def sentences(self, value: Any) -> list[tuple[Token, ...]]:
        read = []
        for i, sentence in enumerate(self.array(value, "/sentences", "sentences")):
            words = self.tokens(sentence, f"/sentences/{i}")
            if len(words) < 2:
                got = f"a sentence of {counted(len(words), 'token')}"
                self.fail(f"/sentences/{i}", got=got, expected="at least 2 tokens")
            read.append(words)
        _require_few_prefixes(read, f"{self.where}: /sentences")
        return read

    def samples(self, value: Any) -> list[tuple[Sample, int]]:
        return [
            self.sample(sample, f"/samples/{i}") for i, sample in enumerate(self.array(value, "/samples", "samples"))
        ]

    def sample(self, value: Any, pointer: str) -> tuple[Sample, int]:
        if not isinstance(value, dict):
            self.fail(pointer, got=json_kind(value), expected='an object {"tokens", "next", "count"}')
        self.known_keys(value, pointer, SAMPLE_KEYS)
        for key in ("tokens", "next"):
            if key not in value:
                self.fail(pointer, got=f"no key {key!r}", expected='an object with "tokens" and "next"')
        words = self.tokens(value["tokens"], f"{pointer}/tokens")
        if not words:
            self.fail(f"{pointer}/tokens", got="an empty array", expected="at least one token")
        following = self.token(value["next"], f"{pointer}/next")
        count = value.get("count", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            self.fail(f"{pointer}/count", got=shown(count), expected="a positive integer")
        return Sample(words, following), count

    def next_token(self, value: Any) -> dict[Token, Token]:
        if not isinstance(value, dict):
            self.fail("/next_token", got=json_kind(value), expected="an object from token to next token")
        for x, y in value.items():
            self.token(x, f"/next_token/{pointer_part(x)}")
            self.token(y, f"/next_token/{pointer_part(x)}")
        return dict(value)

    def check_collocation(
        self,
        next_token: Mapping[Token, Token],
        sentences: Iterable[tuple[Token, ...]],
        samples: Iterable[tuple[Sample, int]],
    ) -> None:
        pairs = [(f"/sentences/{i}", s[0], s[1]) for i, s in enumerate(sentences)]
        pairs += [(f"/samples/{i}", s.tokens[0], s.next) for i, (s, _) in enumerate(samples) if len(s.tokens) == 1]
        for pointer, x, y in pairs:
            if next_token.get(x, y) != y:
                self.fail(
                    pointer,
                    got=f"the sample [{shown(x)}] -> {shown(y)}",
                    expected=f"next token {shown(next_token[x])}, as next_token says",
                )

    def embedding(self, value: Any, vocabulary_size: int) -> NDArray[np.float64]:
        rows = self.array(value, "/embedding", "rows")
        if len(rows) != vocabulary_size:
            expected = f"{vocabulary_size} (a row for each token of the vocabulary)"
            self.fail("/embedding", got=f"an array of length {len(rows)}", expected=expected)
        for i, row in enumerate(rows):
            numbers = self.array(row, f"/embedding/{i}", "numbers")
            if not numbers:
                self.fail(f"/embedding/{i}", got="an empty array", expected="at least one number")
            if len(numbers) != len(rows[0]):
                got = f"a row of length {len(numbers)}"
                self.fail(f"/embedding/{i}", got=got, expected=f"length {len(rows[0])}, as row 0 has")
            for j, number in enumerate(numbers):
                if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST_ENTRY:
                    self.fail(f"/embedding/{i}/{j}", got=shown(number), expected="a finite number, at most 1e50")
            if 0 < max(map(abs, numbers)) < 1 / LARGEST_ENTRY:
                got = f"{shown(max(numbers, key=abs))} as the largest entry"
                self.fail(f"/embedding/{i}", got=got, expected="zeros, or an entry of at least 1e-50")
        return np.array(rows, dtype=np.float64)


def _require_few_prefixes(sentences: Iterable[tuple[Token, ...]], where: str) -> None:
    """Refuse sentences so long that their prefixes, each a sample, do not fit the memory."""
    lengths = [len(sentence) for sentence in set(sentences)]
    tokens = sum(length * (length - 1) // 2 for length in lengths)
    if tokens > MOST_PREFIX_TOKENS:
        got = f"sentences of up to {max(lengths)} tokens, whose prefix samples have {tokens} tokens in all"
        raise InputError(where, got=got, expected=f"at most {MOST_PREFIX_TOKENS}")


def _count(sentences: Iterable[tuple[Token, ...]], samples: Iterable[tuple[Sample, int]]) -> Counter[Sample]:
    counts: Counter[Sample] = Counter()
    for sentence in sentences:
        counts.update(prefix_samples(sentence))
    for sample, count in samples:
        counts[sample] += count
    return counts
