"""JSON, table rows and remark on the largest part of a text that meets Assumption 1."""

from typing import Any

from marginaudit.orders import counted, printable
from marginaudit.orders.ntp import Dataset, check_assumption
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1
from marginaudit.orders.ntp.realize.part import largest_part
from marginaudit.orders.ntp.realize.reduced_samples import samples_of_dataset
from marginaudit.orders.ntp.realize.survey import Survey
from marginaudit.reports.shell import argument

SIZES = (
    "varied",
    "value",
    "tokens",
    "samples",
    "distinct",
    "collocation_share",
    "queries",
    "well_ordered",
    "unconfused",
    "confused",
    "lower",
    "upper",
    "method",
)
"""Columns of the table of a text's restrictions."""


def answer(found: Survey) -> dict[str, Any]:
    """JSON document of a survey of a text."""
    return {
        "tokens": found.tokens,
        "samples": found.samples,
        "distinct": found.distinct,
        "length_1": {"one": found.one_next, "several": found.several_next},
        "collocation_share": found.fits / found.samples,
        "queries": found.queries,
        "well_ordered": found.well_ordered,
        "unconfused": found.unconfused,
        "confused": found.confused,
        "realizable": {"lower": found.part.lower, "upper": found.part.upper, "method": found.part.method},
    }


def sizes(varied: str, value: int, found: Survey) -> dict[str, Any]:
    """Table row of a restricted text: varied parameter, its value, and the survey."""
    numbers = answer(found)
    numbers |= numbers.pop("realizable")
    return {"varied": varied, "value": value} | {name: numbers[name] for name in SIZES[2:]}


def far_from_realizable(dataset: Dataset, origin: str) -> str:
    """Remark on a text that violates Assumption 1: failed assumptions, size of the largest part, command to get it."""
    if not origin.lower().endswith(".txt"):
        return ""
    failed = [name for name in ASSUMPTION_1 if not check_assumption(dataset, name).holds]
    if not failed:
        return ""
    part = largest_part(samples_of_dataset(dataset))
    at_most = "" if part.lower == part.upper else f" (at most {part.upper})"
    why = f"most statements do not apply, as Assumption 1 fails ({', '.join(failed)})"
    command = f"`marginaudit realize {argument(origin)}`"
    samples = counted(sum(dataset.counts), "sample")
    return f"{printable(origin)}: {why}; {command} finds {part.lower}{at_most} of {samples} that meet it"
