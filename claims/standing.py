"""Standing of a statement over every dataset that meets its assumptions, and implications that decide it on some."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from marginaudit.claims.verdict import Evidence, Verdict
from marginaudit.orders import InputError, shown


class Status(StrEnum):
    """Status of a statement over every dataset."""

    PROVED = "proved"
    REFUTED = "refuted"
    OPEN = "open"


class Fault(StrEnum):
    """Groups of severities, gravest first."""

    FALSE = "false under every reading"
    CONSTANT = "false as printed, the constant alone"
    SLIP = "a slip"
    UNGRADED = "false, severity not stated"


class Severity(StrEnum):
    """Severity of a refuted statement's failure, worst first."""

    EVERYWHERE = "everywhere it applies"
    ORDINARY = "on ordinary data"
    EXTREME = "only at extremes"
    CONSTANT = "the constant alone"
    SLIP = "a slip"

    @property
    def fault(self) -> Fault:
        """Group for counts of statements."""
        return {Severity.CONSTANT: Fault.CONSTANT, Severity.SLIP: Fault.SLIP}.get(self, Fault.FALSE)


class Weight(StrEnum):
    """Weight of a statement in its source, by the results that rest on it, most first."""

    MAIN = "a main result"
    STEP = "a step of a proof"
    ASIDE = "an aside, on which no result rests"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The standing of a statement: proved, refuted or open.

    Attributes
    ----------
    severity : Severity or None
        For refuted statements only; None if refuted by an audit alone, which assigns no severity.
    weight : Weight
        Of a refuted statement, the share of its source that rests on it.
    cause : str
        Of a refuted statement, the claim whose fault it shares; "" for a separate fault.
    defence : str
        Of a refuted statement, a fair author's defence, in one line; "" if unknown.
    dataset : str
        Of a statement refuted by an audit, the name of the audit's dataset that violates it.
    proof : str or None
        Page and anchor of the proof or refutation, as in ``docs/proofs.md#5-sharplemma6``.
    uses : tuple of str
        The claims that the proof rests on.
    formula : str
        Of a refuted statement, data that violate it if no dataset of float64 numbers does.
    settings : tuple of (name, value)
        Settings with which the smallest counterexample violates it, if an audit's do not suffice.
    wrong : str
        Of a refuted statement, its error in one plain sentence.
    weakest : str
        Of a refuted statement, the weakest added assumption known under which it is true.
    settles : str
        Of an open statement, a fact that would settle it.
    hunted : int
        Datasets tried in the search for a counterexample.
    relied_on_by : tuple of str
        Of a refuted statement, the claims whose printed proofs use it.
    remains : str
        The part of those that remains true, with its proof.

    Raises
    ------
    ValueError
        A proved statement names no proof, or a refuted one has no severity.
    """

    status: Status = Status.OPEN
    severity: Severity | None = None
    weight: Weight = Weight.MAIN
    cause: str = ""
    defence: str = ""
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
        unsaid = self.status is Status.REFUTED and not self.dataset
        if unsaid if self.severity is None else self.status is not Status.REFUTED:
            raise ValueError("a refuted statement, and no other, has a severity")

    @property
    def fault(self) -> Fault:
        """Group of a refuted statement for counts."""
        return self.severity.fault if self.severity else Fault.UNGRADED

    @property
    def gravity(self) -> tuple[int, ...]:
        """Sort key of refuted statements: heaviest first, then gravest fault first."""
        severity = self.severity or Severity.ORDINARY
        places = (Weight, self.weight), (Fault, self.fault), (Severity, severity)
        return tuple(list(scale).index(value) for scale, value in places)


OPEN = Standing()
"""Default standing of a statement: open."""


def proved(proof: str, *uses: str, hunted: int = 0) -> Standing:
    """True for every dataset that meets the assumptions."""
    return Standing(status=Status.PROVED, proof=proof, uses=uses, hunted=hunted)


def refuted(
    proof: str | None,
    *uses: str,
    severity: Severity,
    weight: Weight = Weight.MAIN,
    cause: str = "",
    defence: str = "",
    hunted: int = 0,
    weakest: str,
    wrong: str,
    formula: str = "",
    settings: Mapping[str, float] | None = None,
    relied_on_by: tuple[str, ...] = (),
    remains: str = "",
) -> Standing:
    """False for some dataset that meets the assumptions: the smallest counterexample of its paper, or a formula."""
    return Standing(
        status=Status.REFUTED,
        severity=severity,
        weight=weight,
        cause=cause,
        defence=defence,
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


def unsettled(settles: str, *, hunted: int = 0) -> Standing:
    """Neither proved nor refuted, with a fact that would settle it."""
    return Standing(settles=settles, hunted=hunted)


@dataclass(frozen=True, kw_only=True)
class Implication:
    """Decision of a claim by proved statements, on every dataset that meets a condition.

    Attributes
    ----------
    sources : tuple of str
        The premises: proved claims, whose assumptions the dataset has to meet exactly. ``()`` for a proof that uses no
        claim.
    condition : str
        In words, for the reader of a report; "" for none.
    proof : str
        Page and anchor.
    unmet : callable, run -> reason why the condition fails, or None
        In exact or ball arithmetic.
    verdict : Verdict
        ``VIOLATED`` if the sources contradict the claim.
    assumed : tuple of str
        Assumptions of the claim and the sources, which the dataset has to meet exactly; filled in by the paper.
    evidence : Evidence
        Evidence of the resulting verdict; filled in by the paper, as is the ``package`` of the proof's page.
    unseen : str
        Of a contradiction, the reason why a run may not show it; "" if every run that the claim covers shows it.
    """

    sources: tuple[str, ...]
    condition: str = ""
    proof: str
    unmet: Callable[[Any], str | None] = lambda _: None
    verdict: Verdict = Verdict.HOLDS
    assumed: tuple[str, ...] = ()
    evidence: Evidence = Evidence.PROVED
    package: str = ""
    unseen: str = ""

    def __str__(self) -> str:
        what = ", ".join(self.sources) or "what is proved there"
        return f"{what}{f', as {self.condition}' if self.condition else ''} ({self.proof})"


def contradicts(
    *sources: str,
    condition: str = "",
    proof: str,
    unmet: Callable[[Any], str | None] = lambda _: None,
    unseen: str = "",
) -> Implication:
    """Implication that refutes the claim on every dataset that meets a condition."""
    return Implication(
        sources=sources, condition=condition, proof=proof, unmet=unmet, unseen=unseen, verdict=Verdict.VIOLATED
    )


PLACE = re.compile(r"docs/([\w-]+)\.md#([\w-]+)")
"""Place of a proof: page and anchor of ``docs/proofs.md#5-x``."""


def require_proof(claim: str, place: str, package: str) -> None:
    """Check that a claim's proof exists: a page in the folder ``proofs`` of its paper's package.

    Raises
    ------
    InputError
        The page or its section does not exist.
    """
    found = PLACE.fullmatch(place)
    page = f"proofs/{found[1]}.md" if found else ""
    anchors = _anchors(package, page) if page else None
    if found is None:
        lacks, expected = "", "a place such as docs/proofs.md#5-a-section"
    elif anchors is None:
        of = f"package {package}" if package else "paper, which names no package"
        lacks, expected = f" and no page {page} in its {of}", "one with that section"
    elif found[2] not in anchors:
        lacks, expected = f" and no section {found[2]} on {page}", "the anchor of one of its headings"
    else:
        return
    raise InputError(f"claim {claim}", got=f"the proof {shown(place)}{lacks}", expected=expected)


@cache
def _anchors(package: str, page: str) -> frozenset[str] | None:
    """The anchors of a Markdown page, as GitHub makes them; None without such a page."""
    try:
        text = files(package).joinpath(page).read_text(encoding="utf-8") if package else None
    except (ModuleNotFoundError, FileNotFoundError, NotADirectoryError):
        text = None
    return None if text is None else frozenset(_of_headings(re.findall(r"^#{1,6} (.*)$", text, re.M)))


def _of_headings(headings: list[str]) -> Iterator[str]:
    seen: Counter[str] = Counter()
    for heading in headings:
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        yield f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor
        seen[anchor] += 1
