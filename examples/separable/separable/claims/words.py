"""Shared by the claims: sources, readings, assumptions, and the regime in which they are judged."""

from functools import partial
from operator import attrgetter
from typing import Any

from marginaudit import Claim, HiddenConstant, Limit
from marginaudit.claims.quotation import quoted
from marginaudit.claims.quotation import rederived as rederived_words
from marginaudit.claims.standing import Implication

SOURCE = "arXiv 1710.10345"

PAGE = "docs/proofs-separable.md#"

SEPARABLE = ("separable",)
ALL = (*SEPARABLE, "step")
GENERIC = (*ALL, "generic")
SPANNED = (*GENERIC, "spanned")

READ = "of the ICLR 2018 edition, whose text was read without its displayed formulas"

NOT_READ = "Not in the ICLR 2018 edition, and the text of JMLR could not be reached: the statement is as it is cited."

GENERIC_WORDS = (
    "'Almost all datasets' is by Lemma 8 that alpha is unique and 0 on none of at most d support vectors. Here it is "
    "wider, as the proof allows: some dual solution is positive on every support vector, and these may be dependent."
)

T = "O(.) is about large t: judged from t = 16 on, along log t."

BY_BOUNDED = Implication(
    sources=("separable.theorem3.bounded",),
    condition="some dual solution is positive on every support vector",
    proof=f"{PAGE}7-rates",
)
"""Of a rate with log log t: for generic data it follows from the bounded rho."""


def printed(
    name: str, place: str, statement: str, formula: str, judgement: Any, *reading: str, quote: str = "", **more: Any
) -> Claim:
    """A statement of the source, quoted if its text was read; the place of the quotation follows a slash, if other."""
    there, words = place.rpartition("/")[2], " ".join(reading if quote else (NOT_READ, *reading))
    found = quoted(f"{there} {READ}" if quote else there, quote, words)
    own = {"assumptions": ALL, "source": f"{SOURCE}, {place.partition('/')[0]}", "source_words": found, **more}
    return Claim(id=f"separable.{name}", statement=statement, formula=formula, judgement=judgement, **own)


def rederived(
    name: str, corrects: str, place: str, statement: str, formula: str, judgement: Any, *reading: str, **more: Any
) -> Claim:
    """A statement of this project derived from a printed one; ``mended`` is the correction of a false one."""
    words = rederived_words(f"separable.{corrects}", *reading, mended=more.pop("mended", ""))
    own = {"source": f"this project, on {SOURCE}{place}", "source_words": words, **more}
    return printed(f"{name}.rederived", "", statement, formula, judgement, **own)


REGIME = attrgetter("regime")

order = partial(HiddenConstant, regime=REGIME)
"""A rate along log t."""

tends = partial(Limit, regime=REGIME)
"""A limit along log t."""
