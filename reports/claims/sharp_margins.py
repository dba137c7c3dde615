"""Sharper statements about W*_ov and W*_kq than the papers make, decided without floating point where they can be."""

from itertools import combinations

import networkx as nx
import numpy as np

from marginaudit.orders import QueryOrder
from marginaudit.reports.claim import ASSUMPTION_1, ASSUMPTION_2, Claim
from marginaudit.reports.claims.ntp_proposition2 import closed_form_value, no_relation
from marginaudit.reports.claims.quantities import no_direction_ov
from marginaudit.reports.error_bars import FORMULA_ROUNDING, Series, exact_series, series
from marginaudit.reports.judgements import Equal
from marginaudit.reports.run import Run

BRUTE_FORCE = 10
"""With at most so many optimal tokens every set S of them is tried; with more a maximum flow decides."""


def hall_condition(order: QueryOrder) -> bool:
    """|N(S)| k >= |S| m for every set S of the k optimal tokens, m non-optimal ones.

    >>> graph = nx.DiGraph([("a", "q"), ("b", "q"), ("b", "x"), ("b", "y")])
    >>> hall_condition(QueryOrder("q", tuple("abqxy"), graph))
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
    network.add_edges_from(order.graph.edges, capacity=k * m)
    return bool(nx.maximum_flow_value(network, "source", "sink") == k * m)


def _holds(run: Run) -> Series:
    """1 for each query whose column of W*_kq is the closed form."""
    exact = run.kq.weights_exact
    if exact is None:
        raise ValueError("W*_kq has no exact solution")
    values = []
    for query, order in run.dataset.orders.items():
        column = exact.get(query, {})
        spoken_of = [x for x in run.dataset.vocabulary if x not in order.confused]
        values.append(int(all(column.get(x, 0) == closed_form_value(order, x) for x in spoken_of)))
    return exact_series(values, label=tuple(f"query {query!r}" for query in run.dataset.orders))


PROP2 = Claim(
    id="sharp.prop2",
    source="marginaudit, a sharper form of arXiv 2409.17335, Proposition 2",
    statement="The closed form of Proposition 2 holds for q iff |N(S)| k >= |S| m for every S in O_q.",
    formula=r"x^\top W^*_{kq}q\ \text{as in Proposition 2}\iff |N(S)|\,k\ge|S|\,m\quad\forall S\subseteq O_q",
    assumptions=ASSUMPTION_1 + ASSUMPTION_2,
    judgement=Equal(
        measure=_holds,
        expected=lambda run: exact_series([int(hall_condition(order)) for order in run.dataset.orders.values()]),
    ),
    absent=no_relation,
)

SINGLE_OPTIMUM = Claim(
    id="sharp.single-optimum",
    source="marginaudit",
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
)


def _stage1(run: Run) -> Series:
    """||W_ov^(t)||/(t eta0) and the distance of the unit vectors, per step; the common margin; ||W*_ov||^2."""
    stage, training = run.training.stage1, run.training
    kept = stage.step >= 1
    step, off = stage.step[kept], stage.distance_error[kept]
    values = [*(stage.norm[kept] / (step * run.eta0)), *stage.distance[kept]]
    radius = [*(off + FORMULA_ROUNDING), *off]
    labels = [*(f"norm at t = {t}" for t in step), *(f"direction at t = {t}" for t in step)]
    margin = run.config.steps1 * run.eta0 / run.norm_ov
    values += [
        training.margin / margin,
        training.margin_spread / margin,
        (run.ov.norm_squared or 0) / (run.dataset.V - 1),
    ]
    radius += [training.margin_error / margin + FORMULA_ROUNDING] * 2 + [FORMULA_ROUNDING]
    labels += ["common margin A", "spread of the margins", "||W*_ov||^2"]
    return series(values, radius=radius, label=tuple(labels))


def _stage1_stated(run: Run) -> Series:
    steps = int((run.training.stage1.step >= 1).sum())
    return series([1.0] * steps + [0.0] * steps + [1.0, 0.0, 1.0], radius=0.0)


STAGE1 = Claim(
    id="sharp.stage1",
    source="marginaudit, a sharper form of arXiv 2409.17335, Proposition 1 and Corollary 1",
    statement=(
        "Zero start, orthonormal tokens: W_ov^(t) = t eta0 W*_ov/||W*_ov|| for all t >= 1; ||W*_ov||^2 = V - 1; common "
        "margin T eta0/||W*_ov||. Each quantity is audited relative to what it should be."
    ),
    formula=(
        r"W_{ov}^{(t)}=t\eta_0\frac{W^*_{ov}}{\lVert W^*_{ov}\rVert},\quad\lVert W^*_{ov}\rVert^2=V-1,\quad "
        r"A=\frac{T\eta_0}{\lVert W^*_{ov}\rVert}"
    ),
    assumptions=("collocation", *ASSUMPTION_2),
    judgement=Equal(measure=_stage1, expected=_stage1_stated, scale=lambda _: np.array(1.0)),
    absent=no_direction_ov,
)

CLAIMS = (STAGE1, PROP2, SINGLE_OPTIMUM)
