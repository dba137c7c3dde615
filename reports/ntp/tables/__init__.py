"""The two tables that an audit opens its evidence with, and the command `marginaudit table` prints.

`direction_table` and `proposition2_table` are the data of one run, as `report.json` holds them; `GRIDS` lays them out
for a reader, and :mod:`marginaudit.reports.page.formats` writes them as CSV, LaTeX and Markdown.
"""

from collections.abc import Callable
from typing import Any

from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.tables.direction import direction_grids, direction_table
from marginaudit.reports.ntp.tables.proposition2 import proposition2_grids, proposition2_table
from marginaudit.reports.page.formats import Name, csv_table, latex, markdown
from marginaudit.reports.page.grid import Grid

TABLES: dict[Name, Callable[[Run], Any]] = {"direction": direction_table, "proposition2": proposition2_table}
"""From a run to each table's data."""

GRIDS: dict[Name, Callable[[str, Any], list[Grid]]] = {"direction": direction_grids, "proposition2": proposition2_grids}
"""From a dataset's name and a table's data to what a reader sees."""

__all__ = [
    "GRIDS",
    "TABLES",
    "Grid",
    "Name",
    "csv_table",
    "direction_table",
    "latex",
    "markdown",
    "proposition2_table",
]
