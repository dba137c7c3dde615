"""Whether what a figure shows leaves room between its parts."""

from itertools import combinations, pairwise

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

GAP = 0.07
"""Inches between a panel with its labels, another one, the title and the legend."""


def tick_labels_overlap(figure: Figure) -> list[str]:
    """Labels of a panel's vertical axis that lie on the next one."""
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    found = []
    for axis in figure.axes:
        labels = [*axis.get_yticklabels(), *axis.get_yticklabels(minor=True)]
        low, high = sorted(axis.get_ylim())
        shown = [label for label in labels if label.get_text() and low <= label.get_position()[1] <= high]
        shown.sort(key=lambda label: label.get_window_extent().y0)
        for below, above in pairwise(shown):
            if below.get_window_extent().y1 > above.get_window_extent().y0:
                found.append(f"{below.get_text()}, {above.get_text()}")
    return found


def crowded(figure: Figure) -> list[str]:
    """The parts that are nearer to one another than `GAP`, or that the figure's edge cuts off."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    parts = {f"panel {i}": axis.get_tightbbox() for i, axis in enumerate(figure.axes)}
    parts |= {f"text {i}": text.get_window_extent() for i, text in enumerate((*figure.texts, *figure.legends))}
    boxes = {name: box.padded(GAP * figure.dpi / 2) for name, box in parts.items() if box is not None}
    cut = [name for name, box in parts.items() if box is None or figure.bbox.count_contains([box.min, box.max]) < 2]
    return cut + [f"{a}, {b}" for a, b in combinations(boxes, 2) if boxes[a].overlaps(boxes[b])]
