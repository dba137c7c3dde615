"""The smallest dataset of each strategy that a hunt draws from."""

from collections.abc import Callable

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st

from marginaudit.orders.ntp import Dataset
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
