"""The twelve theorems as claims about named instances, with a control of each, and variants without the assumption.

Usage: marginaudit audit --claims examples/first_order/claims.py
       marginaudit hunt first-order.gradient-descent --without short_steps --claims examples/first_order/claims.py
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from marginaudit import Claim, WorstCase, floats, integers
from marginaudit.claims.quotation import UNQUOTED, quoted, varied

sys.path.insert(0, str(Path(__file__).parent))
from theorems import THEOREMS, Theorem

STEPS = (1, 2, 3, 4, 5)
"""The n of the instances."""

BEYOND = (1, 2, 3)
"""The n of instances outside an assumption."""

STEP = floats(Fraction(1, 10), 2)
"""Steps of a hunt."""

BOXES: dict[str, dict[str, Any]] = {
    "gradient-descent": {"n": integers(1, 5), "L": floats(1, 4), "gamma": STEP},
    "nonconvex-gradient-descent": {"n": integers(1, 5), "L": floats(1, 4), "gamma": STEP},
    "gradient-descent-contraction": {"n": integers(1, 3), "L": floats(1, 4), "mu": floats(0, 1), "gamma": STEP},
    "proximal-gradient": {"n": integers(1, 2), "L": floats(1, 4), "mu": floats(0, 1), "gamma": STEP},
    "proximal-point": {"n": integers(1, 5), "gamma": STEP},
    "subgradient": {"n": integers(1, 5), "M": floats(1, 4), "R2": floats(1, 10), "gamma": STEP},
    "nesterov": {"n": integers(1, 5), "L": floats(1, 4)},
    "halpern": {"n": integers(1, 5)},
    "krasnoselskii-mann": {"n": integers(1, 5), "gamma": floats(Fraction(1, 2), 1)},
    "krasnoselskii-mann-long": {"n": integers(1, 5), "gamma": floats(Fraction(1, 2), 1)},
    "monotone-proximal-point": {"n": integers(1, 5), "alpha": STEP},
    "douglas-rachford": {"n": integers(1, 2), "L": floats(1, 4), "mu": floats(0, 1), "alpha": STEP},
}
"""Parameters for hunts, by theorem."""


def instances() -> dict[str, dict[str, Any]]:
    """Parameters by name: inside the assumption of each theorem, and outside it where the bound is known to fail."""
    found = {}
    for theorem in THEOREMS:
        of = {"theorem": theorem.name}
        found |= {f"{theorem.name}-{n}": of | theorem.instance(n) for n in STEPS}
        if theorem.outside is not None:
            found |= {f"{theorem.name}-outside-{n}": of | theorem.variant(n)[0] for n in BEYOND}
    return found


INSTANCES = instances()


def other_than(theorem: Theorem) -> Any:
    """The reason why an instance has not this theorem's parameters; it then has no row."""

    def absent(p: Any) -> str | None:
        found = getattr(p, "theorem", theorem.name)
        return None if found == theorem.name else f"parameters of {found}"

    return absent


def claims() -> Iterator[Claim]:
    """Each theorem; without its assumption, a variant; and a control, the bound a thousandth sharper."""
    for theorem in THEOREMS:
        printed = Claim(
            id=f"first-order.{theorem.name}",
            source=theorem.source,
            statement=f"{theorem.statement}{f' For {theorem.assumed}.' if theorem.assumed else ''}",
            formula=theorem.formula,
            assumptions=(theorem.assumption,),
            judgement=WorstCase(theorem.problem, theorem.bound),
            absent=other_than(theorem),
            box=BOXES[theorem.name],
            source_words=quoted(theorem.source, theorem.quotation, theorem.reading),
        )
        yield printed
        if theorem.outside is not None:
            yield replace(
                printed,
                id=f"{printed.id}.any-step",
                statement=f"{theorem.statement} For any step.",
                assumptions=(),
                source_words=varied(printed.id, f"Without the stated range {theorem.assumed}."),
            )
        yield replace(
            printed,
            id=f"{printed.id}.control",
            statement=f"{printed.statement} With a bound sharper by 1/1000.",
            judgement=WorstCase(theorem.problem, theorem.sharper),
            source_words=UNQUOTED,
            control_of=printed.id,
        )


CLAIMS = tuple(claims())
