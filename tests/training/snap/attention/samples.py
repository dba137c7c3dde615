"""Classes without symmetry."""

from marginaudit.orders.snap import SequenceClasses

ETA_Y, ETA_Z = 0.5, 0.3


def three() -> SequenceClasses:
    """Two queries, two common tokens, one of which occurs under both queries, classes without symmetry."""
    classes = [
        ("l", "p", {"a": 3, "b": 1, "x": 1}),
        ("m", "q", {"c": 2, "d": 1, "x": 2, "y": 1}),
        ("n", "q", {"e": 1, "y": 1}),
    ]
    return SequenceClasses.from_weights("three", 40, classes)
