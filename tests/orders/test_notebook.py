"""Tables of notebooks."""

import pytest

from marginaudit.orders.notebook import MOST_ROWS, html_table


@pytest.mark.parametrize(("rows", "last"), [(MOST_ROWS, "x"), (MOST_ROWS + 1, "and 1 more")])
def test_the_first_rows_are_shown_and_how_many_more_there_are(rows: int, last: str) -> None:
    assert html_table("", (), [("x",)] * rows).endswith(f"<tr><td>{last}</td></tr></table>")
