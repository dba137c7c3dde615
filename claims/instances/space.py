"""Search space of hunts among the instances of a claim's box."""

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from marginaudit.claims.box import Box, drawn, simpler, smallest
from marginaudit.claims.claim import Claim
from marginaudit.claims.instances.instance import Instance, Parameters
from marginaudit.claims.instances.paper import InstanceConfig, InstanceRun
from marginaudit.claims.paper import Space
from marginaudit.claims.verdict import Evidence, Finding, Verdict

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


BITS = 256
"""Precision of the balls of a second judgement."""


class BoxSpace(Space):
    """Instances with the values of a box, which are Fractions, integers and tuples of Fractions."""

    measures = ("complexity",)
    runs = MappingProxyType({late: [(InstanceConfig(), InstanceConfig())] for late in (False, True)})

    def __init__(self, box: Box) -> None:
        self.box = box

    def smallest(self) -> Iterator[Instance]:
        """Simple values of all parameters."""
        return (_instance(values) for values in smallest(self.box))

    def drawn(self, broken: Collection[str], required: Collection[str]) -> "SearchStrategy[Instance]":
        """Random values; the hunt keeps those that meet the assumptions."""
        return drawn(self.box).map(_instance)

    def reductions(self, dataset: Instance) -> Iterator[Instance]:
        """One parameter simpler."""
        return (_instance(values) for values in simpler(self.box, dataset.values))

    def size(self, dataset: Instance) -> tuple[int, ...]:
        """Sum of numerators and denominators."""
        return (dataset.complexity,)

    def confirmed(self, claim: Claim, dataset: Instance, finding: Finding) -> Finding:
        """Judge a violation in float64 again in balls; the finding if the claim's code does not take them."""
        if finding.evidence is not Evidence.FLOAT64:
            return finding
        import flint

        with flint.ctx.workprec(BITS):
            balls = Instance(dataset.name, Parameters({name: _ball(value) for name, value in dataset.values.items()}))
            again = claim.judge(InstanceRun(balls))
        return again if again.verdict is Verdict.VIOLATED and again.evidence is Evidence.CERTIFIED else finding


def _instance(values: Mapping[str, Any]) -> Instance:
    return Instance("drawn", Parameters(values))


def _ball(value: Any) -> Any:
    """A Fraction as a ball; whole numbers of a box, such as a length, stay."""
    import flint

    if isinstance(value, tuple):
        return tuple(map(_ball, value))
    return flint.arb(flint.fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else value
