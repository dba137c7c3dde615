"""Users' claims: from a Python file, and from installed packages.

A module lists its claims in ``CLAIMS``, an iterable of `Claim`; its other claims, such as templates, are not audited.
A package names the module by an entry point.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from html import unescape
from importlib.metadata import entry_points
from pathlib import Path

from marginaudit.claims.claim import Claim, Ledger
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
    if file is not None:
        claims += _accepted(_claims_of_file(file), shown_path(file), taken, known.values())
    return Ledger(claims)


def claims_of_file(file: Path, papers: Collection[Paper]) -> Ledger:
    """Claims of a file alone.

    Raises
    ------
    InputError
        The claims fail to load.
    """
    taken = {claim.id for paper in papers for claim in paper.claims}
    return Ledger(_accepted(_claims_of_file(file), shown_path(file), taken, papers))


def _claims_of_file(file: Path) -> object:
    """Run a Python file and return its CLAIMS."""
    module = module_of_file(file, f"claims_of_{file.stem}", "a Python file of claims")
    with failures_in_one_line(shown_path(file), str(file)):
        return _listed(getattr(module, "CLAIMS", None))


def _listed(found: object) -> object:
    return tuple(found) if isinstance(found, Iterable) else found


def _accepted(found: object, where: str, taken: set[str], papers: Collection[Paper]) -> list[Claim]:
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
        check_claim(claim, f"{where}: claim {claim.id}", papers)
        claims[claim.id] = claim
    taken |= set(claims)
    return list(claims.values())


def check_claim(claim: Claim, place: str, papers: Collection[Paper]) -> None:
    """Validate a user's claim.

    Raises
    ------
    InputError
        No paper judges the claim, it is labelled proved, or the page cannot show its formula.
    """
    if not any(paper.judges(claim) for paper in papers):
        raise _judged_by_none(claim, place, papers)
    if claim.standing.status is Status.PROVED and claim.decided_by is None:
        expected = "another one: only papers, with pages of proofs, have proved statements"
        raise InputError(place, got="the standing proved", expected=expected)
    for formula in claim.formulas:
        _check_formula(formula, place)


def _judged_by_none(claim: Claim, place: str, papers: Collection[Paper]) -> InputError:
    if claim.paper and claim.paper not in {paper.name for paper in papers}:
        expected = f"one of {', '.join(paper.name for paper in papers)}"
        return InputError(place, got=f"the paper {shown(claim.paper)}", expected=expected)
    names = [name for paper in papers for name in paper.kind.assumptions if claim.paper in ("", paper.name)]
    unknown = [name for name in claim.assumptions if name not in names]
    got = f"the assumption {shown(unknown[0])}" if unknown else "assumptions of several papers"
    return InputError(place, got=got, expected=f"one of {', '.join(names)}" if unknown else "those of one")


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
