"""Sequence classes in a notebook."""

from marginaudit.orders.snap import SequenceClasses


def test_each_class_is_a_row_with_the_number_of_its_contextual_tokens() -> None:
    data = SequenceClasses.from_weights("two", 9, [("m", "q", {"a": 1, "b": 2}), ("n", "p", {"a": 1})])
    html = data._repr_html_()
    assert "<caption>two: 2 classes, 9 tokens</caption>" in html
    assert html.endswith("<tr><td>m</td><td>q</td><td>2</td></tr><tr><td>n</td><td>p</td><td>1</td></tr></table>")
