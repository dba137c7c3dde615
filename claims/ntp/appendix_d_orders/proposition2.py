"""Proposition 2 of arXiv 2409.17335: a closed form of W*_kq, with a necessary and sufficient condition.

Decided in rational arithmetic. Under prefix closure a query has one optimal token, and so the closed form.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.ntp.quantities import no_relation
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted, sharpened, varied
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import Series, exact_series, series
from marginaudit.claims.standing import Implication, Severity, proved, refuted
from marginaudit.margins.ntp import Exact, Optimal
from marginaudit.orders.ntp import QueryOrder, Token
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2

BRUTE_FORCE = 10
"""Most optimal tokens for trying every set S. Beyond, a maximum flow decides."""

BEATEN = "|N(S)| k >= |S| m for every set S of the optimal tokens"


def closed_form_value(order: QueryOrder, token: Token) -> Fraction:
    """m/(k+m) on the k optimal tokens of a query, -k/(k+m) on its m non-optimal ones, 0 elsewhere."""
    k, m = len(order.optimal), len(order.non_optimal)
    if token in order.optimal:
        return Fraction(m, k + m)
    return Fraction(-k, k + m) if token in order.non_optimal else Fraction(0)


def hall_condition(order: QueryOrder) -> bool:
    """|N(S)| k >= |S| m for every set S of the k optimal tokens, m non-optimal ones.

    >>> beats = dict.fromkeys([("a", "q"), ("b", "q"), ("b", "x"), ("b", "y")], 0)
    >>> hall_condition(QueryOrder("q", tuple("abqxy"), beats))
    False
    """
    k, m = len(order.optimal), len(order.non_optimal)
    if k <= BRUTE_FORCE:
        beaten = {x: set(order.graph.successors(x)) for x in order.optimal}
        return all(
            len(set().union(*(beaten[x] for x in S))) * k >= size * m
            for size in range(1, k + 1)
            for S in combinations(order.optimal, size)
        )
    network: nx.DiGraph[object] = nx.DiGraph()
    network.add_edges_from(("source", x, {"capacity": m}) for x in order.optimal)
    network.add_edges_from((x, "sink", {"capacity": k}) for x in order.non_optimal)
    network.add_edges_from(order.samples, capacity=k * m)
    return bool(nx.maximum_flow_value(network, "source", "sink") == k * m)


def not_beaten_enough(run: Run) -> str | None:
    """A query that fails `hall_condition`, or None."""
    return next((f"query {q!r} fails it" for q, order in run.dataset.orders.items() if not hall_condition(order)), None)


ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2


def _entries(run: Run) -> Iterator[tuple[Token, Token]]:
    """Every (query with a relation, token covered by the closed form), which excludes confused tokens.

    Omits tokens without a relation whose weight is 0 in the solution, as in the closed form.
    """
    solution, words = run.kq, run.dataset.vocabulary
    for query, order in run.dataset.orders.items():
        named = set(order.graph) - set(order.confused)
        if isinstance(solution, Exact):
            named |= {token for token, weight in solution.weights_exact.get(query, {}).items() if weight}
        elif isinstance(solution, Optimal):
            named |= {words[x] for x in np.flatnonzero(solution.scores[:, run.dataset.index[query]])}
        for token in sorted(named.difference(order.confused), key=run.dataset.index.__getitem__):
            yield query, token


def _weights(run: Run, entries: list[tuple[Token, Token]], label: tuple[str, ...]) -> Series:
    """x^T W*_kq q for each (query, x): exact, or in float64 within the solution's error bound."""
    solution = run.kq.optimal()
    if isinstance(solution, Exact):
        weights = solution.weights_exact
        return exact_series([weights.get(query, {}).get(token, Fraction(0)) for query, token in entries], label=label)
    index, size = run.dataset.index, np.linalg.norm(run.dataset.embeddings, axis=1)
    places = [(index[token], index[query]) for query, token in entries]
    radius = [solution.weight_radius * size[x] * size[q] for x, q in places]
    return series([solution.scores[place] for place in places], radius=radius, label=label)


def _solution(run: Run) -> Series:
    entries = list(_entries(run))
    return _weights(run, entries, tuple(f"x = {token!r} under query {query!r}" for query, token in entries))


def _closed_form(run: Run) -> Series:
    return exact_series([closed_form_value(run.dataset.orders[query], token) for query, token in _entries(run)])


def _witness(run: Run) -> dict[str, Any] | None:
    """The failing query with the fewest tokens, and a set S of optimal tokens with |N(S)| k < |S| m."""
    failing = [(q, form.witness) for q, form in run.kq.closed_form.items() if not form.holds]
    if not failing:
        return None
    query, tokens = min(failing, key=lambda entry: len(run.dataset.orders[entry[0]].graph))
    order = run.dataset.orders[query]
    weights = run.kq.weights_exact if isinstance(run.kq, Exact) else {}
    return {
        "query": query,
        "optimal": list(order.optimal),
        "non_optimal": list(order.non_optimal),
        "relations": [list(pair) for pair in order.relations],
        "S": list(tokens or ()),
        "N(S)": [x for x in order.non_optimal if any((s, x) in order.samples for s in tokens or ())],
        "weights": {x: str(v) for x, v in weights.get(query, {}).items()},
    }


@once_a_run
def _extremes(run: Run) -> list[tuple[Token, Token, Token]]:
    """(query, x, x') for each sample, its tokens of least and of most weight at positions that are not optimal.

    All those tokens have equal weights if x and x' do.
    """
    n, index = run.dataset.collocation, run.dataset.index
    solution = run.kq.optimal()
    found: dict[tuple[Token, Token, Token], None] = {}
    ranks: dict[Token, Callable[[Token], Any]] = {}
    for sample in run.dataset.samples:
        query, others = sample.query, [x for x in dict.fromkeys(sample.tokens) if not n.maps(x, sample.next)]
        if len(others) < 2:
            continue
        if query not in ranks:
            ranks[query] = _rank_under(query, solution, index)
        # first and last of equal weights, so that x and x' differ
        found[query, min(others, key=ranks[query]), max(reversed(others), key=ranks[query])] = None
    return list(found)


def _rank_under(query: Token, solution: Optimal, index: Mapping[Token, int]) -> Callable[[Token], Any]:
    """Function from a token to its weight under a query in float64, or to the rank of its exact weight."""
    if not isinstance(solution, Exact):
        return lambda x: solution.scores[index[x], index[query]]
    column = solution.weights_exact.get(query, {})
    place = {weight: i for i, weight in enumerate(sorted({*column.values(), Fraction(0)}))}
    rank, of_others = {x: place[weight] for x, weight in column.items()}, place[Fraction(0)]
    return lambda x: rank.get(x, of_others)


def _extreme(run: Run, which: int) -> Series:
    triples = _extremes(run)
    label = tuple(f"x = {x!r}, x' = {other!r} under query {query!r}" for query, x, other in triples)
    return _weights(run, [(triple[0], triple[which]) for triple in triples], label)


FOLLOWS = Implication(
    sources=("sharp.prop2",), condition=BEATEN, proof="docs/proofs.md#2-sharpprop2", unmet=not_beaten_enough
)

SETTING = (
    'Section 3 restricts the data, and section 4.1 again: "if X = [x_1, .., x_L] in D_0, then for any l < L, '
    '([x_1, .., x_l], x_{l+1}) is also a training sample".'
)
PROOF = "docs/proofs.md#3-sharpsingle-optimum"

CLOSED_FORM = Claim(
    id="ntp.prop2.closed-form",
    source="arXiv 2409.17335, Proposition 2",
    source_words=quoted(
        "section 6, Proposition 2; appendix D.1, Proposition 4",
        "x_0^T W*_kq x^q = 0 .. x_*^T W*_kq x^q = |N|/(|O| + |N|), x^T W*_kq x^q = -|O|/(|O| + |N|)",
        SETTING,
    ),
    statement=(
        "x^T W*_kq q = m/(k+m) for optimal x under q, -k/(k+m) for non-optimal x, 0 for non-comparable x, with k and m "
        "the numbers of optimal and non-optimal tokens under q."
    ),
    formula=(
        r"x^\top W^*_{kq}q=\frac{m}{k+m}\ (x\in O_q),\quad -\frac{k}{k+m}\ (x\in N_q),\quad 0\ \text{otherwise};"
        r"\quad k=|O_q|,\ m=|N_q|"
    ),
    assumptions=(*ASSUMPTIONS, "prefix_closed"),
    judgement=Equal(measure=_solution, expected=_closed_form, witness=_witness),
    absent=no_relation,
    standing=proved(PROOF, "sharp.single-optimum", "sharp.prop2", hunted=887),
)

COROLLARY = Claim(
    id="ntp.prop2.corollary",
    source="arXiv 2409.17335, Proposition 4 (Proposition 2 restated)",
    source_words=quoted(
        "appendix D.1, Proposition 4",
        "A direct result is that (x_l - x_l')^T W*_kq X_{-1} = 0, for all l, l' not in l(n)",
        f"Of any two positions of one sample that are not optimal. {SETTING}",
    ),
    statement="(x - x')^T W*_kq q = 0 for any two tokens at other-than-optimal positions of a sample.",
    formula=r"\left(x_{l}^{(n)}-x_{l'}^{(n)}\right)^\top W^*_{kq}q=0,\quad l,l'\notin l(n)",
    assumptions=CLOSED_FORM.assumptions,
    judgement=Equal(measure=lambda run: _extreme(run, 1), expected=lambda run: _extreme(run, 2)),
    absent=no_relation,
    standing=proved(PROOF, "sharp.single-optimum", "sharp.prop2", hunted=49),
)


def _any_data(printed: Claim, *, wrong: str, instead: str, weakest: str, hunted: int) -> Claim:
    """Variant of the statement that does not assume prefix closure."""
    return replace(
        printed,
        id=f"{printed.id}.any-data",
        source_words=varied(printed.id, "Without prefix closure, the setting of section 3."),
        assumptions=ASSUMPTIONS,
        instead=instead,
        standing=refuted(
            FOLLOWS.proof,
            "sharp.prop2",
            severity=Severity.ORDINARY,
            cause="" if printed is CLOSED_FORM else f"{CLOSED_FORM.id}.any-data",
            wrong=wrong,
            hunted=hunted,
            weakest=weakest,
        ),
        implications=(FOLLOWS,),
    )


CLOSED_FORM_ANY_DATA = _any_data(
    CLOSED_FORM,
    wrong="Proposition 2's closed form needs the setting that prefixes of samples are samples: two others refute it.",
    instead=(
        r"it holds for a query iff $\lvert N(S)\rvert\,k\ge\lvert S\rvert\,m$ for every set $S$ of its optimal tokens "
        "(sharp.prop2), as it does under prefix closure (sharp.single-optimum)."
    ),
    weakest=f"{BEATEN} under every query (sharp.prop2), which is also needed",
    hunted=1689,
)
COROLLARY_ANY_DATA = _any_data(
    COROLLARY,
    wrong="Where prefixes of samples need not be samples, two tokens that are not optimal can differ in attention.",
    instead=(
        r"it holds under a query where the closed form does: $\lvert N(S)\rvert\,k\ge\lvert S\rvert\,m$ for every set "
        "$S$ of its optimal tokens is enough (sharp.prop2)."
    ),
    weakest=f"{BEATEN} under every query (sharp.prop2) is enough; less may be",
    hunted=564,
)


def _holds(run: Run) -> Series:
    """Indicator for each query that its column of W*_kq is the closed form."""
    exact = run.kq.exact().weights_exact
    values = []
    for query, order in run.dataset.orders.items():
        column = exact.get(query, {})
        covered = {*order.graph, *column}.difference(order.confused)  # all other entries are 0 on both sides
        values.append(int(all(column.get(x, 0) == closed_form_value(order, x) for x in covered)))
    return exact_series(values, label=tuple(f"query {query!r}" for query in run.dataset.orders))


PROP2 = Claim(
    id="sharp.prop2",
    source="marginaudit, a sharper form of arXiv 2409.17335, Proposition 2",
    source_words=sharpened("ntp.prop2.closed-form", "When exactly the closed form holds."),
    statement="The closed form of Proposition 2 holds for q iff |N(S)| k >= |S| m for every S in O_q.",
    formula=r"x^\top W^*_{kq}q\ \text{as in Proposition 2}\iff |N(S)|\,k\ge|S|\,m\quad\forall S\subseteq O_q",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Equal(
        measure=_holds,
        expected=lambda run: exact_series([int(hall_condition(order)) for order in run.dataset.orders.values()]),
    ),
    absent=no_relation,
    standing=proved("docs/proofs.md#2-sharpprop2", hunted=1799),
)

SINGLE_OPTIMUM = Claim(
    id="sharp.single-optimum",
    source="marginaudit",
    source_words=sharpened("ntp.prop2.closed-form", "Why the closed form holds where prefixes are samples."),
    statement="Under prefix closure every query with a relation has exactly one optimal token.",
    formula=r"|O_q|=1\quad\text{for every }q\text{ with a relation}",
    assumptions=(*ASSUMPTION_1, "prefix_closed"),
    judgement=Equal(
        measure=lambda run: exact_series(
            [len(order.optimal) for order in run.dataset.orders.values()],
            label=tuple(f"query {query!r}" for query in run.dataset.orders),
        ),
        expected=lambda run: exact_series([1] * len(run.dataset.orders)),
    ),
    absent=lambda run: None if run.dataset.orders else "No sample relates two tokens.",
    standing=proved("docs/proofs.md#3-sharpsingle-optimum", hunted=1246),
)

CLAIMS = (CLOSED_FORM, COROLLARY, CLOSED_FORM_ANY_DATA, COROLLARY_ANY_DATA, PROP2, SINGLE_OPTIMUM)
