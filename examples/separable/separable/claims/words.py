"""What several claims share: sources, readings, assumptions."""

from marginaudit.reports.source_words import SourceWords, quoted
from marginaudit.reports.standing import Standing, unsettled

SOURCE = "arXiv 1710.10345"

PAGE = "docs/proofs-separable.md#"

ALL = ("separable", "step")
GENERIC = (*ALL, "generic")

CITED = "The source's own text could not be reached: the statement is as it is widely cited, from no page."

GENERIC_WORDS = (
    "'Almost every dataset' is read as: some dual solution is positive on every support vector, which the proof needs. "
    "Support vectors may be dependent."
)

T = "O(.) is about large t: judged from t = 16 on, along log t."


def cited(place: str, *readings: str) -> SourceWords:
    """Of a statement that was stated from citations."""
    return quoted(place, "", " ".join([CITED, *readings]))


def not_settled(what: str) -> Standing:
    """Open."""
    return unsettled(what, hunted=0)
