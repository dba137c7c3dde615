"""Whether what a figure shows leaves room between its parts."""

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

GAP = 0.07
"""Inches between a panel with its labels, another one, the title and the legend."""


def crowded(figure: Figure) -> list[str]:
    """The parts that are nearer to one another than `GAP`, or that the figure's edge cuts off."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    parts = {f"panel {i}": axis.get_tightbbox() for i, axis in enumerate(figure.axes)}
    parts |= {f"text {i}": text.get_window_extent() for i, text in enumerate((*figure.texts, *figure.legends))}
    boxes = {name: box.padded(GAP * figure.dpi / 2) for name, box in parts.items() if box is not None}
    cut = [name for name, box in parts.items() if box is None or figure.bbox.count_contains([box.min, box.max]) < 2]
    return cut + [f"{a}, {b}" for a, b in combinations(boxes, 2) if boxes[a].overlaps(boxes[b])]
