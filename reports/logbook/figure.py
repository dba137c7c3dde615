"""A small SVG of a curve of report.json: measured, bounds and predicted limit on logarithmic axes."""

import math
from collections.abc import Mapping
from html import escape
from typing import Any

WIDTH, HEIGHT, EDGE = 560, 300, 46

COLOURS = {"measured": "#155eef", "upper": "#b42318", "lower": "#067647", "predicted": "#7a5af8"}


def svg(curve: Mapping[str, Any]) -> str:
    """SVG of the positive entries; "" with fewer than two."""
    step = curve["step"]
    columns = {name: curve[name] for name in ("measured", "upper", "lower") if curve[name] is not None}
    if curve["predicted"] is not None:
        columns["predicted"] = [curve["predicted"]] * len(step)
    points = {name: _points(step, values) for name, values in columns.items()}
    measured = points["measured"]
    if len(measured) < 2:
        return ""
    every = [point for of_line in points.values() for point in of_line]
    x, y = _scale([p for p, _ in every], EDGE, WIDTH - 10), _scale([q for _, q in every], HEIGHT - EDGE, 10)
    lines = []
    for number, (name, of_line) in enumerate(points.items()):
        path = " ".join(f"{x(p):.1f},{y(q):.1f}" for p, q in of_line)
        dash = "" if name == "measured" else ' stroke-dasharray="6 3"'
        colour = COLOURS[name]
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        lines.append(f'<text x="{EDGE + 6 + 120 * number}" y="{HEIGHT - 6}" fill="{colour}">{name}</text>')
    ends = [
        f'<text x="{EDGE}" y="{HEIGHT - 24}">{escape(curve["clock"])} = {10 ** min(p for p, _ in every):.3g}</text>',
        f'<text x="{WIDTH - 10}" y="{HEIGHT - 24}" text-anchor="end">{10 ** max(p for p, _ in every):.3g}</text>',
        f'<text x="2" y="20">{10 ** max(q for _, q in every):.2g}</text>',
        f'<text x="2" y="{HEIGHT - EDGE}">{10 ** min(q for _, q in every):.2g}</text>',
    ]
    frame = (
        f'<rect x="{EDGE}" y="10" width="{WIDTH - EDGE - 10}" height="{HEIGHT - EDGE - 10}" fill="none" stroke="#999"/>'
    )
    style = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"'
    return f'<svg {style} viewBox="0 0 {WIDTH} {HEIGHT}">{frame}{"".join(lines + ends)}</svg>'


def _points(step: Any, values: Any) -> list[tuple[float, float]]:
    """Decimal logarithms of the positive entries, in the order of the steps."""
    found = [
        (math.log10(at), math.log10(value))
        for at, value in zip(step, values, strict=True)
        if at is not None and value is not None and at > 0 and value > 0
    ]
    return sorted(found)


def _scale(values: list[float], start: float, end: float) -> Any:
    low, high = min(values), max(values)
    return lambda value: start + (end - start) * ((value - low) / (high - low) if high > low else 0.5)
