"""Texts as numbers, and their restrictions."""

import pytest

from marginaudit.orders import InputError
from marginaudit.orders.ntp.realize.words import Text, numbered


def words(text: Text) -> list[list[str]]:
    names = [text.vocabulary[x] for x in text.token]
    return [names[lo:hi] for lo, hi in zip(text.start[:-1], text.start[1:], strict=True)]


SONG = [["row", "row", "your"], ["x"], [], ["boat", "row", "on"], ["row", "on"]]


def test_sentences_of_one_token_are_left_out() -> None:
    text = numbered("song", SONG)
    assert words(text) == [SONG[0], SONG[3], SONG[4]]
    assert text.vocabulary == ("row", "your", "boat", "on")
    assert (text.sentences, text.longest) == (3, 2)
    for sentences, got in ((SONG[1:3], "2 sentences of fewer than 2 tokens"), ([], "no sentence")):
        with pytest.raises(InputError, match=f"^song: got {got}, expected a sentence of at least 2 tokens"):
            numbered("song", sentences)


def test_no_longer_samples() -> None:
    for text in (numbered("song", SONG, 1), numbered("song", SONG).up_to_length(1)):
        assert words(text) == [["row", "row"], ["boat", "row"], ["row", "on"]]
        assert text.vocabulary == ("row", "boat", "on")
    assert words(numbered("song", SONG).up_to_length(2)) == words(numbered("song", SONG))


def test_the_first_sentences() -> None:
    text = numbered("song", SONG).of_sentences(1)
    assert words(text) == [["row", "row", "your"]]
    assert text.vocabulary == ("row", "your")


def test_rare_tokens_are_one() -> None:
    text = numbered("song", SONG)
    assert text.of_vocabulary(4) is text
    fewer = text.of_vocabulary(3)
    assert fewer.vocabulary == ("row", "on", "<unk>")
    assert words(fewer) == [["row", "row", "<unk>"], ["<unk>", "row", "on"], ["row", "on"]]
    assert words(text.of_vocabulary(2))[1] == ["<unk>", "row", "<unk>"]


def test_a_token_that_stands_for_others_already_goes_on_to() -> None:
    text = numbered("wiki", [["<unk>", "a", "<unk>", "b", "a", "<unk>"]]).of_vocabulary(2)
    assert text.vocabulary == ("a", "<unk>")
    assert words(text) == [["<unk>", "a", "<unk>", "<unk>", "a", "<unk>"]]
