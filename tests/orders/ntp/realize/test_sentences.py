"""Sentences of text, CSV and JSON-lines files, by word, character and id, and what is refused."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.orders import InputError
from marginaudit.orders.ntp import dataset_from_text
from marginaudit.orders.ntp.realize.reduced_samples import samples_of
from marginaudit.orders.ntp.realize.sentences import read_sentences
from marginaudit.orders.ntp.realize.words import numbered


def read(folder: Path, name: str, content: str, left_out: Counter[str] | None = None, **how: Any) -> list[list[str]]:
    path = folder / name
    path.write_bytes(content.encode())
    return list(read_sentences(path, Counter() if left_out is None else left_out, **how))


@given(st.text("ab # \n\r\t\u2028", max_size=30))
def test_a_text_has_the_samples_that_it_has_as_a_dataset(text: str) -> None:
    """But for lines of one word, which a dataset refuses."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        sentences = read(Path(folder), "a.txt", text)
    try:
        data = dataset_from_text(text)
    except InputError as error:
        assert not sentences or any(len(s) == 1 for s in sentences), error  # noqa: PT017
        return
    found = numbered("a", sentences)
    samples = samples_of(found)
    names = found.vocabulary
    assert names == data.vocabulary
    assert {
        (tuple(names[x] for x in samples.tokens_of(s)), names[samples.next[s]]): samples.count[s]
        for s in range(len(samples))
    } == {(s.tokens, s.next): count for s, count in zip(data.samples, data.counts, strict=True)}


def test_units(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", " S V \n\n# O P\nS #") == [["S", "V"], ["S", "#"]]
    assert read(tmp_path, "a.txt", " é b\t", unit="char") == [["é", " ", "b"]]
    assert read(tmp_path, "a.txt", "12 007 3", unit="id") == [["12", "007", "3"]]
    with pytest.raises(InputError, match=r"a\.txt: line 2: got '-1', expected ids: whole numbers"):
        read(tmp_path, "a.txt", "1 2\n3 -1", unit="id")
    assert read(tmp_path, "a.jsonl", '{"text": [1, "2"]}', unit="id") == [["1", "2"]]
    for token in ("-5", '"x"', '"1 2"'):
        with pytest.raises(InputError, match=r"a\.jsonl: line 1: got .*, expected ids: whole numbers"):
            read(tmp_path, "a.jsonl", f'{{"text": [1, {token}]}}', unit="id")


def test_prose(tmp_path: Path) -> None:
    text = 'He said, "Stop! It\'s 3.14 now."\nThen they\nwent.\n\nA title\n\n# no comment here? Yes'
    assert read(tmp_path, "a.txt", text, prose=True) == [
        ["he", "said", "stop"],
        ["it's", "3.14", "now"],
        ["then", "they", "went"],
        ["a", "title"],
        ["no", "comment", "here"],
        ["yes"],
    ]
    rows = '{"text": "One two"}\n{"text": "three. Four"}\n{"text": ["A", "."]}\n'
    expected = [["one", "two"], ["three"], ["four"], ["A", "."]]
    assert read(tmp_path, "a.jsonl", rows, prose=True) == expected
    assert read(tmp_path, "a.txt", "Ab. c", prose=True, unit="char") == [["a", "b"], ["c"]]


def test_sentences_and_words_of_other_scripts(tmp_path: Path) -> None:
    """Each ends with its script's mark; nothing else is dropped, and the marks are counted."""
    sentences = {
        "हिन्दी में लिखा हुआ।": ["हिन्दी", "में", "लिखा", "हुआ"],
        "كِتَابٌ جَدِيدٌ؟": ["كِتَابٌ", "جَدِيدٌ"],
        "日本のテキスト。": ["日", "本", "の", "テキスト"],
        "สวัสดี ครับ.": ["สวัสดี", "ครับ"],
        "Cafe\u0301 à I\u0307stanbul!": ["café", "à", "i\u0307stanbul"],
    }
    dropped: Counter[str] = Counter()
    assert read(tmp_path, "a.txt", " ".join(sentences), dropped, prose=True) == list(sentences.values())
    assert dropped == {"characters": 5}
    found = read(tmp_path, "a.txt", "नमस्ते e\u0301", unit="char")
    assert found == [["न", "म", "स्ते", " ", "é"]]


def test_comments_are_of_text_files_of_words_alone(tmp_path: Path) -> None:
    for name, content in (("a.csv", 'text\n"# a\n#b c"\n'), ("a.jsonl", json.dumps({"text": "# a\n#b c"}))):
        assert read(tmp_path, name, content) == [["#", "a"], ["#b", "c"]]
    assert read(tmp_path, "a.txt", "#!+\n", unit="char") == [["#", "!", "+"]]
    gone: Counter[str] = Counter()
    assert read(tmp_path, "a.txt", "# a\nb c\n #d", gone) == [["b", "c"]]
    assert gone == {"comments": 2}


def test_a_column_of_csv(tmp_path: Path) -> None:
    table = 'id,text\n1,"a b, ""c""\nd e"\n\n2,f g\n   \n'
    with pytest.raises(
        InputError, match=r"a\.csv: line 7: got a row of 1 cell, expected at least 2, up to column 'text'"
    ):
        read(tmp_path, "a.csv", f"{table}3\n")
    [long] = read(tmp_path, "a.csv", f"text\n{'a b ' * 40_000}\n")  # 160,000 characters
    assert long == ["a", "b"] * 40_000
    assert read(tmp_path, "a.csv", table) == [["a", "b,", '"c"'], ["d", "e"], ["f", "g"]]
    assert read(tmp_path, "a.csv", table, column="id", unit="id") == [["1"], ["2"]]
    with pytest.raises(
        InputError, match=r"a\.csv: line 1: got the columns \['id', 'text'\], expected one named 'body'"
    ):
        read(tmp_path, "a.csv", table, column="body")
    with pytest.raises(InputError, match=r"a\.csv: line 1: got 2 columns named 'text', expected one"):
        read(tmp_path, "a.csv", "text,b,text\n1,2,3\n")
    with pytest.raises(InputError, match=r"a\.csv: line 1: got the columns \[\], expected one named 'text'"):
        read(tmp_path, "a.csv", "")
    with pytest.raises(InputError, match=r"a\.csv: line 2: got no CSV .*, expected CSV"):
        read(tmp_path, "a.csv", 'text\n"a b')


def test_a_field_of_json_lines(tmp_path: Path) -> None:
    rows = [{"text": "a b\nc d"}, {"text": ["x y", 3]}, {"text": []}, {"text": "e", "more": 1}]
    content = "\n".join(map(json.dumps, rows)) + "\n\n"
    assert read(tmp_path, "a.jsonl", content) == [["a", "b"], ["c", "d"], ["x y", "3"], [], ["e"]]
    assert read(tmp_path, "a.NDJSON", '{"ids": "4 5"}', column="ids", unit="id") == [["4", "5"]]
    for line, got in (
        ("[1]", "line 1: got \\[1\\], expected an object with the key 'text'"),
        ("{}", "line 1: got an object without the key 'text', expected an object with the key 'text'"),
        ('{"text": 1}', "line 1: /text: got 1, expected a string"),
        ('{"text": ["a", true]}', "line 1: /text/1: got True, expected a string"),
        ('{"text": "\\ud800 a"}', "line 1: /text: got '.*', expected a string that UTF-8 can encode"),
        ("{", "line 1: line 1 column 2: got invalid JSON"),
        ('{"text": "a", "text": "b"}', "line 1: got an object with 2 keys 'text', expected each key once"),
        (
            '{"text": "a", "b": [{"c": 1, "c": 2}]}',
            "line 1: /b/0: got an object with 2 keys 'c', expected each key once",
        ),
    ):
        with pytest.raises(InputError, match=rf"a\.jsonl: {got}"):
            read(tmp_path, "a.jsonl", line)


def test_what_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"got the ending '.json', expected one of .txt, .csv, .jsonl, .ndjson"):
        read(tmp_path, "a.json", "{}")
    with pytest.raises(InputError, match=r"a\.txt: got the column 'x', expected none, for a .txt file"):
        read(tmp_path, "a.txt", "a b", column="x")
    with pytest.raises(InputError, match=r"none\.csv: got No such file or directory, expected a CSV file"):
        list(read_sentences(tmp_path / "none.csv", Counter()))
