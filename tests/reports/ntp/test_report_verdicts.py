"""No dataset and no choice of steps makes a claim's own code fail."""

from typing import Any

import pytest

from marginaudit.orders.ntp import dataset_from_document
from marginaudit.reports import Verdict
from marginaudit.reports.ntp import Config, Run
from marginaudit.reports.ntp.paper import PAPER

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


@pytest.mark.parametrize("name", ODD)
def test_odd_datasets(name: str) -> None:
    run = Run(dataset_from_document(ODD[name]), Config(30, 30))
    findings = {claim.id: claim.judge(run) for claim in PAPER.claims}
    assert {name: found.detail for name, found in findings.items() if found.verdict is Verdict.BROKEN} == {}
