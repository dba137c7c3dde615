"""The definitions of the ledger once more: plain loops over the document, nothing of the package."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from tests.strategies import Document

OPTIMAL, NON_OPTIMAL, CONFUSED, NON_COMPARABLE = "optimal", "non_optimal", "confused", "non_comparable"


class Example(NamedTuple):
    """A sample of the document: its sentence and its next token."""

    tokens: tuple[str, ...]
    next: str


def weighted_examples(document: Document) -> dict[Example, int]:
    counts: dict[Example, int] = {}
    for sentence in document.get("sentences", []):
        for i in range(1, len(sentence)):
            example = Example(tuple(sentence[:i]), sentence[i])
            counts[example] = counts.get(example, 0) + 1
    for sample in document.get("samples", []):
        example = Example(tuple(sample["tokens"]), sample["next"])
        counts[example] = counts.get(example, 0) + sample.get("count", 1)
    return counts


def vocabulary(document: Document) -> list[str]:
    if "vocabulary" in document:
        return list(document["vocabulary"])
    used: list[str] = []
    for sentence in document.get("sentences", []):
        used += sentence
    for sample in document.get("samples", []):
        used += [*sample["tokens"], sample["next"]]
    for x, y in document.get("next_token", {}).items():
        used += [x, y]
    return [x for i, x in enumerate(used) if x not in used[:i]]


def next_tokens(document: Document) -> dict[str, set[str]]:
    """Every value that the data give for n(x)."""
    read: dict[str, set[str]] = {x: set() for x in vocabulary(document)}
    for x, y in document.get("next_token", {}).items():
        read[x].add(y)
    for example in weighted_examples(document):
        if len(example.tokens) == 1:
            read[example.tokens[0]].add(example.next)
    return read


def makes(example: Example, n: Mapping[str, set[str]], query: str, winner: str, loser: str) -> bool:
    """Definition 1 of one sample: it ends in the query, holds both, n(winner) = y and n(loser) is not y."""
    return (
        example.tokens[-1] == query
        and winner in example.tokens
        and loser in example.tokens
        and example.next in n[winner]
        and example.next not in n[loser]
    )


def relations(document: Document) -> dict[tuple[str, str, str], int]:
    """(query, winner, loser) -> the first sample that makes the relation."""
    n = next_tokens(document)
    found: dict[tuple[str, str, str], int] = {}
    for i, example in enumerate(weighted_examples(document)):
        for winner in example.tokens:
            for loser in example.tokens:
                if makes(example, n, example.tokens[-1], winner, loser):
                    found.setdefault((example.tokens[-1], winner, loser), i)
    return found


def classes(document: Document) -> dict[str, dict[str, list[str]]]:
    """Per query with a relation, the four classes in vocabulary order."""
    words, related = vocabulary(document), relations(document)
    table: dict[str, dict[str, list[str]]] = {}
    for query in [q for q in words if any(q == head for head, _, _ in related)]:
        table[query] = {OPTIMAL: [], NON_OPTIMAL: [], CONFUSED: [], NON_COMPARABLE: []}
        for x in words:
            beats = any((query, x, other) in related for other in words)
            beaten = any((query, other, x) in related for other in words)
            names = {(1, 0): OPTIMAL, (0, 1): NON_OPTIMAL, (1, 1): CONFUSED, (0, 0): NON_COMPARABLE}
            table[query][names[beats, beaten]].append(x)
    return table


def holds(document: Document) -> dict[str, bool]:
    """Every assumption, by name."""
    words, n, examples = vocabulary(document), next_tokens(document), weighted_examples(document)
    return {
        "collocation": all(len(n[x]) == 1 for x in words),
        "injective": not any(n[x] & n[y] for x in words for y in words if x != y),
        "next_from_sentence": all(any(e.next in n[x] for x in e.tokens) for e in examples),
        "well_defined_orders": not any(x == y for _, x, y in _closure(relations(document))),
        "no_confused_tokens": not any(found[CONFUSED] for found in classes(document).values()),
        "orthonormal": _orthonormal(document.get("embedding")),
        "optimal_majority": all(
            optimal_positions(e, n) >= e.tokens.count(x) for e in examples for x in e.tokens if e.next not in n[x]
        ),
        "prefix_closed": all(
            Example(e.tokens[:i], e.tokens[i]) in examples for e in examples for i in range(1, len(e.tokens))
        ),
    }


def optimal_positions(example: Example, n: Mapping[str, set[str]]) -> int:
    return sum(example.next in n[x] for x in example.tokens)


def frequencies(document: Document) -> list[Fraction]:
    counts = weighted_examples(document).values()
    return [Fraction(count, sum(counts)) for count in counts]


def bag(tokens: tuple[str, ...]) -> dict[str, int]:
    return {x: tokens.count(x) for x in tokens}


def _closure(related: Mapping[tuple[str, str, str], int]) -> set[tuple[str, str, str]]:
    closed = set(related)
    while True:
        joined = {(q, x, z) for q, x, y in closed for p, w, z in closed if p == q and w == y}
        if joined <= closed:
            return closed
        closed |= joined


def inner_product(x: list[float], y: list[float]) -> Fraction:
    """Exact, of the floats as they are."""
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)), Fraction(0))


def _orthonormal(embedding: list[list[float]] | None) -> bool:
    return embedding is None or all(
        abs(inner_product(x, y) - (i == j)) <= Fraction(1, 10**12)
        for i, x in enumerate(embedding)
        for j, y in enumerate(embedding)
    )


def witnesses(document: Document, name: str, witness: Mapping[str, Any]) -> bool:
    """Whether the witness shows that the assumption fails."""
    n, examples = next_tokens(document), weighted_examples(document)

    def read(sample: Mapping[str, Any]) -> Example:
        return Example(tuple(sample["tokens"]), sample["next"])

    match name:
        case "collocation":
            got = witness["next_tokens"]
            return len(got) != 1 and len(got) == len(set(got)) and set(got) == n[witness["token"]]
        case "injective":
            x, y = witness["tokens"]
            return x != y and witness["next"] in n[x] and witness["next"] in n[y]
        case "next_from_sentence":
            return (e := read(witness["sample"])) in examples and optimal_positions(e, n) == 0
        case "well_defined_orders":
            cycle, query = witness["cycle"], witness["query"]
            steps = list(pairwise([*cycle, cycle[0]]))
            made = [read(sample) for sample in witness["samples"]]
            return (
                len(steps) >= 2
                and len(set(cycle)) == len(cycle)
                and all(e in examples and makes(e, n, query, *step) for e, step in zip(made, steps, strict=True))
            )
        case "no_confused_tokens":
            x, query = witness["token"], witness["query"]
            wins, loses = witness["beats"], witness["beaten_by"]
            won, lost = read(wins["sample"]), read(loses["sample"])
            return (
                {won, lost} <= set(examples)
                and makes(won, n, query, x, wins["token"])
                and makes(lost, n, query, loses["token"], x)
            )
        case "orthonormal":
            words, rows = vocabulary(document), document["embedding"]
            i, j = (words.index(x) for x in witness["tokens"])
            product, given = inner_product(rows[i], rows[j]), witness["inner_product"]
            largest = sum((abs(Fraction(a) * Fraction(b)) for a, b in zip(rows[i], rows[j], strict=True)), Fraction(0))
            agrees = (
                largest > Fraction(2) ** 1000 if given is None else abs(product - Fraction(given)) <= largest / 10**14
            )
            return agrees and witness["expected"] == (i == j) and abs(product - (i == j)) > Fraction(1, 10**13)
        case "optimal_majority":
            e, x = read(witness["sample"]), witness["token"]
            return (
                e in examples
                and e.next not in n[x]
                and witness["optimal_positions"] == optimal_positions(e, n)
                and witness["multiplicity"] == Counter(e.tokens)[x] > witness["optimal_positions"]
            )
        case "prefix_closed":
            e, prefix = read(witness["sample"]), read(witness["missing"])
            i = len(prefix.tokens)
            return (
                e in examples
                and prefix not in examples
                and 0 < i < len(e.tokens)
                and prefix == Example(e.tokens[:i], e.tokens[i])
            )
    raise KeyError(name)
