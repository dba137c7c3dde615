"""Runs of a sweep that are audits."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from marginaudit.reports.paper import Paper
from marginaudit.reports.sweeps import AUDITED, Result
from marginaudit.reports.verdict import Finding


def audited(paper: Paper, data: Any, configs: Sequence[Any], keep: Sequence[str]) -> list[dict[str, Result]]:
    """The kept results of each config, as `marginaudit audit` finds them."""
    names = {name.partition(":")[0] for name in keep}
    claims = [claim for claim in paper.claims if claim.id in names]
    found = []
    for config in configs:
        run = paper.run(data, config, lambda _: None)
        row: dict[str, Result] = {}
        for claim in claims:
            finding = claim.judge(run)
            row |= {f"{claim.id}:{word}": _plain(finding, word) for word in AUDITED}
        found.append(row)
    return found


def _plain(finding: Finding, word: str) -> Result:
    value: Result = getattr(finding, word)
    return value.value if isinstance(value, StrEnum) else value
