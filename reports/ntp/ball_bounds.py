"""The bounds of stage 2 in ball arithmetic: how uneven frequencies may be until a printed bound fails."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marginaudit.margins.ntp import Exact
from marginaudit.reports.ntp.run import Run

if TYPE_CHECKING:
    import flint


BITS = 128

NOT_EXACT = "||W*_kq|| is not known exactly"

UNEVEN = (
    "V = 4, samples [a, b] -> n(a) of frequency 1 - eps and [c, d] -> n(c) of frequency eps, eps small enough: about "
    "exp(-{least}) at the default step size"
)
"""Frequencies that no float64 holds."""


def even_enough(factor: int, corollary: str) -> str:
    """How even frequencies have to be, in words."""
    return f"log(2 L_max^3/pi_min) <= {factor} N L_max^4 ({corollary} of docs/proofs.md)"


@dataclass(frozen=True)
class Sizes:
    """The numbers in the bounds of stage 2: w = ||W*_kq||, rarity = log(2 L_max^3/pi_min)."""

    N: int
    L: int
    w: "flint.arb"
    eta: "flint.arb"
    rarity: "flint.arb"

    def sharp(self, log_t: "flint.arb") -> "flint.arb":
        """The bound of `sharp.theorem1`, times t eta."""
        w = self.w
        return (2 * w**3 * self.rarity + self.eta * w**2) * (1 + log_t) + root_two() * self.eta * w

    def printed(self, log_t: "flint.arb") -> "flint.arb":
        """That of `ntp.theorem1.direction`, times t eta."""
        return 54 * self.N * self.L**4 * self.w**4 * log_t**2

    def threshold(self, factor: int) -> "flint.arb":
        """The factor of log^2 t in Theorem 2's threshold for t, ``factor`` N L_max^4 ||W*_kq||^6/eta."""
        return factor * self.N * self.L**4 * self.w**6 / self.eta


def root_two() -> "flint.arb":
    """The square root of 2 to the precision of the context."""
    import flint

    return flint.arb(2).sqrt()


def sizes(run: Run) -> Sizes | None:
    """Of a run; None where ||W*_kq||^2 is no rational number that is known."""
    from flint import arb, fmpq

    data, kq = run.dataset, run.kq
    if not isinstance(kq, Exact):
        return None
    square = kq.norm_squared_exact
    w = arb(fmpq(square.numerator, square.denominator)).sqrt()
    rarity = arb(fmpq(2 * data.L_max**3 * sum(data.counts), min(data.counts))).log()
    return Sizes(data.N, data.L_max, w, arb(run.eta), rarity)


def of_sizes(condition: Callable[[Sizes], str | None]) -> Callable[[Run], str | None]:
    """The condition on a run, in ball arithmetic."""

    def unmet(run: Run) -> str | None:
        import flint

        with flint.ctx.workprec(BITS):
            found = sizes(run)
            return NOT_EXACT if found is None else condition(found)

    return unmet
