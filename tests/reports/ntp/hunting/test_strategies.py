"""The strategies that a hunt draws from: their smallest datasets, and what fails on all of them."""

from collections.abc import Callable

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from marginaudit.orders.ntp import Dataset, check_assumption
from marginaudit.orders.ntp.assumptions import ASSUMPTIONS, SETTING
from marginaudit.reports.ntp.hunting.strategies import any_samples, any_sentences, datasets, ordered_samples, sentences


def smallest(drawn: st.SearchStrategy[Dataset]) -> Dataset:
    found: Dataset = find(drawn, lambda _: True, settings=settings(database=None, derandomize=True, max_examples=50))
    return found


@pytest.mark.parametrize("strategy", [ordered_samples, sentences, any_samples, any_sentences])
def test_it_is_one_sample_of_one_token(strategy: Callable[[frozenset[str]], st.SearchStrategy[Dataset]]) -> None:
    data = smallest(strategy(frozenset()))
    assert (data.vocabulary, data.counts, len(data.samples)) == (("a",), (1,), 1)
    assert set(data.samples[0].tokens) == {"a"}
    assert len(data.samples[0].tokens) <= 2


def test_a_token_without_a_next_one_is_added() -> None:
    assert smallest(datasets({"collocation"})).vocabulary == ("a", "z")


@pytest.mark.parametrize("name", ["well_defined_orders", "no_confused_tokens"])
@settings(max_examples=60)
@given(data=st.data())
def test_orders_fail_and_nothing_else(name: str, data: st.DataObject) -> None:
    for strategy in (any_samples, any_sentences):
        dataset = data.draw(strategy({name}))
        fixed = all(x == y for x, y in dataset.next_token.items())
        failed = {one for one in ASSUMPTIONS if not check_assumption(dataset, one).holds} - set(SETTING)
        assert failed <= {"well_defined_orders", "no_confused_tokens"}
        if strategy is any_samples or (name == "well_defined_orders" and not fixed):
            assert name in failed


@settings(max_examples=60)
@given(data=st.data())
def test_two_tokens_have_the_same_next_one(data: st.DataObject) -> None:
    for strategy in (ordered_samples, sentences, any_samples, any_sentences):
        assert not check_assumption(data.draw(strategy({"injective"})), "injective").holds
