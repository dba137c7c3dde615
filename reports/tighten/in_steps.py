"""Exact worst cases by the number n of steps, and a guess of their formula, checked at an n not used for it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.instances.instance import Instance, Parameters, plain, values_of
from marginaudit.claims.instances.paper import INSTANCES, InstanceRun
from marginaudit.claims.judgements import WorstCase
from marginaudit.claims.series import is_ball
from marginaudit.margins.worst_case.formula import guessed_formula
from marginaudit.orders import InputError

FURTHER = 3
"""Most n tried beyond those of the instances."""


@dataclass(frozen=True)
class Constant:
    """Exact worst case for one n; None where the proved ends differ. The factor is that on the stated bound."""

    n: int
    worst_case: Fraction | None
    factor: Fraction | None


@dataclass(frozen=True)
class InSteps:
    """Worst cases of instances that differ in n.

    Attributes
    ----------
    parameters : dict
        The other parameters; those that vary with n are left out.
    guess : str or None
        Guess of the worst case's formula in n.
    checked_at : int or None
        An n whose worst case the formula gives although it was guessed from the others.
    missing : tuple
        The n of instances for which no time was left.
    """

    parameters: dict[str, Any]
    constants: tuple[Constant, ...]
    guess: str | None
    checked_at: int | None
    missing: tuple[int, ...]


def in_steps(claim: Claim, instances: Sequence[Instance], deadline: float) -> list[InSteps]:
    """Worst cases of a claim by n, for each choice of the other parameters; for one series if every n has its own.

    Raises
    ------
    InputError
        The claim applies to no instance with a whole number n.
    """
    applied = [one.value for one in instances if isinstance(one.values.get("n"), int) and applies(claim, one)]
    if not applied:
        got = f"no instance with a whole number n among {len(instances)}"
        raise InputError(f"claim {claim.id}", got=got, expected="instances in the file of --claims to which it applies")
    groups: dict[str, dict[int, Any]] = defaultdict(dict)
    for value in applied:
        groups[repr(others(value))][values_of(value)["n"]] = value
    series = list(groups.values())
    steps = [n for of in series for n in of]
    if len(series) == len(steps) == len(set(steps)):
        series = [{n: value for of in series for n, value in of.items()}]
    return [_series(claim, [of[n] for n in sorted(of)], deadline) for of in series]


def applies(claim: Claim, one: Instance) -> bool:
    """Whether an instance has the claim's subject and meets its assumptions."""
    run = InstanceRun(one)
    return INSTANCES.about(claim, run) and all(claim.assumption(run, name).holds for name in claim.assumptions)


def others(value: Any) -> dict[str, Any]:
    """The parameters beside n."""
    return {name: item for name, item in values_of(value).items() if name != "n"}


def _series(claim: Claim, of: Sequence[Any], deadline: float) -> InSteps:
    """Worst cases of instances by n, and of further n until a formula is found."""
    constants: list[Constant] = []
    known: dict[int, Fraction] = {}
    formula, checked_at = None, None
    for value in (*of, *_further(claim, of)):
        if monotonic() > deadline or (formula and len(constants) >= len(of)):
            break
        found = _constant(claim, value)
        constants.append(found)
        if found.worst_case is not None:
            guess = guessed_formula(known)
            known[found.n] = found.worst_case
            confirmed = guess is not None and guessed_formula(known) == guess
            formula, checked_at = (guess, found.n) if confirmed else (None, None)
    first = others(of[0])
    shared = {name: plain(item) for name, item in first.items() if all(others(one)[name] == item for one in of)}
    missing = tuple(values_of(value)["n"] for value in of[len(constants) :])
    return InSteps(shared, tuple(constants), formula, checked_at, missing)


def _further(claim: Claim, of: Sequence[Any]) -> Iterator[Any]:
    """The last instance with larger n, where the other parameters do not vary with n."""
    if any(others(one) != others(of[0]) for one in of):
        return
    for k in range(1, FURTHER + 1):
        n = values_of(of[-1])["n"] + k
        value = Parameters({**of[-1], "n": n}) if isinstance(of[-1], Parameters) else replace(of[-1], n=n)
        if applies(claim, Instance(f"n = {n}", value)):
            yield value


def _constant(claim: Claim, value: Any) -> Constant:
    statement = claim.judgement
    if not isinstance(statement, WorstCase):
        raise InputError(f"claim {claim.id}", got=statement.kind, expected=WorstCase.kind)
    exact, bound = statement.exact(value), statement.bound(value)
    factor = None if exact is None or is_ball(bound) or not bound else exact / Fraction(bound)
    return Constant(values_of(value)["n"], exact, factor)
