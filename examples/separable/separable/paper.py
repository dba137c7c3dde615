"""The paper as marginaudit takes it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from marginaudit import Paper
from marginaudit.margins.rational import Vector
from marginaudit.reports.answers import Lists, Trained
from marginaudit.reports.paper import Figure
from marginaudit.reports.run import Progress, Rows
from separable.claims import CLAIMS
from separable.figures import figure_1, figure_directions, of_a_run
from separable.points import POINTS, Points
from separable.run import DescentConfig, DescentRun
from separable.space import PointSpace

BIBTEX = """@article{soudry2018implicit,
  author = {Soudry, Daniel and Hoffer, Elad and Nacson, Mor Shpigel and Gunasekar, Suriya and Srebro, Nathan},
  title = {The Implicit Bias of Gradient Descent on Separable Data},
  journal = {Journal of Machine Learning Research},
  volume = {19},
  year = {2018},
  eprint = {1710.10345},
}"""


def path_rows(run: DescentRun) -> list[dict[str, Any]]:
    """The path entry by entry; nothing where w^ is not known."""
    if not run.assumption("separable").holds:
        return []
    path = run.path
    w = path.rho + np.outer(path.s, run.what)
    columns = {"log_t": path.s, "w": w, "rho": path.rho, "error": path.radius, "norm": np.linalg.norm(w, axis=1)}
    return [dict(zip(columns, row, strict=True)) for row in zip(*(of.tolist() for of in columns.values()), strict=True)]


class Separable(Paper):
    """Gradient descent on separable data, and normalised descent."""

    name = "separable"
    source = "The Implicit Bias of Gradient Descent on Separable Data, arXiv 1710.10345"
    bibtex = BIBTEX
    kind = POINTS
    config = DescentConfig
    run = DescentRun
    claims = CLAIMS
    figures = (
        Figure("separable-1", figure_1, beside="separable.lemma1"),
        Figure("separable-2", figure_directions),
        Figure("direction-error", of_a_run, of="run", caption="The direction error against 1/log t"),
    )
    package = "separable"
    space = PointSpace()
    problems = ("svm",)

    def rows(self, dataset: Points, problem: str) -> tuple[Vector, ...]:
        """Of the hard-margin SVM."""
        return dataset.exact

    def facts(self, run: DescentRun) -> dict[str, Any]:
        """Sizes, the step size, and the hard-margin solution."""
        found = POINTS.describe(run.dataset)
        del found["assumptions"]
        return {"N": found.pop("N"), "d": found.pop("d"), "step size": run.eta, **found}

    def records(self, run: DescentRun) -> dict[str, Rows]:
        """The path, a column a coordinate."""
        header = ["log_t", *(f"{name}_{i}" for name in ("w", "rho") for i in range(run.dataset.d)), "error"]
        return {"descent": (header, [[row["log_t"], *row["w"], *row["rho"], row["error"]] for row in path_rows(run)])}

    def train(
        self, dataset: Points, config: DescentConfig, progress: Progress, tell: Callable[[str], None], origin: str
    ) -> Trained:
        """The path, for `marginaudit train`."""
        run = DescentRun(dataset, config, progress)
        found = path_rows(run)
        if found and run.path.ended:
            tell(f"no flow: {run.path.ended}")
        return Trained({"rows": found}, {"rows": ("descent", ("log_t", "norm", "error"))})

    def classified(self, dataset: Points, answer: dict[str, Any]) -> Lists:
        """The support vectors and their duals."""
        rows = [(int(n), dataset.x[int(n)], alpha) for n, alpha in answer.get("support", {}).items()]
        return [(dataset.name, ("support vector", "x", "dual"), rows)]


PAPER = Separable()
