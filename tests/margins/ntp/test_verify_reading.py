"""What the stand-alone checker reads as a certificate, and the exit status where it reads none."""

from pathlib import Path
from typing import Any

import pytest

import marginaudit.margins.ntp.verify as checker
from marginaudit.margins.ntp.verify import FORMAT
from tests.margins.ntp.readings import A_STRING, DATA, TRUE, unreadable, with_change, written

CYCLE = {"format": FORMAT, "kq": {"status": "infeasible", "query": "q", "cycle": ["a", "b"]}}


A_RATIONAL = 'expected a rational "p/q" in lowest terms, of at most 4000 digits each'
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
    "1/2\n",
    "1_0/3",
    "1١/2",
    "9" * 4001 + "/1",
    "1/" + "1" * 4001,
    "9" * 5000 + "/" + "7" * 5000,
    0.5,
    None,
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
    ("note", 1, "/note: got 1, expected no key but format, dataset, ov, kq"),
    ("dataset", 5, f"/dataset: got 5, {A_STRING}"),
    ("ov", None, "/ov: got None, expected an object"),
    ("ov.status", "infeasible", "/ov/status: got 'infeasible', expected 'optimal'"),
    ("ov.multiplier", ..., "expected the key 'multiplier'"),
    (
        "ov.gap",
        "0/1",
        "/ov/gap: got '0/1', expected no key but norm_squared, at_next_token, elsewhere, multiplier, status",
    ),
    ("kq", "optimal", "/kq: got 'optimal', expected an object"),
    ("kq.status", "unbounded", "/kq/status: got 'unbounded', expected 'optimal' or 'infeasible'"),
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


CYCLES = [
    ("kq.query", 5, f"/kq/query: got 5, {A_STRING}"),
    ("kq.query", ..., "expected the key 'query'"),
    ("kq.cycle", ..., "expected the key 'cycle'"),
    ("kq.cycle", "ab", "/kq/cycle: got 'ab', expected an array"),
    ("kq.cycle", ["a", None], f"/kq/cycle/1: got None, {A_STRING}"),
    ("kq.weights", {}, "/kq/weights: got {}, expected no key but status, query, cycle"),
]


@pytest.mark.parametrize(
    ("document", "path", "value", "line"), [*((TRUE, *row) for row in CERTIFICATES), *((CYCLE, *row) for row in CYCLES)]
)
def test_certificates_of_another_form(
    document: Any, path: str, value: Any, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert line in unreadable(written(tmp_path, DATA, with_change(document, path, value)), capsys)


def test_a_certificate_states_something(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = {"format": FORMAT, "dataset": "tiny"}
    line = unreadable(written(tmp_path, DATA, nothing), capsys)
    assert line == f"got {nothing!r}, expected the key 'ov' or 'kq'"[: len(line)]
    assert line.endswith("expected the key 'ov' or 'kq'")
