"""Lemma 3: a label that is off is seen."""

from dataclasses import replace

import numpy as np

from marginaudit.orders.ntp import CASES
from marginaudit.reports import Verdict
from marginaudit.reports.ntp import Config, Run
from tests.reports.ntp.samples import judged


def test_lemma_3_sees_a_label_that_is_off() -> None:
    on = Run(CASES["example-1"](), Config(steps1=30, steps2=2))
    assert judged("ntp.lemma3", on).verdict is Verdict.HOLDS
    stage = on.training.stage1
    off = replace(stage, label_spread=stage.label_spread + np.where(stage.step == 7, 1e-9, 0.0))
    on.__dict__["trained"] = replace(on.training, stage1=off)
    found = judged("ntp.lemma3", on)
    assert (found.verdict, found.first_violation) == (Verdict.VIOLATED, 7)
