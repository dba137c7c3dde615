"""Datasets of the tests of tables, by hand."""

import math
from functools import cache
from typing import Any

from marginaudit.orders.ntp import dataset_from_document
from marginaudit.reports.ntp import Config, Run

COUNTED = {
    "name": "counted",
    "vocabulary": ["a", "b", "c", "d", "q"],
    "samples": [
        {"tokens": ["a", "b", "q"], "next": "a", "count": 3},
        {"tokens": ["a", "c"], "next": "a"},
        {"tokens": ["b", "d", "d"], "next": "d", "count": 2},
    ],
    "next_token": {x: x for x in "abcdq"},
}
"""k = 1, m = 2 under q; 1 and 1 under c and d. N = 3, L_max = 3, pi_min = 1/6, ||W*_kq||^2 = 2/3 + 1/2 + 1/2."""


NORM_OV, NORM_KQ = 2.0, math.sqrt(5 / 3)


LR1, LR2 = 0.07, 0.03


LENGTH = 120


@cache
def counted(steps2: int = LENGTH) -> Run:
    return Run(dataset_from_document(COUNTED), Config(steps1=LENGTH, steps2=steps2, lr1=LR1, lr2=LR2))


GENERAL: dict[str, Any] = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {x: x for x in "abq"},
    "embedding": [[1, 0.5, 0], [0, 1, 0], [0.25, 0, 1]],
}
"""Assumption 2 fails; both problems have solutions, found numerically."""


CYCLE = {"name": "cycle", "sentences": [["a", "b", "b", "a"], ["b", "a"]]}


PLAIN = {"name": "plain", "sentences": [["a", "b"], ["b", "a"]]}


CONFUSED = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}, {"tokens": ["b", "c", "q"], "next": "b"}],
    "next_token": {x: x for x in "abcq"},
}


RUN = ("--steps1", "30", "--steps2", "120")
