"""Section 7's model trained by six optimizers in PyTorch, recorded for `marginaudit audit --trajectory`.

Usage: python your_own_training.py [FOLDER]

Stage 2 (W_kq, arXiv 2409.17335, eq. 1) from W_kq = 0 for 2,000 steps, each run into FOLDER/NAME.npz; W_ov is that of
Algorithm 1 after 900 steps. Then each run's last W_kq is compared with three max-margin solutions: the smallest in the
Frobenius norm (the paper's W*_kq), in the largest entry, and in the nuclear norm, each one problem of cvxpy. Two
numbers each: the margin of W_kq over its norm as a share of the most that there is, and the cosine with the nearest
solution, as in the last two norms there may be many.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import cvxpy as cp
import numpy as np

try:
    import torch
except ModuleNotFoundError:
    sys.exit("your_own_training.py needs PyTorch: pip install 'marginaudit[bench]'")

from marginaudit.orders.ntp import CASES
from marginaudit.record import Recorder
from marginaudit.training.ntp import train

STEPS = 2000
DATA = CASES["section-7"]()
V = DATA.V
ETA = 0.05 / V**0.5  # the paper's step size

longest = max(len(sample.tokens) for sample in DATA.samples)
tokens = torch.zeros(DATA.N, longest, dtype=torch.long)
missing = torch.ones(DATA.N, longest, dtype=torch.bool)
for i, sample in enumerate(DATA.samples):
    tokens[i, : len(sample.tokens)] = torch.tensor([DATA.index[x] for x in sample.tokens])
    missing[i, : len(sample.tokens)] = False
query = torch.tensor([DATA.index[sample.query] for sample in DATA.samples])
answer = torch.tensor([DATA.index[sample.next] for sample in DATA.samples])
pi = torch.tensor(DATA.frequencies)
logits_of = torch.tensor(train(DATA, steps1=900, steps2=0).W_ov).T[tokens]  # where all attention is on one token
place = (tokens * V + query[:, None]).ravel()  # of x^T W_kq q, for one-hot tokens
torch.set_num_threads(1)


def loss(W_kq: torch.Tensor) -> torch.Tensor:
    """Eq. 1."""
    scores = W_kq.ravel().index_select(0, place).reshape(tokens.shape).masked_fill(missing, -torch.inf)
    logits = torch.einsum("nl,nlv->nv", torch.softmax(scores, 1), logits_of)
    return (pi * torch.nn.functional.cross_entropy(logits, answer, reduction="none")).sum()


Step = Callable[[], None]


def normalised(weights: list[torch.Tensor]) -> Step:
    """W <- W - eta grad / ||grad||, the norm over all weights."""

    def step() -> None:
        norm = torch.sqrt(sum((W.grad**2).sum() for W in weights))
        for W in weights:
            W.data -= ETA * W.grad / norm

    return step


def sign(weights: list[torch.Tensor]) -> Step:
    """W <- W - eta sign(grad)."""

    def step() -> None:
        for W in weights:
            W.data -= ETA * torch.sign(W.grad)

    return step


RUNS: dict[str, Callable[[list[torch.Tensor]], Step]] = {
    "normalised": normalised,
    "plain": lambda weights: torch.optim.SGD(weights, lr=1.0).step,
    "momentum": lambda weights: torch.optim.SGD(weights, lr=1.0, momentum=0.9).step,
    "adam": lambda weights: torch.optim.Adam(weights, lr=ETA).step,
    "sign": sign,
    "factored": normalised,
}


def trained(name: str, folder: Path) -> np.ndarray:
    """The last W_kq; of `factored` it is W_K^T W_Q, which start small and random, as at 0 they would stay."""
    if name == "factored":
        random = torch.Generator().manual_seed(0)
        weights = [0.01 * torch.randn(V, V, generator=random, dtype=torch.float64) for _ in range(2)]
    else:
        weights = [torch.zeros(V, V, dtype=torch.float64)]
    step = RUNS[name]([W.requires_grad_() for W in weights])

    def W_kq() -> torch.Tensor:
        return weights[0] if len(weights) == 1 else weights[0].T @ weights[1]

    recorder = Recorder(lr2=ETA)
    recorder.stage2(0, W_kq())
    for t in range(1, STEPS + 1):
        for W in weights:
            W.grad = None
        loss(W_kq()).backward()
        step()
        recorder.stage2(t, W_kq())
    recorder.save(folder / f"{name}.npz")
    return W_kq().detach().numpy()


RELATIONS = (DATA.relations.winner, DATA.relations.loser, DATA.relations.query)


def margins(W: "np.ndarray | cp.Variable") -> "np.ndarray | cp.Expression":
    """(x - z)^T W_kq q of each x that beats z under a query q."""
    winner, loser, q = RELATIONS
    return W[winner, q] - W[loser, q]


NORMS: dict[str, tuple[Callable[[cp.Variable], cp.Expression], Callable[[np.ndarray], float]]] = {
    "Frobenius": (lambda W: cp.norm(W, "fro"), lambda W: float(np.linalg.norm(W))),
    "largest entry": (lambda W: cp.norm(cp.vec(W, order="C"), "inf"), lambda W: float(abs(W).max())),
    "nuclear": (cp.normNuc, lambda W: float(np.linalg.norm(W, "nuc"))),
}


def beside(W: np.ndarray, norm: str, least: float) -> tuple[float, float]:
    """The share of the largest margin that W reaches, and its cosine with the nearest solution."""
    convex, of = NORMS[norm]
    W = W / np.linalg.norm(W)  # the solver fails on some lengths
    U, c = cp.Variable((V, V)), cp.Variable(nonneg=True)
    nearest = cp.Problem(cp.Minimize(cp.sum_squares(U - c * W)), [margins(U) >= 1, convex(U) <= least * (1 + 1e-6)])
    nearest.solve(solver=cp.CLARABEL)
    cosine = float((U.value * W).sum() / np.linalg.norm(U.value) / np.linalg.norm(W))
    return float(margins(W).min()) / of(W) * least, cosine


def main() -> None:
    """Train, record, compare."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    last = {name: trained(name, folder) for name in RUNS}
    print(f"{len(last)} runs of {STEPS} steps in {time.perf_counter() - begun:.0f} s, in {folder}/")
    least = {}
    for norm, (convex, _) in NORMS.items():
        U = cp.Variable((V, V))
        least[norm] = cp.Problem(cp.Minimize(convex(U)), [margins(U) >= 1]).solve(solver=cp.CLARABEL)
    print(f"{'run':12}" + "".join(f"{f'{norm}: margin, cosine':>34}" for norm in NORMS))
    for name, W in last.items():
        found = (beside(W, norm, least[norm]) for norm in NORMS)
        print(f"{name:12}" + "".join(f"{share:26.4f}{cosine:8.4f}" for share, cosine in found))


if __name__ == "__main__":
    main()
