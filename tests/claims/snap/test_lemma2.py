"""Lemma 2: identities by brute force, and attention by drawing."""

import pytest

from marginaudit.claims import Verdict
from marginaudit.claims.snap.appendix_c_gradients.lemma2 import identities, likeness
from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.reports import LEDGER
from tests.claims.snap.samples import on, run
from tests.measured import measured


@pytest.mark.parametrize("attention", [True, False])
def test_identities_are_exact_and_compare_whole_matrices(attention: bool) -> None:
    found, stated = identities(run("snap-medium"), attention=attention)
    assert len(found) == len(stated) == len(found.label) > 100
    assert found.value.tolist() == stated.value.tolist()
    off = [
        i for i, name in enumerate(found.label) if " and " in name and len(set(name.split(", ")[1].split(" and "))) == 2
    ]
    assert off
    assert not any(found.value[off])
    sums = [i for i, name in enumerate(found.label) if name.endswith(", sum")]
    assert len(sums) == (4 if attention else 0)
    assert any(value < 0 for value in found.value) is not attention


def test_attention_is_followed_for_six_decades_and_more() -> None:
    found = likeness(run("snap-single"))
    assert found.step is not None
    assert found.step[:8].tolist() == [10**k for k in range(1, 9)]
    assert (len(found), found.step[-1]) == (16, 10**9)
    assert found.clock == "T - 1"
    away = (1 - found.value)[[*range(8), -1]]
    assert ((away[:-1] / away[1:] > 2.5) & (away[:-1] / away[1:] < 4)).all()
    assert (found.radius < 0.3 * (1 - found.value)).all()
    assert (found.radius > 0).all()


@pytest.mark.parametrize("rare", [1e-8, 1e-12, 1e-300])
def test_a_token_too_rare_to_be_drawn_does_not_show_another_limit(rare: float) -> None:
    data = SequenceClasses.from_weights("rare", 9, [("a", "q", {"x": rare, "y": 1.0})])
    found = measured(LEDGER["snap.lemma2"]).judge(on(data, seeds=500))
    assert found.verdict is Verdict.INCONCLUSIVE


def test_the_sequences_are_those_of_the_runs_seed() -> None:
    first, again, other = (likeness(on(CASES["snap-single"](), seeds=20, seed=seed)).value for seed in (0, 0, 1))
    assert first.tolist() == again.tolist()
    assert (first != other).any()
