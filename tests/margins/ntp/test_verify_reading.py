"""What the stand-alone checker reads as a dataset and as a certificate, and the exit status where it reads none."""

import copy
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import marginaudit.margins.ntp.verify as checker
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.margins.ntp.verify import FORMAT, Unreadable
from marginaudit.orders import InputError
from marginaudit.orders.ntp import (
    CollocationError,
    Dataset,
    broken,
    dataset_from_document,
    dataset_to_document,
    read_dataset,
)
from tests.command_line import Command
from tests.strategies import documents

DATA: dict[str, Any] = {
    "name": "tiny",
    "vocabulary": ["a", "b", "q/~"],
    "sentences": [["a", "b"], ["b", "q/~"]],
    "samples": [{"tokens": ["a", "q/~"], "next": "b", "count": 2}],
    "next_token": {"q/~": "a"},
    "embedding": [[1, 0, 0], [0, 1.0, 0], [0, 0, 1]],
}
TINY = dataset_from_document(DATA)
TRUE = certificate_document(TINY, ov=solve_ov(TINY), kq=solve_kq(TINY))
CYCLE = {"format": FORMAT, "kq": {"status": "infeasible", "query": "q", "cycle": ["a", "b"]}}


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


def with_change(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The document with a value at the place, or without it where the value is `...`."""
    *parents, last = path.split(".")
    copied = copy.deepcopy(document)
    place: Any = copied
    for key in parents:
        place = place[int(key) if isinstance(place, list) else key]
    if value is ...:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return copied


def written(folder: Path, data: Any, certificate: Any) -> tuple[Path, Path]:
    paths = folder / "data.json", folder / "certificate.json"
    for path, document in zip(paths, (data, certificate), strict=True):
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return paths


def unreadable(paths: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> str:
    """The line that is printed with exit status 2, without the file's name."""
    capsys.readouterr()
    assert checker.main([str(path) for path in paths]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.strip("\n").isprintable()
    return err.strip("\n").split(".json: ", 1)[1]


def test_the_truth_is_confirmed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = written(tmp_path, DATA, TRUE)
    assert checker.main([str(path) for path in paths]) == 0
    assert capsys.readouterr().out == "ov: optimal, ||W*||^2 = 2\nkq: optimal, ||W*||^2 = 1/2, 1 constraint\n"


A_RATIONAL = 'expected a rational "p/q" in lowest terms, of at most 4000 digits each'
A_STRING = "expected a string that UTF-8 can encode"
NOT_RATIONAL = [
    "1e100000000",
    "1",
    "2/4",
    "0/2",
    "1/0",
    "0/0",
    "-0/1",
    "+1/2",
    "1/-2",
    "01/2",
    "1/02",
    " 1/2",
    "1/2 ",
    "1/2\n",
    "1_0/3",
    "0.5",
    "0.5/1",
    "",
    "/",
    "١/٢",
    "²/3",
    "nan",
    "9" * 4001 + "/1",
    "1/" + "1" * 4001,
    "-" + "9" * 4001 + "/1",
    "9" * 5000 + "/" + "7" * 5000,
    True,
    0.5,
    1,
    None,
    ["1/2"],
    {"1": "2"},
]
RATIONALS = ["ov.norm_squared", "ov.at_next_token", "kq.norm_squared", "kq.weights.q/~.a", "kq.multipliers.q/~.0.2"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("value", NOT_RATIONAL, ids=lambda value: repr(value)[:20])
def test_only_rationals_in_lowest_terms_are_rationals(
    value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in RATIONALS:
        pointer = "/" + path.replace("q/~", "q~1~0").replace(".", "/")
        line = unreadable(written(tmp_path, DATA, with_change(TRUE, path, value)), capsys)
        assert line.startswith(f"{pointer}: got ")
        assert line.endswith(f", {A_RATIONAL}")


@pytest.mark.parametrize("text", ["9" * 4000 + "/1", "-1/" + "1" * 4000, "0/1", "10/3", "-12/35"])
def test_rationals_of_the_form(text: str) -> None:
    assert checker.is_rational(text)


def test_differences_too_long_to_print_are_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = {"q/~": {"a": "9" * 4000 + "/1", "q/~": "-1/2"}}
    paths = written(tmp_path, DATA, with_change(TRUE, "kq.weights", weights))
    assert checker.main([str(path) for path in paths]) == 1
    assert capsys.readouterr().err == "refused: kq: ||W||^2 is a number of thousands of digits, stated 1/2\n"


CERTIFICATES = [
    (
        "format",
        "marginaudit-certificate-2",
        "/format: got 'marginaudit-certificate-2', expected 'marginaudit-certificate-1'",
    ),
    ("format", ..., f"got {repr(with_change(TRUE, 'format', ...))[:60]} .., expected the key 'format'"),
    (
        "format",
        ["marginaudit-certificate-1"],
        "/format: got ['marginaudit-certificate-1'], expected 'marginaudit-certificate-1'",
    ),
    ("note", 1, "/note: got 1, expected no key but format, dataset, ov, kq"),
    ("dataset", 5, f"/dataset: got 5, {A_STRING}"),
    ("ov", None, "/ov: got None, expected an object"),
    ("ov", [], "/ov: got [], expected an object"),
    ("ov.status", "infeasible", "/ov/status: got 'infeasible', expected 'optimal'"),
    ("ov.multiplier", ..., "expected the key 'multiplier'"),
    (
        "ov.gap",
        "0/1",
        "/ov/gap: got '0/1', expected no key but norm_squared, at_next_token, elsewhere, multiplier, status",
    ),
    ("kq", None, "/kq: got None, expected an object"),
    ("kq", "optimal", "/kq: got 'optimal', expected an object"),
    ("kq.status", "unbounded", "/kq/status: got 'unbounded', expected 'optimal' or 'infeasible'"),
    ("kq.status", {}, "/kq/status: got {}, expected 'optimal' or 'infeasible'"),
    ("kq.status", "infeasible", "expected the key 'query'"),
    ("kq.status", ..., "expected the key 'status'"),
    ("kq.norm_squared", ..., "expected the key 'norm_squared'"),
    ("kq.weights", [1], "/kq/weights: got [1], expected an object"),
    ("kq.weights", ..., "expected the key 'weights'"),
    ("kq.weights.q/~", "1/2", "/kq/weights/q~1~0: got '1/2', expected an object"),
    ("kq.weights.\ud800", {}, "/kq/weights/\\ud800: got {}, expected no key but "),
    ("kq.multipliers", {"q": 1}, "/kq/multipliers/q: got 1, expected an array"),
    ("kq.multipliers", ..., "expected the key 'multipliers'"),
    ("kq.multipliers.q/~.0", {"a": "q"}, "/kq/multipliers/q~1~0/0: got {'a': 'q'}, expected an array"),
    ("kq.multipliers.q/~.0", ["a", "q/~"], "/kq/multipliers/q~1~0/0: got ['a', 'q/~'], expected an array of 3"),
    ("kq.multipliers.q/~.0", ["a", "b", "0/1", "0/1"], "expected an array of 3"),
    ("kq.multipliers.q/~.0", "abc", "/kq/multipliers/q~1~0/0: got 'abc', expected an array"),
    ("kq.multipliers.q/~.0.1", 7, f"/kq/multipliers/q~1~0/0/1: got 7, {A_STRING}"),
    ("kq.multipliers.q/~.0.0", ["a"], f"/kq/multipliers/q~1~0/0/0: got ['a'], {A_STRING}"),
    ("kq.closed_form", [], "/kq/closed_form: got [], expected an object"),
    ("kq.closed_form.q/~", True, "/kq/closed_form/q~1~0: got True, expected an object"),
    ("kq.closed_form.q/~.holds", 1, "/kq/closed_form/q~1~0/holds: got 1, expected a boolean"),
    ("kq.closed_form.q/~.holds", ..., "expected the key 'holds'"),
    ("kq.closed_form.q/~.S", "ab", "/kq/closed_form/q~1~0/S: got 'ab', expected an array"),
    ("kq.closed_form.q/~.S", [["a"]], f"/kq/closed_form/q~1~0/S/0: got ['a'], {A_STRING}"),
    ("kq.closed_form.q/~.S", ..., "expected the key 'S'"),
    ("kq.closed_form.q/~.T", [], "/kq/closed_form/q~1~0/T: got [], expected no key but holds, S"),
    (
        "kq.cycle",
        ["a"],
        "/kq/cycle: got ['a'], expected no key but status, norm_squared, weights, multipliers, closed_form",
    ),
]


@pytest.mark.parametrize(("path", "value", "line"), CERTIFICATES)
def test_certificates_of_another_form(
    path: str, value: Any, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert line in unreadable(written(tmp_path, DATA, with_change(TRUE, path, value)), capsys)


CYCLES = [
    ("kq.query", 5, f"/kq/query: got 5, {A_STRING}"),
    ("kq.query", ..., "expected the key 'query'"),
    ("kq.cycle", ..., "expected the key 'cycle'"),
    ("kq.cycle", "ab", "/kq/cycle: got 'ab', expected an array"),
    ("kq.cycle", ["a", None], f"/kq/cycle/1: got None, {A_STRING}"),
    ("kq.weights", {}, "/kq/weights: got {}, expected no key but status, query, cycle"),
]


@pytest.mark.parametrize(("path", "value", "line"), CYCLES)
def test_cycles_of_another_form(
    path: str, value: Any, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert line in unreadable(written(tmp_path, DATA, with_change(CYCLE, path, value)), capsys)


def test_a_certificate_states_something(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = {"format": FORMAT, "dataset": "tiny"}
    line = unreadable(written(tmp_path, DATA, nothing), capsys)
    assert line == f"got {nothing!r}, expected the key 'ov' or 'kq'"[: len(line)]
    assert line.endswith("expected the key 'ov' or 'kq'")


DATASETS = [
    ("nema", 1, "/nema: got 1, expected no key but name, vocabulary, sentences, samples, next_token, embedding"),
    ("name", "", "/name: got '', expected a string that is not empty"),
    ("name", None, "/name: got None, expected a string that is not empty"),
    ("name", "\ud800", "/name: got '\\ud800', expected a string that is not empty"),
    ("vocabulary", None, "/vocabulary: got None, expected an array"),
    ("vocabulary", "abq", "/vocabulary: got 'abq', expected an array"),
    ("vocabulary", ["a", "b", "q/~", "a"], "/vocabulary/3: got 'a', expected each token once"),
    ("vocabulary", ["a", "b", 3], f"/vocabulary/2: got 3, {A_STRING}"),
    ("vocabulary", ["a", "b", "\ud800"], f"/vocabulary/2: got '\\ud800', {A_STRING}"),
    ("vocabulary", ["a", "b"], "/sentences/1: got 'q/~', expected a token of the vocabulary"),
    ("vocabulary", [], "/sentences/0: got 'a', expected a token of the vocabulary"),
    ("sentences", {}, "/sentences: got {}, expected an array"),
    ("sentences.0", "ab", "/sentences/0: got 'ab', expected an array"),
    ("sentences.0", ["a"], "/sentences/0: got ['a'], expected at least 2 tokens"),
    ("sentences.1.1", 1, f"/sentences/1/1: got 1, {A_STRING}"),
    ("sentences.1", ["q/~", "b"], "/sentences/1: got 'b', expected 'a' after 'q/~', as next_token says"),
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
    ("next_token.a", "q/~", "/sentences/0: got 'b', expected 'q/~' after 'a', as next_token says"),
    ("embedding", None, "/embedding: got None, expected an array"),
    ("embedding", [[1]], "/embedding: got 1, expected 3, one row a token"),
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


@pytest.mark.parametrize("token", ["\ud800", chr(0xDFFF), "a\udc00", "\udbffb"])
def test_half_a_surrogate_pair_is_no_text(token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = written(tmp_path, with_change(DATA, "vocabulary.0", token), TRUE)
    assert unreadable(paths, capsys) == f"/vocabulary/0: got {checker.printable(repr(token))}, {A_STRING}"
    with pytest.raises(InputError):
        read_dataset(paths[0])


def test_the_smallest_count_and_the_characters_round_surrogates_are_read(tmp_path: Path) -> None:
    names = ["\ud7ff", "\ue000", "\U0001f600"]
    data = {"sentences": [names], "samples": [{"tokens": [names[2]], "next": names[0], "count": 1}]}
    assert checker.read(written(tmp_path, data, TRUE)[0], checker.read_dataset).vocabulary == set(names)


def test_values_are_shown_up_to_sixty_characters() -> None:
    assert checker.shown("x" * 58) == repr("x" * 58)
    assert checker.shown("x" * 59) == repr("x" * 59)[:60] + " .."


@pytest.mark.parametrize("arguments", [[], ["data.json"], ["a", "b", "c"]])
def test_two_files_are_asked_for(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert checker.main(arguments) == 2
    assert capsys.readouterr() == ("", "usage: verify.py DATASET CERTIFICATE\n")


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
        pytest.param(b"{", "got Expecting property name enclosed in double quotes: line 1 column 2", id="half"),
        pytest.param(b"[" * 100_000, "got JSON nested too deeply, expected", id="deep array"),
        pytest.param(b'{"a":' * 100_000, "got JSON nested too deeply, expected", id="deep object"),
        pytest.param(b'{"a": "\xff"}', "got 'utf-8' codec can't decode byte 0xff in position 7", id="no UTF-8"),
        pytest.param(b"\xff\xfe{\0}\0", "got 'utf-8' codec can't decode byte 0xff in position 0", id="UTF-16"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "got Exceeds the limit", id="digits"),
        pytest.param(b"\0", "got Expecting value", id="zero byte"),
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


@pytest.mark.parametrize("name", ["folder", "a\0b", "x" * 5000, "data.yaml", "data", "\udcff.json"])
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
    if name != "folder" and "\0" not in name:
        assert name[:200].replace("\udcff", "\\udcff") in err
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


def test_names_that_the_terminal_cannot_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A token of other letters on a terminal of ASCII, and one that would clear the screen."""
    cyclic = broken(Dataset.from_sentences("é", [["é", "a"], ["a", "é"]]), "well_defined_orders")
    text = json.dumps(dataset_to_document(cyclic)).replace("x4", "\\u00e9x").replace("x3", "\\u001b[2J")
    cycle: dict[str, Any] = {
        "format": FORMAT,
        "kq": {"status": "infeasible", "query": "éx", "cycle": ["éx", "\x1b[2J"]},
    }
    paths = [str(path) for path in written(tmp_path, text, cycle)]
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    assert checker.main(paths) == 0
    sys.stdout.flush()
    assert shown.getvalue() == b"kq: infeasible, a cycle of 2 tokens under query '\\xe9x'\n"
    cycle["kq"]["cycle"].reverse()
    cycle["kq"]["query"] = "\x1b[2J"
    written(tmp_path, text, cycle)
    assert checker.main(paths) == 1
    err = capsys.readouterr().err
    assert err.strip().isprintable()
    assert "\\x1b[2J" in err


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


FLOAT64_LIMITS = ("at most 1e50", "at least 1e-50", "float64 has every integer")


def read_both(path: Path) -> tuple[Any, Any]:
    """What the product's reader and the checker's make of a file: None where it is refused."""
    try:
        data = read_dataset(path)
    except InputError as error:
        ours = None
        if any(limit in str(error) for limit in FLOAT64_LIMITS):
            return None, None
    else:
        ours = (
            set(data.vocabulary),
            {(sample.tokens, sample.next) for sample in data.samples},
            dict(data.next_token),
            [] if data.embedding is None else data.embedding.tolist(),
        )
    try:
        theirs = tuple(checker.read(path, checker.read_dataset))
    except Unreadable:
        theirs = None
    return ours, theirs


ODD = "\t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u3000\ufeff\u200b\x00\x1a#é😀"
MARK = b"\xef\xbb\xbf"


@settings(max_examples=200)
@given(
    text=st.text(st.sampled_from("ab #\n" + ODD), max_size=30),
    start=st.sampled_from([b"", b"", MARK, MARK + MARK, b"\xff"]),
    words=st.lists(st.sampled_from(["a b", "#a b", "a #b", "\r\n", "\n", " ", "c"]), max_size=6),
)
@example(text="a b\x0cc\u2028d\x85e\x1cf\rb a\r\n", start=b"", words=[])
@example(text="a\u2028b c", start=MARK, words=["\r\n", "c", "\x0b"])
def test_text_datasets_read_the_same_in_both_readers(
    text: str, start: bytes, words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "text.txt"
    for content in (text, "a b\n" + text, "".join(words) + text):
        path.write_bytes(start + content.encode())
        ours, theirs = read_both(path)
        assert ours == theirs


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        1.5,
        "",
        "a",
        "S",
        "\ud800",
        [],
        {},
        [[]],
        ["S"],
        [1],
        [["S"]],
        {"S": "S"},
        {"": []},
        10**30,
    ]
)


@st.composite
def odd_documents(draw: st.DrawFn) -> str:
    """A valid document, some of whose values and keys are exchanged, left out or repeated."""
    document = draw(documents())
    for _ in range(draw(st.integers(0, 2))):
        place: Any = document
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
                place = place[key]
                continue
            if draw(st.booleans()):
                place[key] = draw(JUNK)
            elif isinstance(place, dict) and draw(st.booleans()):
                place[draw(st.sampled_from(["", "a", "count", "next", "name"]))] = place.pop(key)
            else:
                del place[key]
            break
    text = json.dumps(document)
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.sampled_from([i for i, c in enumerate(text) if c == "{"]))
        text = text[: at + 1] + draw(st.sampled_from(['"name": "x", ', '"S": "S", ', '"count": 1, '])) + text[at + 1 :]
        text = text.replace(", }", "}")
    return draw(st.sampled_from(["", "", "\ufeff", " "])) + text


@settings(max_examples=200)
@given(text=odd_documents())
def test_json_datasets_read_the_same_in_both_readers(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "document.json"
    path.write_bytes(text.encode())
    ours, theirs = read_both(path)
    assert ours == theirs


@settings(max_examples=60)
@given(document=documents())
def test_constraints_are_the_product_s(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "constraints.json"
    path.write_text(json.dumps(document))
    dataset, data = read_dataset(path), checker.read(path, checker.read_dataset)
    try:
        n = dataset.collocation.require_function()
    except CollocationError:
        with pytest.raises(checker.Refused):
            checker.collocation(data)
        return
    assert checker.collocation(data) == n
    found = {(q, *edge) for q, edges in checker.relations(data.samples, n).items() for edge in edges}
    assert found == {(q, *edge) for q, order in dataset.orders.items() for edge in order.relations}
