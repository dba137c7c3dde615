"""A registry of claims: texts by id of a paper, and the statements of a report that answer each text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

from annotated_types import Len
from typing_extensions import TypedDict

from marginaudit.orders import InputError, file_content, printable, shown, shown_path
from marginaudit.orders.reading import Text, parsed_json, utf_8_text, validated

THEOREM = re.compile(
    r"\b(Theorem|Lemma|Corollary|Proposition|Remark|Example|Equation|Eq|Claim|Fact|Assumption|Definition)s?\b"
    r"\.?\s*\(?((?:[A-Z]\.?)?\d+(?:\.\d+)*(?:\s?\([a-z0-9]+\))?)",
    re.I,
)
"""Names of theorems in a text: their kind and their number."""


OMITTED = " .."
"""End of a quotation that leaves out the rest of a text."""


class _Entry(TypedDict):
    text: Annotated[Text, Len(1)]
    status: NotRequired[Text]


@dataclass(frozen=True)
class Registry:
    """Claims of one paper, in the words of a registry.

    Attributes
    ----------
    id : of the paper, None if it has none
    texts : one per claim; () for the statements of the report
    """

    id: str | None = None
    texts: tuple[str, ...] = ()


def read_registry(path: Path, paper: str | None) -> Registry:
    """Read the claims of a paper; of the only one if no id is given.

    Raises
    ------
    InputError
        The file is no registry, or has no such paper, or several and no id is given.
    """
    where = shown_path(path)
    content = file_content(path, 'a registry: {"ID": [{"text": "..", "status": ".."}, ..]}')
    found = validated(dict[str, Annotated[list[_Entry], Len(1)]], parsed_json(utf_8_text(content, where), where), where)
    ids = ", ".join(map(printable, list(found)[:10])) or "none"
    if paper is None and len(found) != 1:
        raise InputError(where, got=f"{len(found)} papers", expected=f"one, or the id of one: {ids}")
    name = next(iter(found)) if paper is None else paper
    if name not in found:
        raise InputError(where, got=f"no paper {shown(name)}", expected=f"one of {ids}")
    return Registry(name, tuple(entry["text"] for entry in found[name]))


def theorem_in(text: str) -> str:
    """Name of the first theorem in a text, "" without any.

    >>> theorem_in("by theorem 4.3 (a), and Lemma 2")
    'Theorem 4.3(a)'
    """
    found = THEOREM.search(text)
    if found is None:
        return ""
    kind = "Equation" if found[1].lower() == "eq" else found[1].capitalize()
    return f"{kind} {found[2].replace(' ', '')}"


def theorems_in(text: str) -> tuple[str, ...]:
    """Names of the theorems in a text, in one spelling.

    >>> theorems_in("By Theorem 4.3 and eq. (12), the loss decays (Lemma A.2)")
    ('theorem 4.3', 'equation 12', 'lemma a.2')
    """
    return tuple(dict.fromkeys(theorem_in(found[0]).lower() for found in THEOREM.finditer(text)))


def answering(text: str, claims: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Statements that answer a text: those in its very words, else printed ones of a theorem that it names.

    ``claims`` are entries of report.json.
    """
    words = _words(text)
    same = [one for one in claims if _quotes(one, words)]
    if same:
        return same
    named = set(theorems_in(text))
    return [one for one in claims if named & {name for place in _places(one) for name in theorems_in(place)}]


def _quotes(claim: Mapping[str, Any], words: str) -> bool:
    """Whether a claim has the words as its statement or quotation, which may leave out the end."""
    quoted = _words(claim["quotation"] or "")
    begins = quoted.endswith(OMITTED) and words.startswith(quoted.removesuffix(OMITTED))
    return words in (quoted, _words(claim["statement"])) or begins


def _places(claim: Mapping[str, Any]) -> list[str]:
    return [claim[name] for name in ("theorem", "place", "source") if claim[name]]


def _words(text: str) -> str:
    return " ".join(text.split())
