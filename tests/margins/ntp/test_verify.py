"""The stand-alone checker confirms what the solver proves, and refuses it with any one number changed."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import marginaudit.margins.ntp.verify as checker
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.margins.ntp.verify import Refused, verify
from marginaudit.orders.ntp import CASES, Dataset, dataset_to_document, free_dataset
from tests.margins.ntp.readings import with_change, written


def certificate(dataset: Dataset) -> dict[str, Any]:
    return certificate_document(dataset, ov=solve_ov(dataset), kq=solve_kq(dataset))


@pytest.mark.parametrize("case", CASES)
def test_the_cases_are_confirmed(case: str, tmp_path: Path) -> None:
    dataset = CASES[case]()
    ov, kq = verify(*written(tmp_path, dataset_to_document(dataset), certificate(dataset)))
    assert ov.startswith("ov: optimal")
    assert f"||W*||^2 = {solve_kq(dataset).exact().norm_squared_exact}" in kq


def numbers(document: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The paths of all rationals, and these."""
    entries = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in entries:
        if isinstance(value, dict | list):
            yield from numbers(value, f"{path}{key}.")
        elif isinstance(value, str) and "/" in value:
            yield f"{path}{key}", value


def variants(text: str) -> list[str]:
    """Other numbers, near and far."""
    value = Fraction(text)
    others = [value + Fraction(1, 10**9), value - Fraction(1, 7), 2 * value + 1, -value - 1, value + 1]
    return [f"{v.numerator}/{v.denominator}" for v in others if v != value]


def test_any_one_number_changed_is_refused(tmp_path: Path) -> None:
    dataset = free_dataset(V=7, N=14, L=5, seed=11)
    document = certificate(dataset)
    paths = list(numbers(document))
    assert len(paths) > 30
    data, file = written(tmp_path, dataset_to_document(dataset), document)
    assert len(verify(data, file)) == 2
    for path, number in paths:
        for text in variants(number):
            file.write_text(json.dumps(with_change(document, path, text)))
            with pytest.raises(Refused):
                verify(data, file)


def test_the_checker_stands_alone(tmp_path: Path) -> None:
    """Standard library only, under 450 lines, and it runs by itself."""
    source = Path(checker.__file__)
    text = source.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 450
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    assert imported <= set(sys.stdlib_module_names)

    dataset = CASES["example-1"]()
    data, file = written(tmp_path, dataset_to_document(dataset), certificate(dataset))

    def run(*arguments: Path) -> tuple[int, str, str]:
        command = [sys.executable, "-I", "-S", str(source.resolve()), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
        return done.returncode, done.stdout, done.stderr

    lines = "ov: optimal, ||W*||^2 = 3\nkq: optimal, ||W*||^2 = 13/6, 5 constraints\n"
    assert run(data, file) == (0, lines, "")
    file.write_text(json.dumps(with_change(certificate(dataset), "kq.norm_squared", "2/1")))
    assert run(data, file) == (1, "", "refused: kq: ||W||^2 is 13/6, stated 2\n")
    file.write_text("[" * 100_000)
    assert run(data, file) == (2, "", f"{file}: got JSON nested too deeply, expected a dataset and its certificate\n")
    assert run(data) == (2, "", "usage: verify.py DATASET CERTIFICATE\n")


def test_one_token_is_certified(tmp_path: Path) -> None:
    one = Dataset.from_sentences("one", ["aa"])
    document = certificate(one)
    assert document["ov"] == {
        "status": "optimal",
        "norm_squared": "0/1",
        "at_next_token": "0/1",
        "elsewhere": "0/1",
        "multiplier": "1/1",
    }
    assert verify(*written(tmp_path, dataset_to_document(one), document)) == [
        "ov: optimal, ||W*||^2 = 0",
        "kq: optimal, ||W*||^2 = 0, 0 constraints",
    ]
