"""One thing is told as one: "1 verdict", not "1 verdicts", wherever a count is printed."""

import pytest

from marginaudit.orders import counted


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 classes fail"), (1, "1 class fails"), (2, "2 classes fail")], ids=str
)
def test_a_count_with_its_noun(count: int, said: str) -> None:
    assert counted(count, "class fails", "classes fail") == said
