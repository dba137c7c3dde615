"""A comparison as one self-contained page."""

from typing import Any

from marginaudit.orders import printable
from marginaudit.reports.compare.changes import Comparison
from marginaudit.reports.page.html import number


def page(found: Comparison) -> str:
    """The HTML; every text from a report is escaped, and its control characters are written out."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("marginaudit.reports.compare"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["shown"] = _shown
    return environment.get_template("compare.html").render(
        old=found.old.where, new=found.new.where, found=found, counts=found.counts
    )


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return number(value)
    return printable(str(value))
