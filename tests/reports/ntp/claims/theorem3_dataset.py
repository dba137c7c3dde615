"""A dataset for the tests of Theorem 3, and the probabilities of its answers."""

import math

from marginaudit.reports.ntp.run import Run


def probabilities(run: Run, record: int, query: str, bag: tuple[str, ...]) -> dict[str, float]:
    """Softmax over labels of A times the attention, position by position."""
    data, S = run.dataset, run.training.stage2.score_matrix(record, run.dataset.V)
    attention = [math.exp(S[data.index[x], data.index[query]]) for x in bag]
    logits = dict.fromkeys(data.vocabulary, 0.0)
    for x, weight in zip(bag, attention, strict=True):
        logits[data.collocation.function[x]] += run.training.margin * weight / sum(attention)
    total = sum(map(math.exp, logits.values()))
    return {label: math.exp(logit) / total for label, logit in logits.items()}


SAVES_ONE = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {"a": "a", "b": "b", "c": "c", "q": "q"},
}
