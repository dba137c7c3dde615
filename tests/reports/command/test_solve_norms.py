"""`solve` and `verify` of a user's problems in other norms, with equalities and labels, against cvxpy."""

from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from tests.reports.command.test_new import answered

PAPER = """
from marginaudit.margins import HardMargin
from marginaudit.margins.rational import written
from marginaudit.reports.starts.paper import MeanPaper

NORMS = ("largest-entry", "nuclear", "spectral")


class NormPaper(MeanPaper):
    problems = NORMS

    def rows(self, dataset, problem):
        rows, equal = written([[1, 2, 0, -1], [0, 1, 3, 1]]), written([[1, 0, 0, -2]])
        return HardMargin(rows, equal, labels=("first", "second", "tie"), norm=problem, shape=(2, 2))


PAPER = NormPaper()
"""


def test_other_norms_with_labels_and_equalities(tmp_path: Path) -> None:
    (tmp_path / "norms.py").write_text(PAPER, encoding="utf-8")
    own = ("--paper", "norms.py")
    found = answered(tmp_path, "solve", "three-numbers", *own, "--certificate", "c.json")
    stated = answered(tmp_path, "verify", "three-numbers", "c.json", *own)
    assert stated["confirmed"]
    W = cp.Variable((2, 2))
    w = cp.vec(W, order="C")
    rows = [np.array([[1, 2, 0, -1], [0, 1, 3, 1]]) @ w >= 1, np.array([1, 0, 0, -2]) @ w == 0]
    norms = {"largest-entry": cp.max(cp.abs(W)), "nuclear": cp.normNuc(W), "spectral": cp.sigma_max(W)}
    for line, (name, norm) in zip(stated["statements"], norms.items(), strict=True):
        least = cp.Problem(cp.Minimize(norm), rows).solve(solver=cp.SCS, eps=1e-9)
        assert found[name]["lower"] == pytest.approx(least, rel=1e-5, abs=0)
        assert found[name]["upper"] == pytest.approx(least, rel=1e-5, abs=0)
        assert line.startswith(f"{name}: the least {name} norm is from ")
        assert {*found[name]["multipliers"]} <= {"first", "second", "tie"}
        assert "multipliers: first (" in line
