"""The kinds of statement, each with the rule that turns numbers into a verdict."""

from marginaudit.reports.judgements.bounded import Bounded, Threshold
from marginaudit.reports.judgements.compare import ALLOWANCE, Outcome, compare_equal, compare_upper
from marginaudit.reports.judgements.equal import Equal
from marginaudit.reports.judgements.hidden_constant import HiddenConstant
from marginaudit.reports.judgements.limit import Limit
from marginaudit.reports.judgements.parts import Decided, Parts

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
    "compare_equal",
    "compare_upper",
]
