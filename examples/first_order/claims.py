"""The twelve theorems as claims about named instances, with a control of each.

Usage: marginaudit audit --claims examples/first_order/claims.py
       marginaudit hunt first-order.gradient-descent --without short_steps --claims examples/first_order/claims.py
"""

import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from marginaudit import Claim, WorstCase, floats, integers
from marginaudit.claims.quotation import Form, SourceWords

sys.path.insert(0, str(Path(__file__).parent))
from theorems import THEOREMS, Theorem

STEPS = (1, 2, 3, 5)
"""The n of the instances."""

READING = "As PEPit 0.5.1 quotes it; the source was not read."

BOXES: dict[str, dict[str, Any]] = {
    "gradient-descent": {"n": integers(1, 5), "L": floats(1, 4), "gamma": floats(Fraction(1, 10), 2)},
    "nonconvex-gradient-descent": {"n": integers(1, 5), "L": floats(1, 4), "gamma": floats(Fraction(1, 10), 2)},
    "krasnoselskii-mann-long": {"n": integers(1, 5), "gamma": floats(Fraction(1, 2), 1)},
}
"""Parameters for hunts, of theorems with an assumption on the step."""


def instances() -> dict[str, dict[str, Any]]:
    """Parameters by name: inside the assumption of each theorem, and outside it where a control needs that."""
    found = {}
    for theorem in THEOREMS:
        for n in STEPS:
            found[f"{theorem.name}-{n}"] = {"theorem": theorem.name, **theorem.instance(n)}
            if theorem.outside is not None:
                found[f"{theorem.name}-outside-{n}"] = {"theorem": theorem.name, **theorem.control(n)[0]}
    return found


INSTANCES = instances()


def of_theorem(theorem: Theorem) -> Any:
    """The predicate that an instance has the theorem's parameters."""

    def of(p: Any) -> bool:
        return bool(getattr(p, "theorem", theorem.name) == theorem.name)

    of.__name__ = f"of_{theorem.name}".replace("-", "_")
    of.__doc__ = f"parameters of {theorem.name}"
    return of


def outside(theorem: Theorem) -> Any:
    """The failure of the theorem's assumption."""

    def fails(p: Any) -> bool:
        return not theorem.assumption(p)

    fails.__name__ = f"not_{theorem.assumption.__name__}"
    fails.__doc__ = f"not {theorem.assumed}"
    return fails


def claims() -> Iterator[Claim]:
    """Each theorem, and its control: the bound outside the assumption, or a thousandth sharper."""
    for theorem in THEOREMS:
        printed = Claim(
            id=f"first-order.{theorem.name}",
            source=theorem.source,
            statement=f"{theorem.statement}{f' For {theorem.assumed}.' if theorem.assumed else ''}",
            formula=theorem.formula,
            assumptions=(of_theorem(theorem), theorem.assumption),
            judgement=WorstCase(theorem.problem, theorem.bound),
            box=BOXES.get(theorem.name, {}),
            source_words=SourceWords(place=theorem.source, reading=READING, form=Form.PRINTED),
        )
        yield printed
        beyond = theorem.outside is not None
        yield Claim(
            id=f"{printed.id}.control",
            source=theorem.source,
            statement=f"{theorem.statement} "
            + ("Outside its assumption." if beyond else "With a bound sharper by 1/1000."),
            formula=theorem.formula,
            assumptions=(of_theorem(theorem), outside(theorem) if beyond else theorem.assumption),
            judgement=WorstCase(theorem.problem, theorem.control_bound),
            control_of=printed.id,
        )


CLAIMS = tuple(claims())
