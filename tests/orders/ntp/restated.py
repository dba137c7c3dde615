"""What a document says by the oracle's reading, who makes a relation, and what shows that an assumption fails."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from tests.oracle.definitions import assumptions, orders
from tests.oracle.problem import problem
from tests.strategies import Document

CLASSES = "optimal", "non_optimal", "confused", "non_comparable"


class Example(NamedTuple):
    """A sample of the document: its sentence and its next token."""

    tokens: tuple[str, ...]
    next: str


def weighted_examples(document: Document) -> dict[Example, int]:
    return {Example(*sample): count for sample, count in problem(document).counts.items()}


def next_tokens(document: Document) -> dict[str, frozenset[str]]:
    """Every value that the data give for n(x)."""
    return dict(problem(document).values)


def makes(example: Example, n: Mapping[str, frozenset[str]], query: str, winner: str, loser: str) -> bool:
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
    return class_table(orders(problem(document)))


def class_table(orders: Mapping[str, object]) -> dict[str, dict[str, list[str]]]:
    return {query: {name: list(getattr(order, name)) for name in CLASSES} for query, order in orders.items()}


def holds(document: Document) -> dict[str, bool]:
    """Every assumption, by name."""
    return assumptions(problem(document))


def optimal_positions(example: Example, n: Mapping[str, frozenset[str]]) -> int:
    return sum(example.next in n[x] for x in example.tokens)


def inner_product(x: list[float], y: list[float]) -> Fraction:
    """Exact, of the floats as they are."""
    return sum((Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True)), Fraction(0))


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
            words, rows = problem(document).vocabulary, document["embedding"]
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
