"""Stage 2 of Algorithm 1 (arXiv 2409.17335) as one writes it in PyTorch: float64, autograd, no merging, no logarithms.

Vectorised over padded sentences; all that no step changes is computed once. Two forms of the same loss: with
embeddings, as the paper writes it, and with scores and logits looked up by token, which one-hot embeddings allow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from marginaudit.orders.ntp import Dataset

Loss: TypeAlias = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Batch:
    """The samples, padded to the longest sentence.

    Attributes
    ----------
    tokens : (N, L) integer tensor
        0 where there is no token.
    absent : (N, L) bool tensor
        Where there is none.
    query, answer : (N,) integer tensors
    frequency : (N,) tensor
        pi.
    """

    tokens: Tensor
    absent: Tensor
    query: Tensor
    answer: Tensor
    frequency: Tensor


def batch(dataset: Dataset) -> Batch:
    """The dataset's samples as tensors."""
    index = dataset.index
    longest = max(len(sample.tokens) for sample in dataset.samples)
    rows = [[index[x] for x in sample.tokens] for sample in dataset.samples]
    counts = torch.tensor(dataset.counts, dtype=torch.float64)
    return Batch(
        tokens=torch.tensor([row + [0] * (longest - len(row)) for row in rows]),
        absent=torch.tensor([[False] * len(row) + [True] * (longest - len(row)) for row in rows]),
        query=torch.tensor([row[-1] for row in rows]),
        answer=torch.tensor([index[sample.next] for sample in dataset.samples]),
        frequency=counts / counts.sum(),
    )


def embedded_loss(samples: Batch, E: Tensor, W_ov: Tensor) -> Loss:
    """eq. 1 as a function of W_kq (d, d): logits W_ov X^T softmax(X W_kq q), for any embeddings E (V, d)."""
    X, q = E[samples.tokens], E[samples.query]

    def loss(W_kq: Tensor) -> Tensor:
        scores = (X @ (q @ W_kq.T)[:, :, None])[:, :, 0]
        attention = scores.masked_fill(samples.absent, -torch.inf).softmax(dim=1)
        context = (attention[:, None, :] @ X)[:, 0]
        return samples.frequency @ cross_entropy(context @ W_ov.T, samples.answer, reduction="none")

    return loss


def looked_up_loss(samples: Batch, B: Tensor) -> Loss:
    """eq. 1 for one-hot embeddings: W_kq[x, q] is the score of x under q, B[:, x] = W_ov x the logits of x."""
    query, values = samples.query[:, None], B.T[samples.tokens]

    def loss(W_kq: Tensor) -> Tensor:
        scores = W_kq[samples.tokens, query]
        attention = scores.masked_fill(samples.absent, -torch.inf).softmax(dim=1)
        logits = (attention[:, None, :] @ values)[:, 0]
        return samples.frequency @ cross_entropy(logits, samples.answer, reduction="none")

    return loss


def stage2(loss: Loss, d: int, lr: float, steps: int) -> Tensor:
    """W_kq (d, d) after ``steps`` steps of normalised gradient descent from zero."""
    W_kq = torch.zeros(d, d, dtype=torch.float64, requires_grad=True)
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(loss(W_kq), W_kq)
        with torch.no_grad():
            W_kq -= lr * gradient / gradient.norm()
    return W_kq.detach()
