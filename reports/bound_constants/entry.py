"""What is kept of one claim on one dataset, and what of it got worse."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

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


def worse(old: Entry, new: Entry) -> list[str]:
    """What of the new entry is worse than the old one beyond the old one's tolerances, in words."""
    found = []
    if VERDICTS.index(new.verdict) < VERDICTS.index(old.verdict):
        found.append(f"verdict: {old.verdict} -> {new.verdict}")
    if new.verdict is old.verdict and EVIDENCE.index(new.evidence) < EVIDENCE.index(old.evidence):
        found.append(f"evidence: {old.evidence} -> {new.evidence}")
    for name, constant in old.constants.items():
        if name not in new.constants:
            found.append(f"{name}: {constant.value!r} -> none")
        elif constant.is_worse(new.constants[name]):
            found.append(f"{name}: {constant.change(new.constants[name])}")
    return found


def better(old: Entry, new: Entry) -> list[str]:
    """What of the new entry is better than the old one beyond the old one's tolerances, in words."""
    found = []
    if VERDICTS.index(new.verdict) > VERDICTS.index(old.verdict):
        found.append(f"verdict: {old.verdict} -> {new.verdict}")
    if new.verdict is old.verdict and EVIDENCE.index(new.evidence) > EVIDENCE.index(old.evidence):
        found.append(f"evidence: {old.evidence} -> {new.evidence}")
    for name, constant in new.constants.items():
        if name not in old.constants:
            found.append(f"{name}: none -> {constant.value!r}")
        elif old.constants[name].is_better(constant):
            found.append(f"{name}: {old.constants[name].change(constant)}")
    return found


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
