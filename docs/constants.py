"""How loose each bound is, and in which of its factors: `marginaudit tighten` of every claim that it takes.

Usage: python docs/constants.py

Writes docs/constants.md. What breaks a claim without an assumption is taken from docs/ablation.json.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, TypeAlias

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, HiddenConstant
from marginaudit.claims.paper import Paper
from marginaudit.orders import InputError
from marginaudit.reports.audit.ledger import PAPERS
from marginaudit.reports.command.tighten import MEANING
from marginaudit.reports.page.files import write_whole
from marginaudit.reports.processes import one_thread
from marginaudit.reports.tighten.fit import Exponent, Tightened, tightened
from marginaudit.reports.tighten.measure import DRAWN, DesignPoint, Measured, cases, measured

HERE = Path(__file__).parent
PAGE = HERE / "constants.md"
CELLS = json.loads((HERE / "ablation.json").read_text(encoding="utf-8"))

HEADER = """# The smallest constants

Results of `marginaudit tighten CLAIM` for every claim that is a bound. The constant is the smallest by which an upper
bound could be multiplied (the largest, for a lower one) and still hold at every step to which the statement applies, on
all runs, error bars included; beside it the same at the steps at which the printed bound is informative. Nearest is
the dataset that sets it. The last column names assumptions without which a counterexample was found
([ablation](ablation.md)), of claims that are not violated with all of them.

In the second table a cell is the power that measurements support, its interval, and the power that the bound has; a
dash where the data support none.

{meaning}

`python docs/constants.py` makes this page.
"""

Made: TypeAlias = list[tuple[DesignPoint, Any]]
"""Cases and their runs."""


def runs(paper: Paper) -> Made:
    """The paper's designed runs, for all of its claims."""
    return [(case, paper.run(case.dataset, case.config, lambda _: None)) for case in cases(paper, paper.config(), [])]


def of_claim(claim: Claim, paper: Paper, made: Made) -> list[Tightened] | str:
    """Each side of its bound; why there is none."""
    try:
        found = [measured(claim, paper, case, run) for case, run in made]
    except InputError as error:
        return error.got
    applicable = [one for one in found if isinstance(one, Measured)]
    if not applicable:
        return "these runs have no step at which it applies"
    return [tightened(side, applicable) for side in applicable[0].sides]


def page() -> str:
    """The whole page; prints each claim to standard error when it is done."""
    return HEADER.format(meaning=fill(MEANING, 120)) + "".join(
        f"\n## {paper.source}\n\n{_of(paper)}" for paper in PAPERS
    )


def _of(paper: Paper) -> str:
    made = runs(paper)
    found: dict[str, list[Tightened] | str] = {}
    for claim in paper.claims:
        if isinstance(claim.judgement, Bounded):
            found[claim.id] = of_claim(claim, paper, made)
            print(claim.id, file=sys.stderr, flush=True)
    sides = {claim: of for claim, of in found.items() if not isinstance(of, str)}
    reasons = dict.fromkeys(of for of in found.values() if isinstance(of, str))
    silent = [f"{why}: {', '.join(f'`{claim}`' for claim, of in found.items() if of == why)}" for why in reasons]
    parts = [fill(f"{len(made)} runs, {DRAWN} datasets each: {'; '.join(_varied(paper))}.", 120)]
    parts.append(_table(("claim", "constant", "where informative", "nearest", "breaks without"), constant_rows(sides)))
    clocks = {side.clock for of in sides.values() for side in of}
    factors = dict.fromkeys(one.factor for of in sides.values() for side in of for one in side.exponents)
    columns = sorted(factors, key=lambda name: name not in clocks)
    parts.append(_table(("claim", *columns), power_rows(sides, columns)))
    parts.append(fill(f"Not tightened: {'; '.join(silent)}.", 120, break_on_hyphens=False) if silent else "")
    hidden = [claim for claim in paper.claims if isinstance(claim.judgement, HiddenConstant)]
    return "\n\n".join([*filter(None, parts), *([_hidden(hidden, made)] if hidden else [])]) + "\n"


def _varied(paper: Paper) -> Iterator[str]:
    for design in paper.sweeps.designs if paper.sweeps else ():
        levels = [(name, map(str, values)) for name, values in design.levels.items() if len(values) > 1]
        yield f"{design.generator}: " + ", ".join(f"{name} {' or '.join(values)}" for name, values in levels)


def constant_rows(sides: dict[str, list[Tightened]]) -> Iterator[tuple[str, ...]]:
    """The table of constants."""
    for claim, of in sides.items():
        for side in of:
            near = side.nearest
            at = "".join(
                [
                    f", {side.clock} = {near.step:g}" if near.step is not None else "",
                    f", {near.label}" * bool(near.label),
                ]
            )
            informative = "–" if side.informative is None else f"{side.informative:.3g}"
            settings = "".join(f", {name} {value:g}" for name, value in near.settings.items())
            yield (
                f"`{claim}`, {side.side}",
                f"{side.constant:.4g}",
                informative,
                f"{near.dataset}{settings}{at}",
                breaks(claim),
            )


def breaks(claim: str) -> str:
    """The assumptions without which a counterexample was hunted down; none are named where all of them do not help."""
    cells = CELLS[claim]
    if cells["all kept"]["found"]:
        return "violated with all"
    return ", ".join(f"`{name}`" for name, cell in cells.items() if cell["found"]) or "–"


def power_rows(sides: dict[str, list[Tightened]], factors: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The table of powers of the factors."""
    for claim, of in sides.items():
        for side in of:
            by_name = {one.factor: one for one in side.exponents}
            if by_name:
                yield f"`{claim}`, {side.side}", *(_power(by_name.get(name)) for name in factors)


def _power(one: Exponent | None) -> str:
    if one is None or one.interval is None or one.no_support:
        return "–"
    low, high = one.interval
    return f"{one.measured:.2f} ({low:.2f} to {high:.2f}), bound {one.bound:.2f}".replace("-0.00", "0.00")


def _hidden(claims: Sequence[Claim], made: Made) -> str:
    """The constants that O(.) and Omega(.) hide, by the first thing that designs vary."""
    values = sorted({run.dataset.V for _, run in made})
    rows = []
    for claim in claims:
        found = [(run.dataset.V, claim.judge(run).constant) for _, run in made]
        rows.append([f"`{claim.id}`", *(_range([c for v, c in found if v == V and c is not None]) for V in values)])
    heading = "The constants that O(.) and Omega(.) hide, smallest for an upper bound and largest for a lower one:"
    return f"{heading}\n\n{_table(('claim', *(f'V = {V}' for V in values)), rows)}"


def _range(values: Sequence[float]) -> str:
    if not values:
        return "–"
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"


def _table(header: Sequence[str], rows: Any) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def main() -> None:
    """Write the page."""
    with one_thread():
        write_whole(PAGE, page())


if __name__ == "__main__":
    main()
