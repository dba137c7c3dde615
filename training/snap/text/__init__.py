"""One-layer transformer in its original parameterization, trained on running text."""

from marginaudit.training.snap.text.model import Parameters, attention, gradients, initial
from marginaudit.training.snap.text.train import TextRecipe, TrainedOnText, train_on_text

__all__ = ["Parameters", "TextRecipe", "TrainedOnText", "attention", "gradients", "initial", "train_on_text"]
