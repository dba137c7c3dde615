"""The smallest dataset that a hunt has found to violate a built-in claim: it comes with the package."""

from functools import cache
from importlib.resources import as_file, files

from marginaudit.orders import printable
from marginaudit.orders.ntp import Dataset, read_dataset


@cache
def smallest_counterexample(claim: str) -> Dataset | None:
    """The dataset of `docs/ablation.py`'s hunt with all assumptions kept; None where nothing was found.

    >>> data = smallest_counterexample("ntp.theorem2.floor")
    >>> data.V, data.N, data.L_max
    (2, 1, 2)
    >>> in_words(data)
    '2 tokens, 1 sample (b a -> a; n(x) = x)'
    """
    found = files("marginaudit.reports.ntp") / "counterexamples" / f"{claim}.json"
    if not found.is_file():
        return None
    with as_file(found) as path:
        return read_dataset(path)


def in_words(dataset: Dataset) -> str:
    """Its size, its samples and its n."""
    samples = "; ".join(f"{' '.join(sample.tokens)} -> {sample.next}" for sample in dataset.samples)
    n = dataset.collocation.require_function()
    moved = [f"n({x}) = {y}" for x, y in n.items() if x != y]
    kept = "n(x) = x" if not moved else "else n(x) = x" if len(moved) < dataset.V else ""
    size = f"{dataset.V} tokens, {dataset.N} sample{'' if dataset.N == 1 else 's'}"
    return f"{size} ({printable('; '.join([samples, ', '.join([*moved, *filter(None, [kept])])]))})"
