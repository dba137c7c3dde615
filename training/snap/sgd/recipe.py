"""How the experiments of section 8 train."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Recipe:
    """Mini-batch training of Y and Z on sampled sequences.

    The defaults are those of Syn-Medium. Syn-Small starts at "zero".

    Source: arXiv 2305.16380, section 8, and the settings that its authors published.

    Attributes
    ----------
    updates : int
    batch : int
        Samples of an update, over which the loss is averaged.
    length : int
        Contextual tokens of a sample, before its query.
    optimizer : "momentum" or "adam"
        v <- momentum v + g, w <- w - eta v; or Adam with the moments .9 and .999 and epsilon 1e-8.
    momentum : float
    start : "uniform" or "zero"
        Y and Z from the uniform distribution on [-1/sqrt(M), 1/sqrt(M)], or 0.

    Raises
    ------
    ValueError
        A number is out of its range, or a name unknown.
    """

    updates: int = 100
    batch: int = 128
    length: int = 127
    optimizer: Literal["momentum", "adam"] = "momentum"
    momentum: float = 0.9
    start: Literal["uniform", "zero"] = "uniform"

    def __post_init__(self) -> None:
        for name, least in (("updates", 0), ("batch", 1), ("length", 1)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name}: got {getattr(self, name)}, expected at least {least}")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum: got {self.momentum}, expected at least 0 and below 1")
        for name, known in (("optimizer", ("momentum", "adam")), ("start", ("uniform", "zero"))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: got {getattr(self, name)!r}, expected {' or '.join(known)}")
