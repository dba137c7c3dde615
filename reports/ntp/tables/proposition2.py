"""Proposition 2's closed form of W*_kq against the solution and the trained W_kq, query by query."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.judgements import ALLOWANCE
from marginaudit.claims.ntp.appendix_d_orders.proposition2 import ASSUMPTIONS, closed_form_value
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.table import Captioned, Table
from marginaudit.claims.values.numbers import NONE, at_most, brief
from marginaudit.margins.ntp import Exact, Infeasible, MaxMargin
from marginaudit.orders.ntp import QueryOrder, Token

Weights: TypeAlias = Mapping[Token, Fraction | float]
"""x^T W q by x, for one query q."""


class Proposition2(Table):
    """Table of the closed form of W*_kq beside the solution and the trained weights, one row per query."""

    name = "proposition2"
    heading = "Proposition 2's closed form"
    introduction = (
        "x<sup>⊤</sup>W<sub>kq</sub>q of the tokens x related under a query q: m/(k+m) and −k/(k+m) as Proposition 2 "
        "predicts for its k optimal and m non-optimal tokens, W*<sub>kq</sub> as it was solved, and W<sub>kq</sub> as "
        "it was trained, scaled to ‖W*<sub>kq</sub>‖."
    )
    columns = (
        "dataset",
        "query",
        "optimal",
        "non_optimal",
        "confused",
        "predicted_optimal",
        "predicted_non_optimal",
        "solved",
        "radius",
        "trained",
        "steps",
        "largest_difference",
        "holds",
        "witness",
        "note",
    )

    def of(self, run: Run) -> list[dict[str, Any]]:
        """One row per query that heads a relation, in vocabulary order.

        Returns
        -------
        list of dict
            ``query``, and its tokens ``optimal``, ``non_optimal``, ``confused``; ``predicted``, m/(k+m) and -k/(k+m)
            for the first two classes, as fractions, None for a class without tokens; ``solved``, {x: x^T W*_kq q},
            fractions if the solution is exact, else floats with error at most ``radius``; ``trained``, {x: x^T W_kq q}
            of the last W_kq scaled to ||W*_kq||, after ``steps`` steps; ``largest_difference`` of solved from
            predicted, without confused tokens; ``holds``, whether the formula gives the solution, None if undecided
            within its error bars; ``witness``, see `marginaudit.margins.ClosedForm`; ``note``, a remark or None.

        Source: arXiv 2409.17335, Proposition 2.
        """
        solution = run.solved("kq") if run.solvable else None
        unsolved = _unsolved(run, solution)
        W = None if unsolved or not run.trainable else _scaled(run)
        failing = next((name for name in ASSUMPTIONS if not run.assumption(name).holds), None)
        rows = []
        for query, order in run.dataset.orders.items():
            row: dict[str, Any] = {
                "query": query,
                "optimal": list(order.optimal),
                "non_optimal": list(order.non_optimal),
                "confused": list(order.confused),
                "predicted": {
                    "optimal": _predicted(order, order.optimal),
                    "non_optimal": _predicted(order, order.non_optimal),
                },
            }
            row |= dict.fromkeys(("solved", "radius", "trained", "steps", "largest_difference", "holds", "witness"))
            notes = [unsolved] if unsolved else [] if run.not_trained is None else [f"Not trained: {run.not_trained}."]
            notes += filter(None, [run.not_as_given])
            if failing is not None:
                notes.append(f"Assumption {failing} fails, so Proposition 2 does not apply.")
            form = None if solution is None else solution.closed_form[query]
            if form is not None and form.witness is not None:
                row["witness"] = list(form.witness)
            if form is not None and not unsolved:
                solved, radius = _solved(run, query)
                row["solved"] = {x: str(w) if isinstance(w, Fraction) else w for x, w in solved.items()}
                row["radius"] = radius
                judged = [x for x in solved if x not in order.confused]
                row["largest_difference"] = max(
                    float(abs(Fraction(solved[x]) - closed_form_value(order, x))) for x in judged
                )
                row["holds"] = form.holds if radius <= ALLOWANCE or not form.holds else None
                if row["holds"] is None:
                    notes.append(f"The solution is known within {float(at_most(radius, digits=2)):.1e} only.")
                if run.trainable and run.trained.lost:
                    notes.append("The last W_kq is unknown: float64 lost it.")
                if W is not None:
                    column = W[:, run.dataset.index[query]]
                    row["trained"] = {x: float(column[run.dataset.index[x]]) for x in solved}
                    row["steps"] = _steps(run)
            rows.append(row | {"note": " ".join(notes) or None})
        return rows

    def records(self, data: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Rows with the predictions in two columns."""
        for row in data:
            yield row | {
                f"predicted_{kind}": None if value is None else Fraction(value)
                for kind, value in row["predicted"].items()
            }

    def captioned(self, name: str, data: list[dict[str, Any]]) -> list[Captioned]:
        """One line per query, class and distinct solution, with the tokens that share it."""
        from pandas import DataFrame

        rows: list[tuple[str, ...]] = []
        for row in data:
            lines = _lines(row)
            holds = NONE if row["holds"] is None else "yes" if row["holds"] else "no"
            ends = [(brief(row["largest_difference"]), holds)] + [("", "")] * (len(lines) - 1)
            names = [row["query"]] + [""] * (len(lines) - 1)
            rows += [(query, *line, *end) for query, line, end in zip(names, lines, ends, strict=True)]
        steps = {row["steps"] for row in data} - {None}
        notes = (
            [f"W_kq after {brief(min(steps))} {'step' if min(steps) == 1 else 'steps'}, scaled to the norm of W*_kq."]
            if steps
            else []
        )
        notes += dict.fromkeys(row["note"] for row in data if row["note"])
        notes += [] if data else ["No sample relates two tokens, so no query has optimal tokens."]
        caption = f"{name}: x^T W_kq q by Proposition 2, solved and trained"
        return [Captioned(DataFrame(rows, columns=HEADER), caption, tuple(notes), numbers=HEADER[3:])]


def _unsolved(run: Run, solution: MaxMargin | None) -> str | None:
    """Reason for a missing W*_kq, or None."""
    if not run.solvable:
        return "n is not a function on the whole vocabulary, so neither solution nor training exists."
    if solution is None:
        return "The solver's answer is not proved, so W*_kq is unknown."
    return "W*_kq does not exist: no W_kq has all margins positive." if isinstance(solution, Infeasible) else None


def _predicted(order: QueryOrder, tokens: tuple[Token, ...]) -> str | None:
    return str(closed_form_value(order, tokens[0])) if tokens else None


def _solved(run: Run, query: Token) -> tuple[Weights, float]:
    """x^T W*_kq q of the tokens related under q and of others with a nonzero value, and the error bound."""
    data, kq = run.dataset, run.kq.optimal()
    related = sorted(data.orders[query].graph, key=data.index.__getitem__)
    if isinstance(kq, Exact):
        exact = kq.weights_exact.get(query, {})
        return {x: exact.get(x, Fraction(0)) for x in related}, 0.0
    column = kq.scores[:, data.index[query]]
    others = [data.vocabulary[i] for i in np.flatnonzero(column) if data.vocabulary[i] not in data.orders[query].graph]
    size = np.linalg.norm(data.embeddings, axis=1)
    radius = kq.weight_radius * float(size.max() * size[data.index[query]])
    return {x: float(column[data.index[x]]) for x in (*related, *others)}, radius


def _scaled(run: Run) -> NDArray[np.float64] | None:
    """Last x^T W_kq q, shape (keys, queries), with W_kq scaled to ||W*_kq||; None if W_kq is 0 or unknown."""
    if run.trained.lost:
        return None
    length = float(np.linalg.norm(run.trained.W_kq))
    if not 0 < length < np.inf:
        return None
    return np.asarray(run.trained.S * (run.norm_kq / length))


def _steps(run: Run) -> int:
    """Number of training steps; that of the last record if training stopped early."""
    return int(run.trained.stage2.step[-1]) if run.trained.stopped else run.steps2


HEADER = ["query", "class", "tokens", "predicted", "solved", "trained", "off by", "holds"]
CLASSES = {"optimal": "optimal", "non_optimal": "non-optimal", "confused": "confused"}


def _lines(row: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Lines of the table: class, tokens, predicted, solved, trained."""
    lines = []
    for kind, word in CLASSES.items():
        groups: dict[str | float | None, list[Token]] = {}
        for token in row[kind]:
            groups.setdefault(None if row["solved"] is None else row["solved"][token], []).append(token)
        for value, tokens in groups.items():
            predicted = row["predicted"].get(kind)
            solved = value if isinstance(value, str) else brief(value)
            trained = NONE if row["trained"] is None else _range([row["trained"][x] for x in tokens])
            lines.append((word, " ".join(tokens), predicted or NONE, solved, trained))
    return lines


def _range(values: list[float]) -> str:
    """Smallest and largest value, or a single one if they print alike."""
    return " to ".join(dict.fromkeys(brief(value) for value in (min(values), max(values))))
