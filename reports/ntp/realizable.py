"""JSON, table rows and remark about the largest part of a text that meets Assumption 1."""

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
    """The numbers of a text, or of a part of it, as JSON has them."""
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
    """The row of a restriction of the text: what was varied, its value, and the numbers."""
    numbers = answer(found)
    numbers |= numbers.pop("realizable")
    return {"varied": varied, "value": value} | {name: numbers[name] for name in SIZES[2:]}


def far_from_realizable(dataset: Dataset, origin: str) -> str:
    """Why most statements do not apply to a text, how much of it they do apply to, and how to get that part."""
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
