"""Error of the gradient flow that fast-forwards stage 2, against true steps, and its stated bound.

Usage: python docs/flow_error.py [--steps T]

Writes docs/flow-error.md.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, free_dataset, prefix_closed_dataset
from marginaudit.reports.page.files import write_whole
from marginaudit.training.ntp import train
from marginaudit.training.ntp.far.flow import Flow, fast_forward
from marginaudit.training.ntp.far.law import asymptotic_law
from marginaudit.training.ntp.model.edges import merged_edges, sentence_edges
from marginaudit.training.ntp.model.reference import exact_reference

PAGE = Path(__file__).with_name("flow-error.md")

HEADER = """# The fast-forward against true steps

Beyond a switch point t0 stage 2 is followed by gradient flow instead of steps (`training/ntp/far/flow.py`). Here both
run from the same state, to t = {last:.0e}, with the paper's step size: 1 - cos by flow and by steps, their relative
difference, the bound that the flow states (`error`), and how many times the difference that bound is. A ratio below 1
would refute the bound. Where the difference is below {floor:.0e} it is mostly the rounding of the steps, and no ratio
is given.

"Degenerate" datasets have tight constraints without multipliers: their 1 - cos falls like log^2 t / t^2 and the
unit gradient still turns, so flow and steps part by about (eta/2) times the arc of the unit gradient. On the others
it turns no more, and they agree to rounding.

Lowest ratio of all rows: {lowest:.3g}.

`python docs/flow_error.py` makes this page.

"""

ROW_HEADER = """| t | flow | steps | relative difference | stated bound | ratio |
| ---: | ---: | ---: | ---: | ---: | ---: |
"""

FLOOR = 1e-13


def datasets() -> Iterator[tuple[str, Dataset]]:
    """Named cases, and random data of several sizes."""
    for name, case in CASES.items():
        yield name, case()
    for V, N, L, seed in (
        (6, 15, 4, 1),
        (6, 20, 5, 15),
        (8, 30, 5, 2),
        (8, 30, 5, 3),
        (12, 60, 6, 0),
        (12, 60, 6, 4),
        (20, 100, 8, 0),
        (20, 100, 8, 11),
    ):
        yield f"free, V={V}, N={N}, L={L}, seed {seed}", free_dataset(V=V, N=N, L=L, seed=seed)
    yield "prefix-closed, V=12, N=40, L=6, seed 0", prefix_closed_dataset(V=12, N=40, L=6, seed=0)


def compare(data: Dataset, last: int) -> tuple[str, Flow, np.ndarray]:
    """A description of the data, the flow, and 1 - cos of true steps at the flow's rows."""
    t0 = 5_000 * data.V
    rows = [t0, t0 + 1, *np.geomspace(t0, last, 9)[1:].round().astype(int).tolist()]
    solution = solve_kq(data)
    trained = train(data, steps2=last, at=rows, kq_reference=solution)
    stage = trained.stage2
    classes = trained.classes
    merged = merged_edges(sentence_edges(classes, data.V), len(classes.key))
    reference = exact_reference(data, classes, merged, solution)
    if reference is None:
        raise ValueError(f"{data.name}: no exact W*_kq")
    eta = 0.05 / np.sqrt(data.V)
    flow = fast_forward(merged, reference, eta, t0, stage.rest[0], rows)
    law = asymptotic_law(merged, reference, eta, last, flow.rest[-1])
    kind = "degenerate" if law.support.degenerate else "not degenerate"
    slack = [x for x in reference.slack if x > 0]
    text = f"{kind}, ||W*||^2 = {reference.norm_squared}, smallest slack {min(slack, default='none')}, t0 = {t0}"
    return text, flow, stage.one_minus_cos


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=lambda text: int(float(text)), default=10**7)
    last = parser.parse_args().steps
    parts, lowest = [], np.inf
    for name, data in datasets():
        text, flow, steps = compare(data, last)
        lines = []
        for t, ours, theirs, error in zip(flow.step, flow.one_minus_cos, steps, flow.error, strict=True):
            difference = abs(theirs / ours - 1)
            ratio = error / difference if difference > FLOOR else None
            lowest = min(lowest, np.inf if ratio is None else ratio)
            shown = "" if ratio is None else f"{ratio:.3g}"
            lines.append(f"| {t} | {ours:.6e} | {theirs:.6e} | {difference:.1e} | {error:.1e} | {shown} |\n")
        parts.append(f"## {name}\n\n{text}\n\n{ROW_HEADER}{''.join(lines)}")
        print(name, flush=True)
    write_whole(PAGE, HEADER.format(last=last, floor=FLOOR, lowest=lowest) + "\n".join(parts))


if __name__ == "__main__":
    main()
