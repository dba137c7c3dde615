"""Write FINDINGS.md, the constants of each built-in dataset and loss: `python examples/separable/findings.py`."""

from pathlib import Path

import numpy as np
from separable.claims.tight import across, lag
from separable.points import CASES
from separable.quantities import direction, late, loss_times_t, margin_gap, normalized_gap, polynomial_cosine
from separable.run import DescentConfig, DescentRun

PAGE = Path(__file__).with_name("FINDINGS.md")

INTRODUCTION = """# What was measured

Made by `python examples/separable/findings.py`: 1e5 true steps of half the largest step size, then the flow to
log t = 1e4. Where two numbers stand, the first is measured at the end and the second is what it tends to, by
`separable/proofs/proofs-separable.md`; a dash where none is known or the data are not generic. The last two columns
are the length of rho at t = 1e18 and at the end.

| dataset | loss | eta | length of w^ | t L | log t direction error | log t margin gap | rho, 1e18 | rho, end |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def number(value: float) -> str:
    """Four digits; 0 below 1e-12."""
    return f"{value if abs(value) > 1e-12 else 0:.4g}"


def row(run: DescentRun) -> str:
    """A row of the first table."""
    generic, path = run.assumption("generic").holds, late(run)
    spanned = generic and run.assumption("spanned").holds
    at, rho = int(np.argmin(np.abs(path.s - 18 * np.log(10)))), np.linalg.norm(path.rho, axis=1)
    cells = [
        (float(np.exp(loss_times_t(run).value[-1])), run.norm**2 / run.eta if generic else None),
        (direction(run).value[-1] * path.s[-1], across(run) if spanned else None),
        (margin_gap(run).value[-1] * path.s[-1], lag(run) if spanned else None),
    ]
    pairs = " | ".join(f"{number(one)}, {'–' if limit is None else number(limit)}" for one, limit in cells)
    start = f"{run.dataset.name} | {run.config.loss} | {run.eta:.4g} | {run.norm:.4g}"
    return f"| {start} | {pairs} | {rho[at]:.4g} | {rho[-1]:.4g} |"


def one_point() -> str:
    """The section on appendix B's example."""
    run = DescentRun(CASES["one-point"](), DescentConfig(loss="exponential", true_steps=10**5))
    s, gap = late(run).s, margin_gap(run).value
    at = [int(np.argmin(np.abs(s - value))) for value in (18 * np.log(10), 1e3, 1e4)]
    rows = "\n".join(f"| {s[i]:.5g} | {gap[i] * s[i]:.3g} | {gap[i] * s[i] ** 2:.5g} |" for i in at)
    return f"""
## Appendix B's example attains three of the four rates

One point (1, 0), the exponential loss, w(0) = (0, 1): the margin gap is of the order of the angle, and tends to
1/(2 log^2 t). The bound 1/log t of the margin is not attained there; on `two-points` it is.

| log t | log t margin gap | log^2 t margin gap |
| --- | --- | --- |
{rows}
"""


def zero_dual() -> str:
    """By how much rho grows where a dual is 0."""
    path = late(DescentRun(CASES["zero-dual"](), DescentConfig(true_steps=10**5)))
    rho, at = np.linalg.norm(path.rho, axis=1), int(np.argmin(np.abs(path.s - 18 * np.log(10))))
    grown, clock = rho[-1] - rho[at], np.log(path.s[-1] / path.s[at])
    return f"""
## Where a dual is 0

On `zero-dual` the length of rho grows by {grown:.3f} from t = 1e18 to the end, and log log t by {clock:.3f}: the
rate log log t is attained, with the constant 1 (measured, not proved).
"""


def figure_1() -> str:
    """How fast direction and margin converge on the data of figure 1."""
    config = DescentConfig(share=float(np.linalg.norm(CASES["figure-1"]().signed, 2)) / 8, true_steps=10**5)
    run = DescentRun(CASES["figure-1"](), config)
    s = late(run).s
    rows = []
    for low, high in ((2, 3), (3, 4), (4, 5), (5, 12), (12, 18)):
        i, j = (int(np.argmin(np.abs(s - np.log(10) * e))) for e in (low, high))
        powers = [np.log(of[j] / of[i]) / (s[j] - s[i]) for of in (direction(run).value, margin_gap(run).value)]
        rows.append(f"| 1e{low} to 1e{high} | {powers[0]:.3f} | {powers[1]:.3f} |")
    body = "\n".join(rows)
    return f"""
## Figure 1 does not show logarithmic rates

Its caption says that angle and margin gap decrease logarithmically. Its support vectors are symmetric about w^, so
that w~ is parallel to w^ from w(0) = 0, whatever lies beyond the margin: rho across w^ falls like t^(-1/4), the
smallest eigenvalue of sum alpha_n x_n x_n^T being 1/4, and the direction error like t^(-1/4)/log t, once what the
nearest points beyond the margin add, t^(-0.31), is gone. Here with eta = 1/sigma_max = {run.eta:.4f}.
The powers of t between two times:

| t | direction error | margin gap |
| --- | --- | --- |
{body}
"""


def others() -> str:
    """The limit with another tail, and the constant of normalised descent."""
    rows = []
    for name, make in CASES.items():
        run = DescentRun(make(), DescentConfig(true_steps=10**5))
        gap = normalized_gap(run)
        t = np.asarray(gap.step, dtype=float)
        cosine = polynomial_cosine(run).value[-1]
        rows.append(f"| {name} | {cosine:.6f} | {number(gap.value[-1] * np.sqrt(t[-1]) / np.log(t[-1]))} |")
    body = "\n".join(rows)
    return f"""
## Another tail, and normalised steps

The cosine of w and w^ with the loss 1/(1+u), at log t = 1e4; and the margin gap of normalised descent over
log t/sqrt t, at t = 1e5.

| dataset | cosine | normalised |
| --- | --- | --- |
{body}
"""


def main() -> None:
    """Write the page."""
    losses = ("logistic", "exponential")
    runs = [
        DescentRun(make(), DescentConfig(loss=loss, true_steps=10**5)) for make in CASES.values() for loss in losses
    ]
    PAGE.write_text(
        INTRODUCTION + "\n".join(map(row, runs)) + "\n" + one_point() + zero_dual() + figure_1() + others(), "utf-8"
    )


if __name__ == "__main__":
    main()
