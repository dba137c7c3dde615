"""Arrays that nobody changes by accident."""

from dataclasses import is_dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def read_only(record: T) -> T:
    """A dataclass, its arrays and those of the dataclasses that it holds made read-only.

    >>> from marginaudit.orders.ntp import CASES
    >>> read_only(CASES["example-1"]().encoded).token.flags.writeable
    False
    """
    for value in vars(record).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        elif is_dataclass(value) and hasattr(value, "__dict__"):
            read_only(value)
    return record
