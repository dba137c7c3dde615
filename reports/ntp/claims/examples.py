"""Examples 1 and 2 of arXiv 2409.17335, on their own dataset whatever its tokens are called."""

from collections.abc import Mapping
from itertools import permutations, product

import numpy as np

from marginaudit.orders.ntp import CASES, Token
from marginaudit.orders.ntp.assumptions import ASSUMPTION_2
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Equal
from marginaudit.reports.ntp.quantities import moved_attention, no_direction_kq, score_error
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, exact_series, series
from marginaudit.training.ntp import predict

TOKENS = "SVOP"
COLLOCATION = {"S": "V", "V": "O", "O": "P", "P": "S"}
RELATIONS = (("S", "S", "P"), ("V", "V", "S"), ("O", "O", "S"), ("O", "O", "V"), ("P", "O", "P"))
"""(query, winner, loser)."""

ANSWERS = (("SP", "V"), ("OSP", "P"))
"""Unseen sentences with the answers that Example 2 gives."""


def names(run: Run) -> Mapping[str, Token] | None:
    """The run's token for each of S, V, O, P if its samples are those of Example 1, else None."""
    example = CASES["example-1"]()
    if run.dataset.V != example.V or run.dataset.N != example.N:
        return None
    present = {(sample.tokens, sample.next) for sample in run.dataset.samples}
    for tokens in permutations(run.dataset.vocabulary):
        name = dict(zip(TOKENS, tokens, strict=True))
        if present == {(tuple(name[x] for x in s.tokens), name[s.next]) for s in example.samples}:
            return name
    return None


def _not_the_example(run: Run) -> str | None:
    return None if names(run) else "The statement is about the dataset of Example 1, up to the names of its tokens."


def _named(run: Run) -> Mapping[str, Token]:
    name = names(run)
    if name is None:
        raise ValueError("the dataset is not that of Example 1")
    return name


def _facts() -> tuple[list[tuple[str, str]], list[tuple[str, str, str]]]:
    return list(product(TOKENS, TOKENS)), list(product(TOKENS, TOKENS, TOKENS))


def _found(run: Run) -> Series:
    """1 for every n(x) = y and every x >_q x' that the data give, over all x, y, x', q."""
    name, data = _named(run), run.dataset
    pairs, triples = _facts()
    values = [int(data.collocation.maps(name[x], name[y])) for x, y in pairs]
    for q, winner, loser in triples:
        order = data.orders.get(name[q])
        values.append(int(order is not None and order.graph.has_edge(name[winner], name[loser])))
    labels = [f"n({x}) = {y}" for x, y in pairs] + [f"{w} >_{q} {z}" for q, w, z in triples]
    return exact_series(values, label=tuple(labels))


def _printed(run: Run) -> Series:
    del run
    pairs, triples = _facts()
    return exact_series([int(COLLOCATION[x] == y) for x, y in pairs] + [int(triple in RELATIONS) for triple in triples])


def _lead(run: Run) -> Series:
    """Log-odds of the printed answer against the best other one, for each unseen sentence.

    They are A (Phi_y - Phi_z), Phi the attention on the tokens of a label, and move as `moved_attention` says.
    """
    name, training = _named(run), run.training
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
    """log of the attention on other tokens of the sentence than the one that the answer follows."""
    stage, index = run.training.stage2, run.dataset.index
    query = index[name[sentence[-1]]]
    scores = {x: float(stage.score(index[name[x]], query)[-1]) for x in sentence}
    odds = [scores[x] - scores[z] for z in sentence if COLLOCATION[z] == answer for x in sentence if x != z]
    return -float(np.logaddexp(0, -np.logaddexp.reduce(odds)))


EXAMPLE_1 = Claim(
    id="ntp.example1",
    source="arXiv 2409.17335, Example 1",
    statement=(
        "Sentences SVOP, VOP, OPP, PSV: collocation S>V>O>P>S; S >_S P; V >_V S; O >_O S, V; O >_P P; "
        "and no other relation."
    ),
    formula=r"S>_SP;\quad V>_VS;\quad O>_OS,V;\quad O>_PP",
    assumptions=(),
    judgement=Equal(measure=_found, expected=_printed),
    absent=_not_the_example,
)

EXAMPLE_2 = Claim(
    id="ntp.example2",
    source="arXiv 2409.17335, Example 2",
    statement="After training on Example 1, SP is answered V and OSP is answered P.",
    formula=r"SP\mapsto V,\quad OSP\mapsto P",
    assumptions=ASSUMPTION_2,
    judgement=Bounded(measure=_lead, lower=lambda _, t: 0 * t, smallest=float("-inf")),
    absent=lambda run: _not_the_example(run) or no_direction_kq(run),
)

CLAIMS = (EXAMPLE_1, EXAMPLE_2)
