"""A comparison as one self-contained page."""

from marginaudit.reports.compare.changes import Comparison
from marginaudit.reports.page.small import small_page


def page(found: Comparison) -> str:
    """The HTML."""
    return small_page(
        "marginaudit.reports.compare",
        "compare.html",
        old=found.old.where,
        new=found.new.where,
        found=found,
        counts=found.counts,
    )
