"""The sequence classes that are known by name."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from marginaudit.orders.snap.classes import SequenceClasses
from marginaudit.orders.snap.synthetic import syn_medium, syn_small


def snap_single() -> SequenceClasses:
    """Two classes of one query with one common token, M = 5000: Assumption 2 holds."""
    classes = [
        ("n0", "q", {"a": 0.5, "b": 0.2, "the": 0.3}),
        ("n1", "q", {"c": 0.45, "d": 0.2, "the": 0.35}),
    ]
    return SequenceClasses.from_weights("snap-single", 5000, classes)


def snap_symmetric() -> SequenceClasses:
    """Three symmetric classes of one query with two common tokens, M = 5000: Assumption 2 and Corollary 2 hold."""
    own = (0.45, 0.2, 0.1)
    classes = [
        (f"n{n}", "q", dict(zip(names, own, strict=True)) | {"the": 0.15, "of": 0.1})
        for n, names in enumerate(("abc", "def", "ghi"))
    ]
    return SequenceClasses.from_weights("snap-symmetric", 5000, classes)


def snap_medium() -> SequenceClasses:
    """Syn-Medium with 3 queries, which breaks each part of Assumption 2 but uniform classes and spread eigenvalues."""
    return replace(syn_medium(3), name="snap-medium")


CASES: Mapping[str, Callable[[], SequenceClasses]] = {
    "snap-single": snap_single,
    "snap-symmetric": snap_symmetric,
    "snap-medium": snap_medium,
    "syn-small": syn_small,
}
"""The named cases, in the order in which an audit without a dataset takes them."""
