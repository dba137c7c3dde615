"""What the stand-alone checker reads as a dataset, and the exit status where it reads none."""

import json
import sys
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

import marginaudit.margins.ntp.verify as checker
from marginaudit.orders import InputError
from marginaudit.orders.ntp import (
    read_dataset,
)
from tests.command_line import Command
from tests.margins.ntp.readings import A_STRING, DATA, TRUE, unreadable, with_change, written

DATASETS = [
    ("nema", 1, "/nema: got 1, expected no key but name, vocabulary, sentences, samples, next_token, embedding"),
    ("name", "", "/name: got '', expected a string that is not empty"),
    ("name", "\ud800", "/name: got '\\ud800', expected a string that is not empty"),
    ("vocabulary", "abq", "/vocabulary: got 'abq', expected an array"),
    ("vocabulary", ["a", "b", "q/~", "a"], "/vocabulary/3: got 'a', expected each token once"),
    ("vocabulary", ["a", "b", 3], f"/vocabulary/2: got 3, {A_STRING}"),
    ("vocabulary", ["a", "b", "\ud800"], f"/vocabulary/2: got '\\ud800', {A_STRING}"),
    ("vocabulary", ["a", "b", "\udfff"], f"/vocabulary/2: got '\\udfff', {A_STRING}"),
    ("vocabulary", ["a", "b"], "/sentences/1: got 'q/~', expected a token of the vocabulary"),
    ("vocabulary", [], "/sentences/0: got 'a', expected a token of the vocabulary"),
    ("sentences", {}, "/sentences: got {}, expected an array"),
    ("sentences.0", "ab", "/sentences/0: got 'ab', expected an array"),
    ("sentences.0", ["a"], "/sentences/0: got ['a'], expected at least 2 tokens"),
    ("sentences.1.1", 1, f"/sentences/1/1: got 1, {A_STRING}"),
    ("sentences.1", ["q/~", "b"], "/sentences/1: got 'b', expected 'a' after 'q/~', as in next_token"),
    ("samples", None, "/samples: got None, expected an array"),
    ("samples.0", ["a"], "/samples/0: got ['a'], expected an object"),
    ("samples.0.tokens", ..., "/samples/0: got {'next': 'b', 'count': 2}, expected the key 'tokens'"),
    ("samples.0.next", ..., "expected the key 'next'"),
    ("samples.0.tokens", [], "/samples/0/tokens: got [], expected at least one token"),
    ("samples.0.tokens", "aq", "/samples/0/tokens: got 'aq', expected an array"),
    ("samples.0.next", ["b"], f"/samples/0/next: got ['b'], {A_STRING}"),
    ("samples.0.next", "c", "/samples/0: got 'c', expected a token of the vocabulary"),
    ("samples.0.count", 0, "/samples/0/count: got 0, expected a positive integer"),
    ("samples.0.count", True, "/samples/0/count: got True, expected a positive integer"),
    ("samples.0.count", 1.0, "/samples/0/count: got 1.0, expected a positive integer"),
    ("samples.0.cuont", 1, "/samples/0/cuont: got 1, expected no key but tokens, next, count"),
    ("next_token", [], "/next_token: got [], expected an object"),
    ("next_token.q/~", 1, f"/next_token/q~1~0: got 1, {A_STRING}"),
    ("next_token.q/~", "z", "/next_token/q~1~0: got 'z', expected a token of the vocabulary"),
    ("next_token.z", "a", "/next_token/z: got 'z', expected a token of the vocabulary"),
    ("next_token.a", "q/~", "/sentences/0: got 'b', expected 'q/~' after 'a', as in next_token"),
    ("embedding", None, "/embedding: got None, expected an array"),
    ("embedding", [[1]], "/embedding: got 1, expected 3, one row per token"),
    ("embedding", [[], [], []], "/embedding/0: got [], expected as many numbers as in row 0, at least 1"),
    ("embedding.1", [0, 1], "/embedding/1: got [0.0, 1.0], expected as many numbers as in row 0, at least 1"),
    ("embedding.1", 1, "/embedding/1: got 1, expected an array"),
    ("embedding.1.2", True, "/embedding/1/2: got True, expected a finite number"),
    ("embedding.1.2", "0", "/embedding/1/2: got '0', expected a finite number"),
    ("embedding.1.2", 10**400, "/embedding/1/2: got 1000"),
    ("embedding.1.2", float("nan"), "/embedding/1/2: got nan, expected a finite number"),
    ("embedding.1.2", float("-inf"), "/embedding/1/2: got -inf, expected a finite number"),
]


@pytest.mark.parametrize(("path", "value", "line"), DATASETS)
def test_datasets_of_another_form(
    path: str, value: Any, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = written(tmp_path, with_change(DATA, path, value), TRUE)
    assert line in unreadable(paths, capsys)
    with pytest.raises(InputError):
        read_dataset(paths[0])


@pytest.mark.parametrize("document", [{}, {"sentences": []}, {"samples": [], "vocabulary": ["a"]}, [], None, 5, "abc"])
def test_datasets_of_nothing(document: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = written(tmp_path, json.dumps(document), TRUE)
    assert unreadable(paths, capsys).endswith(("expected a sentence or a sample", "expected an object"))
    with pytest.raises(InputError):
        read_dataset(paths[0])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a b\n# c\r\n\nc\n", "line 4: got ['c'], expected at least 2 tokens"),
        ("c", "line 1: got ['c'], expected at least 2 tokens"),
        ("\n#a b\n", "got {}, expected a sentence or a sample"),
    ],
)
def test_text_datasets_of_another_form(
    text: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data.json.txt"
    data.write_text(text, newline="")
    certificate = written(tmp_path, DATA, TRUE)[1]
    assert checker.main([str(data), str(certificate)]) == 2
    assert capsys.readouterr().err == f"{data}: {line}\n"


def test_the_smallest_count_and_the_characters_round_surrogates_are_read(tmp_path: Path) -> None:
    names = ["\ud7ff", "\ue000", "\U0001f600"]
    data = {"sentences": [names], "samples": [{"tokens": [names[2]], "next": names[0], "count": 1}]}
    assert checker.read(written(tmp_path, data, TRUE)[0], checker.read_dataset).vocabulary == set(names)


def test_values_are_shown_up_to_sixty_characters() -> None:
    assert checker.shown("x" * 58) == repr("x" * 58)
    assert checker.shown("x" * 59) == repr("x" * 59)[:60] + " .."


REPEATED_IN_DATA = [
    ('"name"', "/name"),
    ('"samples"', "/samples"),
    ('"count"', "/samples/0/count"),
    ('"q/~": "a"', "/next_token/q~1~0"),
]


REPEATED_IN_CERTIFICATE = [
    ('"format"', "/format"),
    ('"multiplier"', "/ov/multiplier"),
    ('"weights"', "/kq/weights"),
    ('"holds"', "/kq/closed_form/q~1~0/holds"),
    ('"q/~": [', "/kq/multipliers/q~1~0"),
]


@pytest.mark.parametrize(("member", "pointer"), [*REPEATED_IN_DATA, *REPEATED_IN_CERTIFICATE])
def test_a_key_stated_twice(member: str, pointer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [json.dumps(DATA), json.dumps(TRUE)]
    which = int((member, pointer) in REPEATED_IN_CERTIFICATE)
    key = member.split(":")[0]
    assert texts[which].count(member) >= 1
    texts[which] = texts[which].replace(member, f"{key}: 0, {member}", 1)
    paths = written(tmp_path, *texts)
    assert unreadable(paths, capsys) == f"{pointer}: got this key more than once in one object, expected once"
    if not which:
        with pytest.raises(InputError, match=f"got an object with 2 keys '{key[1:-1]}', expected each key once"):
            read_dataset(paths[0])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(None, "got No such file or directory, expected a file that can be read", id="missing"),
        pytest.param(b"", "got Expecting value: line 1 column 1 (char 0), expected", id="empty"),
        pytest.param(b"[" * 100_000, "got JSON nested too deeply, expected", id="deep array"),
        pytest.param(b'{"a": "\xff"}', "got 'utf-8' codec can't decode byte 0xff in position 7", id="no UTF-8"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "got Exceeds the limit", id="digits"),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_files_that_cannot_be_read(
    content: bytes | None, line: str, which: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Command
) -> None:
    paths = written(tmp_path, DATA, TRUE)
    paths[which].unlink() if content is None else paths[which].write_bytes(content)
    assert unreadable(paths, capsys).startswith(line)
    refused = command.refused("verify", *paths)
    assert refused.startswith(f"{paths[which]}: ")
    if which:
        assert refused.removeprefix(f"{paths[1]}: ").startswith(line.partition(", expected")[0])


@pytest.mark.parametrize("name", ["folder", "data.yaml", "data"])
def test_paths_that_are_no_dataset(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Command
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "data.yaml").write_text(json.dumps(DATA))
    (tmp_path / "data").write_text(json.dumps(DATA))
    certificate = written(tmp_path, DATA, TRUE)[1]
    assert checker.main([f"{tmp_path}/{name}", str(certificate)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.strip().isprintable()
    assert name == "folder" or name in err
    command.refused("verify", f"{tmp_path}/{name}", certificate)


def test_a_folder_as_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Command) -> None:
    data, folder = written(tmp_path, DATA, TRUE)[0], tmp_path / "folder.json"
    folder.mkdir()
    assert unreadable((data, folder), capsys) == "got no regular file, expected one"
    assert command.refused("verify", data, folder).startswith(f"{folder}: got Is a directory")


def test_the_command_has_the_checker_s_status_and_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Command
) -> None:
    for certificate, status in (
        (TRUE, 0),
        (with_change(TRUE, "kq.norm_squared", "1/3"), 1),
        (with_change(TRUE, "kq.norm_squared", "1e100000000"), 2),
        (with_change(TRUE, "kq.weights", [1]), 2),
    ):
        paths = written(tmp_path, DATA, certificate)
        assert checker.main([str(path) for path in paths]) == status
        alone = capsys.readouterr()
        answer = command("verify", *paths)
        assert answer.status == status
        assert answer.out == "".join(f"confirmed: {line}\n" for line in alone.out.splitlines())
        assert answer.err == ("marginaudit: " + alone.err if status == 2 else alone.err)


def test_a_built_in_case_by_name(tmp_path: Path, command: Command) -> None:
    for folder in ("", "folder"):
        path = tmp_path / folder / "certificate.json"
        path.parent.mkdir(exist_ok=True)
        assert command("solve", "example-1", "--certificate", path).status == 0
        assert command("verify", "example-1", path).status == 0
        assert command("verify", "section-7", path).status == 1


@pytest.mark.parametrize("stdout", [TextIOWrapper(BytesIO(), encoding="ascii"), StringIO()], ids=["ASCII", "no file"])
def test_tokens_that_the_output_cannot_encode_are_escaped(
    stdout: TextIOWrapper | StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "\u00e9"
    samples = [{"tokens": ["a", "b", query], "next": token} for token in "ab"]
    data = {"samples": samples, "next_token": {"a": "b", "b": "a", query: query}}
    proof = {"format": checker.FORMAT, "kq": {"status": "infeasible", "query": query, "cycle": ["a", "b"]}}
    monkeypatch.setattr(sys, "stdout", stdout)
    assert checker.main([str(path) for path in written(tmp_path, data, proof)]) == 0
    stdout.seek(0)
    assert ("\\xe9" if isinstance(stdout, TextIOWrapper) else query) in stdout.read()


def test_an_error_of_the_checker_itself_is_no_refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> list[str]:
        raise ZeroDivisionError("of\x1b[31m a token")

    monkeypatch.setattr(checker, "verify", fails)
    assert checker.main(["data.json", "proof.json"]) == 70
    out, err = capsys.readouterr()
    assert (out, err.splitlines()[0]) == ("", "Traceback (most recent call last):")
    assert all(line.isprintable() for line in err.splitlines())
    assert err.splitlines()[-1] == "internal error: ZeroDivisionError; neither confirmed nor refused"
