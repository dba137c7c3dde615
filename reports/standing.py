"""What is known of a statement, for every dataset that meets its assumptions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The three ways in which a statement can stand."""

    PROVED = "proved"
    REFUTED = "refuted"
    OPEN = "open"


class Severity(StrEnum):
    """How badly a refuted statement fails, worst first."""

    EVERYWHERE = "everywhere it speaks"
    ORDINARY = "on ordinary data"
    EXTREME = "only at extremes"
    CONSTANT = "the constant alone"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What is known of a statement, beside its verdicts on data.

    Attributes
    ----------
    status : Status
    severity : Severity or None
        Of a refuted statement, and of no other.
    dataset : str
        Of a statement that an audit has refuted, the name of the dataset that violates it there.
    proof : str or None
        Page and anchor, as in ``docs/proofs.md#5-sharplemma6``: of the statement, or of what refutes it.
    uses : tuple of str
        The claims that the proof rests on.
    formula : str
        Of a refuted statement, data that violate it where no dataset of float64 numbers does.
    settings : tuple of (name, value)
        Settings with which the smallest counterexample violates it, where an audit's own do not show it.
    wrong : str
        Of a refuted statement, in one plain sentence what is wrong with it.
    weakest : str
        Of a refuted statement, the weakest added assumption known under which it is true.
    settles : str
        Of an open statement, what would settle it.
    hunted : int
        Datasets tried in the search for a counterexample.
    relied_on_by : tuple of str
        Of a refuted statement, the claims whose printed proofs use it.
    remains : str
        What of those is true all the same, and from what it follows.

    Raises
    ------
    ValueError
        A proved statement names no proof, or one that is refuted does not say how badly it fails.
    """

    status: Status = Status.OPEN
    severity: Severity | None = None
    dataset: str = ""
    proof: str | None = None
    uses: tuple[str, ...] = ()
    formula: str = ""
    settings: tuple[tuple[str, float], ...] = ()
    wrong: str = ""
    weakest: str = ""
    settles: str = ""
    hunted: int = 0
    relied_on_by: tuple[str, ...] = ()
    remains: str = ""

    def __post_init__(self) -> None:
        if self.status is Status.PROVED and not self.proof:
            raise ValueError("a proved statement names its proof, page and anchor")
        if (self.status is Status.REFUTED) is (self.severity is None):
            raise ValueError("a refuted statement, and no other, has a severity")


OPEN = Standing()
"""Of a statement of which nothing is known."""


def proved(proof: str, *uses: str, hunted: int) -> Standing:
    """True for every dataset that meets the assumptions."""
    return Standing(status=Status.PROVED, proof=proof, uses=uses, hunted=hunted)


def refuted(
    proof: str | None,
    *uses: str,
    severity: Severity,
    hunted: int,
    weakest: str,
    wrong: str = "",
    formula: str = "",
    settings: Mapping[str, float] | None = None,
    relied_on_by: tuple[str, ...] = (),
    remains: str = "",
) -> Standing:
    """False for some dataset that meets the assumptions: the smallest counterexample of its paper, or a formula."""
    return Standing(
        status=Status.REFUTED,
        severity=severity,
        proof=proof,
        uses=uses,
        formula=formula,
        settings=tuple((settings or {}).items()),
        weakest=weakest,
        wrong=wrong,
        hunted=hunted,
        relied_on_by=relied_on_by,
        remains=remains,
    )


def by_dataset(name: str) -> Standing:
    """Refuted by a dataset of an audit, which meets the assumptions."""
    return Standing(status=Status.REFUTED, severity=Severity.ORDINARY, dataset=name)


def unsettled(settles: str, *, hunted: int) -> Standing:
    """Neither, with what would settle it."""
    return Standing(settles=settles, hunted=hunted)
