"""Examples 1 and 2, by any names of the tokens."""

import math
from dataclasses import replace

import numpy as np
import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.appendix_d_orders import example1
from marginaudit.claims.ntp.error_bars import moved_attention, score_error
from marginaudit.claims.series import FORMULA_ROUNDING
from marginaudit.orders.ntp import CASES, Dataset, Sample
from marginaudit.reports import LEDGER
from tests.measured import judgement


def renamed() -> Dataset:
    data, name = CASES["example-1"](), dict(zip("SVOP", "wxyz", strict=True))
    samples = tuple(Sample(tuple(name[x] for x in s.tokens), name[s.next]) for s in data.samples)
    return replace(data, vocabulary=tuple("zyxw"), samples=samples)


def test_the_examples_are_known_by_any_names() -> None:
    assert example1.names(Run(renamed())) == dict(zip("SVOP", "wxyz", strict=True))
    other = replace(renamed(), samples=(*renamed().samples[:-1], Sample(("w", "w", "w"), "w")))
    assert example1.names(Run(other)) is None
    assert example1.names(Run(CASES["section-7"]())) is None
    assert example1.names(Run(replace(renamed(), vocabulary=tuple("vwxyz")))) is None
    with pytest.raises(ValueError, match="not that of Example 1"):
        judgement("ntp.example1").measure(Run(CASES["section-7"]()))
    for claim in ("ntp.example1", "ntp.example2"):
        assert LEDGER[claim].judge(Run(renamed(), Config(steps1=200, steps2=200))).verdict is Verdict.HOLDS
        assert LEDGER[claim].judge(Run(other, Config(steps1=2, steps2=2))).verdict is Verdict.NOT_APPLICABLE


def test_the_facts_of_example_1() -> None:
    found, printed = (
        side(Run(renamed())) for side in (judgement("ntp.example1").measure, judgement("ntp.example1").expected)
    )
    facts = dict(zip(found.label, found.value.tolist(), strict=True))
    assert (len(facts), sum(facts.values())) == (16 + 64, 4 + 5)
    assert [name for name, value in facts.items() if value] == [
        *("n(S) = V", "n(V) = O", "n(O) = P", "n(P) = S"),
        *("S >_S P", "V >_V S", "O >_O S", "O >_O V", "O >_P P"),
    ]
    assert printed.value.tolist() == found.value.tolist()


@pytest.mark.parametrize("steps2", [30, 60])
def test_the_lead_of_example_2_is_a_softmaxs(steps2: int) -> None:
    """Its bar is by the integral of Phi (1 - Phi) after 30 steps, by the little attention on others after 60."""
    on = Run(renamed(), Config(steps1=40, steps2=steps2, lr2=0.1))
    found, data, training = judgement("ntp.example2").measure(on), on.dataset, on.training
    assert found.label == ("SP -> V", "OSP -> P")
    S = training.stage2.score_matrix(-1, 4)
    for number, (sentence, answer) in enumerate((("wz", "x"), ("ywz", "z"))):
        tokens = [data.index[x] for x in sentence]
        phi = np.exp(S[tokens, tokens[-1]])
        phi /= phi.sum()
        logits = training.B[:, tokens] @ phi
        right = data.index[answer]
        assert found.value[number] == pytest.approx(logits[right] - np.delete(logits, right).max(), abs=1e-12)
        other = sum(p for x, p in zip(sentence, phi, strict=True) if data.collocation.function[x] != answer)
        moved = moved_attention(score_error(on)[-1:], np.array([math.log(other)]))[0]
        bar = training.margin * moved + 2 * training.margin_error + FORMULA_ROUNDING * abs(found.value[number])
        assert found.radius[number] == pytest.approx(bar, rel=1e-6, abs=0)
