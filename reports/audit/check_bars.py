"""Check of users' error bars: each measure of a claim about instances is rerun in 256 bits.

The floats of the instances, and the literals in functions of a file of claims, are the same numbers in more digits. A
bar is wrong if the values of the two runs, each with its own bar, exclude each other. Errors that both runs share are
not seen: a truncated series, a solver's tolerance, `1 / 3` of two integers, numbers computed in float64 elsewhere.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from threading import active_count
from typing import Any, Literal, NamedTuple

import numpy as np

from marginaudit.claims.claim import Claim, Judgement
from marginaudit.claims.instances.instance import Parameters
from marginaudit.claims.instances.paper import INSTANCES
from marginaudit.claims.instances.together import ALL_INSTANCES
from marginaudit.claims.run import BaseRun
from marginaudit.claims.series import Series, as_series, is_ball, position_text
from marginaudit.claims.values.error_text import error_place, error_text
from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.orders import InputError
from marginaudit.reports.audit.auditing import Audit, Audited
from marginaudit.reports.audit.plugins import module_of_file
from marginaudit.reports.processes import Died, forkable, forked
from marginaudit.training.digits import Tracked, ball_of

BITS = 256

KEPT_BITS = 64
"""Bits that the second run must keep to confirm a bar below its own rounding."""

JUDGED = (Verdict.HOLDS, Verdict.VIOLATED, Verdict.VACUOUS, Verdict.INCONCLUSIVE)
"""Verdicts that rest on a measured number."""

Rerun = Mapping[str, Judgement]
"""Judgements by id of the claim, with the literals of their functions in more digits."""


class Checked(NamedTuple):
    """Outcome for the bars of a claim on an instance: confirmed, wrong, in doubt, or not rerun, with the reason."""

    outcome: Literal["confirmed", "wrong", "in doubt", "not rerun"]
    reason: str = ""
    witness: Mapping[str, float] | None = None

    def __str__(self) -> str:
        if self.outcome == "confirmed":
            return f"Its error bar is confirmed in {BITS} bits."
        if self.outcome == "not rerun":
            return f"Its error bar is not checked, as it could not be rerun: {self.reason}."
        return f"Its error bar is {self.outcome}: {self.reason}."


Outcomes = dict[tuple[str, str], Checked]
"""Outcomes by claim and dataset."""


def with_checked_bars(audit: Audit, seconds: float, file: Path | None = None) -> tuple[Audit, Outcomes]:
    """Check the bars of users' claims: the outcome is in the detail of a row, and a row with a wrong bar is broken.

    Parameters
    ----------
    seconds : time limit of a rerun
    file : the claims' file, whose literals are in more digits, too
    """
    rerun = {} if file is None else _judgements_in_more_digits(file)
    outcomes: Outcomes = {}
    audited = []
    for one in audit.audited:
        findings = dict(one.findings)
        for claim in audit.claims:
            row = findings.get(claim.id)
            if row is None or row.verdict not in JUDGED or one.source.paper.has(claim):
                continue
            found = _in_worker(claim, one, rerun.get(claim.id, claim.judgement), seconds)
            if found is None:
                continue
            outcomes[claim.id, one.name] = found
            checked = replace(row, detail=f"{row.detail} {found}".strip())
            if found.outcome == "wrong":
                checked = claim.row(one.run, verdict=Verdict.BROKEN, detail=str(found), witness=found.witness)
            findings[claim.id] = checked
        audited.append(replace(one, findings=findings))
    return replace(audit, audited=tuple(audited)), outcomes


def _in_worker(claim: Claim, one: Audited, again: Judgement, seconds: float) -> Checked | None:
    """Outcome of a forked worker, or of this process where forking is not safe; None without bars."""
    if one.source.paper not in (INSTANCES, ALL_INSTANCES):
        return Checked("not rerun", "a training run has no second one in more digits")
    check = partial(_checked, claim, one.run, again)
    if not forkable(ours=active_count()):
        return check()
    found: Any = forked(check, seconds)
    return Checked("not rerun", f"its process {found}") if isinstance(found, Died) else found


def _checked(claim: Claim, run: BaseRun[Any], again: Judgement) -> Checked | None:
    """Worst outcome of all measures of a claim; None if it has none with bars."""
    run.begin()
    for name in claim.assumptions:
        claim.assumption(run, name)  # which leaves out instances of a claim about all
    across = getattr(claim.judgement, "across", False)
    try:
        with redirect_stdout(sys.stderr):
            found = [
                _compared(first, second, subject)
                for first, second in _measures(claim.judgement, again)
                for subject in (run.subject if across else [run.subject])
            ]
    except Exception as error:  # of code that does not take such numbers
        return Checked("not rerun", f"{error_text(error)} ({error_place(error)})")
    order = ("wrong", "in doubt", "not rerun", "confirmed")
    return min((one for one in found if one is not None), key=lambda one: order.index(one.outcome), default=None)


def _measures(judgement: Any, again: Any) -> Iterator[tuple[Any, Any]]:
    """Pairs of functions that return series: as given, and for the rerun."""
    parts = getattr(judgement, "parts", None)
    if isinstance(parts, Mapping):
        for name, part in parts.items():
            yield from _measures(part, again.parts[name])
        return
    for name in ("measure", "expected"):
        if callable(getattr(judgement, name, None)):
            yield getattr(judgement, name), getattr(again, name)


def _compared(measure: Any, again: Any, subject: Any) -> Checked | None:
    """Outcome for one measure; None if it returns numbers without bars by hand: exact ones, or balls."""
    import flint

    given, repeated = as_series(measure(subject), "measure"), as_series(measure(subject), "measure")
    if given.evidence is Evidence.EXACT or any(map(is_ball, given.value.tolist())):
        return None
    if given.value.tolist() != repeated.value.tolist():
        return Checked("not rerun", "it returns other values the second time")
    with flint.ctx.workprec(BITS):
        Tracked.lost.clear()
        second = as_series(again(in_more_digits(subject)), "measure")
        if Tracked.lost:
            return Checked("not rerun", f"{Tracked.lost[0]} converts to float64")
        if len(second) != len(given) or second.log != given.log:
            return Checked("not rerun", f"it returns {len(given)} values, and others in more digits")
        if not all(map(is_ball, second.value.tolist())):
            return Checked("not rerun", "its values are float64 in the second run, too")
        return _worst(given, second)


def _worst(given: Series, second: Series) -> Checked:
    """Outcome for the entry that is off by most, relative to the bars of both runs; comparisons enclose rounding."""
    import flint

    worst, reached = Checked("confirmed"), 0.0
    for entry, (value, other) in enumerate(zip(given.value.tolist(), second.value.tolist(), strict=True)):
        bar, bar_again = float(given.radius[entry]), float(second.radius[entry])
        ball = ball_of(value)
        if ball is None or not (ball.is_finite() and np.isfinite(bar) and np.isfinite(bar_again)):
            continue
        place = _place(given, entry)
        if not other.is_finite() or (other.rad() > bar and not other.rel_accuracy_bits() > KEPT_BITS):
            worst = worst if reached else Checked("not rerun", f"{place}{BITS} bits do not keep its digits")
            continue
        off = abs(ball - other)
        if not off > flint.arb(bar):
            continue
        wrong = off > flint.arb(bar) + flint.arb(bar_again)
        ratio = float(off.mid()) / (bar + bar_again or 5e-324)
        if ratio > reached:
            reached = ratio
            said = f"{place}the value {float(value):.6g} is off by {float(off.mid()):.2g}, and its bar is {bar:.2g}"
            numbers = {"value": float(value), "off": float(off.mid()), "bar": bar}
            more = "" if wrong else f", but the second run has a bar of {bar_again:.2g}, too"
            worst = Checked("wrong" if wrong else "in doubt", said + more, numbers)
    return worst


def _place(given: Series, entry: int) -> str:
    if given.step is not None:
        return f"at {given.clock} = {position_text(given.step[entry])} "
    return f"at {given.label[entry]} " if given.label else ""


def in_more_digits(value: Any) -> Any:
    """A value with its floats as `Tracked` numbers; integers, Fractions and functions stay.

    >>> in_more_digits({"x": [0.5, 1]})
    {'x': [Tracked(0.50000000000000000000), 1]}
    """
    if isinstance(value, float | np.floating):
        return Tracked(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        found = np.empty(value.shape, dtype=object)
        found.ravel()[:] = [Tracked(number) for number in value.ravel().tolist()]
        return found
    if isinstance(value, Mapping):
        items = {name: in_more_digits(item) for name, item in value.items()}
        return Parameters(items) if isinstance(value, Parameters) else items
    if type(value) in (list, tuple):
        return type(value)(map(in_more_digits, value))
    if is_dataclass(value) and not isinstance(value, type):
        known = [one.name for one in fields(value) if one.init]
        return replace(value, **{name: in_more_digits(getattr(value, name)) for name in known})
    return value


NAME = "_in_more_digits"
"""Variable of the rerun module that makes a literal a number in more digits."""


def _judgements_in_more_digits(file: Path) -> Rerun:
    """Judgements of a file, with literals in more digits; none if the file does not run with these."""
    import flint

    name = f"claims_in_more_digits_of_{file.stem}"
    try:
        with flint.ctx.workprec(BITS):
            module = module_of_file(file, name, "", change=_literals_in_more_digits, variables={NAME: Tracked})
        return {claim.id: claim.judgement for claim in module.CLAIMS}
    except InputError:
        return {}


class _Literals(ast.NodeTransformer):
    """Wrap each float."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Wrap it."""
        if not isinstance(node.value, float):
            return node
        return ast.copy_location(ast.Call(ast.Name(NAME, ast.Load()), [node], []), node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        """Leave patterns."""
        return node


class _Functions(ast.NodeTransformer):
    """Wrap the floats in bodies of functions, not those of decorators and defaults."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Wrap those of the body."""
        node.body = [_Literals().visit(line) for line in node.body]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Wrap those of the expression."""
        node.body = _Literals().visit(node.body)
        return node


def _literals_in_more_digits(tree: ast.Module) -> ast.Module:
    found: ast.Module = _Functions().visit(tree)
    return found
