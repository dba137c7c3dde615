"""Orders and assumptions against what the ledger prints and against sets worked out by hand."""

from typing import Any

import pytest

from tests.oracle.definitions import assumptions, orders
from tests.oracle.problem import problem

EXAMPLE = {"sentences": [list(sentence) for sentence in ("SVOP", "VOP", "OPP", "PSV")]}


def of_samples(n: list[str], *samples: tuple[str, str]) -> dict[str, Any]:
    return {
        "next_token": {pair[0]: pair[1] for pair in n},
        "samples": [{"tokens": list(tokens), "next": y} for tokens, y in samples],
    }


def test_example_1() -> None:
    p = problem(EXAMPLE)
    assert p.n == {"S": "V", "V": "O", "O": "P", "P": "S"}
    assert {q: set(order.beats) for q, order in orders(p).items()} == {
        "S": {("S", "P")},
        "V": {("V", "S")},
        "O": {("O", "S"), ("O", "V")},
        "P": {("O", "P")},
    }
    assert all(assumptions(p).values())
    assert (p.V, p.N, p.L, p.total) == (4, 9, 3, 9)


def test_classes_are_a_partition() -> None:
    order = orders(problem(of_samples(["ab", "bc", "cd", "da"], ("abc", "b"), ("bac", "c"))))["c"]
    assert (order.optimal, order.non_optimal, order.confused, order.non_comparable) == ((), ("c",), ("a", "b"), ("d",))


@pytest.mark.parametrize(
    ("broken", "document"),
    [
        ("collocation", of_samples(["ab"], ("a", "b"))),
        ("injective", of_samples(["ab", "bb"], ("a", "b"))),
        ("next_from_sentence", of_samples(["ab", "ba"], ("aa", "a"))),
        ("well_defined_orders", of_samples(["ab", "bc", "ca"], ("abc", "b"), ("abc", "c"))),
        ("no_confused_tokens", of_samples(["ab", "bc", "ca"], ("abc", "b"), ("bc", "c"))),
        ("optimal_majority", of_samples(["ab", "ba"], ("aab", "a"))),
        ("prefix_closed", of_samples(["ab", "ba"], ("ab", "a"))),
        ("orthonormal", of_samples(["ab", "ba"], ("a", "b")) | {"embedding": [[1 + 1e-12, 0.0], [0.0, 1.0]]}),
    ],
)
def test_an_assumption_is_seen_to_fail(broken: str, document: dict[str, Any]) -> None:
    found = assumptions(problem(document))
    assert not found[broken]


def test_rounding_is_no_broken_assumption() -> None:
    document = of_samples(["ab", "ba"], ("a", "b")) | {"embedding": [[1 + 4e-13, 0.0], [0.0, 1.0]]}
    assert assumptions(problem(document))["orthonormal"]


def test_the_last_samples_and_counts_are_read() -> None:
    document = {"sentences": [["a", "b", "c"]], "samples": [{"tokens": ["a"], "next": "b", "count": 5}]}
    p = problem(document)
    assert p.counts == {(("a",), "b"): 6, (("a", "b"), "c"): 1}
    assert p.values == {"a": {"b"}, "b": frozenset(), "c": frozenset()}
