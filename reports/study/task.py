"""Tasks of a study: a worker's unit of work, with its cache key."""

import io
import pickle
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import redirect_stdout
from functools import cache
from typing import Any

import cloudpickle

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Paper
from marginaudit.reports.audit.ledger import all_papers


class Task(ABC):
    """Work for one worker: a dataset to audit, or runs of a sweep."""

    @property
    @abstractmethod
    def key(self) -> str | None:
        """Cache key: a hash of everything that the result depends on; None where that is not known."""

    @abstractmethod
    def compute(self) -> Any:
        """The result as JSON data."""


def computed(data: bytes) -> Any:
    """Compute a packed task in a worker; prints go to standard error."""
    with redirect_stdout(sys.stderr):
        return _Unpickler(io.BytesIO(data)).load().compute()


def packed(task: Task) -> bytes:
    """The pickled task: papers and their claims by name, users' claims with their code.

    Raises
    ------
    Exception
        It holds what cannot be sent: whatever pickling raises.
    """
    file = io.BytesIO()
    _Pickler(file).dump(task)
    return file.getvalue()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles papers and their claims by name, as the other process has them."""

    def persistent_id(self, value: Any) -> tuple[str, ...] | None:
        papers, _ = installed_papers()
        if isinstance(value, Paper):
            if papers.get(value.name) is not value:
                raise pickle.PicklingError(f"the paper {value.name} is not installed")
            return ("paper", value.name)
        if isinstance(value, Claim) and value.paper in papers:
            return ("claim", value.paper, value.id) if papers[value.paper].has(value) else None
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, place: tuple[str, ...]) -> Any:
        paper = installed_papers()[0][place[1]]
        return paper if place[0] == "paper" else next(claim for claim in paper.claims if claim.id == place[2])


@cache
def installed_papers() -> tuple[Mapping[str, Paper], list[str]]:
    """The papers by name, and notices of those that fail to import."""
    notices: list[str] = []
    return {paper.name: paper for paper in all_papers(notices.append)}, notices
