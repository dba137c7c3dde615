"""A rule: proved statements decide another one on every dataset that meets a condition."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marginaudit.reports.verdict import Verdict


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
    unseen : str
        Of a contradiction, why a run need not show it, in words; "" where every run of which the claim speaks does.
    """

    sources: tuple[str, ...]
    condition: str = ""
    proof: str
    unmet: Callable[[Any], str | None] = lambda _: None
    verdict: Verdict = Verdict.HOLDS
    assumed: tuple[str, ...] = ()
    unseen: str = ""

    def __str__(self) -> str:
        what = ", ".join(self.sources) or "what is proved there"
        return f"{what}{f', as {self.condition}' if self.condition else ''} ({self.proof})"
