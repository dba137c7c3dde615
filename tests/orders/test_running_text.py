"""Words of a text, as numbers."""

from pathlib import Path

import pytest

from marginaudit.orders import InputError
from marginaudit.orders.running_text import MOST_WORDS, OTHER, read_running_text, running_text


def test_words_are_runs_of_letters_and_digits_and_what_an_apostrophe_joins() -> None:
    found = running_text("x", "Don't—'quote' A_b 7up; it’s éa!")
    assert [found.vocabulary[i] for i in found.tokens] == ["don't", "quote", "a", "b", "7up", "it’s", "éa"]


def test_no_word_is_cut_at_a_combining_mark() -> None:
    """Words that blanks enclose stay whole in every script, composed or not; what is in none is counted."""
    text = "हिन्दी كِتَابٌ สวัสดี မြန်မာ cafe\u0301 \u0130stanbul 한국어 x!"
    found = running_text("x", text)
    assert found.vocabulary == (
        "हिन्दी", "كِتَابٌ", "สวัสดี", "မြန်မာ", "café", "i\u0307stanbul", "한국어", "x",
    )  # fmt: skip
    assert found.dropped == 1


def test_rare_words_are_one_token() -> None:
    words = [f"w{i}" for i in range(MOST_WORDS + 5)]
    found = running_text("x", " ".join(words + words[3:5]))
    assert len(found.vocabulary) == MOST_WORDS + 1
    assert found.vocabulary[:3] == ("w3", "w4", "w0")
    assert found.vocabulary[-1] == OTHER
    assert [i for i, token in enumerate(found.tokens.tolist()) if token == MOST_WORDS] == list(
        range(MOST_WORDS, MOST_WORDS + 5)
    )
    whole = running_text("x", " ".join(words[:MOST_WORDS]))
    assert OTHER not in whole.vocabulary
    assert len(whole.vocabulary) == MOST_WORDS


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.any"
    path.write_bytes(b"\xef\xbb\xbfone two\r\none")
    found = read_running_text(path)
    assert (found.name, found.vocabulary, found.tokens.tolist()) == ("mine", ("one", "two"), [0, 1, 0])
    path.write_bytes(b"one\ntwo \xff")
    with pytest.raises(InputError, match="line 2: got text that is not UTF-8, expected UTF-8"):
        read_running_text(path)
    with pytest.raises(InputError, match="expected a text file"):
        read_running_text(tmp_path / "none.txt")
