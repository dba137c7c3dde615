"""Kinds of statements, each with its rule from numbers to a verdict."""

from marginaudit.claims.judgements.all_instances import AllInstances
from marginaudit.claims.judgements.bounded import Bounded, Threshold
from marginaudit.claims.judgements.compare import ALLOWANCE, Outcome, compare_equal, compare_upper
from marginaudit.claims.judgements.equal import Equal
from marginaudit.claims.judgements.exists import Exists
from marginaudit.claims.judgements.hidden_constant import HiddenConstant
from marginaudit.claims.judgements.limit import Limit
from marginaudit.claims.judgements.not_checked import NotChecked
from marginaudit.claims.judgements.over_class import OverClass
from marginaudit.claims.judgements.parts import Decided, Parts
from marginaudit.claims.judgements.rate import Rate
from marginaudit.claims.judgements.sampled.in_expectation import InExpectation
from marginaudit.claims.judgements.sampled.with_probability import WithProbability
from marginaudit.claims.judgements.two_constants import TwoConstants
from marginaudit.claims.judgements.worst_case import WorstCase

__all__ = [
    "ALLOWANCE",
    "AllInstances",
    "Bounded",
    "Decided",
    "Equal",
    "Exists",
    "HiddenConstant",
    "InExpectation",
    "Limit",
    "NotChecked",
    "Outcome",
    "OverClass",
    "Parts",
    "Rate",
    "Threshold",
    "TwoConstants",
    "WithProbability",
    "WorstCase",
    "compare_equal",
    "compare_upper",
]
