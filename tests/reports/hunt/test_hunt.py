"""The hunter finds planted and known counterexamples, shrinks them, and finds none where there is none."""

from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginaudit.orders import InputError
from marginaudit.orders.ntp import (
    Dataset,
    Sample,
    check_assumption,
    dataset_from_document,
    dataset_to_document,
    free_dataset,
)
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_3
from marginaudit.reports import LEDGER, Verdict, exact_series
from marginaudit.reports.claim import Claim
from marginaudit.reports.hunt import hunt
from marginaudit.reports.hunt.search import Search
from marginaudit.reports.judgements import Equal
from marginaudit.reports.ntp import Run
from marginaudit.reports.ntp.hunting.space import size, smaller
from marginaudit.reports.ntp.hunting.strategies import datasets
from marginaudit.reports.ntp.paper import PAPER
from tests.papers import changed

REALIZABLE = (*ASSUMPTION_1, *ASSUMPTION_3)


def planted(most_tokens: int, assumptions: tuple[str, ...]) -> Claim:
    """False from ``most_tokens`` + 1 relations on."""
    return replace(
        LEDGER["ntp.prop2.closed-form"],
        id="planted",
        assumptions=assumptions,
        judgement=Equal(
            measure=lambda run: exact_series([int(len(run.dataset.relations) > most_tokens)]),
            expected=lambda _: exact_series([0]),
        ),
    )


def test_a_planted_counterexample_is_shrunk_to_the_smallest() -> None:
    found = hunt(planted(1, REALIZABLE), PAPER, seconds=20)
    assert found.dataset is not None
    assert len(found.dataset.relations) == 2
    assert found.dataset.V <= 3
    assert found.dataset.N <= 2
    assert found.tried == found.verdicts.total() > 0


@pytest.mark.slow
def test_the_closed_forms_counterexample_is_found_and_reproduced_from_its_file() -> None:
    found = hunt(LEDGER["ntp.prop2.closed-form"], PAPER, seconds=15)
    assert found.dataset is not None
    assert found.dataset.V <= 6
    again = dataset_from_document(dataset_to_document(found.dataset))
    finding = LEDGER["ntp.prop2.closed-form"].judge(Run(again))
    assert finding.verdict is Verdict.VIOLATED
    assert all(check_assumption(again, name).holds for name in LEDGER["ntp.prop2.closed-form"].assumptions)


def test_without_an_assumption_that_the_claim_does_not_make_is_refused() -> None:
    with pytest.raises(InputError, match="does not make"):
        hunt(LEDGER["ntp.prop2.closed-form"], PAPER, without="prefix_closed")


def test_a_paper_without_a_space_of_datasets_is_refused() -> None:
    with pytest.raises(InputError, match=r"^paper ntp: got no space of datasets to hunt in, expected"):
        hunt(planted(1, REALIZABLE), changed(PAPER, space=None))


def shrunk(start: Dataset, claim: Claim) -> Dataset:
    looking = Search(claim, PAPER, None, 1e6, lambda _: None)
    looking.found.dataset = start
    looking.shrunk()
    smallest = looking.found.dataset
    assert isinstance(smallest, Dataset)
    return smallest


def test_shrinking_ends_where_nothing_smaller_violates() -> None:
    three = Equal(measure=lambda run: exact_series([int(run.dataset.N >= 3)]), expected=lambda _: exact_series([0]))
    smallest = shrunk(free_dataset(V=6, N=20, L=5, seed=0), replace(planted(0, ()), judgement=three))
    assert smallest.N == 3
    assert sum(smallest.counts) == 3


def test_a_sample_goes_where_another_one_can_take_its_token() -> None:
    """Two samples are enough against the closed form, and no single token or sample can go from these three."""
    n = {"a": "a", "b": "b", "c": "c", "d": "e", "e": "d"}
    samples = (Sample(("b", "c"), "b"), Sample(("d", "c"), "e"), Sample(("a", "e", "c"), "d"))
    start = Dataset("three", tuple("abcde"), samples, (1, 1, 1), next_token=n)
    smallest = shrunk(start, LEDGER["ntp.prop2.closed-form"])
    assert sorted(len(sample.tokens) for sample in smallest.samples) == [2, 4]


@settings(max_examples=20)
@given(st.data())
def test_every_reduction_is_a_dataset_and_smaller(data: st.DataObject) -> None:
    dataset = data.draw(datasets({"injective", "next_from_sentence", "well_defined_orders"}))
    for reduced in islice(smaller(dataset), 200):
        assert reduced.relations is not None
        assert dataset_from_document(dataset_to_document(reduced)).samples == reduced.samples
        assert size(reduced) < size(dataset)


@settings(max_examples=60)
@given(st.data())
def test_ordered_strategies_meet_assumptions_1_to_3(data: st.DataObject) -> None:
    dataset = data.draw(datasets())
    assert all(check_assumption(dataset, name).holds for name in REALIZABLE)
    closed = data.draw(datasets(prefix_closed=True))
    assert all(check_assumption(closed, name).holds for name in ("collocation", "injective", "next_from_sentence"))


def test_a_token_that_follows_itself_is_taken_out_with_the_samples_it_answers() -> None:
    samples = (Sample(("b", "b"), "a"), Sample(("b", "b", "b"), "b"))
    dataset = Dataset("fixed", ("a", "b"), samples, (1, 1), next_token={"a": "a", "b": "b"})
    reduced = [d for d in smaller(dataset) if d.vocabulary == ("b",)]
    assert [d.samples for d in reduced] == [samples[1:]]
