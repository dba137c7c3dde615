"""The paper as marginaudit takes it."""

from importlib.resources import files
from typing import Any

import numpy as np

from marginaudit import Paper
from marginaudit.claims.paper import Figure
from marginaudit.claims.run import Rows
from marginaudit.margins.rational import Vector
from separable.claims import CLAIMS
from separable.figures import figure_1, figure_directions
from separable.points import POINTS, Points
from separable.run import DescentConfig, DescentRun
from separable.space import PointSpace


class Separable(Paper):
    """Gradient descent on separable data, and normalised descent."""

    name = "separable"
    source = "The Implicit Bias of Gradient Descent on Separable Data, arXiv 1710.10345"
    bibtex = files("separable").joinpath("soudry2018.bib").read_text("utf-8").strip()
    kind = POINTS
    config = DescentConfig
    run = DescentRun
    claims = CLAIMS
    figures = Figure("separable-1", figure_1, beside="separable.lemma1"), Figure("separable-2", figure_directions)
    package = "separable"
    space = PointSpace()
    problems = ("svm",)

    def rows(self, dataset: Points, problem: str) -> tuple[Vector, ...]:
        """Of the hard-margin SVM."""
        return dataset.exact

    def facts(self, run: DescentRun) -> dict[str, Any]:
        """Sizes, the step size, and the norm of the hard-margin solution."""
        data, solved = run.dataset, run.assumption("separable").holds
        norm_squared = {"norm_squared": str(data.svm.norm2)} if solved else {}
        return {"N": data.N, "d": data.d, "step size": run.eta, **norm_squared}

    def records(self, run: DescentRun) -> dict[str, Rows]:
        """The path, one column per coordinate; empty if w^ is unknown."""
        if not run.assumption("separable").holds:
            return {}
        path = run.path
        with np.errstate(invalid="ignore"):  # where w^ is beyond float64 rho is no number
            w = path.rho + np.outer(path.s, run.what)
        header = ["log_t", *(f"{name}_{i}" for name in ("w", "rho") for i in range(run.dataset.d)), "error"]
        return {"descent": (header, np.column_stack([path.s, w, path.rho, path.radius]).tolist())}


PAPER = Separable()
