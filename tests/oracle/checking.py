"""One audit against all statements of the ledger's section 1: rows, assumptions, solutions and recorded steps."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import flint

from tests.oracle import (
    limit_statements,
    margin_statements,
    stage1_statements,
    stage2_statements,
    theorem3_statements,
)
from tests.oracle.answer import Answer
from tests.oracle.audited import Audited
from tests.oracle.comparison import ALLOWANCE, Disagreement, compare
from tests.oracle.experiment import BITS, FEWER_BITS, Experiment, Settings
from tests.oracle.problem import problem
from tests.oracle.stage1_statements import Statement
from tests.oracle.stage2_statements import one_minus_cos, other_weight

ONE = ("collocation", "injective", "next_from_sentence", "well_defined_orders", "no_confused_tokens")
TWO = (*ONE, "orthonormal")
THREE = (*TWO, "optimal_majority")

STATEMENTS: dict[str, Statement] = (
    stage1_statements.STATEMENTS
    | stage2_statements.STATEMENTS
    | margin_statements.STATEMENTS
    | theorem3_statements.STATEMENTS
    | limit_statements.STATEMENTS
)

_NEEDS = {
    "ntp.gradient.kq": (),
    "ntp.example1": (),
    "ntp.example2": ("orthonormal",),
    "ntp.prop2.closed-form": (*TWO, "prefix_closed"),
    "ntp.prop2.corollary": (*TWO, "prefix_closed"),
    "sharp.single-optimum": (*ONE, "prefix_closed"),
    "sharp.stage1": ("collocation", "orthonormal"),
}

_STAGE1_OR_MARGINS = (
    "ntp.gradient",
    "ntp.prop",
    "ntp.lemma2",
    "ntp.lemma3",
    "ntp.lemma4",
    "ntp.corollary",
    "ntp.theorem3",
    "sharp.prop2",
)

ASSUMPTIONS: dict[str, tuple[str, ...]] = {
    name: _NEEDS.get(name, TWO if name.startswith(_STAGE1_OR_MARGINS) else THREE) for name in STATEMENTS
}

IN_ITS_SETTING = ("ntp.lemma7", "ntp.theorem1.direction", "ntp.theorem2.weight", "ntp.theorem2.floor")
"""Printed statements of prefix-closed data; on other data they are not applicable, but where they are proved."""

STAGE1 = tuple(
    name for name in STATEMENTS if name.startswith(("ntp.prop1", "ntp.lemma2", "ntp.lemma3", "sharp.stage1"))
)
"""Statements about steps of stage 1; the others, where about steps, are about stage 2."""

CONTINUED = tuple(name for name in STAGE1 if name.startswith("ntp.prop1"))
"""Those of every t, whatever T is."""

REACH = 300
"""Steps of stage 2 that are computed in high precision."""

BRUTE_FORCE = 5
"""Sentences of up to so many tokens are put through the model."""

KNOWN = 2.0**-FEWER_BITS
"""A recorded number below this is rounding to the oracle: 1 - cos of 4e-267 is 1 - 1."""

MANY = 200
"""Of more steps of stage 1 every tenth is looked at, and the first ones: its closed form leaves no surprises."""

DIRECTION_BOUNDS: dict[str, tuple[int, Callable[[Experiment, int], flint.arb]]] = {
    "ntp.prop1.direction": (2, stage1_statements.direction_bound),
    "ntp.theorem1.direction": (2, stage2_statements.theorem1_bound),
    "ntp.theorem1.direction.any-step": (2, stage2_statements.theorem1_bound),
    "sharp.theorem1": (1, stage2_statements.sharp_bound),
}
"""The bounds on 1 - cos, with the first step that they speak of."""

Found = tuple[str, Disagreement]


def check(document: Mapping[str, Any], audit: Audited) -> list[Found]:
    """Everything in which the audit and the oracle differ, with the claim or the part that it is about."""
    e = experiment(document, audit)
    with flint.ctx.workprec(BITS):
        found = [(claim, one) for claim, row in audit.rows.items() for one in row_faults(claim, row, e, audit)]
        return [*assumption_faults(e, audit), *found, *solution_faults(e, audit), *record_faults(e, audit)]


def experiment(document: Mapping[str, Any], audit: Audited) -> Experiment:
    """What was audited, for the oracle."""
    return Experiment(problem(document), Settings(audit.steps1, audit.steps2, audit.eta0, audit.eta), REACH)


def assumption_faults(e: Experiment, audit: Audited) -> Iterator[Found]:
    for name, holds in e.assumptions.items():
        if audit.assumptions[name] != holds:
            yield name, Disagreement("assumption", f"holds: {not holds}, and it is {holds}")
    true = {q: (o.optimal, o.non_optimal, o.confused, o.non_comparable) for q, o in e.orders.items()}
    if audit.classes != true:
        yield "classes", Disagreement("assumption", f"{audit.classes}, and they are {true}")


def row_faults(claim: str, row: Mapping[str, Any], e: Experiment, audit: Audited) -> Iterator[Disagreement]:
    failing = [name for name in ASSUMPTIONS[claim] if not e.assumptions[name]]
    if not failing and claim in IN_ITS_SETTING and not e.assumptions["prefix_closed"]:
        if row["verdict"] == "not-applicable":
            return
        if row["verdict"] == "violated" or row["evidence"] != "proved":
            yield Disagreement("verdict", f"{row['verdict']} {row['evidence']} outside the setting")
    steps = _steps(claim, row, audit)
    answer = Answer() if failing else STATEMENTS[claim](e, steps)
    yield from compare(row, answer, failing)
    if not failing and not answer.silent:
        yield from _hidden(claim, row, e, steps)


def _steps(claim: str, row: Mapping[str, Any], audit: Audited) -> list[int]:
    """The recorded steps of the stage that a claim is about."""
    if claim not in STAGE1:
        return list(audit.stage2)
    steps = audit.stage1_continued if claim in CONTINUED else audit.stage1
    shown = {row["worst_step"], row["first_violation"], steps[-1] if steps else None}
    if len(steps) <= MANY:
        return list(steps)
    return [t for i, t in enumerate(steps) if i < 20 or i % 10 == 0 or t in shown]


def _hidden(claim: str, row: Mapping[str, Any], e: Experiment, steps: list[int]) -> Iterator[Disagreement]:
    """Hidden constants, and the shortest sentence that Theorem 3 gets wrong."""
    if claim == "ntp.prop1.loss" and row["constant"] is not None:
        yield from _constant(row, stage1_statements.loss_constant(e, steps))
    if claim == "ntp.theorem3.order.any-t" and row["constant"] is not None and steps[-1] < len(e.states):
        yield from _constant(row, theorem3_statements.least_ratio(e, steps))
    decided = row["verdict"] in ("holds", "violated")
    seen = row["worst_step"] is not None and row["worst_step"] < len(e.states)
    if claim == "ntp.theorem3.prediction.any-length" and decided and seen:
        yield from _sentence(row, e)
        yield from _answered(row, e, steps)
    if claim in DIRECTION_BOUNDS and row["informative_from"] is not None:
        yield from _informative(claim, row["informative_from"], e)


def _constant(row: Mapping[str, Any], true: flint.arb | None) -> Iterator[Disagreement]:
    within = math.inf if row["repeats_within"] is None else max(1e-6, row["repeats_within"])
    if true is not None and abs(float(true) - row["constant"]) > within * abs(row["constant"]) + 1e-17:
        yield Disagreement("number", f"constant {row['constant']!r}, and it is {float(true)!r}")


def _informative(claim: str, step: int, e: Experiment) -> Iterator[Disagreement]:
    """Whether the bound on 1 - cos is below 2 at that step, and not at the one before, to float64's rounding."""
    first, bound = DIRECTION_BOUNDS[claim]
    before, at = (float(bound(e, t)) for t in (max(first, step - 1), step))
    if at > 2 * (1 + ALLOWANCE) or (before < 2 * (1 - ALLOWANCE) and step > first):
        yield Disagreement("number", f"informative_from {step}, where the bound is {bound(e, step).str(20)}")


def _sentence(row: Mapping[str, Any], e: Experiment) -> Iterator[Disagreement]:
    """The length of the witness, which is the shortest unless the detail leaves that open, by brute force."""
    copies, q, middle, other = (row["witness"][name] for name in ("copies", "query", "x_0", "x"))
    true = theorem3_statements.shortest_misled(e, e.states[row["worst_step"]], BRUTE_FORCE)
    if isinstance(copies, str):
        return
    # x_0, the copies and the query, which is itself one of these or the third token
    claimed, open_ = copies + 1 + (q not in (middle, other)), "leave it open" in row["detail"]
    if true is None and claimed <= BRUTE_FORCE:
        yield Disagreement("evidence", f"a sentence of {claimed} tokens, and all up to {BRUTE_FORCE} are answered")
    if true is not None and (claimed < true or (claimed > true and not open_)):
        yield Disagreement("evidence", f"the shortest has {claimed} tokens, and one has {true}")
    if f"{claimed} tokens" not in row["detail"]:
        yield Disagreement("evidence", f"the detail names another length than {claimed}")


def _answered(row: Mapping[str, Any], e: Experiment, steps: list[int]) -> Iterator[Disagreement]:
    """What the detail says of short sentences: how many are answered, and from which step."""
    said = re.search(r"At t = (\d+) all \d+ of up to (\d+) tokens.*?: (\d+) are answered", row["detail"])
    if said and int(said[1]) < len(e.states) and int(said[2]) <= 2 * BRUTE_FORCE:
        true = theorem3_statements.answered(e, e.states[int(said[1])], int(said[2]))
        unsure = re.search(r"of (\d+) more the error bars leave it open", row["detail"])
        if not int(said[3]) <= true <= int(said[3]) + (int(unsure[1]) if unsure else 0):
            yield Disagreement("evidence", f"{said[0]}, and it is {true}")
    since = re.search(r"all answers n\(x_0\), by length: ([^.]*)\.", row["detail"])
    if since and steps[-1] < len(e.states):
        for length, step, earlier in re.findall(r"(\d+): (\w+)( or earlier)?", since[1])[:3]:
            found = theorem3_statements.answered_from(e, steps, int(length))
            known = (
                found is not None and found <= int(step)
                if earlier
                else step == ("never" if found is None else str(found))
            )
            if step != "open" and not known:
                yield Disagreement("evidence", f"{length} tokens answered from {step}, and it is {found}")


def solution_faults(e: Experiment, audit: Audited) -> Iterator[Found]:
    if not e.assumptions["collocation"]:
        return
    for which, true in (("ov", e.ov), ("kq", e.kq)):
        shown = audit.solved[which]
        if shown.status == "not solved":
            yield which, Disagreement("undecided", "not solved")
        elif (shown.value is None) != (true.norm_squared is None):
            yield which, Disagreement("solution", f"{shown.status}, and ||W*||^2 is {true.norm_squared}")
        elif true.norm_squared is not None and shown.value is not None:
            if shown.exact not in (None, true.norm_squared):
                yield which, Disagreement("solution", f"{shown.exact} exactly, and it is {true.norm_squared}")
            if shown.weights not in (None, {pair: w for pair, w in true.weights.items() if w}):
                yield which, Disagreement("solution", f"{shown.weights} exactly, and it is {true.weights}")
            if abs(Fraction(shown.value) - true.norm_squared) > Fraction(1, 10**8) * true.norm_squared:
                yield which, Disagreement("solution", f"{shown.value!r}, and it is {float(true.norm_squared)!r}")


def record_faults(e: Experiment, audit: Audited) -> Iterator[Found]:
    """Recorded numbers of stage 2 beyond their own error bounds, the first of each."""
    if not audit.columns or (e.A is None and (audit.steps1 > REACH or e.problem.V == 1)):
        return
    for name in ("norm", "one_minus_cos"):
        numbers = [math.isfinite(shown) for shown in audit.columns[name].tolist()]
        lost = [bar >= 2 for bar in audit.columns["distance_error"].tolist()]
        if any(number and gone for number, gone in zip(numbers, lost, strict=True)):
            yield f"train.{name}", Disagreement("number", "a number where nothing is known of W_kq")
    directed = bool(e.assumptions["orthonormal"] and e.orders and e.kq.norm_squared and e.settings.steps1)
    seen = set[str]()
    for i, t in enumerate(audit.stage2):
        if not 1 <= t < len(e.states):
            continue
        for name, shown, true, bar in _at(i, e, t, audit, directed):
            off = abs(float(true - shown)) if math.isfinite(shown) else math.inf
            if not off <= bar + KNOWN and name not in seen and (math.isfinite(shown) or true.is_finite()):
                seen.add(name)
                words = (
                    f"t = {t}: {shown!r} with error {bar:.3g}, and it is {true.str(17, radius=False)}, off by {off:.3g}"
                )
                yield f"train.{name}", Disagreement("error bar", words)


def _at(i: int, e: Experiment, t: int, audit: Audited, directed: bool) -> Iterator[tuple[str, float, flint.arb, float]]:
    """(name, recorded, true, error bar) of what has an error bar at record ``i``."""
    state = e.states[t]
    norm, gap, error, unit_error = (
        float(audit.columns[name][i]) for name in ("norm", "one_minus_cos", "error", "distance_error")
    )
    if unit_error < 2:
        yield "norm", norm, state.norm, (unit_error + 1e-14) * norm
    if directed:
        if math.isfinite(error) and gap > 0:
            yield "one_minus_cos", gap, one_minus_cos(e, state), error * gap
        at = i - sum(step < 1 for step in audit.stage2)
        for name, true in (("log_loss", state.log_loss), ("log_other_weight", other_weight(e, state).log())):
            value, radius = audit.logarithms[name]
            yield name, float(value[at]), true, float(radius[at])
