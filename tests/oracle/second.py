"""The oracle as a second program of `marginaudit recheck REPORT --second tests/oracle/second.py`.

It recomputes rows from the data and settings of a report alone, in several hundred bits, without code of the product.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import flint

if "tests" not in sys.modules:  # which a test has, and its path stays as it is
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.oracle import checking
from tests.oracle.comparison import Disagreement
from tests.oracle.experiment import BITS, Experiment, Settings
from tests.oracle.problem import problem
from tests.oracle.snap import checking as classes
from tests.oracle.snap import numbers
from tests.oracle.snap.assumptions import assumptions
from tests.oracle.snap.problem import Problem
from tests.oracle.snap.random_classes import Settings as ClassSettings
from tests.oracle.snap.sides import place
from tests.oracle.snap.statements import STATEMENTS as OF_CLASSES
from tests.oracle.sweep import HARMLESS

Document = Mapping[str, Any]
Found = tuple[str, bool | None, str]

FIRST = 20
"""First steps that are looked at, beside those of a row's curve."""


def next_tokens(data: Document, config: Document, rows: Mapping[str, Document]) -> Iterator[Found]:
    """Rows of arXiv 2409.17335."""
    if config["optimizer"] != "ngd" or data["steps2"] is None:
        return
    steps1, steps2 = data["steps1"], data["steps2"]
    settings = Settings(steps1, steps2, data["lr1"], data["lr2"])
    e = Experiment(problem(data["data"]), settings, checking.REACH)
    with flint.ctx.workprec(BITS):
        for claim, row in rows.items():
            if claim not in checking.STATEMENTS:
                continue
            seen = _steps(row) | {0, steps1} | set(range(FIRST))
            stages = {"stage1": {t for t in seen if t <= steps1}, "stage1_continued": seen}
            stages["stage2"] = {t for t in seen | set(range(checking.REACH + 1)) | {steps2} if t <= steps2}
            audit: Any = SimpleNamespace(**{stage: tuple(sorted(found)) for stage, found in stages.items()})
            yield _answer(claim, list(checking.row_faults(claim, row, e, audit)), _of_answer(claim, row, e, audit))


def _of_answer(claim: str, row: Document, e: Experiment, audit: Any) -> str:
    """What the oracle knows of a row: "numbers", "verdict", or ""."""
    if row["verdict"] == "not-applicable":
        return "verdict"
    if not all(e.assumptions[name] for name in checking.ASSUMPTIONS[claim]):
        return ""
    steps = audit.stage1 if claim in checking.STAGE1 else audit.stage2
    answer = checking.STATEMENTS[claim](e, list(audit.stage1_continued if claim in checking.CONTINUED else steps))
    entries = list(answer.entries)
    shown = None not in (row["measured"], row["bound"])
    if answer.numbers and shown and any(entry.step == row["worst_step"] for entry in entries):
        return "numbers"
    return "verdict" if entries or answer.true is not None else ""


def sequence_classes(data: Document, config: Document, rows: Mapping[str, Document]) -> Iterator[Found]:
    """Rows of arXiv 2305.16380."""
    steps = {1, data["steps"]}.union(*map(_steps, rows.values()))
    recorded = tuple(sorted(t for t in steps if 1 <= t <= data["steps"]))
    settings = ClassSettings(
        lr_y=data["lr_y"], lr_z=data["lr_z"], steps=data["steps"], at=None, seeds=config["seeds"], seed=config["seed"]
    )
    T = numbers.Truth(Problem(data["data"]), settings, recorded, set(recorded))
    with flint.ctx.workprec(numbers.BITS):
        known = assumptions(T.problem)
        for claim, row in rows.items():
            if claim in OF_CLASSES:
                yield _answer(claim, list(classes.row_faults(claim, row, T, known)), _of_classes(claim, row, T))


def _of_classes(claim: str, row: Document, T: numbers.Truth) -> str:
    statement = OF_CLASSES[claim]
    if row["verdict"] == "not-applicable":
        return "verdict"
    if None not in (row["measured"], row["bound"]) and any(one.known for one in statement.entries(T, place(row))):
        return "numbers"
    return "verdict" if statement.true(T) is not None else ""


def _steps(row: Document) -> set[int]:
    """Steps that a row names."""
    curve = row["curve"]
    named = {row["worst_step"], row["first_violation"]} | {*(curve["step"] if curve and curve["clock"] == "t" else ())}
    return {t for t in named if isinstance(t, int) and t >= 0}


def _answer(claim: str, faults: list[Disagreement], known: str) -> Found:
    wrong = [one for one in faults if one.kind not in HARMLESS]
    if wrong:
        return claim, False, "; ".join(one.words for one in wrong)
    return claim, True if known and not faults else None, known


SECOND = {"ntp": next_tokens, "snap": sequence_classes}
