"""Read and write datasets in their JSON and text forms; errors name the place."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from io import StringIO
from itertools import chain
from typing import Annotated, Any, NotRequired, TypeAlias

import numpy as np
from annotated_types import Ge, Interval, Len
from numpy.typing import NDArray
from typing_extensions import TypedDict

from marginaudit.orders.errors import InputError
from marginaudit.orders.ntp.dataset import Dataset, Sample, prefix_samples, require_countable
from marginaudit.orders.reading import FirstError, Name, Text, Token, pointer_part, text_of, validated
from marginaudit.orders.text import counted, shown

COMMENT = "#"
"""Start of a comment line in a text file."""

MOST_PREFIX_TOKENS = 50_000_000
"""Limit on the tokens of the prefix samples of all distinct sentences: 1.8 GB, 28 bytes each."""

LARGEST_ENTRY = 1e50
"""Largest entry of an embedding, so that fourth powers of it and its inverse, sums and steps stay within float64."""

_Entry: TypeAlias = Annotated[float, Interval(ge=-LARGEST_ENTRY, le=LARGEST_ENTRY)]


class _Sample(TypedDict, closed=True):
    tokens: Annotated[list[Text], Len(1)]
    next: Text
    count: NotRequired[Annotated[int, Ge(1)]]


class _SentencesDocument(TypedDict, total=False, closed=True):
    name: Name
    vocabulary: Annotated[list[Text], Len(1), FirstError()]
    sentences: Annotated[list[Annotated[list[Text], Len(2)]], FirstError()]
    samples: Annotated[list[_Sample], FirstError()]
    next_token: dict[Text, Text]
    embedding: Annotated[list[Annotated[list[_Entry], Len(1)]], FirstError()]


def dataset_from_text(text: str, where: str = "dataset", name: str = "dataset") -> Dataset:
    r"""A dataset from its text form, one sentence per line; ``#`` starts a comment line.

    Lines end with LF, CR LF or CR; any other Unicode white space separates tokens.

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
        raise InputError(where, got="no sentence", expected="one sentence per line")
    _require_few_prefixes(map(tuple, sentences), where)
    return Dataset.from_sentences(name, sentences)


def dataset_from_document(document: Any, where: str = "dataset", default_name: str = "dataset") -> Dataset:
    """A dataset from the parsed JSON form.

    >>> data = dataset_from_document({"samples": [{"tokens": ["a", "q"], "next": "b"}]})
    >>> data.vocabulary, data.N, data.L_max
    (('a', 'q', 'b'), 1, 2)

    Raises
    ------
    InputError
        Naming the JSON pointer, what was got and what is expected.
    """
    found = validated(_SentencesDocument, document, where)
    sentences = list(map(tuple, found.get("sentences", [])))
    samples = found.get("samples", [])
    if not sentences and not samples:
        raise InputError(where, got="no sentences and no samples", expected="at least one")
    _require_few_prefixes(sentences, f"{where}: /sentences")
    counts: Counter[Sample] = Counter()
    for sentence in sentences:
        counts.update(prefix_samples(sentence))
    for one in samples:
        sample = Sample(tuple(one["tokens"]), one["next"])
        counts[sample] = counts.get(sample, 0) + one.get("count", 1)
    next_token = found.get("next_token", {})
    of_samples = ((*one["tokens"], one["next"]) for one in samples)
    tokens = dict.fromkeys(chain.from_iterable(chain(sentences, of_samples, next_token.items())))
    vocabulary = found.get("vocabulary", list(tokens))
    _require_vocabulary(vocabulary, tokens.keys(), found, where)
    require_countable(counts.values(), f"{where}: /samples")
    _require_collocation(next_token, sentences, samples, where)
    return Dataset(
        name=found.get("name", default_name),
        vocabulary=tuple(vocabulary),
        samples=tuple(counts),
        counts=tuple(counts.values()),
        next_token=next_token,
        embedding=_embedding(found["embedding"], len(vocabulary), where) if "embedding" in found else None,
    )


def dataset_to_document(dataset: Dataset) -> dict[str, Any]:
    """The JSON form of a dataset, with the same samples, n, vocabulary and embedding when read."""
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


def sentences_of_rows(rows: Sequence[Mapping[str, Any]], where: str) -> dict[str, Any]:
    """The document of a table with the column ``sentence``.

    >>> sentences_of_rows([{"sentence": "S V O"}, {"sentence": ["V", "O"]}], "here")
    {'sentences': [['S', 'V', 'O'], ['V', 'O']]}
    """
    return {"sentences": [_words(row, i, "sentence", where) for i, row in enumerate(rows)]}


def samples_of_rows(rows: Sequence[Mapping[str, Any]], where: str) -> dict[str, Any]:
    """The document of a table with the columns ``tokens``, ``next`` and, optionally, ``count``.

    >>> samples_of_rows([{"tokens": "a q", "next": "b", "count": 2.0}], "here")
    {'samples': [{'tokens': ['a', 'q'], 'next': 'b', 'count': 2}]}
    """
    return {
        "samples": [
            {"tokens": _words(row, i, "tokens", where), "next": text_of(row, i, "next", where), **_count(row)}
            for i, row in enumerate(rows)
        ]
    }


def _count(row: Mapping[str, Any]) -> dict[str, Any]:
    """The count, {} for a gap; also from floats, which pandas reads from a column with gaps."""
    count = row.get("count")
    if count is None or count != count:
        return {}
    return {"count": int(count) if isinstance(count, float) and count.is_integer() else count}


def _words(row: Mapping[str, Any], number: int, column: str, where: str) -> list[Any]:
    """The tokens of a cell, a text or a list."""
    value = row[column]
    return value if isinstance(value, list) else text_of(row, number, column, where).split()


def _require_vocabulary(
    vocabulary: Sequence[Token], used: Set[Token], document: _SentencesDocument, where: str
) -> None:
    """Raise if a token is twice in the vocabulary, or used without being in it."""
    first = {token: i for i, token in reversed(list(enumerate(vocabulary)))}
    for i, token in enumerate(vocabulary):
        if first[token] != i:
            got = f"{shown(token)}, already at /vocabulary/{first[token]}"
            raise InputError(f"{where}: /vocabulary/{i}", got=got, expected="each token once")
    if unknown := used - first.keys():
        place, token = next((place, token) for place, token in _places(document) if token in unknown)
        raise InputError(f"{where}: {place}", got=shown(token), expected="a token of the vocabulary")


def _places(document: _SentencesDocument) -> Iterator[tuple[str, Token]]:
    """Each token of the sentences, samples and next tokens, with its JSON pointer."""
    for i, sentence in enumerate(document.get("sentences", [])):
        yield from ((f"/sentences/{i}/{j}", token) for j, token in enumerate(sentence))
    for i, sample in enumerate(document.get("samples", [])):
        yield from ((f"/samples/{i}/tokens/{j}", token) for j, token in enumerate(sample["tokens"]))
        yield f"/samples/{i}/next", sample["next"]
    for x, y in document.get("next_token", {}).items():
        yield from ((f"/next_token/{pointer_part(x)}", token) for token in (x, y))


def _require_collocation(
    next_token: Mapping[Token, Token],
    sentences: Iterable[tuple[Token, ...]],
    samples: Iterable[_Sample],
    where: str,
) -> None:
    """Raise if a sample of length 1 contradicts ``next_token``."""
    pairs = [(f"/sentences/{i}", s[0], s[1]) for i, s in enumerate(sentences)]
    alone = ((i, one) for i, one in enumerate(samples) if len(one["tokens"]) == 1)
    pairs += [(f"/samples/{i}", one["tokens"][0], one["next"]) for i, one in alone]
    for pointer, x, y in pairs:
        if next_token.get(x, y) != y:
            got, expected = f"the sample [{shown(x)}] -> {shown(y)}", f"next token {shown(next_token[x])}"
            raise InputError(f"{where}: {pointer}", got=got, expected=f"{expected}, as in next_token")


def _embedding(rows: list[list[float]], vocabulary_size: int, where: str) -> NDArray[np.float64]:
    where = f"{where}: /embedding"
    if len(rows) != vocabulary_size:
        expected = f"{vocabulary_size} (a row for each token of the vocabulary)"
        raise InputError(where, got=counted(len(rows), "row"), expected=expected)
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            expected = f"length {len(rows[0])}, as in row 0"
            raise InputError(f"{where}/{i}", got=f"a row of length {len(row)}", expected=expected)
        if 0 < max(map(abs, row)) < 1 / LARGEST_ENTRY:
            got = f"{shown(max(row, key=abs))} as the largest entry"
            raise InputError(f"{where}/{i}", got=got, expected="zeros, or an entry of at least 1e-50")
    return np.array(rows, dtype=np.float64)


def _require_few_prefixes(sentences: Iterable[tuple[Token, ...]], where: str) -> None:
    """Raise if the prefix samples of long sentences do not fit in memory."""
    lengths = [len(sentence) for sentence in set(sentences)]
    tokens = sum(length * (length - 1) // 2 for length in lengths)
    if tokens > MOST_PREFIX_TOKENS:
        got = f"sentences of up to {max(lengths)} tokens, whose prefix samples have {tokens} tokens in all"
        raise InputError(where, got=got, expected=f"at most {MOST_PREFIX_TOKENS}")
