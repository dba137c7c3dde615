"""Which assumptions are needed: every claim hunted with all of them, and without each one in turn.

Usage: python docs/ablation.py [--seconds S] [--jobs N]

Writes docs/ablation.md. Each cell is kept in docs/ablation.json as soon as it is done, so that an interrupted run
goes on where it stopped; delete a cell there to hunt it again. Counterexamples that meet all assumptions go to
reports/PAPER/counterexamples/, for the reports to name; ``--show CLAIM ASSUMPTION`` prints another one.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeAlias

from marginaudit.claims.paper import Paper
from marginaudit.reports.audit.ledger import LEDGER, PAPERS
from marginaudit.reports.hunt import hunt, hunt_answer
from marginaudit.reports.page.files import json_text, write_whole

HERE = Path(__file__).parent
CELLS = HERE / "ablation.json"
HUNTED = tuple(paper for paper in PAPERS if paper.space is not None)
WHOLE = "all kept"

HEADER = """# Which assumptions are needed

Every claim of the ledger was hunted for a counterexample: a dataset that meets its assumptions (column "{whole}"),
or that breaks exactly the named one (and what it implies) and meets the others. A cell gives the size of the smallest
counterexample found: `V` tokens, `N` samples, longest sentence `L`; `K` classes, `M` tokens of the
vocabulary, and the settings that it takes beside an audit's own. Those of the first column are linked;
`python docs/ablation.py --show CLAIM ASSUMPTION > FILE.json` writes another one (an audit of it reports the
failed assumption). Where none was found the cell gives the number of datasets tried, and how many of them stayed
*inconclusive* (not decided by the short run that a hunt affords) or *undefined* (the statement's subject does
not exist without the assumption). A dash: the claim
does not make the assumption.

A counterexample without an assumption shows that the assumption is needed. None found proves nothing: each
hunt took at most {seconds:g} s, among small datasets. Which added assumption makes a refuted statement true
is among the [findings](findings.md).

`python docs/ablation.py` makes this page.
"""


def cells() -> list[tuple[str, str | None]]:
    """Every claim with all of its assumptions, and without each."""
    return [(claim.id, without) for paper in HUNTED for claim in paper.claims for without in (None, *claim.asked)]


Answers: TypeAlias = dict[str, dict[str, Any]]
"""What a hunt answered, by claim and by the assumption that was dropped or `WHOLE`."""


def without(paper: Paper) -> dict[str, dict[str, Any]]:
    """Datasets of a paper's claims that break the claim without an assumption, by claim and assumption."""
    answers, found = kept(), dict[str, dict[str, Any]]()
    for claim in paper.claims:
        broken = {
            name: answer["dataset"]
            for name, answer in answers.get(claim.id, {}).items()
            if answer["found"] and name != WHOLE
        }
        found |= {claim.id: broken} if broken else {}
    return found


def kept() -> Answers:
    """The cells that were hunted."""
    answers: Answers = json.loads(CELLS.read_text(encoding="utf-8"))
    return answers


def keep(answers: Answers) -> None:
    """Write all cells, one a line."""
    claims = []
    for claim, cells in sorted(answers.items()):
        lines = [f"  {_json(name)}: {_json(cell)}" for name, cell in sorted(cells.items())]
        claims.append(f" {_json(claim)}: {{\n" + ",\n".join(lines) + "\n }")
    write_whole(CELLS, "{\n" + ",\n".join(claims) + "\n}\n")


def _json(value: Any) -> str:
    return json_text(value).removesuffix("\n")


def fill(claim: str, without: str | None, seconds: float) -> dict[str, Any]:
    """Hunt one cell; a counterexample that meets all assumptions becomes a file of the paper's package."""
    paper = next(paper for paper in HUNTED if paper.judges(LEDGER[claim]))
    found = hunt(LEDGER[claim], paper, without=without, seconds=seconds)
    document = None if found.dataset is None else paper.kind.to_document(found.dataset)
    path = HERE.parent / "reports" / paper.name / "counterexamples" / f"{claim}.json"
    if document is not None and without is None:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, json_text(document, indent=1))
        document = Path(os.path.relpath(path, HERE)).as_posix()
    answer = hunt_answer(found, None) | {"dataset": document, "allowed_seconds": seconds}
    if found.dataset is not None:
        answer["size"] = [getattr(found.dataset, name) for name in found.largest]
    for name in ("claim", "without", "seconds"):
        del answer[name]
    return answer


def shown(answer: dict[str, Any]) -> str:
    """A cell of the table."""
    if answer["found"]:
        sizes = zip(answer["largest_tried"], answer["size"], strict=True)
        size = " ".join(f"{name.removesuffix('_max')}={value}" for name, value in sizes)
        settings = "".join(f", {name} {value:g}" for name, value in answer.get("settings", {}).items())
        return f"[{size}{settings}]({answer['dataset']})" if isinstance(answer["dataset"], str) else f"{size}{settings}"
    verdicts = dict(answer["verdicts"])
    broken = verdicts.pop("broken", 0)
    unsure = verdicts.get("inconclusive", 0)
    if answer.get("met_assumptions") == 0:
        return "none breaks it alone"
    if not sum(verdicts.values()):
        return "undefined" if broken else "no instance"
    parts = [f"none in {sum(verdicts.values())}"]
    parts += [f"{unsure} inconclusive"] if unsure else []
    parts += [f"{broken} undefined"] if broken else []
    return ", ".join(parts)


def page() -> str:
    """The table, from the kept cells."""
    answers = kept()
    seconds = max(cell["allowed_seconds"] for cells in answers.values() for cell in cells.values())
    tables = [f"\n## {paper.source}\n\n{table(paper, answers)}\n" for paper in HUNTED]
    return HEADER.format(whole=WHOLE, seconds=seconds) + "".join(tables)


def table(paper: Paper, answers: Answers) -> str:
    """A row for each of the paper's claims, a column for each assumption that one of them makes."""
    made = {name for claim in paper.claims for name in claim.asked}
    columns = (None, *(name for name in paper.kind.assumptions if name in made))
    rows = [["claim", *(f"without `{name}`" if name else WHOLE for name in columns)]]
    rows.append(["---"] * len(rows[0]))
    for claim in paper.claims:
        cells = {name: shown(cell) for name, cell in answers[claim.id].items()}
        rows.append([f"`{claim.id}`", *(cells.get(name or WHOLE, "–") for name in columns)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Fill the missing cells and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", nargs=2, metavar=("CLAIM", "ASSUMPTION"))
    arguments = parser.parse_args()
    answers = kept()
    if arguments.show:
        print(json_text(answers[arguments.show[0]][arguments.show[1]]["dataset"], indent=1), end="")
        return
    missing = [cell for cell in cells() if (cell[1] or WHOLE) not in answers.get(cell[0], {})]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        under_way = {pool.submit(fill, *cell, arguments.seconds): cell for cell in missing}
        for number, done in enumerate(as_completed(under_way), start=1):
            claim, without = under_way[done]
            answers.setdefault(claim, {})[without or WHOLE] = done.result()
            keep(answers)
            found = "counterexample" if done.result()["found"] else f"none in {done.result()['tried']}"
            print(f"[{number}/{len(missing)}] {claim} without {without}: {found}", file=sys.stderr, flush=True)
    write_whole(HERE / "ablation.md", page())


if __name__ == "__main__":
    main()
