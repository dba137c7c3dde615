"""No dataset and no choice of steps makes a claim's own code fail."""

from typing import Any

import pytest

from marginaudit.orders.ntp import (
    Dataset,
    Sample,
    dataset_from_document,
    free_dataset,
    prefix_closed_dataset,
)
from marginaudit.reports import Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER

WHOLE = {
    "prefix-closed": prefix_closed_dataset(V=4, N=8, L=3, seed=1),
    "free": free_dataset(V=4, N=8, L=4, seed=1),
}
ODD: dict[str, Any] = {
    "one token": {"sentences": [["a", "a"]]},
    "one token, long": {"sentences": [["a", "a", "a", "a"]]},
    "no relation": {"sentences": [["a", "b"], ["b", "a"]]},
    "no length-1 sample": {"samples": [{"tokens": ["a", "b"], "next": "b"}], "next_token": {"a": "b", "b": "a"}},
    "a cycle": {"sentences": [["a", "b", "b", "a"], ["b", "a"]]},
    "a 2-cycle": {"sentences": [["a", "b", "b", "a"], ["b", "a", "b", "a"]]},
    "a token its own next": {"sentences": [["a", "a", "b"], ["b", "b"]]},
    "every token optimal": {
        "samples": [{"tokens": ["a", "b", "c"], "next": "d"}],
        "next_token": dict.fromkeys("abcd", "d"),
    },
    "one sentence, two answers": {
        "samples": [{"tokens": ["a", "b"], "next": "b"}, {"tokens": ["a", "b"], "next": "a"}],
        "next_token": {"a": "b", "b": "a"},
    },
    "zero embedding": {"sentences": [["a", "b", "a"], ["b", "a"]], "embedding": [[0, 0], [0, 0]]},
    "dependent embedding": {"sentences": [["a", "b", "a"], ["b", "a"]], "embedding": [[1, 0], [1, 0]]},
    "tiny embedding": {"sentences": [["a", "b", "a"], ["b", "a"]], "embedding": [[1e-40, 0], [0, 1e-40]]},
    "one dimension": {"sentences": [["a", "b", "c", "a"], ["b", "a"], ["c", "b"]], "embedding": [[1], [2], [3]]},
    "wide embedding": {"sentences": [["a", "b", "b"], ["b", "a"]], "embedding": [[1, 0, 0, 0], [0, 0, 0, 1]]},
    "rotation": {"sentences": [["a", "b", "b"], ["b", "a"]], "embedding": [[0.6, 0.8], [-0.8, 0.6]]},
    "huge count": {
        "samples": [
            {"tokens": ["a"], "next": "b", "count": 2**53 - 2},
            {"tokens": ["b"], "next": "a"},
            {"tokens": ["a", "b"], "next": "b"},
        ]
    },
    "empty token": {"sentences": [["", "b", ""], ["b", ""]]},
    "n undefined": {"sentences": [["a", "b", "c"]]},
    "an unused token": {"vocabulary": list("abz"), "sentences": [list("abb"), list("ba")], "next_token": {"z": "z"}},
    "a long sentence": {"sentences": [["a", "b", *["b", "a"] * 15], ["b", "a"]]},
}


def judged(dataset: Dataset, config: Config) -> dict[str, Verdict]:
    run = Run(dataset, config)
    findings = {claim.id: claim.judge(run) for claim in PAPER.claims}
    details = {name: finding.detail for name, finding in findings.items() if finding.verdict is Verdict.BROKEN}
    assert details == {}
    return {name: finding.verdict for name, finding in findings.items()}


@pytest.mark.parametrize("name", ODD)
def test_odd_datasets(name: str) -> None:
    judged(dataset_from_document(ODD[name]), Config(30, 30))


@pytest.mark.parametrize("whole", ["free", "a cycle"])
@pytest.mark.parametrize(
    "config",
    [
        Config(0, 0),
        Config(1, 1),
        Config(2, 2),
        Config(30, 0),
        Config(0, 30),
        Config(30, 1),
        Config(30, 30, at=(0,)),
        Config(30, 30, at=(30,)),
        Config(30, 30, at=(1, 7, 29)),
        Config(30, 30, lr1=1e-9, lr2=1e-9),
        Config(30, 30, lr1=10, lr2=1e3),
    ],
    ids=lambda config: f"{config.steps1}-{config.steps2}-{config.lr1}-{config.at}",
)
def test_few_steps(whole: str, config: Config) -> None:
    dataset = WHOLE[whole] if whole in WHOLE else dataset_from_document(ODD[whole])
    judged(dataset, config)


@pytest.mark.parametrize("counts", [(2**53 - 1, 1), (1, 2**53 - 1), (2**52, 2**52)])
def test_frequencies_at_the_extremes_violate_nothing_new(counts: tuple[int, int]) -> None:
    samples = (Sample(("b", "a"), "a"), Sample(("a", "b"), "b"))

    def violated(counts: tuple[int, int]) -> set[str]:
        data = Dataset("two", ("a", "b"), samples, counts, next_token={"a": "b", "b": "a"})
        verdicts = judged(data, Config(steps2=200))
        assert "sharp.lemma7" in verdicts
        return {name for name, verdict in verdicts.items() if verdict is Verdict.VIOLATED}

    assert violated(counts) == violated((1, 1))
