"""Built-in datasets, by name."""

from collections.abc import Callable, Mapping

from marginaudit.orders.ntp.dataset import Dataset
from marginaudit.orders.ntp.generate import free_dataset, prefix_closed_dataset


def example_1() -> Dataset:
    """Example 1 of arXiv 2409.17335: subject, verb, object, punctuation."""
    return Dataset.from_sentences("example-1", ["SVOP", "VOP", "OPP", "PSV"], vocabulary="SVOP")


def section_7() -> Dataset:
    """Section 7 of arXiv 2409.17335: a random realizable dataset with 20 tokens.

    The source gives neither the number of samples nor their length. Chosen are 70 samples of up to 8 tokens,
    prefix-closed as in its section 3, with Assumption 3 for its theorems.
    """
    return prefix_closed_dataset(V=20, N=70, L=8, seed=1, name="section-7")


def free_20() -> Dataset:
    """100 samples of up to 8 tokens over 20, not prefix-closed; some queries have several optimal tokens."""
    return free_dataset(V=20, N=100, L=8, seed=3, name="free-20")


CASES: Mapping[str, Callable[[], Dataset]] = {
    "example-1": example_1,
    "section-7": section_7,
    "free-20": free_20,
}
"""The named cases, in the order of an audit without a dataset."""
