"""Certificates of rational rows: the truth is confirmed, each lie about it is refused."""

import ast
import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

from marginaudit.margins import CertificateError, HardMargin
from marginaudit.margins.linear import verify
from marginaudit.margins.linear.documents import certificate, exact_document, problem_document, statement
from marginaudit.margins.rational import solved
from marginaudit.orders import InputError


def integers(*rows: tuple[int, ...]) -> tuple[tuple[fmpq, ...], ...]:
    return tuple(tuple(map(fmpq, row)) for row in rows)


PLAIN = HardMargin(integers((1, 0), (0, 2), (3, 3)))

EQUAL = HardMargin(
    integers((1, 0, 0), (0, 1, 0)), integers((0, 1, 1), (0, 0, 1)), (fmpq(1, 2), fmpq(-1)), ("a", "b", "sum", "last")
)
"""Optimum (1, 3/2, -1): the multiplier of the last equality is negative."""

OPPOSITE = HardMargin(integers((1, 0), (0, 1)), integers((1, 1)), labels=("right", "up", "balance"))


def document_of(problem: HardMargin) -> dict[str, Any]:
    return exact_document(problem, solved(problem.rows, problem.equalities, problem.values))


def changed(document: dict[str, Any], **more: Any) -> dict[str, Any]:
    return copy.deepcopy(document) | more


OPTIMAL, WITH_EQUALITIES, INFEASIBLE = map(document_of, (PLAIN, EQUAL, OPPOSITE))


def test_what_the_solver_writes_is_confirmed() -> None:
    assert OPTIMAL["weights"] == ["1/1", "1/2"]
    assert OPTIMAL["multipliers"] == {"0": "1/1", "1": "1/4"}
    said = "optimal, |w|^2 = 5/4, 3 constraints; multipliers: row 0 (1), row 1 (1/4)"
    assert statement(PLAIN, OPTIMAL, "here") == said
    assert WITH_EQUALITIES["multipliers"] == {"0": "1/1", "2": "3/2", "3": "-5/2"}
    said = "optimal, |w|^2 = 17/4, 2 constraints, 2 equalities; multipliers: a (1), sum (3/2), last (-5/2)"
    assert statement(EQUAL, WITH_EQUALITIES, "here") == said
    assert INFEASIBLE["multipliers"] == {"0": "1/2", "1": "1/2", "2": "-1/2"}
    said = "infeasible, as the rows sum to 0 >= 1 under the multipliers"
    named = "; multipliers: right (1/2), up (1/2), balance (-1/2)"
    assert statement(OPPOSITE, INFEASIBLE, "here") == said + named


MULTIPLIERS = WITH_EQUALITIES["multipliers"]


@pytest.mark.parametrize(
    ("problem", "lie", "reason"),
    [
        (PLAIN, changed(OPTIMAL, weights=["1/1", "1/3"]), "row 1 has the margin 2/3, not at least 1"),
        (PLAIN, changed(OPTIMAL, weights=["1/1", "1/1"]), "|w|^2 is 2, stated 5/4"),
        (PLAIN, changed(OPTIMAL, norm_squared="1/1"), "|w|^2 is 5/4, stated 1"),
        (PLAIN, changed(OPTIMAL, multipliers={"0": "1/1"}), "the dual objective is 1, stated 5/4"),
        (PLAIN, changed(OPTIMAL, multipliers={"0": "1/1", "1": "-1/4"}), "the multiplier of row 1 is negative"),
        (PLAIN, changed(OPTIMAL, multipliers={"3": "1/1"}), "a multiplier of row '3', expected rows 0 to 2"),
        (PLAIN, changed(OPTIMAL, multipliers={"-1": "1/1"}), "a multiplier of row '-1', expected rows 0 to 2"),
        (EQUAL, changed(WITH_EQUALITIES, weights=["1/1", "2/1", "-1/1"]), "sum has the value 1, not 1/2"),
        (EQUAL, changed(WITH_EQUALITIES, weights=["1/1", "1/2", "-1/1"]), "b has the margin 1/2, not at least 1"),
        (EQUAL, changed(WITH_EQUALITIES, multipliers=MULTIPLIERS | {"3": "5/2"}), "the dual objective is "),
        (EQUAL, changed(WITH_EQUALITIES, multipliers=MULTIPLIERS | {"2": "-3/2"}), "the dual objective is "),
        (EQUAL, changed(WITH_EQUALITIES, multipliers=MULTIPLIERS | {"1": "-1/2"}), "the multiplier of b is negative"),
        (
            OPPOSITE,
            changed(INFEASIBLE, multipliers={}),
            "the right-hand sides sum to 0 under the multipliers, not above 0",
        ),
        (
            OPPOSITE,
            changed(INFEASIBLE, multipliers={"0": "1/1", "1": "1/1"}),
            "the rows do not sum to 0 under the multip",
        ),
        (
            OPPOSITE,
            changed(INFEASIBLE, multipliers={"0": "1/1", "1": "1/1", "2": "1/1"}),
            "the rows do not sum to 0 under the multipliers",
        ),
        (OPPOSITE, WITH_EQUALITIES, "the certificate is of another problem: rows, entry 0 is ["),
    ],
)
def test_a_lie_is_refused(problem: HardMargin, lie: dict[str, Any], reason: str) -> None:
    with pytest.raises(CertificateError) as refused:
        statement(problem, lie, "here")
    assert str(refused.value).startswith(reason)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("labels", ["b", "a", "sum", "last"], "labels, entry 0 is 'b', the dataset's is 'a'"),
        ("labels", [], "it has 0 labels, the dataset's 4"),
        ("values", ["1/2", "-2/1"], "last has the value -1, not -2"),
        (
            "rows",
            [["1/1", "0/1", "0/1"], ["0/1", "2/1", "0/1"]],
            "rows, entry 1 is ['0/1', '2/1', '0/1'], the dataset's",
        ),
        ("norm", "spectral", "/problem/shape"),
        ("shape", [3, 1], "shape is [3, 1], the dataset's is None"),
    ],
)
def test_the_problem_and_its_labels_are_bound_into_the_certificate(key: str, value: Any, reason: str) -> None:
    lie = changed(WITH_EQUALITIES)
    lie["problem"][key] = value
    with pytest.raises((CertificateError, InputError)) as refused:
        statement(EQUAL, lie, "here")
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "here: got [], expected an object with status"),
        (changed(OPTIMAL, status="solved"), "here/status: got 'solved', expected one of optimal, infeasible, bounded"),
        (changed(OPTIMAL, status=["optimal"]), "here/status: got ['optimal'], expected one of"),
        (changed(OPTIMAL, more=1), "here/more: got an unknown key"),
        ({key: OPTIMAL[key] for key in ("problem", "status")}, "here: got no norm_squared, expected an object with"),
        (changed(OPTIMAL, problem=None), "here/problem: got None, expected an object with norm"),
        (changed(OPTIMAL, norm_squared="10/8"), "here/norm_squared: got '10/8', expected a fraction"),
        (changed(OPTIMAL, norm_squared="1/0"), "here/norm_squared: got '1/0', expected a fraction"),
        (changed(OPTIMAL, weights=["1/1", "½"]), "here/weights/1: got '½', expected a fraction"),
        (changed(OPTIMAL, weights=["1/1"]), "here/weights: got 1 coordinates, expected 2, as in a row"),
        (changed(OPTIMAL, weights="1/1"), "here/weights: got '1/1', expected an array of fractions"),
        (changed(OPTIMAL, multipliers={"0": "1"}), "here/multipliers/0: got '1', expected a fraction"),
        (changed(OPTIMAL, multipliers=["1/1"]), "here/multipliers: got ['1/1'], expected multipliers by number"),
    ],
)
def test_what_is_no_certificate_says_where(document: Any, said: str) -> None:
    with pytest.raises(InputError) as refused:
        statement(PLAIN, document, "here")
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("norm", "length", "norm: got 'length', expected one of"),
        ("shape", [2, 2], "shape: got [2, 2], expected two numbers whose product is 2"),
        ("shape", [True, 2], "shape: got [True, 2], expected two numbers"),
        ("rows", [["1/1"], ["1/1", "2/1"]], "rows: got rows of [1, 2] coordinates, expected rows, all alike"),
        ("rows", [], "rows: got rows of [] coordinates"),
        ("values", ["1/1"], "values: got 1 numbers, expected one of each equality"),
        ("labels", ["a"], "labels: got 1 texts, expected 3 or none"),
        ("labels", [1, 2, 3], "labels: got [1, 2, 3], expected an array of texts"),
    ],
)
def test_what_is_no_problem_says_where(part: str, value: Any, said: str) -> None:
    document = changed(OPTIMAL)
    document["problem"][part] = value
    with pytest.raises(InputError) as refused:
        statement(PLAIN, document, "here")
    assert str(refused.value).startswith(f"here/problem/{said}")


def test_numbers_of_more_digits_than_python_parses_are_read() -> None:
    large = fmpq(10**5000 + 1, 10**5000)
    problem = HardMargin(((large,),))
    document = document_of(problem)
    assert statement(problem, document, "here").startswith("optimal, |w|^2 = a number of thousands of digits")
    document["weights"] = [document["weights"][0].replace("1", "2", 1)]
    with pytest.raises((CertificateError, InputError)):
        statement(problem, document, "here")


SCRIPT = Path(verify.__file__).resolve()


def run_alone(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_checker_runs_with_the_standard_library_alone(tmp_path: Path) -> None:
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= set(sys.stdlib_module_names)
    path, lie = tmp_path / "proof.json", changed(WITH_EQUALITIES, norm_squared="4/1")
    document = certificate("data", {"plain": OPTIMAL, "equal": WITH_EQUALITIES})
    path.write_text(json.dumps(document), encoding="utf-8")
    answer = run_alone(path)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert [line.partition(":")[0] for line in answer.stdout.splitlines()] == ["plain", "equal"]
    assert "last (-5/2)" in answer.stdout
    path.write_text(json.dumps(document | {"equal": lie}), encoding="utf-8")
    answer = run_alone(path)
    assert (answer.returncode, answer.stderr) == (1, "refused: |w|^2 is 17/4, stated 4\n")
    for text in ("{", "[]", '{"format": 1, "format": 1}', json.dumps({"format": verify.FORMAT})):
        path.write_text(text, encoding="utf-8")
        answer = run_alone(path)
        assert answer.returncode == 2
        assert answer.stderr.startswith(f"{path}")
    path.write_text('{"format": 1, "format": 1}', encoding="utf-8")
    assert run_alone(path).stderr.startswith(f"{path}: got a key more than once in one object")
    assert run_alone().returncode == run_alone(tmp_path / "missing").returncode == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"rows": ()}, "rows: got of [] coordinates, expected at least one, all alike"),
        ({"rows": integers((1, 0), (1,))}, "rows: got of [1, 2] coordinates"),
        ({"values": (fmpq(1),)}, "values: got 1, expected one of each equality"),
        ({"labels": ("a",)}, "labels: got 1, expected 2, one of each row and equality"),
        ({"labels": ("a", "a")}, "labels: got one twice, expected distinct ones"),
        ({"norm": "length"}, "norm: got length, expected one of euclidean, largest-entry, nuclear, spectral"),
        ({"norm": "nuclear"}, "shape: got None, expected rows and columns of a matrix of 2 entries"),
        ({"norm": "nuclear", "shape": (2, 2)}, "shape: got (2, 2), expected rows and columns"),
    ],
)
def test_a_problem_whose_parts_do_not_fit_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match="expected") as refused:
        HardMargin(**{"rows": integers((1, 0), (0, 1)), **more})
    assert str(refused.value).startswith(said)


def test_a_problem_is_written_with_its_right_hand_sides() -> None:
    assert problem_document(OPPOSITE)["values"] == ["0/1"]
    assert problem_document(HardMargin(((1, 2),)))["rows"] == [["1/1", "2/1"]]  # type: ignore[arg-type]
