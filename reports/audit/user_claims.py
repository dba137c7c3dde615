"""Users' claims: from a Python file, and from installed packages.

A module lists its claims in ``CLAIMS``, an iterable of `Claim`; its other claims, such as templates, are not audited.
A package names the module by an entry point. A file may also have named instances, made by `instance` or listed in
``INSTANCES``, a dict of dicts or dataclasses.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import unescape
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from marginaudit.claims.claim import Claim, Ledger
from marginaudit.claims.instances.instance import Instance, named
from marginaudit.claims.instances.paper import INSTANCES, about_instances, is_about_instances
from marginaudit.claims.instances.together import ALL_INSTANCES
from marginaudit.claims.paper import Paper
from marginaudit.claims.standing import Status
from marginaudit.claims.values.error_text import error_text
from marginaudit.orders import InputError, counted, shown, shown_path
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.audit.plugins import Notice, failures_in_one_line, module_of_file, place_of

GROUP = "marginaudit.claims"
"""Entry points of this group have the value ``module:CLAIMS``."""

STRAY = re.compile(r"<mi>([&$#}])</mi>|<mo />")
"""In MathML, signs of broken LaTeX: a special character of TeX shown as it is, or an empty operator."""

PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}
"""Number of children of MathML elements; with fewer, a LaTeX command lacks arguments."""

EXPECTED = "CLAIMS = (..), the claims to audit"


def all_claims(papers: Sequence[Paper], file: Path | None, notice: Notice) -> Ledger:
    """Claims of the papers, of installed packages and of a file, in this order.

    A package with claims that fail to load is left out, and ``notice`` is called with the reason.

    Raises
    ------
    InputError
        The claims of the file fail to load.
    """
    claims = [claim for paper in papers for claim in paper.claims]
    points = entry_points(group=GROUP)
    if file is None and not points:
        return Ledger(claims)
    known = {paper.name: paper for paper in (*PAPERS, *papers)}
    taken = {claim.id for paper in known.values() for claim in paper.claims}
    for point in points:
        where = place_of(point)
        try:
            with failures_in_one_line(where):
                found = _listed(point.load())
            claims += _accepted(found, where, taken, known.values())
        except InputError as error:
            notice(f"{error}; its claims are left out")
    if file is None:
        return Ledger(claims)
    return with_own(Ledger(claims), claims_of_file(file, known.values()), file)


def with_own(known: Ledger, own: Ledger, file: Path) -> Ledger:
    """Claims, and those of a file after them.

    Raises
    ------
    InputError
        Two have the same id.
    """
    if taken := next((name for name in own if name in known), None):
        expected = "one of its own"
        raise InputError(f"{shown_path(file)}: claim {taken}", got="an id that another claim has", expected=expected)
    return Ledger([*known.values(), *own.values()], own.instances)


def claims_of_file(file: Path, papers: Collection[Paper]) -> Ledger:
    """Claims of a file alone, with its instances.

    Raises
    ------
    InputError
        The claims fail to load.
    """
    taken = {claim.id for paper in papers for claim in paper.claims}
    found, instances = _of_file(file)
    return Ledger(_accepted(found, shown_path(file), taken, papers, beside_instances=bool(instances)), instances)


def _of_file(file: Path) -> tuple[object, dict[str, Instance]]:
    """Run a Python file; its CLAIMS, and its instances by name."""
    module = module_of_file(file, f"claims_of_{file.stem}", "a Python file of claims")
    with failures_in_one_line(shown_path(file), str(file)):
        return _listed(getattr(module, "CLAIMS", None)), _instances(vars(module), shown_path(file))


def _instances(module: Mapping[str, Any], where: str) -> dict[str, Instance]:
    """Instances of a module: those in its variables, and those of INSTANCES."""
    listed = module.get("INSTANCES", {})
    if not isinstance(listed, Mapping):
        raise InputError(where, got=f"{shown(listed)} as INSTANCES", expected="a dict of instances by name")
    found: dict[str, Instance] = {}
    own = {id(value): value for value in module.values() if isinstance(value, Instance)}
    for one in [*own.values(), *(named(name, getattr(value, "value", value)) for name, value in listed.items())]:
        if one.name in found:
            raise InputError(f"{where}: instance {one.name}", got="a name that another has", expected="one of its own")
        found[one.name] = one
    return found


def _listed(found: object) -> object:
    return tuple(found) if isinstance(found, Iterable) else found


def _accepted(
    found: object, where: str, taken: set[str], papers: Collection[Paper], *, beside_instances: bool = False
) -> list[Claim]:
    """Validate CLAIMS for audit and report, reserve their ids, and return them as a list."""
    if not isinstance(found, tuple):
        got = "no CLAIMS" if found is None else f"{shown(found)} as CLAIMS"
        raise InputError(where, got=got, expected=EXPECTED)
    if not found:
        raise InputError(where, got="no claim in CLAIMS", expected="at least one")
    claims: dict[str, Claim] = {}
    for number, claim in enumerate(found):
        if not isinstance(claim, Claim):
            raise InputError(where, got=f"{shown(claim)} as CLAIMS[{number}]", expected="a Claim")
        if claim.id in taken or claim.id in claims:
            got = "an id that another claim has"
            raise InputError(f"{where}: claim {claim.id}", got=got, expected="one of its own")
        claims[claim.id] = accepted(claim, f"{where}: claim {claim.id}", papers, beside_instances=beside_instances)
    for claim in claims.values():
        if claim.control_of and (claim.control_of == claim.id or claim.control_of not in taken | set(claims)):
            got = f"a control of {shown(claim.control_of)}"
            raise InputError(f"{where}: claim {claim.id}", got=got, expected="the id of another claim")
    taken |= set(claims)
    return list(claims.values())


def accepted(claim: Claim, place: str, papers: Collection[Paper], *, beside_instances: bool = False) -> Claim:
    """Validate a user's claim; one about instances is marked as such.

    Raises
    ------
    InputError
        No paper judges the claim, it is labelled proved, or the page cannot show its formula.
    """
    if is_about_instances(claim, beside_instances):
        claim = about_instances(claim)
    if not any(paper.judges(claim) for paper in (*papers, INSTANCES, ALL_INSTANCES)):
        raise _judged_by_none(claim, place, papers)
    if claim.standing.status is Status.PROVED and claim.decided_by is None:
        expected = "another one: only papers, with pages of proofs, have proved statements"
        raise InputError(place, got="the standing proved", expected=expected)
    for formula in claim.formulas:
        _check_formula(formula, place)
    return claim


def _judged_by_none(claim: Claim, place: str, papers: Collection[Paper]) -> InputError:
    if claim.paper and claim.paper not in {paper.name for paper in (*papers, INSTANCES)}:
        expected = f"one of {', '.join(paper.name for paper in papers)}"
        return InputError(place, got=f"the paper {shown(claim.paper)}", expected=expected)
    names = [name for paper in papers for name in paper.kind.assumptions if claim.paper in ("", paper.name)]
    if claim.paper == INSTANCES.name:
        names = list(claim.predicates)
    unknown = [name for name in claim.asked if name not in names]
    got = f"the assumption {shown(unknown[0])}" if unknown else "assumptions of several papers"
    known = f"one of {', '.join(names)}" if names else "none"
    return InputError(place, got=got, expected=known if unknown else "those of one")


def _check_formula(formula: str, place: str) -> None:
    from latex2mathml.converter import convert, convert_to_element

    got = f"the formula {shown(formula)}"
    try:
        found, tree = convert(formula), convert_to_element(formula)
        text = unescape(re.sub("<[^>]*>", " ", found))
    except Exception as error:
        raise InputError(place, got=f"{got} ({error_text(error)})", expected="LaTeX") from None
    if raw := re.search(r"\\([A-Za-z]+|.)", text):
        expected = "commands supported by latex2mathml"
        raise InputError(place, got=f"{got}, whose {raw[0]} stays as it is", expected=expected)
    if stray := STRAY.search(found):
        what = f"{stray[1]} would be shown" if stray[1] else r"\operatorname has more than letters"
        raise InputError(place, got=f"{got}, in which {what}", expected="LaTeX as between dollar signs")
    if short := next((one for one in tree.iter() if len(one) != PARTS.get(one.tag, len(one))), None):
        what = f"whose {short.tag} in MathML has {counted(len(short), 'part')} of {PARTS[short.tag]}"
        raise InputError(place, got=f"{got}, {what}", expected="every argument of its commands, in braces")
    if not formula.replace("\n", "").isprintable():
        raise InputError(place, got=f"{got}, which has control characters", expected='a raw string, r".."')
