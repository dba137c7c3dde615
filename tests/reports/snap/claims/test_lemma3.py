"""Lemma 3: steps of W under the modified gradient."""

from marginaudit.orders.snap import SequenceClasses
from marginaudit.reports.snap.claims.lemma3 import LEMMA3, moves
from marginaudit.reports.verdict import Verdict
from tests.reports.snap.samples import on, run


def test_columns_of_tokens_that_are_no_next_token_are_compared_too() -> None:
    labels = moves(run("snap-symmetric")).found.label
    assert {label.rsplit(" of ", 1)[1] for label in labels} > {"another token 1", "another token 2"}


def test_dependent_classes_have_no_e_prime() -> None:
    same = on(SequenceClasses.from_weights("same", 9, [("m", "q", {"a": 1}), ("n", "q", {"a": 1})]))
    found = LEMMA3.judge(same)
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "linearly dependent" in found.detail
