"""Example 2 of arXiv 2409.17335: the trained model answers unseen sentences of Example 1."""

from collections.abc import Mapping

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded
from marginaudit.claims.ntp.appendix_d_orders.example1 import COLLOCATION, named, not_the_example
from marginaudit.claims.ntp.error_bars import moved_attention, score_error
from marginaudit.claims.ntp.quantities import no_direction_kq
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.standing import proved
from marginaudit.orders.ntp import Token
from marginaudit.orders.ntp.assumptions import ASSUMPTION_2
from marginaudit.training.ntp import predict

ANSWERS = (("SP", "V"), ("OSP", "P"))
"""Unseen sentences and their answers by Example 2."""


def _lead(run: Run) -> Series:
    """Log-odds of the printed answer against the best other one, for each unseen sentence.

    They are A (Phi_y - Phi_z), Phi the attention on the tokens of a label, with the error of `moved_attention`.
    """
    name, training = named(run), run.training
    leads, radii, labels = [], [], []
    for sentence, answer in ANSWERS:
        log_odds = predict(run.dataset, run.training, tuple(name[x] for x in sentence))
        right = run.dataset.index[name[answer]]
        leads.append(log_odds[right] - max(v for i, v in enumerate(log_odds) if i != right))
        moved = moved_attention(score_error(run)[-1:], np.array([_log_other(run, name, sentence, answer)]))
        radii.append(training.margin * float(moved[0]) + 2 * training.margin_error)
        labels.append(f"{sentence} -> {answer}")
    return series(leads, radius=radii + FORMULA_ROUNDING * np.abs(leads), label=tuple(labels))


def _log_other(run: Run, name: Mapping[str, Token], sentence: str, answer: str) -> float:
    """log of the attention on all tokens of the sentence but the predecessor of the answer."""
    stage, index = run.training.stage2, run.dataset.index
    query = index[name[sentence[-1]]]
    scores = {x: float(stage.score(index[name[x]], query)[-1]) for x in sentence}
    odds = [scores[x] - scores[z] for z in sentence if COLLOCATION[z] == answer for x in sentence if x != z]
    return -float(np.logaddexp(0, -np.logaddexp.reduce(odds)))


EXAMPLE_2 = Claim(
    id="ntp.example2",
    source="arXiv 2409.17335, Example 2",
    source_words=quoted(
        "section 6, Example 2",
        "new (unseen) input sentence SP .. the next predicted token is n(S) = V .. (unseen) input OSP .. will "
        "consistently predict P",
        "The predicted token is the most probable one, at the last step of the run: V after SP, P after OSP. The "
        "trained transformer is that of Theorem 3, so Assumption 2 holds.",
    ),
    statement="After training on Example 1, SP is answered V and OSP is answered P.",
    formula=r"SP\mapsto V,\quad OSP\mapsto P",
    assumptions=ASSUMPTION_2,
    judgement=Bounded(measure=_lead, lower=lambda _, t: 0 * t, smallest=float("-inf")),
    absent=lambda run: not_the_example(run) or no_direction_kq(run),
    standing=proved("docs/proofs.md#155-ntpexample2", hunted=0),
)

CLAIMS = (EXAMPLE_2,)
