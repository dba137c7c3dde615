"""Mini-batch training of both layers on sampled sequences: the experiments of arXiv 2305.16380, section 8."""

from marginaudit.training.snap.sgd.attention import attention, entropy_of_distinct
from marginaudit.training.snap.sgd.train import Recipe, Sampled, train_sampled

__all__ = ["Recipe", "Sampled", "attention", "entropy_of_distinct", "train_sampled"]
