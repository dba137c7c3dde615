"""Kinds of statements, each with its rule from numbers to a verdict."""

from marginaudit.claims.judgements.bounded import Bounded, Threshold
from marginaudit.claims.judgements.compare import ALLOWANCE, Outcome, compare_equal, compare_upper
from marginaudit.claims.judgements.equal import Equal
from marginaudit.claims.judgements.hidden_constant import HiddenConstant
from marginaudit.claims.judgements.limit import Limit
from marginaudit.claims.judgements.parts import Decided, Parts
from marginaudit.claims.judgements.worst_case import WorstCase

__all__ = [
    "ALLOWANCE",
    "Bounded",
    "Decided",
    "Equal",
    "HiddenConstant",
    "Limit",
    "Outcome",
    "Parts",
    "Threshold",
    "WorstCase",
    "compare_equal",
    "compare_upper",
]
