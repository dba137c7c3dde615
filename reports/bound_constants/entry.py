"""What is kept of one claim on one dataset, and what of it got worse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from marginaudit.reports.bound_constants.constant import Constant
from marginaudit.reports.verdict import Evidence, Verdict

VERDICTS = tuple(Verdict)
"""Worst first."""

EVIDENCE = tuple(reversed(Evidence))
"""Weakest first."""


@dataclass(frozen=True)
class Entry:
    """What one audit of a claim on a dataset found, with what made it.

    Attributes
    ----------
    verdict : Verdict
    evidence : Evidence
    constants : mapping from names to Constant
        ``slack``, ``constant`` and ``informative_step``, those that there are.
    config : mapping
        Where training differed from the default.
    seed : int or None
        The one that the dataset was made from, if the test gives it.
    versions : mapping from names to versions
    history : tuple of mappings
        Of each time that it was loosened, oldest first: the ``reason``, and what was ``loosened``.
    """

    verdict: Verdict
    evidence: Evidence
    constants: Mapping[str, Constant]
    config: Mapping[str, Any]
    seed: int | None
    versions: Mapping[str, str]
    history: tuple[Mapping[str, Any], ...] = ()

    def as_document(self) -> dict[str, Any]:
        """As the file has it."""
        return {
            "verdict": self.verdict.value,
            "evidence": self.evidence.value,
            "constants": {name: constant.as_document() for name, constant in self.constants.items()},
            "config": dict(self.config),
            "seed": self.seed,
            "versions": dict(self.versions),
            "history": [dict(step) for step in self.history],
        }


def entry_from_document(document: Any) -> Entry:
    """The entry that a file has.

    Raises
    ------
    KeyError, TypeError, ValueError, AttributeError
        It is none.
    """
    return Entry(
        verdict=Verdict(document["verdict"]),
        evidence=Evidence(document["evidence"]),
        constants={name: Constant(**fields) for name, fields in document["constants"].items()},
        config=dict(document["config"]),
        seed=document["seed"],
        versions=dict(document["versions"]),
        history=tuple(dict(step) for step in document["history"]),
    )


def other_terms(old: Entry, new: Entry, tolerance: float | None) -> list[str]:
    """Why the two say nothing of each other, in words: what the test asks for is not what the file was made with."""
    found = [
        f"{name}: the file has {getattr(old, name)!r}, the test asks for {getattr(new, name)!r}"
        for name in ("config", "seed")
        if getattr(old, name) != getattr(new, name)
    ]
    if tolerance is not None:
        found += [
            f"tolerance of {name}: the file has {constant.tolerance!r}, the test asks for {tolerance!r}"
            for name, constant in old.constants.items()
            if constant.tolerance != tolerance
        ]
    return found


class Difference(NamedTuple):
    """A part of an entry that is worse or better than another's, beyond tolerances.

    Attributes
    ----------
    part : str
        ``verdict``, ``evidence`` or a constant's name.
    worse : bool
    old, new : str, float or None
        None where an entry lacks the constant.
    text : str
        All of it in words.
    """

    part: str
    worse: bool
    old: str | float | None
    new: str | float | None
    text: str


def differences(old: Entry, new: Entry) -> list[Difference]:
    """What of the new entry is worse or better than the old one beyond the old one's tolerances.

    Evidence counts where the verdict is the same. A constant that one of them lacks is better than none.
    """
    graded: list[tuple[str, StrEnum, StrEnum, Sequence[StrEnum]]] = [("verdict", old.verdict, new.verdict, VERDICTS)]
    if new.verdict is old.verdict:
        graded.append(("evidence", old.evidence, new.evidence, EVIDENCE))
    found = [
        Difference(part, order.index(now) < order.index(was), was.value, now.value, f"{part}: {was} -> {now}")
        for part, was, now, order in graded
        if was is not now
    ]
    for name in [*old.constants, *(name for name in new.constants if name not in old.constants)]:
        one, other = old.constants.get(name), new.constants.get(name)
        if one is None or other is None:
            before, after = (None if constant is None else constant.value for constant in (one, other))
            text = f"{name}: {_or_none(before)} -> {_or_none(after)}"
            found.append(Difference(name, other is None, before, after, text))
        elif one.is_worse(other) or one.is_better(other):
            text = f"{name}: {one.change(other)}"
            found.append(Difference(name, one.is_worse(other), one.value, other.value, text))
    return found


def _or_none(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def worse(old: Entry, new: Entry) -> list[str]:
    """What of the new entry is worse than the old one, in words."""
    return [found.text for found in differences(old, new) if found.worse]


def better(old: Entry, new: Entry) -> list[str]:
    """What of the new entry is better than the old one, in words."""
    return [found.text for found in differences(old, new) if not found.worse]


def updated(old: Entry, new: Entry, tolerance: float | None) -> Entry:
    """The entry to keep from now on: the old one, but for what changed beyond its tolerances or is asked for anew.

    What is the same within its tolerance stays as it was, so that many updates do not add up to a large change.
    """
    constants = {}
    for name, measured in new.constants.items():
        constant = old.constants.get(name, measured)
        if constant.is_worse(measured) or constant.is_better(measured):
            constant = measured
        elif tolerance is not None:
            constant = replace(constant, tolerance=tolerance)
        constants[name] = constant
    kept = replace(new, constants=constants, history=old.history)
    return old if replace(kept, versions=old.versions) == old else kept


def loosened(old: Entry, kept: Entry) -> list[str]:
    """What the entry to be kept would let pass and the old one would not, in words."""
    found = worse(old, kept)
    for name, constant in kept.constants.items():
        before = old.constants.get(name)
        if before is not None and not before.is_worse(constant) and constant.least < before.least:
            found.append(f"{name}: {_with_tolerance(before)} -> {_with_tolerance(constant)}")
    return found


def _with_tolerance(constant: Constant) -> str:
    return f"{constant.value!r} with tolerance {constant.tolerance:.3g}"
