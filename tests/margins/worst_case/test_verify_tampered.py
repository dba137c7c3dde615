"""The stand-alone checker refuses every lie, and accepts a valid weaker statement as what it is."""

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from marginaudit.margins.worst_case import verify as checker
from marginaudit.margins.worst_case.from_pepit import text
from marginaudit.margins.worst_case.verify import Refused, Unreadable, verify_document
from tests.margins.worst_case.samples import THEOREMS, solved

NAMES = [theorem.name for theorem in THEOREMS]

LIES = 120


def rationals(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all rationals in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from rationals(item, (*path, key))
    if isinstance(value, str) and "/" in value:
        yield path


def changed(document: Any, path: tuple[Any, ...], change: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = text(change(Fraction(document[path[-1]])))


def accepted(document: Any, problem: Any) -> bool:
    try:
        verify_document(document, problem)
    except (Refused, Unreadable):
        return False
    return True


def perturbations(rng: random.Random) -> Any:
    factor, shift = Fraction(rng.randint(-20, 1020), 1000), Fraction(rng.randint(-9, 9), 10 ** rng.randint(1, 6))
    return rng.choice([lambda c: c * factor, lambda c: c + shift, lambda c: -c, lambda _: Fraction(0)])


@pytest.mark.parametrize("name", NAMES)
def test_lies_are_refused(name: str) -> None:
    found, bound = solved(name, 2)
    rng = random.Random(name)
    for end, key, better in (("proof", "bound", Fraction(999, 1000)), ("worst_case", "value", Fraction(1001, 1000))):
        whole = found.certificate()
        del whole["worst_case" if end == "proof" else "proof"]
        places = list(rationals(whole[end], (end,)))
        for _ in range(LIES):
            lie = copy.deepcopy(whole)
            lie[end][key] = text(bound * better)
            for path in rng.sample(places, rng.randint(0, 3)):
                if path != (end, key):
                    changed(lie, path, perturbations(rng))
            assert not accepted(lie, found.problem)


@pytest.mark.parametrize("name", ["gradient-descent", "nesterov", "proximal-point", "gradient-descent-contraction"])
def test_each_single_change_of_a_proof_is_refused(name: str) -> None:
    found, _ = solved(name, 2)
    whole = found.certificate()
    del whole["worst_case"]
    for path in rationals(whole["proof"], ("proof",)):
        tampered = copy.deepcopy(whole)
        changed(tampered, path, lambda c: c - Fraction(1, 10**9))
        assert not accepted(tampered, found.problem), path


@pytest.mark.parametrize("name", NAMES)
def test_each_change_of_the_problem_is_refused(name: str) -> None:
    found, _ = solved(name, 1)
    whole = found.certificate()
    for path in rationals(whole["problem"], ("problem",)):
        tampered = copy.deepcopy(whole)
        changed(tampered, path, lambda c: c + 1)
        assert not accepted(tampered, found.problem), path


def test_weaker_statements_are_accepted_as_what_they_are() -> None:
    found, bound = solved("gradient-descent", 2)
    weaker = found.certificate()
    weaker["proof"]["bound"], weaker["worst_case"]["value"] = text(bound * 2), text(bound / 2)
    lines = verify_document(weaker, found.problem)
    assert lines[0].startswith(f"performance <= {bound * 2} ")
    assert lines[1].startswith(f"performance >= {bound / 2} ")
    assert not any(line.startswith("tight") for line in lines)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "marginaudit-worst-case-2"),
        (("problem", "functions", 0, "class"), "concave"),
        (("problem", "functions", 0, "parameters", "L"), "-3/1"),
        (("problem", "metrics"), []),
        (("problem", "points"), ["x0", "x0"]),
        (("proof", "bound"), "3/6"),
        (("proof", "bound"), 0.3),
        (("proof", "metrics"), ["1/1", "0/1"]),
        (("proof", "functions", 0, 0, 0), "smoothness"),
        (("proof", "functions", 0, 0, 1), 17),
        (("proof", "functions", 0, 0, 1), -1),
        (("worst_case", "squared_lengths"), ["-1/1"]),
        (("worst_case", "points"), {}),
    ],
)
def test_malformed_certificates_are_refused(path: tuple[Any, ...], value: Any) -> None:
    found, _ = solved("gradient-descent", 2)
    document = copy.deepcopy(found.certificate())
    place: Any = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert not accepted(document, None)


def test_repeated_multiplier_is_refused() -> None:
    found, _ = solved("gradient-descent", 2)
    document = found.certificate()
    row = document["proof"]["functions"][0][0]
    half = text(Fraction(row[3]) / 2)
    document["proof"]["functions"][0][:1] = [[*row[:3], half], [*row[:3], half]]
    assert not accepted(document, found.problem)


@pytest.mark.parametrize("expected", [None, {"problem": None}, []])
def test_an_expected_problem_is_an_object(expected: Any, tmp_path: Path) -> None:
    found, _ = solved("halpern", 2)
    certificate, problem = tmp_path / "certificate.json", tmp_path / "problem.json"
    certificate.write_text(json.dumps(found.certificate()))
    problem.write_text(json.dumps(expected))
    with pytest.raises(Unreadable, match="expected an object"):
        checker.verify(certificate, problem)


def test_control_characters_of_a_certificate_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = solved("halpern", 2)
    document = found.certificate()
    document["proof"]["functions"][0][0][0] = "\x1b[2J"
    (tmp_path / "lie.json").write_text(json.dumps(document))
    assert checker.main([str(tmp_path / "lie.json")]) == 1
    (tmp_path / "lie.json").write_text(json.dumps(document | {"\x1b[2J": 1}))
    assert checker.main([str(tmp_path / "lie.json")]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\\x1b[2J") == 2
    assert "\x1b" not in shown


def test_checker_runs_alone(tmp_path: Path) -> None:
    found, bound = solved("halpern", 2)
    certificate, problem = tmp_path / "certificate.json", tmp_path / "problem.json"
    certificate.write_text(json.dumps(found.certificate()))
    problem.write_text(json.dumps(found.problem))
    alone = tmp_path / "verify.py"
    alone.write_bytes(Path(checker.__file__).read_bytes())
    command = [sys.executable, "-I", "-S", str(alone), str(certificate)]
    confirmed = subprocess.run([*command, str(problem)], capture_output=True, text=True, check=True)
    assert f"tight: the worst case is {bound}" in confirmed.stdout
    problem.write_text(json.dumps(found.problem | {"metrics": []}))
    refused = subprocess.run([*command, str(problem)], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stderr) == (1, "refused: the problem is not the expected one\n")
    certificate.write_text('{"format": 1, "format": 2}')
    unreadable = subprocess.run(command, capture_output=True, text=True, check=False)
    assert unreadable.returncode == 2
    assert unreadable.stderr.endswith("got a key more than once in an object, expected JSON in UTF-8\n")


def test_matrix_is_semidefinite_only_with_zero_rows_at_zero_pivots() -> None:
    semidefinite = checker.positive_semidefinite
    zero, one, half = Fraction(0), Fraction(1), Fraction(1, 2)
    assert semidefinite([[one, one, zero], [one, one, zero], [zero, zero, zero]])
    assert semidefinite([[zero, zero], [zero, half]])
    assert not semidefinite([[zero, one], [one, one]])
    assert not semidefinite([[one, one], [one, half]])
    assert not semidefinite([[one, one, zero], [one, one, half], [zero, half, one]])


def small(metrics: list[Any], constraints: list[Any], **more: Any) -> dict[str, Any]:
    """A certificate of min(metrics) subject to constraints <= 0, of a point x and values v and w, without functions."""
    rows = [{"relation": "<=", "expression": expression} for expression in constraints]
    problem = {"points": ["x"], "values": ["v", "w"], "functions": [], "constraints": rows, "metrics": metrics}
    return {"format": checker.FORMAT, "problem": problem, **more}


@pytest.mark.parametrize(
    ("metrics", "constraints", "place"),
    [(["1/1", "0/1"], ["2/1", "0/1", "-1/1"], "constraint 2"), (["2/1", "-1/1"], ["2/1", "1/1", "0/1"], "metric 1")],
)
def test_negative_multipliers_are_refused(metrics: list[str], constraints: list[str], place: str) -> None:
    """For v <= 1, w >= 5 and v <= 5 the least of v and w is at most 1; they combine to -3."""
    limits = [{"values": {"v": "1/1"}, "constant": "-1/1"}, {"values": {"w": "-1/1"}, "constant": "5/1"}]
    limits.append({"values": {"v": "1/1"}, "constant": "-5/1"})
    lie = {"bound": "-3/1", "metrics": metrics, "constraints": constraints, "functions": []}
    with pytest.raises(Refused, match=f"the multiplier of {place} is negative"):
        verify_document(small([{"values": {"v": "1/1"}}, {"values": {"w": "1/1"}}], limits, proof=lie))


def attaining_one(v: str, lengths: list[str]) -> dict[str, Any]:
    return {"value": "1/1", "squared_lengths": lengths, "points": {"x": ["1/1"]}, "values": {"v": v, "w": "0/1"}}


def test_coordinates_are_those_of_a_basis_of_positive_lengths() -> None:
    """A negative squared length would make -|x|^2 positive."""
    with pytest.raises(Refused, match="a squared length is not positive"):
        verify_document(small([{"products": [["x", "x", "-1/1"]]}], [], worst_case=attaining_one("0/1", ["-1/1"])))
    with pytest.raises(Refused, match="'x' has not 2 coordinates"):
        verify_document(small([{"constant": "1/1"}], [], worst_case=attaining_one("0/1", ["1/1", "1/1"])))


@pytest.mark.parametrize(("name", "given"), [("smooth convex", {"L": "0/1"}), ("strongly monotone", {"mu": "-1/1"})])
def test_parameters_that_the_class_does_not_admit_are_refused(name: str, given: dict[str, str]) -> None:
    document = small([{"constant": "1/1"}], [], worst_case=attaining_one("0/1", ["1/1"]))
    document["problem"]["functions"].append({"class": name, "parameters": given, "evaluations": []})
    with pytest.raises(Unreadable, match="expected parameters that the class admits"):
        verify_document(document)


@pytest.mark.parametrize(("relation", "v"), [("<=", "1/1"), ("==", "1/1"), ("==", "-1/1")])
def test_violated_constraints_are_refused(relation: str, v: str) -> None:
    document = small([{"constant": "1/1"}], [{"values": {"v": "1/1"}}], worst_case=attaining_one(v, ["1/1"]))
    document["problem"]["constraints"][0]["relation"] = relation
    with pytest.raises(Refused, match="constraint 0 is violated"):
        verify_document(document)


def test_a_gradient_that_is_0_in_the_worst_case_alone_is_a_minimum_too() -> None:
    """f(2) = 1 with slope 1 grows from the minimum at 0 by 1/2 |x - 0|^2 at most, and not so from the one at 1."""
    names = ["at 1", "zero", "at 2", "slope"]
    places = [({}, {}, {}), ({"at 1": "1/1"}, {"zero": "1/1"}, {}), ({"at 2": "1/1"}, {"slope": "1/1"}, {"f": "1/1"})]
    problem = {
        "points": names,
        "values": ["f"],
        "functions": [
            {
                "class": "quadratic growth convex",
                "parameters": {"L": "1/1"},
                "evaluations": [{"x": x, "g": g, "f": {"values": f}} for x, g, f in places],
            }
        ],
        "constraints": [],
        "metrics": [{"values": {"f": "1/1"}}],
    }

    def stated(slope: str, value: str) -> dict[str, Any]:
        points = dict(zip(names, ([one] for one in ("1/1", "0/1", "2/1", slope)), strict=True))
        worst = {"value": value, "squared_lengths": ["1/1"], "points": points, "values": {"f": value}}
        return {"format": checker.FORMAT, "problem": problem, "worst_case": worst}

    assert verify_document(stated("1/1", "1/2"))[0].startswith("performance >= 1/2")
    alone = copy.deepcopy(stated("1/1", "1/2"))
    del alone["problem"]["functions"][0]["evaluations"][:2]
    with pytest.raises(Refused, match="function 0 has no minimum"):
        verify_document(alone)
    with pytest.raises(Refused, match="growth 1 2 is violated"):
        verify_document(stated("1/1", "1/1"))
