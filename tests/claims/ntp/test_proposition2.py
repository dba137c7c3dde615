"""Proposition 2: the entries that are compared, and when the closed form holds."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from marginaudit.claims import Evidence, Verdict
from marginaudit.claims.ntp import Run
from marginaudit.claims.ntp.appendix_d_orders import proposition2
from marginaudit.margins.ntp import Cycle, solve_kq
from marginaudit.margins.ntp.solution import infeasible
from marginaudit.orders.ntp import CASES, Dataset, QueryOrder, Sample
from marginaudit.reports import LEDGER
from tests.measured import judgement
from tests.solutions import inexact, known

CLOSED_FORM = judgement("ntp.prop2.closed-form.any-data")

UNEVEN = Dataset(
    "uneven",
    tuple("abcde"),
    (Sample(("b", "c"), "b"), Sample(("d", "c"), "e"), Sample(("a", "e", "c"), "d")),
    (1, 2, 3),
    next_token={"a": "a", "b": "b", "c": "c", "d": "e", "e": "d"},
)
"""Under c, {b, d} beat c alone: three optimal and two non-optimal tokens, of which S = {b, d} reaches one."""


def test_a_violated_closed_form_shows_the_set_that_reaches_too_few() -> None:
    found = LEDGER["ntp.prop2.closed-form.any-data"].judge(Run(UNEVEN))
    assert (found.verdict, found.evidence) == (Verdict.VIOLATED, Evidence.EXACT)
    assert found.witness == {
        "query": "c",
        "optimal": ["b", "d", "e"],
        "non_optimal": ["a", "c"],
        "relations": [list(pair) for pair in UNEVEN.orders["c"].relations],
        "S": ["b", "d"],
        "N(S)": ["c"],
        "weights": {"a": "-1/2", "b": "1/3", "c": "-2/3", "d": "1/3", "e": "1/2"},
    }
    assert LEDGER["ntp.prop2.closed-form.any-data"].judge(Run(CASES["example-1"]())).witness is None


def test_the_failing_query_of_the_fewest_tokens_is_shown() -> None:
    on = Run(CASES["free-20"]())
    sizes = {q: len(on.dataset.orders[q].graph) for q, form in on.kq.closed_form.items() if not form.holds}
    found = known(LEDGER["ntp.prop2.closed-form.any-data"].judge(on).witness)
    assert sizes[found["query"]] == min(sizes.values()) < max(sizes.values())


def test_the_closed_form_is_compared_on_every_token_related_under_a_query() -> None:
    on = Run(UNEVEN)
    values = CLOSED_FORM.measure(on)
    assert values.label == tuple(f"x = {x!r} under query 'c'" for x in "abcde")
    assert values.value.tolist() == [Fraction(*v) for v in ((-1, 2), (1, 3), (-2, 3), (1, 3), (1, 2))]
    assert CLOSED_FORM.expected(on).value.tolist() == [Fraction(*v) for v in ((-3, 5), (2, 5), (-3, 5), (2, 5), (2, 5))]


def test_without_an_exact_solution_the_weights_have_the_solvers_error() -> None:
    data = replace(UNEVEN, embedding=np.diag([1.0, 2.0, 3.0, 1.0, 1.0]))
    on = Run(data)
    on.__dict__["kq"] = inexact(solve_kq(data), weight_radius=0.25)
    values = CLOSED_FORM.measure(on)
    assert values.radius.tolist() == [0.25 * size * 3 for size in (1, 2, 3, 1, 1)]
    assert values.value.tolist() == on.kq.optimal().scores[:, data.index["c"]].tolist()
    on.__dict__["kq"] = infeasible(Cycle("c", ()), {})
    with pytest.raises(ValueError, match="infeasible"):
        CLOSED_FORM.measure(on)


def extremes(on: Run) -> tuple[str, ...]:
    found: tuple[str, ...] = judgement("ntp.prop2.corollary").measure(on).label
    return found


def test_the_corollary_compares_the_least_and_the_most_of_each_sample() -> None:
    on = Run(UNEVEN)
    assert extremes(on) == ("x = 'c', x' = 'a' under query 'c'",)
    found = LEDGER["ntp.prop2.corollary.any-data"].judge(on)
    assert found.verdict is Verdict.VIOLATED
    assert found.measured == pytest.approx(-2 / 3)
    assert found.bound == -0.5
    assert "x = 'c', x' = 'a' under query 'c'" in found.detail
    n = {"a": "b", "b": "c", "c": "a"}
    same = Run(Dataset("same", ("a", "b", "c"), (Sample(("a", "b", "c"), "b"),), (1,), next_token=n))
    assert extremes(same) == ("x = 'b', x' = 'c' under query 'c'",)
    on.__dict__["kq"] = inexact(on.kq)
    on.kept.clear()
    assert extremes(on) == ("x = 'c', x' = 'a' under query 'c'",)
    on.__dict__["kq"] = infeasible(Cycle("c", ()), {})
    on.kept.clear()
    with pytest.raises(ValueError, match="infeasible"):
        extremes(on)


def order_of(edges: list[tuple[str, str]]) -> QueryOrder:
    return QueryOrder("q", tuple(sorted({token for edge in edges for token in edge})), dict.fromkeys(edges, 0))


@pytest.mark.parametrize("seed", range(10))
def test_the_maximum_flow_decides_as_every_set_does(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    k, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    edges = [(f"o{i}", f"x{rng.integers(m)}") for i in range(k)] + [(f"o{rng.integers(k)}", f"x{j}") for j in range(m)]
    edges += [(f"o{rng.integers(k)}", f"x{rng.integers(m)}") for _ in range(int(rng.integers(0, 5)))]
    order = order_of(edges)
    beaten = {f"o{i}": {x for o, x in edges if o == f"o{i}"} for i in range(k)}
    expected = all(
        len(set().union(*(beaten[o] for o in S))) * k >= size * m
        for size in range(1, k + 1)
        for S in combinations(beaten, size)
    )
    assert proposition2.hall_condition(order) == expected
    monkeypatch.setattr(proposition2, "BRUTE_FORCE", 0)
    assert proposition2.hall_condition(order) == expected


def test_many_optimal_tokens_are_decided_by_a_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("networkx.maximum_flow_value", lambda *_: pytest.fail("a flow"))
    assert proposition2.hall_condition(order_of([(f"o{i}", "x") for i in range(10)]))
    with pytest.raises(pytest.fail.Exception):
        proposition2.hall_condition(order_of([(f"o{i}", "x") for i in range(11)]))


def test_which_queries_have_the_closed_form_is_said_of_each() -> None:
    two = replace(UNEVEN, samples=(*UNEVEN.samples, Sample(("b", "a"), "b")), counts=(1, 2, 3, 1))
    on = Run(two)
    found = judgement("sharp.prop2").measure(on)
    assert dict(zip(found.label, found.value.tolist(), strict=True)) == {"query 'c'": 0, "query 'a'": 1}
    assert LEDGER["sharp.prop2"].judge(on).verdict is Verdict.HOLDS
    on.__dict__["kq"] = inexact(on.kq)
    with pytest.raises(ValueError, match="no exact solution"):
        judgement("sharp.prop2").measure(on)
