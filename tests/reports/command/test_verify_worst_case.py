"""`marginaudit verify` on certificates of worst cases."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from PEPit import PEP
from PEPit.functions import ConvexFunction
from PEPit.primitive_steps import proximal_step

from marginaudit.margins.worst_case.from_pepit import from_pepit
from marginaudit.margins.worst_case.solve import worst_case
from tests.command_line import Command


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that a proximal step has f - f* <= 1/4, and its problem."""
    monkeypatch.chdir(tmp_path)
    pep = PEP()
    f = pep.declare_function(ConvexFunction)
    solution, x = f.stationary_point(), pep.set_initial_point()
    pep.set_initial_condition((x - solution) ** 2 <= 1)
    pep.set_performance_metric(proximal_step(x, f, 1)[2] - f(solution))
    found = worst_case(from_pepit(pep), Fraction(1, 4))
    Path("proof.json").write_text(json.dumps(found.certificate()))
    Path("problem.json").write_text(json.dumps(found.problem))


@pytest.mark.usefixtures("files")
def test_a_worst_case_is_confirmed_for_its_problem(capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(capsys)
    for problem in ("problem.json", "proof.json"):
        answer = command("verify", problem, "proof.json")
        assert answer.status == 0
        assert "confirmed: performance <= 1/4 for every function of convex\n" in answer.out
        assert "confirmed: tight: the worst case is 1/4\n" in answer.out


@pytest.mark.usefixtures("files")
def test_lies_other_problems_and_no_certificates_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    command = Command(capsys)
    document = json.loads(Path("proof.json").read_text())
    document["proof"]["bound"] = "1/5"
    Path("lie.json").write_text(json.dumps(document))
    answer = command("verify", "problem.json", "lie.json")
    assert (answer.status, answer.err) == (1, "refused: proof: it bounds the performance by more than stated\n")
    Path("problem.json").write_text("{}")
    answer = command("verify", "problem.json", "proof.json")
    assert (answer.status, answer.err) == (1, "refused: the problem is not the expected one\n")
    document["proof"]["bound"] = 0.2
    Path("lie.json").write_text(json.dumps(document))
    answer = command("verify", "proof.json", "lie.json")
    assert answer.status == 2
    expected = "a rational 'p/q' in lowest terms, of at most 4000 digits each"
    assert answer.err == f"marginaudit: lie.json: /proof/bound: got 0.2, expected {expected}\n"
