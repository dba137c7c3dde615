"""A sharper Proposition 2: when exactly the closed form of W*_kq holds."""

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Equal
from marginaudit.reports.ntp.closed_form import closed_form_value, hall_condition
from marginaudit.reports.ntp.quantities import no_relation
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.series import Series, exact_series
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import proved


def _holds(run: Run) -> Series:
    """1 for each query whose column of W*_kq is the closed form."""
    exact = run.kq.exact().weights_exact
    values = []
    for query, order in run.dataset.orders.items():
        column = exact.get(query, {})
        spoken_of = {*order.graph, *column}.difference(order.confused)  # of all others both sides are 0
        values.append(int(all(column.get(x, 0) == closed_form_value(order, x) for x in spoken_of)))
    return exact_series(values, label=tuple(f"query {query!r}" for query in run.dataset.orders))


PROP2 = Claim(
    id="sharp.prop2",
    source="marginaudit, a sharper form of arXiv 2409.17335, Proposition 2",
    source_words=corrected("ntp.prop2.closed-form", "When exactly the closed form holds."),
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

CLAIMS = (PROP2,)
