"""How a statement stands for every dataset that meets its assumptions, and implications that decide it on some."""

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


class Severity(StrEnum):
    """How badly a refuted statement fails, worst first."""

    EVERYWHERE = "everywhere it speaks"
    ORDINARY = "on ordinary data"
    EXTREME = "only at extremes"
    CONSTANT = "the constant alone"
    SLIP = "a slip"

    @property
    def fault(self) -> Fault:
        """The group that counts of statements use."""
        return {Severity.CONSTANT: Fault.CONSTANT, Severity.SLIP: Fault.SLIP}.get(self, Fault.FALSE)


class Weight(StrEnum):
    """How much of its source rests on a statement, most first."""

    MAIN = "a main result"
    STEP = "a step of a proof"
    ASIDE = "an aside, on which no result rests"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The standing of a statement: proved, refuted or open.

    Attributes
    ----------
    severity : Severity or None
        Of a refuted statement, and of no other; None where an audit alone has refuted it, which knows of none.
    weight : Weight
        Of a refuted statement, how much of its source rests on it.
    cause : str
        Of a refuted statement, the claim whose fault it shares; "" where the fault is its own.
    defence : str
        Of a refuted statement, what a fair author would answer, in one line; "" where nothing is known.
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
    def gravity(self) -> tuple[int, ...]:
        """Sort key of refuted statements: what most rests on first, then the gravest fault."""
        severity = self.severity or Severity.ORDINARY
        places = (Weight, self.weight), (Fault, severity.fault), (Severity, severity)
        return tuple(list(scale).index(value) for scale, value in places)


OPEN = Standing()
"""The standing of a statement of which nothing is known."""


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
    """Proved statements decide the claim whose `implications` it is one of, on every dataset that meets a condition.

    Attributes
    ----------
    sources : tuple of str
        The claims that it follows from, all of them proved; the dataset has to meet their assumptions exactly. ``()``
        where the proof rests on no claim.
    condition : str
        In words, for the reader of a report; "" for none.
    proof : str
        Page and anchor.
    unmet : from a run to why the condition fails, or None
        In exact or ball arithmetic.
    verdict : Verdict
        ``VIOLATED`` where the sources contradict the claim.
    assumed : tuple of str
        What the claim and the sources assume, which the dataset has to meet exactly; their paper fills it in.
    evidence : Evidence
        That of a verdict which follows; their paper fills it in, and in which ``package`` the page of the proof lies.
    unseen : str
        Of a contradiction, why a run need not show it, in words; "" where every run of which the claim speaks does.
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
    """Proved statements that make the claim false on every dataset that meets a condition."""
    return Implication(
        sources=sources, condition=condition, proof=proof, unmet=unmet, unseen=unseen, verdict=Verdict.VIOLATED
    )


PLACE = re.compile(r"docs/([\w-]+)\.md#([\w-]+)")
"""Place of a proof: of ``docs/proofs.md#5-x``, page and anchor."""


def require_proof(claim: str, place: str, package: str) -> None:
    """Look a claim's proof up: its page lies in the folder ``proofs`` of its paper's package.

    Raises
    ------
    InputError
        There is no such page, or no such section on it.
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
    """The anchors of a page of Markdown, as GitHub makes them; None where there is no such page."""
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
