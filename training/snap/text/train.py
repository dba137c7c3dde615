"""SGD of the one-layer transformer on windows of a text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from marginaudit.orders.arrays import Floats, Integers
from marginaudit.training.snap.text.model import Parameters, attention, gradients, initial


@dataclass(frozen=True)
class TextRecipe:
    """Settings of training; all but ``longest`` are our choice.

    Attributes
    ----------
    d : int
        Width of the embedding.
    T : int
        Tokens per window, the query last.
    longest : float
        Gradient clipping norm, as in the settings published by the authors.
    held_out : float
        Share of the text, at its end, on which attention is evaluated.
    """

    d: int = 16
    T: int = 13
    batch: int = 32
    updates: int = 400
    longest: float = 0.5
    held_out: float = 0.2

    @property
    def least(self) -> int:
        """Minimum length of a text in tokens: both parts need a window and the token after it."""
        return int(np.ceil((self.T + 1) / min(self.held_out, 1 - self.held_out))) + 1


@dataclass(frozen=True, eq=False)
class TrainedOnText:
    """Result of training on a text.

    Attributes
    ----------
    update : (records,) array
    entropy : (records,) array
        Mean entropy of b over held-out windows, in nats; at most ln(T - 1).
    loss : (records,) array
        Mean cross-entropy of held-out windows, in nats.
    parameters : tuple of Parameters, at the records
    """

    update: Integers
    entropy: Floats
    loss: Floats
    parameters: tuple[Parameters, ...]


def windows_of(tokens: Integers, T: int) -> tuple[Integers, Integers]:
    """All windows of T tokens, and the token after each."""
    every = np.lib.stride_tricks.sliding_window_view(tokens, T + 1)
    return every[:, :-1], every[:, -1]


def halves(tokens: Integers, recipe: TextRecipe) -> tuple[Integers, Integers]:
    """Split a text into the training part and the held-out end."""
    cut = len(tokens) - int(np.floor(len(tokens) * recipe.held_out))
    return tokens[:cut], tokens[cut:]


def entropy_of(b: Floats) -> float:
    """Mean entropy of distributions, in nats."""
    return float(-(b * np.log(np.where(b > 0, b, 1.0))).sum(axis=1).mean())


def train_on_text(
    tokens: Integers,
    M: int,
    recipe: TextRecipe,
    eta: float,
    seed: int,
    at: Sequence[int],
    progress: Callable[[], None] = lambda: None,
) -> TrainedOnText:
    """Train on a text, with one step size for all parameters.

    Parameters
    ----------
    tokens : (tokens,) array
        Integers below M, at least `TextRecipe.least` of them.
    seed : int
        Seed of the start and the batches.
    at : updates at which attention is evaluated, ascending, up to the last update
    progress : called after each update
    """
    rng = np.random.default_rng(seed)
    now = initial(M, recipe.d, rng)
    known, held_out = halves(tokens, recipe)
    windows, following = windows_of(known, recipe.T)
    shown, next_shown = windows_of(held_out, recipe.T)
    entropy, loss, kept = [], [], []
    for update in range(recipe.updates + 1):
        if update in at:
            entropy.append(entropy_of(attention(now, shown)))
            loss.append(gradients(now, shown, next_shown)[0])
            kept.append(now)
        if update < recipe.updates:
            chosen = rng.integers(len(windows), size=recipe.batch)
            _, slope = gradients(now, windows[chosen], following[chosen])
            size = np.sqrt(sum(float((part**2).sum()) for part in slope))
            step = eta * min(1.0, recipe.longest / size) if size else 0.0
            now = Parameters(*(part - step * part_slope for part, part_slope in zip(now, slope, strict=True)))
            progress()
    return TrainedOnText(np.array(at), np.array(entropy), np.array(loss), tuple(kept))
