"""A run of Syn-Medium (arXiv 2305.16380, section 8) as one writes it in PyTorch, and as `sweep snap-6` does it.

Usage: python benchmarks/scan_snap.py [num_last ...]

* published: PyTorch as the authors' public code writes such a model: each sample drawn by itself in Python, tokens
  one-hot, Y and Z linear layers between M tokens, gradients by autograd, float32; only the query's attention is
  computed, where theirs computes every position's. PyTorch is an extra: pip install 'marginaudit[bench]' (the CPU
  build is enough);
* lean: PyTorch as one would write it for speed: the same drawing, but tokens as indices, only the rows of Y and Z
  that occur, float64;
* alone: `train_sampled` at one pair of step sizes: counts instead of sequences, drawn at once, compiled;
* of 16: the same at the sixteen pairs of figure 6, which share their samples, a sixteenth of the time.

Before they are timed, all take the same samples from the same start and have to find the same losses and the same
attention, in float64. Each number is the median of several runs in turn, everything from drawing to the last update.
One thread.
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
from marginaudit.training.snap.sgd.samples import ClassSamples, classes_of

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
    "published, s",
    "lean, s",
    "of both drawing, s",
    "alone, s",
    "of 16, s",
    "published / alone",
    "published / of 16",
    "lean / alone",
    "lean / of 16",
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


class Published(torch.nn.Module):  # type: ignore[misc]
    """One layer in the authors' parameterization, on one-hot tokens: (samples, length) to (samples, M) logits."""

    def __init__(self, data: SequenceClasses, begin: tuple[Any, Any], dtype: Any) -> None:
        super().__init__()
        self.M = data.M
        self.Y, self.Z = (torch.nn.Linear(data.M, data.M, bias=False, dtype=dtype) for _ in range(2))
        column = {token: i for i, token in enumerate(data.tokens)}
        self.contextual = torch.tensor([column[token] for token in data.contextual])
        self.queries = torch.tensor([column[token] for token in data.queries])
        with torch.no_grad():
            self.Y.weight[:, self.contextual] = torch.from_numpy(begin[0]).T.to(dtype)
            self.Z.weight[self.queries[:, None], self.contextual] = torch.from_numpy(begin[1]).to(dtype)

    def forward(self, tokens: Any, query: Any) -> Any:
        """The prediction after the query."""
        X = torch.nn.functional.one_hot(tokens, self.M).to(self.Y.weight.dtype)
        asked = torch.nn.functional.one_hot(query, self.M).to(self.Y.weight.dtype)
        scores = torch.bmm(self.Z(X), asked.unsqueeze(2))
        combined = torch.bmm(torch.softmax(scores, dim=1).transpose(1, 2), X).squeeze(1)
        return self.Y(combined / combined.norm(dim=1, keepdim=True))


def as_published(
    data: SequenceClasses,
    recipe: Recipe,
    rates: tuple[float, float],
    drawn: Sequences,
    begin: tuple[Any, Any],
    dtype: Any = torch.float32,
) -> tuple[Any, Any]:
    """The losses before each update, and the last Z, as the authors write it."""
    model = Published(data, begin, dtype)
    column = {token: i for i, token in enumerate(data.tokens)}
    query = torch.tensor([column[c.query] for c in data.classes])[torch.from_numpy(drawn.number)]
    label = torch.tensor([column[c.next] for c in data.classes])[torch.from_numpy(drawn.number)]
    tokens = model.contextual[torch.from_numpy(drawn.tokens)]
    groups = [{"params": layer.parameters(), "lr": lr} for layer, lr in zip((model.Y, model.Z), rates, strict=True)]
    optimizer = torch.optim.SGD(groups, momentum=recipe.momentum)
    losses = []
    for first in range(0, len(tokens), recipe.batch):
        own = slice(first, first + recipe.batch)
        loss = cross_entropy(model(tokens[own], query[own]), label[own])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    Z = model.Z.weight.detach()[model.queries[:, None], model.contextual]
    return np.array(losses), Z.double().numpy()


def by_autograd(
    data: SequenceClasses, recipe: Recipe, rates: tuple[float, float], drawn: Sequences, begin: tuple[Any, Any]
) -> tuple[Any, Any]:
    """The same, in lean PyTorch."""
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
    follow(classes, ClassSamples(drawn.number, counts), recipe.batch, Y, Z, *rates, recipe.momentum, losses, path)
    return losses, Z


def require_agreement(data: SequenceClasses, recipe: Recipe, rates: tuple[float, float], *, shifted: float = 0) -> None:
    """Stop unless all ways find the same; ``shifted`` is added to one's step size of Z."""
    rng = np.random.default_rng(0)
    drawn, begin = draw(data, recipe, rng), start(data, rng)
    losses, Z = as_published(data, recipe, rates, drawn, begin, torch.float64)
    shifted_rates = rates[0], rates[1] + shifted
    for way in (by_autograd, by_counts):
        ours, our_Z = way(data, recipe, shifted_rates, drawn, begin)
        of_loss = float(np.max(np.abs(ours / losses - 1)))
        of_attention = float(np.max(np.abs(attention(data, our_Z) - attention(data, Z))))
        if not max(of_loss, of_attention) <= AGREEMENT:
            raise SystemExit(
                f"{data.name}, {way.__name__}: losses differ by {of_loss:.1e} relative, attention by {of_attention:.1e}"
            )


def compare(num_last: int, recipe: Recipe) -> list[str]:
    """A row of the table."""
    data = syn_medium(num_last)
    require_agreement(data, recipe, (2.0, 1.0))
    train_sampled(data, recipe, RATES[:1], seed=0)
    spent: dict[str, list[float]] = {way: [] for way in ("published", "lean", "drawing", "alone", "of 16")}
    for seed in range(ROUNDS):
        rng = np.random.default_rng(seed)
        drawing, drawn = _timed(lambda rng=rng: draw(data, recipe, rng))
        begin = start(data, rng)
        spent["drawing"].append(drawing)
        for name, way in (("published", as_published), ("lean", by_autograd)):
            learning, _ = _timed(lambda way=way, drawn=drawn, begin=begin: way(data, recipe, (2.0, 1.0), drawn, begin))
            spent[name].append(drawing + learning)
        spent["alone"].append(_timed(lambda seed=seed: train_sampled(data, recipe, [(2.0, 1.0)], seed))[0])
        spent["of 16"].append(_timed(lambda seed=seed: train_sampled(data, recipe, RATES, seed))[0] / len(RATES))
    found = {name: float(np.median(seconds)) for name, seconds in spent.items()}
    ratios = [found[way] / found[ours] for way in ("published", "lean") for ours in ("alone", "of 16")]
    return [f"{num_last}", f"{data.M}", *(f"{value:.3g}" for value in found.values()), *(f"{r:.0f}" for r in ratios)]


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
