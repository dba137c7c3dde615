"""A small dataset in one line, and what `classify` answers of a large one."""

import pytest

from marginaudit.orders.ntp import CASES, Dataset
from marginaudit.orders.ntp import kind as description
from marginaudit.orders.ntp.kind import describe, in_words


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (["aa"], "1 token, 1 sample (a -> a; n(x) = x)"),
        (["aa", "bb"], "2 tokens, 2 samples (a -> a; b -> b; n(x) = x)"),
        (["ab", "ba", "cc"], "3 tokens, 3 samples (a -> b; b -> a; c -> c; n(a) = b, n(b) = a, else n(x) = x)"),
        (["ab", "ba"], "2 tokens, 2 samples (a -> b; b -> a; n(a) = b, n(b) = a)"),
    ],
)
def test_in_words(sentences: list[str], expected: str) -> None:
    """Only the tokens that n moves are listed, and the others are named where there are any."""
    assert in_words(Dataset.from_sentences("d", sentences)) == expected


def test_tokens_without_a_relation_are_listed_up_to_a_number_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    data = CASES["section-7"]()
    whole = describe(data)
    names = data.V * len(data.orders)
    monkeypatch.setattr(description, "MOST_NAMES", names)
    assert describe(data) == whole
    monkeypatch.setattr(description, "MOST_NAMES", names - 1)
    short = describe(data)
    for query, found in whole["queries"].items():
        found["non_comparable"] = None
        assert short["queries"][query] == found
    assert short == whole
