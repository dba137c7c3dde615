"""An assumption of a paper, judged on a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Witness: TypeAlias = Mapping[str, Any] | None


@dataclass(frozen=True)
class Assumption:
    """Whether an assumption holds on a dataset, and what breaks it (None where it holds)."""

    name: str
    holds: bool
    witness: Witness
