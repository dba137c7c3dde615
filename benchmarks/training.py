"""A step of stage 2 (Algorithm 1 of arXiv 2409.17335) in several ways on the same seeded datasets, in one run.

Usage: python benchmarks/training.py [V,N ...]

* compiled: what `marginaudit train` runs on orthonormal tokens, from zero, its running error bound included;
* plain loops: the same kernel, a class after the other instead of sixteen side by side (`training/ntp/steps/lanes.py`);
* late: the same kernel where attention is one-hot to double precision: one exponential a merged edge;
* NumPy: the readable form that the tests compare the compiled one with, from zero;
* PyTorch: float64 with autograd, from zero, with embeddings and with looked-up scores (`pytorch_algorithm1.py`);
  an extra: pip install 'marginaudit[bench]' (the CPU build is enough).

Before it is timed, every form has to reach the same direction after some steps. Each number is the median of several
rounds that take the forms in turn, with the quartiles in brackets, in time of the processor. One thread. At the last
size PyTorch, whose arrays hold an entry for every sample and label, is left out.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import platform
import sys
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import Dataset, free_dataset
from marginaudit.training.ntp import sample_classes
from marginaudit.training.ntp.model.edges import merged_edges, sentence_edges
from marginaudit.training.ntp.model.reference import exact_reference
from marginaudit.training.ntp.steps.compiled import CompiledSteps
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.spaces import TokenKQ
from marginaudit.training.ntp.steps.stepper import Stepper

SIZES = ((20, 100), (100, 500), (500, 2500), (1000, 100_000))
LONGEST = 8
STEPS1 = 900
"""The paper's length of stage 1; it sets the margin A."""

LATE_MARGIN = 200.0
CHECKED_STEPS = 20
AGREEMENT = 1e-9
"""Relative difference of 1 - cos between any two forms."""

MOST_ENTRIES = 10**8
"""Samples times longest sentence times vocabulary, beyond which PyTorch is left out."""

ROUNDS = 21
ROUND_SECONDS = 0.02
LONGEST_RUN = 900
"""Steps in one round, at most: the paper's length of stage 2."""

HAS_TORCH = find_spec("torch") is not None

TITLES = (
    "V",
    "N",
    "edges",
    "merged edges",
    "compiled",
    "plain loops",
    "late",
    "NumPy",
    "PyTorch, embeddings",
    "PyTorch, look-up",
    "plain loops / compiled",
    "NumPy / compiled",
    "PyTorch / compiled",
    "compiled, ns an edge",
    "late, ns a merged edge",
)

Floats: TypeAlias = NDArray[np.float64]
Steps: TypeAlias = Callable[[int], Any]


class Stage2:
    """One dataset with everything a form needs to take steps from zero."""

    def __init__(self, V: int, N: int) -> None:
        self.dataset: Dataset = free_dataset(V=V, N=N, L=LONGEST, seed=V)
        self.eta = 0.05 / np.sqrt(V)
        self.A = STEPS1 * 0.2 / np.sqrt(V * (V - 1))
        classes = sample_classes(self.dataset)
        self.edges = sentence_edges(classes, V)
        self.merged = merged_edges(self.edges, len(classes.key))
        exact = exact_reference(self.dataset, classes, self.merged, solve_kq(self.dataset))
        if exact is None:
            raise SystemExit(f"V={V}, N={N}: no exact W*_kq")
        self.exact = exact
        self.pairs = classes.key, classes.pair_query
        self._space = TokenKQ(V, *self.pairs)
        self._what = exact.unit
        self._problem = ReducedKQ(self._space, classes, V, self._what[0], self.A, self.edges, self.merged, self.exact)

    def start(self) -> Iterate:
        """W_kq = 0."""
        high, low = self._what
        return Iterate(self._space.shape, self.eta, high, reference_low=low)

    @cached_property
    def _kernel(self) -> CompiledSteps:
        return CompiledSteps(self._problem)

    @cached_property
    def _plain_loops(self) -> CompiledSteps:
        return CompiledSteps(self._problem, lanes=False)

    def _take(self, kernel: CompiledSteps, iterate: Iterate, steps: int) -> Iterate:
        goal = iterate.moves + steps
        kernel.take(iterate, goal, lambda _: None)
        if iterate.moves < goal:
            raise SystemExit(f"V={self.dataset.V}: the kernel took {iterate.moves} of {goal} steps")
        return iterate

    def compiled(self, steps: int) -> Iterate:
        """The compiled kernel from zero."""
        return self._take(self._kernel, self.start(), steps)

    def plain_loops(self, steps: int) -> Iterate:
        """The compiled kernel without lanes from zero."""
        return self._take(self._plain_loops, self.start(), steps)

    def late(self, steps: int) -> Iterate:
        """The compiled kernel from W = s What with all margins at least `LATE_MARGIN`."""
        moves = int(LATE_MARGIN * self.exact.norm / self.eta)
        return self._take(self._kernel, self.start().placed(moves, np.zeros(self._space.shape)), steps)

    def numpy(self, steps: int) -> Iterate:
        """The NumPy form from zero."""
        iterate, stepper = self.start(), Stepper(self._problem)
        for _ in range(steps):
            stepper.step(iterate)
        return iterate

    def pytorch(self) -> dict[str, Steps]:
        """Both PyTorch forms, by name."""
        import pytorch_algorithm1 as pytorch
        import torch

        torch.set_num_threads(1)
        V, index, n = self.dataset.V, self.dataset.index, self.dataset.collocation.require_function()
        W_ov = torch.full((V, V), -self.A / V, dtype=torch.float64)
        for x, following in n.items():
            W_ov[index[following], index[x]] += self.A
        samples = pytorch.batch(self.dataset)
        losses = {
            "embeddings": pytorch.embedded_loss(samples, torch.eye(V, dtype=torch.float64), W_ov),
            "look-up": pytorch.looked_up_loss(samples, W_ov),
        }
        return {
            name: lambda steps, loss=loss: pytorch.stage2(loss, V, self.eta, steps) for name, loss in losses.items()
        }

    def one_minus_cos(self, reached: Any) -> float:
        """1 - cos to W*_kq: an `Iterate` computes its own; a dense W_kq, half the squared distance of unit vectors."""
        if isinstance(reached, Iterate):
            return reached.direction().one_minus_cos
        what = np.zeros((self.dataset.V, self.dataset.V))
        what[self.pairs] = self._what[0]
        W = np.asarray(reached)
        return 0.5 * float(np.sum((W / np.linalg.norm(W) - what) ** 2))

    @cached_property
    def arrays(self) -> list[NDArray[Any]]:
        """Arrays that a step reads: the formulas' terms for each edge, merged edge and class, with 32-bit indices."""
        known, edges = self._kernel.arrays, self.edges
        indices = (known.winner, known.loser, self.merged.number, edges.query)
        numbers = (known.rest_rate, known.weight, self._problem.ratio, edges.frequency, edges.absent)
        return [index.astype(np.uint32) for index in indices] + [number.astype(np.float64) for number in numbers]


def streaming(arrays: list[NDArray[Any]]) -> Steps:
    """One pass that reads every array."""

    def stream(passes: int) -> None:
        for _ in range(passes):
            for array in arrays:
                array.sum()

    return stream


def require_agreement(stage: Stage2, forms: Mapping[str, Steps]) -> None:
    """Stop unless all forms have the same 1 - cos after `CHECKED_STEPS`."""
    reached = {name: stage.one_minus_cos(form(CHECKED_STEPS)) for name, form in forms.items()}
    low, high = min(reached.values()), max(reached.values())
    if not high - low <= AGREEMENT * low:
        raise SystemExit(f"V={stage.dataset.V}: 1 - cos after {CHECKED_STEPS} steps differs: {reached}")


def measured(forms: Mapping[str, Steps]) -> dict[str, Floats]:
    """Quartiles of the microseconds a step, shape (3,), for each form; the forms take turns."""
    steps = {name: _steps_in_a_round(form) for name, form in forms.items()}
    spent: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(ROUNDS):
        for name, form in forms.items():
            spent[name].append(1e6 * _seconds(form, steps[name]) / steps[name])
    return {name: np.quantile(values, [0.25, 0.5, 0.75]) for name, values in spent.items()}


def _steps_in_a_round(form: Steps) -> int:
    steps = 1
    while steps < LONGEST_RUN and (taken := _seconds(form, steps)) < ROUND_SECONDS:
        steps = min(LONGEST_RUN, max(2 * steps, int(steps * ROUND_SECONDS / taken)))
    return steps


def _seconds(form: Steps, steps: int) -> float:
    start = time.process_time()
    form(steps)
    return time.process_time() - start


def row(V: int, N: int) -> tuple[list[str], str]:
    """A row of the table, and the cost of a step as a multiple of one pass over its arrays."""
    stage = Stage2(V, N)
    forms: dict[str, Steps] = {"compiled": stage.compiled, "plain loops": stage.plain_loops, "NumPy": stage.numpy}
    if HAS_TORCH and N * LONGEST * V <= MOST_ENTRIES:
        forms |= stage.pytorch()
    require_agreement(stage, forms)
    found = measured({**forms, "late": stage.late, "pass": streaming(stage.arrays)})
    medians = {name: float(quartiles[1]) for name, quartiles in found.items()}
    compiled, edges, merged = medians["compiled"], len(stage.edges), len(stage.merged)
    torch = min((medians[name] for name in ("embeddings", "look-up") if name in medians), default=None)
    cells = [
        f"{V}",
        f"{N}",
        f"{edges}",
        f"{merged}",
        *(_spread(found.get(name)) for name in ("compiled", "plain loops", "late", "NumPy", "embeddings", "look-up")),
        f"{medians['plain loops'] / compiled:.1f}",
        f"{medians['NumPy'] / compiled:.0f}",
        "–" if torch is None else f"{torch / compiled:.0f}",
        f"{1e3 * compiled / edges:.1f}",
        f"{1e3 * medians['late'] / merged:.1f}",
    ]
    yardstick = (
        f"V = {V}, N = {N}: one pass over what the formulas name of edges and classes "
        f"({sum(array.nbytes for array in stage.arrays) / 1e6:.1f} MB) takes {_spread(found['pass'])} us, "
        f"a compiled step {compiled / medians['pass']:.1f} times that."
    )
    return cells, yardstick


def _spread(quartiles: Floats | None) -> str:
    if quartiles is None:
        return "–"
    low, median, high = (_digits(value) for value in quartiles)
    return f"{median} ({low}–{high})"


def _digits(value: float) -> str:
    """Three digits."""
    return f"{value:.{max(0, 2 - int(np.floor(np.log10(value))))}f}"


def compare(sizes: tuple[tuple[int, int], ...]) -> None:
    """Print the machine, the table, and the yardstick of the last size."""
    packages = ["numba", "numpy", *(["torch"] if HAS_TORCH else [])]
    print(f"{_processor()}, Python {platform.python_version()}, ", end="")
    print(", ".join(f"{name} {version(name)}" for name in packages) + "\n")
    print("Microseconds of the processor a step; the ratio to PyTorch takes the faster of its two forms.\n")
    print("| " + " | ".join(TITLES) + " |")
    print("|" + " ---: |" * len(TITLES))
    for V, N in sizes:
        cells, yardstick = row(V, N)
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n{yardstick}")
    if not HAS_TORCH:
        print("PyTorch is not installed: pip install 'marginaudit[bench]'")


def _processor() -> str:
    """The processor's name where Linux tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    compare(tuple((int(V), int(N)) for V, N in (size.split(",") for size in sys.argv[1:])) or SIZES)
