"""The two hard-margin SVMs of arXiv 2409.17335, Proposition 2's closed form, and certificates of all three."""

from marginaudit.margins.ntp.constraints import TooDenseError, next_indices, require_dense, too_dense
from marginaudit.margins.ntp.documents import certificate_document
from marginaudit.margins.ntp.kq import solve_kq
from marginaudit.margins.ntp.ov import ClosedFormColumns, solve_ov
from marginaudit.margins.ntp.solution import (
    ClosedForm,
    Cycle,
    Exact,
    Infeasible,
    MaxMargin,
    Multipliers,
    Optimal,
    each_value,
)

__all__ = [
    "ClosedForm",
    "ClosedFormColumns",
    "Cycle",
    "Exact",
    "Infeasible",
    "MaxMargin",
    "Multipliers",
    "Optimal",
    "TooDenseError",
    "certificate_document",
    "each_value",
    "next_indices",
    "require_dense",
    "solve_kq",
    "solve_ov",
    "too_dense",
]
