"""Hypothesis strategies shared by all tests: dataset documents, datasets, JSON values."""

from typing import Any, TypeAlias

from hypothesis import strategies as st

from marginaudit.orders.ntp import Dataset, dataset_from_document, free_dataset, prefix_closed_dataset

Document: TypeAlias = dict[str, Any]

PLAIN = ("S", "V", "O", "P", "q")
HOSTILE = (
    "",
    " ",
    "a b",
    "\n",
    "\r\n",
    "\x1b[31m",
    "#",
    "~",
    "/",
    "\\n",
    "é",
    "\u2028",
    "\ufeff",
    "\x00",
    "\U0001f600",
)


VOCABULARIES = [list(words[:size]) for words in (PLAIN, PLAIN[::-1]) for size in (5, 4, 3, 2, 1)]
VOCABULARIES += [list(HOSTILE[start : start + size]) for size in (5, 3) for start in range(0, len(HOSTILE), size)]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any valid document over few tokens: n may be missing, disagree with itself, or not be injective."""
    words = draw(st.sampled_from(VOCABULARIES))
    letters = dict(zip("abcde", words, strict=False))
    document: Document = {}

    def tokens(least: int, most: int) -> st.SearchStrategy[list[str]]:
        return st.text("".join(letters), min_size=least, max_size=most).map(lambda text: [letters[c] for c in text])

    if draw(st.booleans()):
        document["name"] = draw(st.sampled_from(["a", "b c", "\x1b"]))
    kinds = draw(st.sampled_from([("samples",), ("sentences",), ("samples", "sentences")]))
    if "sentences" in kinds:
        document["sentences"] = draw(st.lists(tokens(2, 5), min_size=1, max_size=5))
    if "samples" in kinds:
        pairs = draw(st.lists(st.tuples(tokens(2, 6), st.integers(0, 3)), min_size=1, max_size=8))
        document["samples"] = [
            {"tokens": sentence[:-1], "next": sentence[-1]} | ({"count": count} if count else {})
            for sentence, count in pairs
        ]
    if draw(st.booleans()):
        read = _read(document)
        pairs_of_n = zip(words, draw(tokens(0, len(words))), strict=False)
        document["next_token"] = {x: y for x, y in pairs_of_n if read.get(x, {y}) == {y}}
    if draw(st.booleans()):
        document["vocabulary"] = sorted(words)
        if draw(st.booleans()):
            document["embedding"] = draw(_embeddings(len(words)))
    return document


def _embeddings(rows: int) -> st.SearchStrategy[list[list[float]]]:
    number = st.sampled_from([0, 0.0, 1, 1.0, -1.0, 0.6, 0.8, 1 + 1e-13, 1e-13, 1e-11, 1e50, -1e50, 1e-50, 1 / 3])
    one_hot = [[float(i == j) for j in range(rows)] for i in range(rows)]
    any_rows = st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(number, min_size=d, max_size=d), min_size=rows, max_size=rows)
    )
    return st.one_of(st.just(one_hot), any_rows)


def _read(document: Document) -> dict[str, set[str]]:
    read: dict[str, set[str]] = {}
    for sentence in document.get("sentences", []):
        read.setdefault(sentence[0], set()).add(sentence[1])
    for sample in document.get("samples", []):
        if len(sample["tokens"]) == 1:
            read.setdefault(sample["tokens"][0], set()).add(sample["next"])
    return read


def datasets() -> st.SearchStrategy[Dataset]:
    """Any valid dataset over few tokens."""
    return documents().map(dataset_from_document)


def prefix_closed_datasets() -> st.SearchStrategy[Dataset]:
    """Realizable, prefix-closed datasets; those sizes that 40 seeds have been seen to reach."""
    sizes = st.sampled_from([(1, 3, 3), (2, 4, 3), (4, 8, 4), (5, 12, 5), (8, 24, 6), (20, 70, 8)])
    return st.builds(
        lambda size, seed, most: prefix_closed_dataset(V=size[0], N=size[1], L=size[2], seed=seed, max_count=most),
        sizes,
        st.integers(0, 40),
        st.integers(1, 3),
    )


def free_datasets() -> st.SearchStrategy[Dataset]:
    """Realizable datasets of free samples."""
    sizes = st.sampled_from([(2, 2, 3), (3, 6, 4), (5, 12, 5), (8, 30, 6), (20, 100, 8)])
    return st.builds(
        lambda size, seed, most: free_dataset(V=size[0], N=size[1], L=size[2], seed=seed, max_count=most),
        sizes,
        st.integers(0, 10**6),
        st.integers(1, 3),
    )


def realizable_datasets() -> st.SearchStrategy[Dataset]:
    """Datasets of both generators; Assumptions 1-3 hold."""
    return st.one_of(prefix_closed_datasets(), free_datasets())


def json_values() -> st.SearchStrategy[Any]:
    """Any value that ``json.loads`` can return, the non-finite numbers and lone surrogates included."""
    text = st.one_of(
        st.sampled_from([*PLAIN, *HOSTILE, "tokens", "next", "count", "\ud800"]),
        st.text(st.characters(codec=None), max_size=4),
    )
    number = st.one_of(
        st.integers(-3, 3), st.sampled_from([2**63, 10**400, -(10**400), 0.5, 1e308, float("inf"), float("nan")])
    )
    return st.recursive(
        st.one_of(st.none(), st.booleans(), number, text),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)),
        max_leaves=12,
    )


@st.composite
def damaged_documents(draw: st.DrawFn) -> Any:
    """A valid document in which one to three places hold something else, or nothing."""
    document: Any = draw(documents())
    for _ in range(draw(st.integers(1, 3))):
        document = damaged(draw, document)
    return document


def damaged(draw: st.DrawFn, value: Any) -> Any:
    """The value with one place that holds something else, or nothing."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 7)):
        copy: Any = value.copy()
        key = draw(st.sampled_from(sorted(copy) if isinstance(copy, dict) else range(len(copy))))
        if draw(st.integers(0, 5)):
            copy[key] = damaged(draw, copy[key])
        else:
            del copy[key]
        return copy
    return draw(json_values())
