"""A file of claims to fill in, one for each text of a registry."""

import re

from marginaudit.claims.quotation import MOST_WORDS
from marginaudit.reports.logbook.cells import slug
from marginaudit.reports.logbook.registry import OMITTED, Registry, theorem_in

HEAD = '''"""Claims of {paper}, to fill in: replace each judgement, add a control (a false twin) of each.

Audit them: marginaudit audit --claims FILE --export logbook --registry REGISTRY.json --paper-id {paper}
"""

from marginaudit import Claim
from marginaudit.claims.judgements import NotChecked
from marginaudit.claims.quotation import quoted

INSTANCES = {{"setting": {{"n": 1}}}}  # named values on which the claims are judged: docs/instances.md

UNFILLED = NotChecked("its judgement is not filled in")

CLAIMS = (
'''

CLAIM = """    Claim(
        id={id},
        source={source},
        theorem={theorem},
        statement={text},
        source_words=quoted({place}, {quotation}),
        assumptions=(),
        judgement=UNFILLED,  # such as Bounded(measure, upper=..), or NotChecked("why not")
        scale=None,  # "paper" if the sizes are the paper's own, "reduced" if smaller
    ),
"""


def claims_file(registry: Registry) -> str:
    """Python text of the claims."""
    paper = registry.id or "the paper"
    name = slug(paper)
    claims = []
    for number, text in enumerate(registry.texts, start=1):
        theorem = theorem_in(text)
        values = {
            "id": f"{name}.claim-{number}",
            "source": f"{paper}, {theorem or f'claim {number}'}",
            "theorem": theorem,
            "text": text,
            "place": theorem or f"claim {number} of its registry",
            "quotation": _quotation(text),
        }
        claims.append(CLAIM.format(**{key: _literal(value) for key, value in values.items()}))
    return HEAD.format(paper=re.sub(r"[^\w .-]", "-", paper)) + "".join(claims) + ")\n"


def _quotation(text: str) -> str:
    """The text, or its first words, as long as a quotation may be."""
    words = text.split()
    return " ".join(words) if len(words) <= MOST_WORDS else " ".join(words[: MOST_WORDS - 1]) + OMITTED


def _literal(text: str) -> str:
    """Python literal with double quotes."""
    found = repr(text)
    return found if '"' in text or found[0] == '"' else f'"{found[1:-1]}"'.replace("\\'", "'")
