"""Under prefix closure a query has one optimal token, and so the closed form of Proposition 2."""

from marginaudit.orders.ntp.assumptions import ASSUMPTION_1
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Equal
from marginaudit.reports.series import exact_series
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import proved

SINGLE_OPTIMUM = Claim(
    id="sharp.single-optimum",
    source="marginaudit",
    source_words=corrected("ntp.prop2.prefix-closed", "Why the closed form holds where prefixes are samples."),
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

CLAIMS = (SINGLE_OPTIMUM,)
