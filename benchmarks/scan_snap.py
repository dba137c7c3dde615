"""A run of Syn-Medium (arXiv 2305.16380, section 8) as one writes it in PyTorch, and as `sweep snap-6` does it.

Usage: python benchmarks/scan_snap.py [num_last ...]

* PyTorch: each sample drawn by itself in Python, its sequence of 127 tokens kept, gradients by autograd, float64;
  an extra: pip install 'marginaudit[bench]' (the CPU build is enough);
* alone: `train_sampled` at one pair of step sizes: counts instead of sequences, drawn at once, compiled;
* of 16: the same at the sixteen pairs of figure 6, which share their samples, a sixteenth of the time.

Before they are timed, both take the same samples from the same start and have to find the same losses and the same
attention. Each number is the median of several runs in turn, everything from drawing to the last update. One thread.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.snap import SequenceClasses, syn_medium
from marginaudit.training.snap.sgd import Recipe, attention, train_sampled
from marginaudit.training.snap.sgd.kernel import follow
from marginaudit.training.snap.sgd.samples import Samples, classes_of

try:
    import torch
    from torch.nn.functional import cross_entropy
except ModuleNotFoundError:
    raise SystemExit("got no PyTorch to compare with, expected it: pip install 'marginaudit[bench]'") from None

RATES = [(ratio * lr_z, lr_z) for lr_z in (0.5, 1.0, 2.0, 3.0) for ratio in (1.0, 2.0, 5.0, 10.0)]
SIZES = (1, 3, 5, 10)
ROUNDS = 5
AGREEMENT = 1e-9
"""Largest relative difference of losses, and absolute one of attention."""

TITLES = (
    "num_last",
    "M",
    "PyTorch, s",
    "of that drawing, s",
    "alone, s",
    "of 16, s",
    "PyTorch / alone",
    "PyTorch / of 16",
)


@dataclass(frozen=True)
class Sequences:
    """Samples as sequences.

    Attributes
    ----------
    number : (samples,) array
        The class of each.
    tokens : (samples, length) array
        Positions in `SequenceClasses.contextual`.
    """

    number: NDArray[np.int64]
    tokens: NDArray[np.int64]


def draw(data: SequenceClasses, recipe: Recipe, rng: np.random.Generator) -> Sequences:
    """All samples of a run, one after another."""
    number, tokens = [], []
    for _ in range(recipe.updates * recipe.batch):
        n = int(rng.choice(data.K, p=data.frequencies))
        number.append(n)
        tokens.append(rng.choice(len(data.contextual), size=recipe.length, p=data.P[n]))
    return Sequences(np.array(number), np.array(tokens))


def start(data: SequenceClasses, rng: np.random.Generator) -> tuple[Any, Any]:
    """Y and Z before the first update."""
    bound = 1 / np.sqrt(data.M)
    sizes = (len(data.contextual), data.M), (len(data.queries), len(data.contextual))
    return rng.uniform(-bound, bound, sizes[0]), rng.uniform(-bound, bound, sizes[1])


def by_autograd(
    data: SequenceClasses, recipe: Recipe, rates: tuple[float, float], drawn: Sequences, begin: tuple[Any, Any]
) -> tuple[Any, Any]:
    """The losses before each update, and the last Z, in PyTorch."""
    Y, Z = (torch.tensor(part, requires_grad=True) for part in begin)
    row, column = list(data.queries), {token: i for i, token in enumerate(data.tokens)}
    query = torch.tensor([row.index(c.query) for c in data.classes])[torch.from_numpy(drawn.number)]
    label = torch.tensor([column[c.next] for c in data.classes])[torch.from_numpy(drawn.number)]
    tokens = torch.from_numpy(drawn.tokens)
    groups = [{"params": [part], "lr": lr} for part, lr in zip((Y, Z), rates, strict=True)]
    optimizer = torch.optim.SGD(groups, momentum=recipe.momentum)
    losses = []
    for first in range(0, len(tokens), recipe.batch):
        own = slice(first, first + recipe.batch)
        weights = torch.softmax(Z[query[own, None], tokens[own]], dim=1)
        u = torch.zeros(recipe.batch, len(data.contextual), dtype=torch.float64).scatter_add(1, tokens[own], weights)
        loss = cross_entropy(u / u.norm(dim=1, keepdim=True) @ Y, label[own])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses), Z.detach().numpy()


def by_counts(
    data: SequenceClasses, recipe: Recipe, rates: tuple[float, float], drawn: Sequences, begin: tuple[Any, Any]
) -> tuple[Any, Any]:
    """The same on the counts of the same sequences, by the compiled kernel."""
    classes = classes_of(data)
    counts = np.zeros((len(drawn.number), int(np.diff(classes.first).max())), dtype=np.int64)
    for s, (n, sequence) in enumerate(zip(drawn.number, drawn.tokens, strict=True)):
        own = classes.token[classes.first[n] : classes.first[n + 1]]
        counts[s, : len(own)] = np.bincount(sequence, minlength=len(data.contextual))[own]
    Y, Z = (part.copy() for part in begin)
    losses, path = np.empty(recipe.updates), np.empty((recipe.updates + 1, *Z.shape))
    follow(classes, Samples(drawn.number, counts), recipe.batch, Y, Z, *rates, recipe.momentum, losses, path)
    return losses, Z


def require_agreement(data: SequenceClasses, recipe: Recipe, rates: tuple[float, float], *, shifted: float = 0) -> None:
    """Stop unless both ways find the same; ``shifted`` is added to one's step size of Z."""
    rng = np.random.default_rng(0)
    drawn, begin = draw(data, recipe, rng), start(data, rng)
    losses, Z = by_autograd(data, recipe, rates, drawn, begin)
    ours, our_Z = by_counts(data, recipe, (rates[0], rates[1] + shifted), drawn, begin)
    of_loss = float(np.max(np.abs(ours / losses - 1)))
    of_attention = float(np.max(np.abs(attention(data, our_Z) - attention(data, Z))))
    if not max(of_loss, of_attention) <= AGREEMENT:
        raise SystemExit(f"{data.name}: losses differ by {of_loss:.1e} relative, attention by {of_attention:.1e}")


def compare(num_last: int, recipe: Recipe) -> list[str]:
    """A row of the table."""
    data = syn_medium(num_last)
    require_agreement(data, recipe, (2.0, 1.0))
    train_sampled(data, recipe, RATES[:1], seed=0)
    spent: dict[str, list[float]] = {"drawing": [], "PyTorch": [], "alone": [], "of 16": []}
    for seed in range(ROUNDS):
        rng = np.random.default_rng(seed)
        drawing, drawn = _timed(lambda rng=rng: draw(data, recipe, rng))
        begin = start(data, rng)
        learning, _ = _timed(lambda drawn=drawn, begin=begin: by_autograd(data, recipe, (2.0, 1.0), drawn, begin))
        spent["drawing"].append(drawing)
        spent["PyTorch"].append(drawing + learning)
        spent["alone"].append(_timed(lambda seed=seed: train_sampled(data, recipe, [(2.0, 1.0)], seed))[0])
        spent["of 16"].append(_timed(lambda seed=seed: train_sampled(data, recipe, RATES, seed))[0] / len(RATES))
    drawing, pytorch, alone, shared = (float(np.median(seconds)) for seconds in spent.values())
    seconds = [f"{value:.3g}" for value in (pytorch, drawing, alone, shared)]
    return [f"{num_last}", f"{data.M}", *seconds, f"{pytorch / alone:.0f}", f"{pytorch / shared:.0f}"]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("| " + " | ".join(TITLES) + " |")
    print("|" + " ---: |" * len(TITLES))
    for size in [int(word) for word in sys.argv[1:]] or SIZES:
        print("| " + " | ".join(compare(size, Recipe())) + " |", flush=True)
