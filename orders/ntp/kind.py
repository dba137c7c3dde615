"""Sentences as a kind of dataset, and their output of `marginaudit classify`."""

from typing import Any

from marginaudit.orders.kind import Kind
from marginaudit.orders.ntp.assumptions import ASSUMPTIONS
from marginaudit.orders.ntp.cases import CASES
from marginaudit.orders.ntp.dataset import Dataset
from marginaudit.orders.ntp.formats import (
    dataset_from_document,
    dataset_from_text,
    dataset_to_document,
    samples_of_rows,
    sentences_of_rows,
)
from marginaudit.orders.text import counted, printable

MOST_NAMES = 10**7
"""Limit on tokens times queries for listing the tokens without a relation."""


def describe(dataset: Dataset) -> dict[str, Any]:
    """Collocation, and classes and relations per query.

    Non-comparable tokens, nearly all in large data, are None beyond `MOST_NAMES`.
    """
    listed = dataset.V * len(dataset.orders) <= MOST_NAMES
    return {
        "next_token": dataset.collocation.function,
        "queries": {
            query: {
                "optimal": list(order.optimal),
                "non_optimal": list(order.non_optimal),
                "confused": list(order.confused),
                "non_comparable": list(order.non_comparable) if listed else None,
                "relations": [list(pair) for pair in order.relations],
            }
            for query, order in dataset.orders.items()
        },
    }


def in_words(dataset: Dataset) -> str:
    """Size, samples and n of a dataset in one line.

    >>> in_words(Dataset.from_sentences("cycle", ["SV", "VO", "OS"]))
    '3 tokens, 3 samples (S -> V; V -> O; O -> S; n(S) = V, n(V) = O, n(O) = S)'
    """
    samples = "; ".join(f"{' '.join(sample.tokens)} -> {sample.next}" for sample in dataset.samples)
    n = dataset.collocation.require_function()
    moved = [f"n({x}) = {y}" for x, y in n.items() if x != y]
    kept = "n(x) = x" if not moved else "else n(x) = x" if len(moved) < dataset.V else ""
    size = f"{counted(dataset.V, 'token')}, {counted(dataset.N, 'sample')}"
    return f"{size} ({printable('; '.join([samples, ', '.join([*moved, *filter(None, [kept])])]))})"


def accepts(document: Any) -> bool:
    """Whether a document is one of sentences or samples, valid or not.

    >>> accepts({"samples": []}), accepts({"classes": []})
    (True, False)
    """
    return isinstance(document, dict) and ("sentences" in document or "samples" in document)


SENTENCES = Kind(
    name="sentences",
    data=Dataset,
    accepts=accepts,
    from_document=dataset_from_document,
    to_document=dataset_to_document,
    tables={
        ("sentence",): sentences_of_rows,
        ("tokens", "next"): samples_of_rows,
        ("tokens", "next", "count"): samples_of_rows,
    },
    from_text=dataset_from_text,
    cases=CASES,
    assumptions=ASSUMPTIONS,
    describe=describe,
    in_words=in_words,
)
"""The datasets of arXiv 2409.17335."""

check_assumption, check_assumptions, read_dataset = SENTENCES.check, SENTENCES.check_all, SENTENCES.read
